"""What people say to a run with children, and how such runs stop and go on."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest

from families import NO_END, Family, delegate, does, says
from offing.engine import Call, Playbook, Session
from offing.engine.approvals import ApprovalPolicy
from offing.engine.errors import NotFound, NotOpen
from offing.engine.events import ApprovalNeeded, Event
from offing.engine.store.facts import Fact, Resumed, Settled, Stopped
from offing.engine.store.people import CancelAsked, Decided, Posted, Refused, Said
from offing.engine.store.strands import Overdue
from offing.namespaces import Effect, Tool, ToolContext, ToolOutput, tool
from people import Till, resumed
from worlds import Given, HandClock, async_tool

A, B = "s.1.1.1.1", "s.1.1.1.2"
PAY = Call("sys__pay", {"to": "A"})


class Held:
    """A tool that ends when it is let go."""

    def __init__(self) -> None:
        self.begun, self.let_go = asyncio.Event(), asyncio.Event()

    @property
    def tools(self) -> list[Tool]:
        return [async_tool(self._wait, "wait", effect=Effect.READ), *Till().tools()]

    async def _wait(self, arguments: Given, context: ToolContext) -> ToolOutput:
        self.begun.set()
        await self.let_go.wait()
        return ToolOutput("waited")


async def seen(session: Session, kind: type[Event]) -> None:
    """Waits until the session tells of such an event."""
    async with aclosing(session.events()) as events:
        async for event in events:
            if isinstance(event, kind):
                return


def stops(facts: list[tuple[str, Fact]]) -> list[tuple[str, str]]:
    return [(run, fact.why) for run, fact in facts if isinstance(fact, Stopped)]


@pytest.mark.parametrize("run", ["s.1", A])
async def test_a_child_that_waits_keeps_the_call_open_and_is_approved_by_its_own_or_its_parents_name(
    run: str,
) -> None:
    till = Till()
    family = Family([delegate("A now", "B now")], {"A": does(PAY), "B": says("b")}, till.tools())
    async with family.session() as session:
        result = await session.ask("Go.")
        assert (result.why, [one.call for one in result.approvals]) == ("waiting", ["1.1.1.1.1"])
        assert result.detail == "waits for approval of 1.1.1.1.1 (sys__pay)"
        assert [(one.run, one.why) for one in result.children] == [(A, None), (B, "answered")]
    async with family.session() as session:  # another process
        inbox = session._inbox  # pyright: ignore[reportPrivateUsage]
        assert [one.call for one in await inbox.open(run)] == ["1.1.1.1.1"]
        await inbox.approve(run, "1.1.1.1.1", by="ann")
        assert (await resumed(session)).answered
    assert till.done == ["pay A 10"]
    assert (await family.results())["1.1"] == "[1] Part A: answered\npaid 10 to A\n\n[2] Part B: answered\nb"
    assert stops(await family.facts(Stopped)) == [
        (B, "answered"),
        ("s.1", "waiting"),
        (A, "answered"),
        ("s.1", "answered"),
    ]


async def test_an_approved_child_goes_on_while_its_sibling_is_at_work() -> None:
    held, paid = Held(), asyncio.Event()

    @tool(destructive=True, writes=frozenset({"bank"}))
    async def pay(to: str) -> str:
        """Pays."""
        paid.set()
        return f"paid {to}"

    family = Family([delegate("A now", "B now")], {"A": does(PAY), "B": does(Call("sys__wait"))})
    family.tools = [held.tools[0], pay]
    async with family.session() as session, session.run("Go.") as run:
        async with asyncio.timeout(20):
            await held.begun.wait()
            await seen(session, ApprovalNeeded)
            await session.approve("1.1.1.1.1")
            await paid.wait()
            held.let_go.set()
            assert (await run.result()).answered
    assert (await family.results())["1.1"] == "[1] Part A: answered\npaid A\n\n[2] Part B: answered\nwaited"
    assert stops(await family.facts(Stopped))[-1:] == [("s.1", "answered")]


async def test_a_question_of_a_child_is_answered_and_a_message_is_read_by_the_run_it_was_sent_to() -> None:
    ask = Call("ask_user", {"question": "Which month?"})
    family = Family([delegate("A now")], {"A": does(ask), "Mind": says("September"), "Be": says("Quick.")})
    async with family.session() as session:
        assert [one.call for one in (await session.ask("Go.")).questions] == ["1.1.1.1.1"]
        inbox = session._inbox  # pyright: ignore[reportPrivateUsage]
        await inbox.say(A, "Mind the year.")
        await inbox.say("s.1", "Be quick.")
        await session.answer("1.1.1.1.1", "September")
        assert (await resumed(session)).answer == "Quick."
    said = [(run, fact.message.text) for run, fact in await family.facts(Said) if isinstance(fact, Said)]
    assert sorted(said) == [("s.1", "Be quick."), (A, "Mind the year.")]
    roles = [f"{one.role} {one.text}" for one in (await family.state()).conversation.messages]
    assert roles[-2:] == ["user Be quick.", "assistant Quick."]


async def test_what_comes_for_a_child_that_has_ended_is_refused_and_so_is_an_unknown_one() -> None:
    family = Family([delegate("A now")], {"A": says("a")})
    async with family.session() as session:
        await session.ask("Go.")
        inbox = session._inbox  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(
            NotOpen, match=r"run 's.1.1.1.1' has ended: what it came to is in the results of 's.1'"
        ):
            await inbox.cancel(A)
        for unknown in ("s.1.1.1.2", "s.1.1", "s.1.x"):
            with pytest.raises(NotFound, match=f"there is no run '{unknown}'"):
                await inbox.cancel(unknown)


async def test_cancelling_the_run_stops_its_children_and_leaves_nothing_at_work() -> None:
    held = Held()
    family = Family(
        [delegate("A now", "B now", "C now")],
        {"A": does(Call("sys__wait")), "B": says("b"), "C": does(PAY)},
        held.tools,
    )
    async with family.session() as session, session.run("Go.") as run:
        await held.begun.wait()
        await seen(session, ApprovalNeeded)
        result = await run.cancel(reason="not now", by="ann", at_once=True)
    assert (result.why, result.detail) == ("cancelled", "cancelled by ann: not now")
    assert [(one.run, one.why) for one in result.children] == [
        (A, "cancelled"),
        (B, "answered"),
        ("s.1.1.1.3", "cancelled"),
    ]
    told = (await family.results())["1.1"]
    assert "[1] Part A: stopped (cancelled): cancelled by ann: not now" in told
    assert len(await family.facts(CancelAsked)) == 1
    async with family.session() as session:
        assert (await resumed(session)).answered  # with what its children came to


async def test_cancelling_one_child_leaves_the_others_alone() -> None:
    held = Held()
    family = Family(
        [delegate("A now", "B now")],
        {"A": does(Call("sys__wait")), "B": does(PAY)},
        held.tools,
        policy=ApprovalPolicy(),
    )
    async with family.session() as session, session.run("Go.") as run:
        await held.begun.wait()
        await session._inbox.cancel(A, at_once=True, by="ann")  # pyright: ignore[reportPrivateUsage]
        assert (await run.result()).why == "waiting"
        await session.approve("1.1.2.1.1")
        assert (await resumed(session)).answered
    assert (await family.results())["1.1"] == (
        "[1] Part A: stopped (cancelled): cancelled by ann\nIt said nothing.\n\n"
        "[2] Part B: answered\npaid 10 to A"
    )


async def test_a_run_that_waits_through_its_child_is_cancelled_with_it() -> None:
    family = Family([delegate("A now")], {"A": does(PAY)}, Till().tools())
    async with family.session() as session:
        assert (await session.ask("Go.")).why == "waiting"
        await session.cancel(by="ann")
        result = await resumed(session)
    assert (result.why, [one.why for one in result.children]) == ("cancelled", ["cancelled"])


async def test_a_cancel_that_was_taken_in_before_a_kill_ends_the_children_too() -> None:
    family = Family([delegate("A now", "B now")], {"A": does(PAY), "B": says("b")}, Till().tools())
    async with family.session() as session:
        assert (await session.ask("Go.")).why == "waiting"
        await session.cancel(by="ann")
        run = await session._lead("s.1")  # pyright: ignore[reportPrivateUsage]  # a driver that is killed
        (item,) = await run.mail.items()
        await run.record(Resumed("process 7"), CancelAsked(Posted(item.id, item.who, item.at)))
        await run.store.journal.release(run.lease)
    async with family.session() as session:
        result = await resumed(session)
    assert (result.why, [one.why for one in result.children]) == ("cancelled", ["cancelled", "answered"])
    assert "Not executed: the run was cancelled." in [
        fact.result.content for _, fact in await family.facts(Settled) if isinstance(fact, Settled)
    ]


async def test_a_message_to_a_child_at_work_is_read_by_it_at_its_next_iteration() -> None:
    held = Held()
    family = Family([delegate("A now")], {"A": does(Call("sys__wait")), "Also": says("Both.")}, held.tools)
    async with family.session() as session, session.run("Go.") as run:
        await held.begun.wait()
        await session._inbox.say(A, "Also the year.", by="ann")  # pyright: ignore[reportPrivateUsage]
        held.let_go.set()
        assert (await run.result()).answered
    assert [name for name, _ in await family.facts(Said)] == [A]
    assert (await family.results())["1.1"] == "[1] Part A: answered\nBoth."


async def test_a_childs_child_that_waits_holds_all_above_it_and_goes_on_with_them() -> None:
    till = Till()
    family = Family(
        [delegate("A now", "C now")],
        {"A": does(delegate("B now")), "B": does(PAY), "C": says("c")},
        till.tools(),
    ).with_limits(depth=2)
    async with family.session() as session:
        assert (await session.ask("Go.")).why == "waiting"
    async with family.session() as session:
        await session.approve("1.1.1.1.1.1.1.1")
        result = await resumed(session)
    assert (result.answered, till.done) == (True, ["pay A 10"])
    assert (await family.results())["1.1"] == (
        "[1] Part A: answered\n[1] Part B: answered\npaid 10 to A\n\n[2] Part C: answered\nc"
    )


async def test_a_run_is_resumed_by_the_name_of_a_child_of_it_too() -> None:
    family = Family([delegate("A now")], {"A": does(PAY)}, Till().tools())
    async with family.session() as session:
        assert (await session.ask("Go.")).why == "waiting"
        await session.deny("1.1.1.1.1", reason="no")
        result = await resumed(session, A)
    assert (result.run, result.answered) == ("s.1", True)


class Alarm(HandClock):
    """A clock whose waits end when a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.rung = asyncio.Event()

    async def sleep_until(self, at_us: int) -> None:
        await self.rung.wait()
        self.at = max(self.at, at_us)


@pytest.mark.parametrize("dies", [False, True])
async def test_a_child_whose_time_is_up_stops_with_what_it_reached(dies: bool) -> None:  # noqa: FBT001
    held, clock = Held(), Alarm()

    async def slow(book: Playbook) -> str:
        await book.calls(Call("tasks", {"items": [{"title": "wait"}]}), say="I have begun.")
        await book.calls(Call("sys__wait"))
        return "never"

    limits = replace(NO_END, strand_s=60.0)
    family = Family(
        [delegate("A now", "B now")],
        {"A": slow, "B": says("b")},
        held.tools,
        limits=limits,
        clock=clock,
    )
    async with family.session() as session, session.run("Go.") as run:
        await held.begun.wait()
        if not dies:
            clock.rung.set()
            assert (await run.result()).answered
    if dies:  # and its time is up when it is resumed
        clock.at += 1
        clock.rung.set()
        async with family.session() as session:
            assert (await resumed(session)).answered
    assert (await family.results())["1.1"] == (
        "[1] Part A: stopped (overdue): its 60 seconds are up\nI have begun.\nLeft undone: wait\n\n"
        "[2] Part B: answered\nb"
    )
    assert [run for run, _ in await family.facts(Overdue)] == [A]
    settled = {
        fact.result.call: fact.result.content
        for _, fact in await family.facts(Settled)
        if isinstance(fact, Settled)
    }
    assert settled["1.1.1.2.1"].startswith("sys__wait was interrupted: its time is up")


async def test_days_in_which_a_child_waits_for_people_are_not_of_its_time() -> None:
    clock = Alarm()
    limits = replace(NO_END, strand_s=60.0)
    family = Family([delegate("A now")], {"A": does(PAY)}, Till().tools(), limits=limits, clock=clock)
    async with family.session() as session:
        await session.ask("Go.")
        clock.at += 3 * 86_400_000_000
        await session.approve("1.1.1.1.1")
        assert (await resumed(session)).answered
    assert await family.facts(Overdue) == []


async def test_a_decision_that_does_not_fit_is_refused_and_the_child_waits_on() -> None:
    family = Family([delegate("A now")], {"A": does(PAY)}, Till().tools())
    async with family.session() as session:
        await session.ask("Go.")
        with pytest.raises(NotOpen, match=r"Open are: 1\.1\.1\.1\.1"):
            await session.approve("1.1.1.1.2")
        with pytest.raises(NotOpen, match="look at it again"):
            await session.approve("1.1.1.1.1", digest="other")
        await session.deny("1.1.1.1.1", reason="no")
        await session.approve("1.1.1.1.1")  # too late once the first is taken in
        assert (await resumed(session)).answered
    assert [(run, type(fact)) for run, fact in await family.facts(Decided, Refused)] == [
        (A, Decided),
        (A, Refused),
    ]
