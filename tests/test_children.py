"""Child runs: what each sees, what it may do, and what its parent reads of it."""

import asyncio
import json
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from inline_snapshot import snapshot

from families import NO_END, Family, delegate, does, says, strand
from loopback import Answer, Loopback, Text, ToolUse, in_order
from offing.engine import Call, Engine, Playbook, Role, Roles, Scripted
from offing.engine.events import Delta, RunStarted, RunStopped, StrandPlanned, WorkDelegated
from offing.engine.slots import FairSlots
from offing.engine.store.facts import SkillActivated
from offing.namespaces import Effect, FunctionNamespace, Record, ToolContext, ToolOutput, tool
from transcript import transcript
from worlds import Claude, Given, async_tool, outside

LOOK = Call("sys__look")


@tool(effect=Effect.READ)
async def look(context: ToolContext) -> ToolOutput:
    """Looks at the account."""
    record = Record(f"txn/{context.call}", Decimal("12.50"), "GBP")
    return ToolOutput(f"12.50 GBP [[sys:txn/{context.call}]]", records=(record,))


class Together:
    """Calls that end once so many of them have begun."""

    def __init__(self, wanted: int) -> None:
        self.most = self.at_work = 0
        self._wanted = wanted
        self._all = asyncio.Event()

    async def meet(self, arguments: Given, context: ToolContext) -> ToolOutput:
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        if self.at_work == self._wanted:
            self._all.set()
        async with asyncio.timeout(20):
            await self._all.wait()
        await asyncio.sleep(0)
        self.at_work -= 1
        return ToolOutput("met")


async def test_strands_work_at_the_same_time_and_come_back_in_the_order_they_were_named() -> None:
    together = Together(3)
    tools = [async_tool(together.meet, "meet", effect=Effect.READ)]
    family = Family(
        [delegate("A now", "B now", "C now")], dict.fromkeys("ABC", does(Call("sys__meet"))), tools
    )
    result = await family.ask()
    assert (result.answer, together.most) == ("Done.", 3)
    assert await family.results() == {
        "1.1": "[1] Part A: answered\nmet\n\n[2] Part B: answered\nmet\n\n[3] Part C: answered\nmet"
    }


async def test_so_many_strands_are_at_work_as_are_allowed_and_all_come_to_their_turn() -> None:
    together = Together(2)
    tools = [async_tool(together.meet, "meet", effect=Effect.READ)]
    names = [f"P{number}" for number in range(6)]
    family = Family([delegate(*names)], dict.fromkeys(names, does(Call("sys__meet"))), tools)
    assert (await family.with_limits(strands=2).ask()).answered
    assert together.most == 2
    assert (await family.results())["1.1"].count("answered") == 6


async def test_what_a_strand_sees_first_and_what_its_parent_reads_of_it() -> None:
    handed_on = {"strands": [strand("Look into 4711.", namespaces=["sys"])]}
    script = [
        Answer([ToolUse("delegate", handed_on)]),
        Answer([ToolUse("sys__look", {})]),
        Answer([Text("It holds 12.50 GBP [[sys:txn/1.1.1.1.1]]")]),
        Answer([Text("12.50 GBP [[sys:txn/1.1.1.1.1]]")]),
    ]
    with Loopback(in_order(script)) as server:
        async with Engine(
            Claude(server), [FunctionNamespace("sys", [look])], limits=NO_END, outside=outside()
        ) as engine:
            result = await engine.ask("How much is there?")
        bodies = [seen.json for seen in server.requests]
    assert (server.refusals, result.answer) == ([], "12.50 GBP [[sys:txn/1.1.1.1.1]]")
    assert [figure.problem for figure in result.figures] == [""]
    assert all(
        (body["tools"], body["system"]) == (bodies[0]["tools"], bodies[0]["system"]) for body in bodies
    )
    assert bodies[1]["messages"][0]["content"][0]["text"] == snapshot("""\
Look into 4711.

<note>
This is a part of a larger request, "Part Look", given to you alone. You see nothing else of that request, and who gave it to you sees nothing of your work but your answer. Make the answer short and whole: what you found, each figure with its [[record id]], what you could not establish, and what is left undone. The same records can be cited by whoever asked.
Of the connected systems you may call only: sys.
You have at most 74 steps.
You cannot hand work on.
</note>\
""")  # noqa: E501
    assert transcript("a strand reads its result", bodies[2]) == snapshot("""\
Scenario: a strand reads its result
1 user: Look into 4711.\\n\\n<note>\\nThis is a part of a larger request, "Part Look", give ...340... y call only: sys.\\nYou have at most 74 steps.\\nYou cannot hand work on.\\n</note>
2 assistant: CALL toolu_0000_0 sys__look {}
3 user: RESULT toolu_0000_0 12.50 GBP [[sys:txn/1.1.1.1.1]] *\
""")  # noqa: E501
    assert transcript("its parent reads what it came to", bodies[3]) == snapshot("""\
Scenario: its parent reads what it came to
1 user: How much is there?
2 assistant: CALL toolu_0000_0 delegate {"strands":[{"title":"Part Look","task":"Look into 4711.","namespaces":["sys"]}]}
3 user: RESULT toolu_0000_0 [1] Part Look: answered\\nIt holds 12.50 GBP [[sys:txn/1.1.1.1.1]] *\
""")  # noqa: E501


async def test_parent_and_strands_send_the_same_first_two_layers_and_each_extends_what_it_sent() -> None:
    family = Family([delegate("A now", "B now")], dict.fromkeys("AB", does(LOOK)), [look])
    await family.ask()
    sent = [request.segments for request in family.scripted.requests]
    assert len({tuple(segments[:2]) for segments in sent}) == 1
    runs: dict[bytes, list[list[bytes]]] = {}
    for segments in sent:
        runs.setdefault(segments[2], []).append(list(segments))
    assert sorted(map(len, runs.values())) == [2, 2, 2]
    assert all(second[: len(first)] == first for first, second in runs.values())


async def test_a_strand_is_kept_to_its_systems_where_calls_run_though_it_is_shown_all_tools() -> None:
    calls = (Call("sys__look"), Call("other__look"), Call("sys__invoke_tool", {"tool": "look"}))
    family = Family(
        [delegate(strand("A now", namespaces=["other"]), strand("B now", namespaces=[]))],
        {"A": does(*calls, Call("search", {"query": "look"})), "B": does(*calls)},
        [look],
    )
    await family.ask()
    outside_a = "Not executed: sys is outside this part of the work, which may call other."
    outside_b = "Not executed: {} is outside this part of the work, which may call none."
    told = (await family.results())["1.1"].split("\n\n")
    assert told[0].startswith(f"[1] Part A: answered\n{outside_a} | 12.50 GBP")
    assert told[0].count(outside_a) == 2
    assert told[1].split("\n")[1] == " | ".join(outside_b.format(each) for each in ("sys", "other", "sys"))


@pytest.mark.parametrize(
    ("handed_on", "told"),
    [
        (strand("A now", namespaces=["bank"]), "there is no system 'bank' for it. There are: sys, other"),
        (strand("A now", skill="closing"), "There is no skill 'closing' in this session."),
    ],
)
async def test_what_a_strand_cannot_have_is_said_before_anything_begins(handed_on: Given, told: str) -> None:
    family = Family([delegate("B now", handed_on)], {"A": says("a"), "B": says("b")}, [look])
    await family.ask()
    assert (await family.results())["1.1"].startswith(f"Nothing was handed on: 'Part A': {told}")
    assert (await family.state()).current.children == []


async def test_a_strand_cannot_hand_on_but_where_more_generations_are_allowed() -> None:
    nested = {"A": does(delegate("B now", "C now")), "B": says("b"), "C": does(LOOK)}
    family = Family([delegate("A now")], nested, [look])
    await family.ask()
    refused = "Not executed: work cannot be handed on from here (1 generations are allowed). Do it yourself."
    assert refused in (await family.results())["1.1"]
    family = Family([delegate("A now")], nested, [look]).with_limits(depth=2)
    result = await family.ask()
    assert (await family.results())["1.1"] == (
        "[1] Part A: answered\n[1] Part B: answered\nb\n\n[2] Part C: answered\n"
        "12.50 GBP [[sys:txn/1.1.1.1.1.2.1.1]]"
    )
    (a,) = result.children
    assert [a.run, *(each.run for each in a.children)] == ["s.1.1.1.1", "s.1.1.1.1.1.1.1", "s.1.1.1.1.1.1.2"]


async def test_a_skill_is_the_one_that_is_named_else_the_nearest_and_else_none() -> None:
    task = "Reconcile the operating account with the books for the month"
    family = Family(
        [
            delegate(
                {"title": "T", "task": f"A {task}"}, strand("B now"), strand("C", skill="batched-deposits")
            )
        ],
        {"A": says("a"), "B": says("b"), "C": says("c")},
    )
    await family.ask()
    assert [run for run, _ in await family.facts(SkillActivated)] == [
        "s.1.1.1.3"
    ]  # its systems are not there


async def test_figures_of_a_strand_are_checked_and_what_no_record_bears_out_is_told_to_its_parent() -> None:
    async def wrong(book: Playbook) -> str:
        await book.calls(LOOK)
        return "It holds 99.00 GBP."

    family = Family([delegate("A now")], {"A": wrong}, [look])
    await family.ask()
    assert (await family.results())["1.1"] == (
        "[1] Part A: answered\nIt holds 99.00 GBP.\nNot borne out by a record: 99.00 GBP: has no source"
    )


async def test_records_that_a_strand_tied_to_a_figure_come_back_with_its_answer() -> None:
    async def linked(book: Playbook) -> str:
        await book.calls(LOOK)
        given = {"figure": "12.50 GBP", "records": ["sys:txn/1.1.1.1.1"]}
        await book.calls(Call("link_records", given))  # type: ignore[arg-type]
        return "It holds 12.50 GBP."

    family = Family(
        [delegate("A now")], {"A": linked}, [look], lambda results: "12.50 GBP [[sys:txn/1.1.1.1.1]]"
    )
    result = await family.ask()
    told = "[1] Part A: answered\nIt holds 12.50 GBP.\n12.50 GBP [[sys:txn/1.1.1.1.1]]"
    assert (await family.results())["1.1"] == told
    assert [(figure.text, figure.problem) for figure in result.figures] == [("12.50 GBP", "")]


async def test_whatever_strands_found_the_result_is_short_and_the_rest_is_read_back_where_it_goes_on() -> (
    None
):
    found = {f"P{number}": "".join(f"{number}:{line}\n" for line in range(3_000)) for number in range(30)}
    strands = {name: says(text) for name, text in found.items()}
    family = Family([delegate(*strands)], strands).with_limits(result_chars=10_000)
    await family.ask()
    told = (await family.results())["1.1"]
    assert len(told) < 10_000 + 100
    assert told.count("goes on.]") == 30
    (handle,) = [name for name in (await family.state()).artifacts if name.endswith("strands.md")]
    stored = (await family.state()).artifacts[handle]
    whole = (await family.store.scoped("local").artifacts.get(stored.ref)).decode()
    for number, part in enumerate(told.split("\n\n")[:30]):
        head, _, more = part.partition("\n[... ")
        shown = head.split("\n", 1)[1]
        offset = int(more.partition("offset=")[2].partition(")")[0])
        assert shown + whole[offset : offset + len(found[f"P{number}"]) - len(shown)] == found[f"P{number}"]


async def test_what_parent_and_strands_offload_of_one_tool_never_meets() -> None:
    """case 24"""

    async def export(arguments: Given, context: ToolContext) -> ToolOutput:
        return ToolOutput(f"row of {context.call}\n" * 5_000)

    tools = [async_tool(export, "export", effect=Effect.READ)]
    call = Call("sys__export")
    family = Family([call, delegate("A now", "B now")], dict.fromkeys("AB", does(call, call)), tools)
    await family.ask()
    state = await family.state()
    calls = ["1.1", "1.2.1.1.1", "1.2.1.1.2", "1.2.2.1.1", "1.2.2.1.2"]
    kept = {name: stored.ref for name, stored in state.artifacts.items() if "strands" not in name}
    assert sorted(kept) == [f"result/{each}" for each in calls]
    artifacts = family.store.scoped("local").artifacts
    for each in calls:
        assert await artifacts.get(kept[f"result/{each}"]) == f"row of {each}\n".encode() * 5_000


async def test_a_strand_that_fails_is_a_result_with_what_it_reached_and_the_run_goes_on() -> None:
    async def circles(book: Playbook) -> str:
        while True:
            await book.calls(LOOK)

    async def lost(book: Playbook) -> str:
        raise RuntimeError("no way")

    family = Family(
        [delegate("A now", "B now", "C now")], {"A": circles, "B": lost, "C": says("c")}, [look]
    ).with_limits(iterations=20)
    result = await family.ask()
    assert result.answered
    first, second, third = (await family.results())["1.1"].split("\n\n")
    assert first == "[1] Part A: stopped (limit): all 4 iterations are used\nIt said nothing."
    assert second.startswith(
        "[2] Part B: stopped (fault): the model could not be asked: (invalid) RuntimeError: no"
    )
    assert third == "[3] Part C: answered\nc"
    assert [(one.why, one.took.iterations) for one in result.children] == [
        ("limit", 4),
        ("fault", 0),
        ("answered", 1),
    ]
    assert (result.iterations, result.retries) == (2 + 4 + 1, 1)
    shown: Any = result.to_json()
    assert [(one["run"], one["why"], one["iterations"]) for one in shown["children"]] == [
        ("s.1.1.1.1", "limit", 4),
        ("s.1.1.1.2", "fault", 0),
        ("s.1.1.1.3", "answered", 1),
    ]


async def test_when_no_strand_has_an_answer_the_call_has_failed() -> None:
    family = Family([delegate("A now")], {}, answer=lambda results: f"error {results[0].error}")
    family.does = {"A": does(delegate("B"))}
    result = await family.with_limits(iterations=10).ask()
    assert result.answer == "error False"


async def test_children_have_the_model_and_effort_of_their_role_and_the_frame_in_its_words() -> None:
    family = Family([delegate("A now")], {"A": says("a")})
    other = Scripted(family.scripted._script, name="other")  # pyright: ignore[reportPrivateUsage]
    family.model = Roles(Role(family.scripted), Role(other, "high"))
    assert (await family.ask()).answered
    assert ([len(family.scripted.requests), len(other.requests)], other.requests[0].effort) == (
        [2, 1],
        "high",
    )
    assert other.requests[0].segments[:2] == family.scripted.requests[0].segments[:2]


async def test_another_providers_model_gets_the_same_frame_in_its_own_encoding() -> None:
    script = [Answer([ToolUse("sys__look", {})]), Answer([Text("It is there.")])]
    with Loopback(in_order(script)) as server:
        family = Family([delegate("A now")], {}, [look])
        family.model = Roles(Role(family.scripted), Role(Claude(server)))
        result = await family.ask()
        bodies = [seen.json for seen in server.requests]
    assert (server.refusals, result.answered) == ([], True)
    (shown,) = {tuple(tool["name"] for tool in body["tools"]) for body in bodies}
    own = json.loads(family.scripted.requests[0].segments[0])["tools"]
    assert list(shown) == [line.partition(":")[0] for line in own]
    assert (await family.results())["1.1"] == "[1] Part A: answered\nIt is there."


async def test_events_carry_the_run_they_are_of_and_those_of_a_strand_name_its_parent() -> None:
    family = Family([delegate("A now", "B now")], {"A": says("a"), "B": says("b")})
    async with family.session() as session, session.run("Go.") as run:
        events = [event async for event in run]
    (planned,) = [event for event in events if isinstance(event, WorkDelegated)]
    strands = (StrandPlanned("s.1.1.1.1", "Part A"), StrandPlanned("s.1.1.1.2", "Part B"))
    assert (planned.run, planned.call, planned.strands) == ("s.1", "1.1", strands)
    started = {event.run: event.parent for event in events if isinstance(event, RunStarted)}
    assert started == {"s.1": "", "s.1.1.1.1": "s.1", "s.1.1.1.2": "s.1"}
    deltas = {event.run: event.text for event in events if isinstance(event, Delta)}
    assert deltas == {"s.1": "Done.", "s.1.1.1.1": "a", "s.1.1.1.2": "b"}
    assert Counter(event.run for event in events if isinstance(event, RunStopped)) == dict.fromkeys(
        started, 1
    )


async def test_runs_take_turns_for_the_places_of_tool_calls() -> None:
    slots, order = FairSlots(1), list[str]()

    async def work(run: str) -> None:
        async with slots.of(run):
            order.append(run)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for run in ["A", "A", "A", "A", "B", "B", "C"]:
            group.create_task(work(run))
    assert "".join(order) == "AABCABA"


async def test_a_call_that_gives_up_its_turn_leaves_the_place_to_the_next() -> None:
    slots = FairSlots(1)

    async def work(run: str) -> str:
        async with slots.of(run):
            return run

    async with slots.of("A"):
        waiting = [asyncio.create_task(work(each)) for each in "BC"]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
    waiting.append(asyncio.create_task(work("D")))
    async with asyncio.timeout(5):
        assert await asyncio.gather(*waiting[1:]) == ["C", "D"]
