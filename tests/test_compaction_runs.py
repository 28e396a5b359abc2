"""Runs that outgrow their window: what the model is sent, what is recorded, and what it costs nobody."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from compacted import DIGEST, LIMITS, Script, bank, extends, investigated, is_digest, look, looking
from loopback import Answer, HttpError, Loopback, Reply, Stall, Text, Thinking, ToolUse
from offing.engine import (
    ApprovalPolicy,
    ApprovalRule,
    Budget,
    Engine,
    Limits,
    Playbook,
    Scripted,
    SqliteStore,
)
from offing.engine.events import ContextCompacted, RunStopped
from offing.engine.history import replay
from offing.engine.models.anthropic import Options
from offing.engine.models.retry import RetryPolicy
from offing.engine.state import State, apply
from offing.engine.steps import next_step
from offing.engine.store.facts import Compacted, Noted, Replied
from offing.engine.wire import HEAD, Wire
from test_history_replay import OFFLINE
from worlds import Claude, HandClock, outside, state_of

pytestmark = pytest.mark.anyio

DONE = Answer([Thinking("All seen."), Text("Done.")])


async def test_a_long_run_stays_in_its_window_and_each_request_between_passes_extends_the_last() -> None:
    async with investigated(Script([*looking(28), DONE])) as made:
        passes = await made.passes()
        assert made.results[0].answered
        assert made.server.refusals == []
    assert {done.writer for done in passes} == {"", "model"}
    assert all(done.after <= 5_500 for done in passes)
    assert all(8_800 < done.before < 11_000 for done in passes)
    assert all(len(seen.body) // 4 <= 11_000 for seen in made.bodies)
    broken = sum(not extends(*pair) for pair in zip(made.bodies, made.bodies[1:], strict=False))
    assert broken == len(passes)


async def test_replay_and_a_fresh_process_send_the_same_bytes_over_passes() -> None:
    async with investigated(Script([*looking(25), DONE])) as made:
        journal = made.engine.store.journal
        again = [one async for one in replay(made.engine.store, "s.1", OFFLINE)]
        assert [one.body for one in again] == [seen.body for seen in made.bodies]
        assert all(one.is_equal for one in again)
        state, fresh = State(), list[str]()
        head = again[0].request.segments[:HEAD]
        async for row in journal.read("s"):
            if isinstance(row.fact, Replied):
                wire = Wire(OFFLINE, list(head))
                wire.request(state.conversation, state.turn + 1)
                fresh.append(wire.digest)
            apply(state, row)
    assert fresh == [one.digest for one in again]


async def test_what_left_is_read_back_byte_for_byte_and_found() -> None:
    turns = looking(16)
    reading = Answer([
        ToolUse("read", {"source": "result/1.1"}),
        ToolUse("read", {"source": "conversation/1-2", "length": 200}),
        ToolUse("search", {"query": "0-1 REF00033", "where": "outputs"}),
    ])  # fmt: skip
    async with investigated(Script([*turns, reading, DONE])) as made:
        state = await state_of(made.engine, "s")
        stretch = next(handle for handle in state.artifacts if handle.startswith("conversation/"))
        messages = state.conversation.messages
        read = made.engine.store.artifacts.get
        for message in messages[: int(stretch.split("-")[1])]:
            for result in message.results:
                assert await read(state.artifacts[f"result/{result.call}"].ref) == result.content.encode()
        whole, part, found = next(each.results for each in messages if len(each.results) == 3)
    assert messages[2].results[0].content in whole.content
    assert "there is no handle 'conversation/1-2'" in part.content
    assert f"conversation/1-{stretch.split('-')[1]}" in part.content
    assert "row 33 of 0-1" in found.content


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Answer([Text(" ")]), "it is empty"),
        (Answer([]), "it is empty"),
        (Answer([Text("All went well.")]), "it has none of the sections that were asked for"),
        (Answer([Text("## Request\n- Go.")]), "it says nothing of what was found, decided or failed"),
        (Answer([Text(DIGEST)], "max_tokens"), "it ended with 'length'"),
        (Answer([Text(DIGEST)], "refusal"), "it ended with 'refusal'"),
        (Answer([Text(DIGEST), ToolUse("bank__look", {"n": 1})]), "it called a tool"),
        (Answer([Text(DIGEST + "- x y z\n" * 20_000)]), ""),
        (HttpError(400, "invalid_request_error", "no"), "(invalid) Error code: 400"),
        (HttpError(529, "overloaded_error", "busy"), "(overloaded) Error code: 529"),
    ],
)
async def test_a_digest_that_is_no_use_is_written_by_rule_and_holds_up_nothing(
    reply: Reply, problem: str
) -> None:
    """case 3"""
    clock = HandClock()
    limits = Limits(window=12_000, reply_tokens=1_000, retry=RetryPolicy(attempts=1))
    async with investigated(Script([*looking(20), DONE], [reply]), limits=limits, clock=clock) as made:
        digested = [done for done in await made.passes() if done.writer]
        assert made.results[0].answered
        assert made.server.refusals == []
    written = digested[0]
    assert written.writer == ("rule" if problem else "model")
    assert written.problem.startswith(problem)
    text = written.done.digest.text if written.done.digest else ""
    assert "[[bank:txn/0]]" in text
    assert "conversation/1-" in text
    asked = [seen for seen in made.server.requests if is_digest(seen)]
    assert all("tools" not in seen.json for seen in asked)


async def test_the_task_list_and_the_budget_are_told_again_from_the_journal_after_each_pass() -> None:
    """cases 4 and 5"""
    tasks = [{"title": "read", "status": "done"}, {"title": "explain", "status": "active"}]
    first = Answer([ToolUse("tasks", {"items": tasks}), look("t")])
    prose = DIGEST.replace("- (nothing)", "- The task `read` is pending, begin with it.")
    script = Script([first, *looking(25), DONE], [Answer([Text(prose)])])
    async with investigated(script) as made:
        passes = await made.passes()
        state = await state_of(made.engine, "s")
    notes = [each.text for each in state.conversation.messages if each.role == "note"]
    assert len([note for note in notes if "This is how things stand now" in note]) == len(passes)
    assert all("- done: read\n- active: explain\nSteps left: " in note for note in notes)
    assert [(task.title, task.status) for task in state.tasks] == [("read", "done"), ("explain", "active")]


async def test_a_refused_prompt_is_shortened_and_sent_again_once() -> None:
    refused = HttpError(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum")
    async with investigated(Script([*looking(3), refused, DONE])) as made:
        (done,) = await made.passes()
        assert made.results[0].answered
        state = await state_of(made.engine, "s")
    assert (done.why, len(done.done.stubs) > 0) == ("refused", True)
    assert state.room is not None
    assert state.room.most == done.before - 1


@pytest.mark.parametrize("way", ["a fault", "a stop reason"])
async def test_a_prompt_that_is_refused_again_stops_the_run(way: str) -> None:
    refused = HttpError(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum")
    full = Answer([Text("So")], "model_context_window_exceeded")
    reply: Reply = refused if way == "a fault" else full
    async with investigated(Script([*looking(3), reply, reply])) as made:
        result = made.results[0]
        assert len(await made.passes()) == 1
    assert result.why == "window"
    assert result.detail.startswith("the context window is full, although room was made: ")
    assert len(made.bodies) == 5


async def test_what_is_known_to_be_too_long_is_never_sent() -> None:
    async with investigated(Script([DONE]), "Word. " * 20_000) as made:
        result = made.results[0]
    assert (result.why, made.bodies) == ("window", [])
    assert "nothing more can leave it" in result.detail


async def test_a_pass_is_made_when_the_cache_is_cold_anyway() -> None:
    clock = HandClock()
    script = Script([*looking(5), DONE, DONE])
    async with investigated(script, clock=clock) as made:
        clock.at += 3_600_000_000
        await made.engine.session("s").ask("And?")
        (done,) = await made.passes()
    assert (done.why, 6_600 < done.before < 8_800, done.after <= 5_500) == ("cold", True, True)
    assert made.server.refusals == []


async def test_replies_stay_as_they_came_where_the_api_drops_unbound_thinking() -> None:
    options = Options(unbound_thinking="drop_block")
    async with investigated(Script([*looking(12), DONE]), options=options) as made:
        passes = await made.passes()
        assert made.results[0].answered
        assert made.server.refusals == []
    assert passes
    assert {done.done.bare_from for done in passes} == {None}
    for seen in made.bodies:
        replies = [each["content"] for each in seen.json["messages"] if each["role"] == "assistant"]
        assert all(blocks[0]["type"] == "thinking" for blocks in replies)
        assert seen.headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"
        assert seen.json["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}


async def test_a_pass_that_was_interrupted_is_made_anew_and_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    held = Script([*looking(25), DONE], [Stall(), Answer([Text(DIGEST)])])
    with Loopback(held) as server:
        engine = Engine(
            Claude(server), [bank()], store=SqliteStore(path), limits=LIMITS, check="off", outside=outside()
        )
        async with engine.session("s").run("Explain September.") as run:
            await server.until(lambda seen: any(map(is_digest, seen.requests)))
        await engine.close()
        store = SqliteStore(path)
        async with Engine(Claude(server), [bank()], store=store, check="off", outside=outside()) as other:
            before = [row.fact async for row in other.store.journal.read("s")]
            assert (await (await other.resume(run.id)).result()).answered
            facts = [row.fact async for row in other.store.journal.read("s")]
            again = [one async for one in replay(other.store, "s.1", OFFLINE)]
        assert server.refusals == []
        sent = [seen.body for seen in server.requests if not is_digest(seen)]
    assert not any(isinstance(fact, Compacted) and fact.writer for fact in before)
    assert [one.body for one in again] == sent
    assert _triggers(facts) == [1] * len(_triggers(facts))


def _triggers(facts: Sequence[object]) -> list[int]:
    """Passes since the reply before, for each pass: more than one means that a trigger made two."""
    counts: list[int] = []
    since = 0
    for fact in facts:
        since = 0 if isinstance(fact, Replied) else since + isinstance(fact, Compacted)
        counts += [since] if isinstance(fact, Compacted) else []
    return counts


async def test_a_process_that_ends_right_after_a_pass_goes_on_with_the_same_view() -> None:
    """Each prefix of the journal, as a kill would leave it, leads to the request that was sent."""
    async with investigated(Script([*looking(12), DONE])) as made:
        rows = [row async for row in made.engine.store.journal.read("s")]
    state, at_passes = State(), list[object]()
    for row in rows:
        apply(state, row)
        if isinstance(row.fact, Compacted):
            at_passes.append(next_step(state))
    assert at_passes
    assert all(isinstance(step, Noted) and step.key.startswith("state:") for step in at_passes)


async def test_a_cancelled_digest_ends_the_run_and_blocks_nothing() -> None:
    with Loopback(Script([*looking(25), DONE], [Stall(), Answer([Text(DIGEST)])])) as server:
        async with Engine(Claude(server), [bank()], limits=LIMITS, check="off", outside=outside()) as engine:
            session = engine.session("s")
            async with session.run("Explain September.") as run:
                await server.until(lambda seen: any(map(is_digest, seen.requests)))
                await session.cancel()
                assert (await run.result()).why == "cancelled"
            assert (await (await engine.resume("s.1")).result()).answered


async def test_a_batch_that_waited_for_a_person_stays_whole_and_has_one_result_for_each_call() -> None:
    """cases 1 and 2: passes are made between iterations, over whole batches"""
    clock = HandClock()
    asking = Answer([Thinking("Close?"), look("x"), ToolUse("bank__close", {}), look("y")])
    approvals = ApprovalPolicy((ApprovalRule("bank__close", "ask"),))
    script = Script([*looking(5), asking, DONE])
    with Loopback(script) as server:
        async with Engine(
            Claude(server), [bank()], limits=LIMITS, check="off", approvals=approvals, outside=outside(clock)
        ) as engine:
            session = engine.session("s")
            assert (await session.ask("Explain September.")).why == "waiting"
            clock.at += 86_400_000_000
            await session.approve("6.2", by="ann")
            assert (await (await session.resume("s.1")).result()).answered
            state = await state_of(engine, "s")
        assert server.refusals == []
    (done,) = state.conversation.passes
    (batch,) = (message for message in state.conversation.view() if len(message.results) == 3)
    assert done.end > state.conversation.messages.index(batch)
    assert [result.call for result in batch.results] == ["6.1", "6.2", "6.3"]
    assert batch.results[1].content == "closed"


async def test_a_playbook_follows_what_happened_whatever_left_the_view_since() -> None:
    async def book(at: Playbook, text: str) -> str:
        for n in range(12):
            assert "REF00059" in (await at.call("bank__look", n=n)).text
        return "Done."

    async with Engine(Scripted(book), [bank()], limits=LIMITS, check="off", outside=outside()) as engine:
        assert (await engine.session("s").ask("Explain September.")).answer == "Done."
        state = await state_of(engine, "s")
    assert state.conversation.passes


async def test_a_host_sees_each_pass() -> None:
    async with investigated(Script([*looking(12), DONE])) as made:
        events: list[ContextCompacted] = []
        async for event in made.engine.session("s").events():
            if isinstance(event, ContextCompacted):
                events.append(event)
            if isinstance(event, RunStopped):
                break
        passes = await made.passes()
    assert [(event.before, event.after, event.stubs) for event in events] == [
        (done.before, done.after, len(done.done.stubs)) for done in passes
    ]


async def test_a_budget_pays_for_digests_and_leaves_the_last_call_to_the_run() -> None:
    limits = replace(LIMITS, budget=Budget(model_calls=12))
    async with investigated(Script([*looking(25), DONE]), limits=limits) as made:
        result = made.results[0]
        state = await state_of(made.engine, "s")
        calls = len(made.server.requests)
    assert (result.why, calls) == ("budget", 12)
    assert state.current.digest_calls + state.current.iterations == 12


async def test_a_fork_has_the_passes_before_its_point_and_goes_on_byte_for_byte() -> None:
    async with investigated(Script([*looking(20), DONE, *looking(3), DONE])) as made:
        passes = await made.passes()
        facts = [row.fact async for row in made.engine.store.journal.read("s")]
        first = next(at for at, fact in enumerate(facts) if isinstance(fact, Compacted))
        at = 1 + sum(isinstance(fact, Replied) for fact in facts[:first])
        await made.engine.fork("s.1", at=at, session="f")
        sent = len(made.bodies)
        assert (await (await made.engine.resume("f.1")).result()).answered
        again = [one async for one in replay(made.engine.store, "f.1", OFFLINE)]
        state = await state_of(made.engine, "f")
    assert made.server.refusals == []
    assert state.conversation.passes[0] == passes[0].done
    assert [one.body for one in again[at:]] == [seen.body for seen in made.bodies[sent:]]
    assert [one.body for one in again[:at]] == [seen.body for seen in made.bodies[:at]]
