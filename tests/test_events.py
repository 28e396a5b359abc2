"""Watchers are told every fact once and in order; what is in the making, as far as they keep up."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import get_args

import pytest

from loopback import Answer, Loopback, Stall, Text, Thinking, in_order
from offing.compaction.conversation import Message
from offing.compaction.conversation import Text as Words
from offing.engine import Call, Engine, MemoryStore, Scripted, Step
from offing.engine.errors import StoreError
from offing.engine.events import (
    _EVENTS,  # pyright: ignore[reportPrivateUsage]
    UNSEEN,
    CallAsked,
    CallFinished,
    CallStarted,
    Delta,
    Draft,
    Event,
    ModelFailed,
    NoteGiven,
    Progress,
    ReplyFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    TasksChanged,
    event_of,
)
from offing.engine.hub import Hub, events_after
from offing.engine.models import model as wire
from offing.engine.models.model import Context, Part, Reply, Request, Static
from offing.engine.store.facts import Fact, Faulted, Noted, Replied, Task
from offing.engine.store.journal import Row
from offing.engine.store.memory import MemoryJournal
from offing.engine.store.owner import this_process
from offing.namespaces import FunctionNamespace, ToolContext, ToolOutput
from offing.tracing import Usage
from stores import MAKERS, store_in
from worlds import Claude, Given, async_tool, invoke, outside

ME = str(this_process())


async def _it(arguments: Given, context: ToolContext) -> ToolOutput:
    context.progress("half")
    return ToolOutput("ok")


SYS = FunctionNamespace("sys", [async_tool(_it)])
SCRIPT = [
    Step("I look.", [invoke("it"), invoke("tsk")], reasoning="Hm."),
    Step(calls=[invoke("it")]),
    "It is done, and this answer has more than eight words in it.",
]


async def watched(events: AsyncGenerator[Event], until: int = 1) -> list[Event]:
    """The events until so many runs have stopped."""
    found: list[Event] = []
    async with aclosing(events):
        async for event in events:
            found.append(event)
            until -= isinstance(event, RunStopped)
            if not until:
                break
    return found


async def test_a_run_is_told_as_typed_events_in_the_order_of_the_journal() -> None:
    script = [
        Step(
            "I look.",
            [invoke("it"), Call("tasks", {"items": [{"title": "A"}], "confidence": 0.5})],
            reasoning="Hm.",
        ),
        "Done.",
    ]
    engine = Engine(Scripted(script), [SYS], outside=outside())
    async with engine, engine.session("s").run("Go.") as run:
        events = [event async for event in run]
    calls = (
        CallAsked("1.1", "sys__invoke_tool", {"tool": "it", "arguments": {}}),
        CallAsked("1.2", "tasks", {"items": [{"title": "A"}], "confidence": 0.5}),
    )
    told = [
        event
        for event in events
        if not isinstance(event, (CallStarted, Progress, CallFinished, TasksChanged))
    ]
    assert told == [
        RunStarted(2, "s.1", "Go."),
        RunResumed(3, "s.1", ME),
        Delta(4, 1, "text", "I look.", "s.1"),
        ReplyFinished(4, "s.1", "I look.", "Hm.", calls, Usage()),
        Delta(9, 1, "text", "Done.", "s.1"),
        ReplyFinished(9, "s.1", "Done.", "", (), Usage()),
        RunStopped(10, "s.1", "answered", ""),
    ]
    middle = [event for event in events if event not in told]
    of_it = [event for event in middle if getattr(event, "call", "") == "1.1"]
    of_tasks = [event for event in middle if event not in of_it]
    assert of_it == [
        CallStarted(_seq(of_it[0]), "s.1", "1.1", "sys__it"),
        Progress("1.1", "half", "s.1"),
        CallFinished(_seq(of_it[2]), "s.1", "1.1", "sys__it", error=False, unknown=False, content="ok"),
    ]
    done = "1 tasks, 1 open."
    assert of_tasks == [
        TasksChanged(_seq(of_tasks[0]), "s.1", (Task("A", "pending"),), 0.5),
        CallFinished(_seq(of_tasks[1]), "s.1", "1.2", "tasks", error=False, unknown=False, content=done),
    ]
    facts = [event.seq for event in events if not isinstance(event, (Delta, Progress))]
    assert facts == list(range(2, 11))


def _seq(event: Event) -> int:
    """Calls run in parallel, so which is recorded first is not part of the claim."""
    assert not isinstance(event, Progress)
    return event.seq


@pytest.mark.parametrize("store", MAKERS)
async def test_a_watcher_that_comes_back_after_any_event_gets_exactly_the_rest(
    store: str, tmp_path: Path
) -> None:
    kept = store_in(store, tmp_path)
    async with Engine(Scripted(SCRIPT), [SYS], store=kept, outside=outside()) as engine:
        session = engine.session("s")
        live = asyncio.create_task(watched(session.events(), until=1))
        await session.ask("Go.")
        facts = [event for event in await live if not isinstance(event, (Delta, Draft, Progress))]
        for after in range(12):
            rest = [event for event in facts if event.seq > after]
            if rest:
                assert await watched(session.events(after)) == rest
    assert facts[0] == RunStarted(2, "s.1", "Go.")


async def test_a_watcher_of_another_process_gets_the_facts_from_the_journal() -> None:
    store = MemoryStore()
    engine = Engine(Scripted(SCRIPT), [SYS], store=store, outside=outside())
    async with engine, engine.session("s").run("Go.") as run:
        facts = [event async for event in run if not isinstance(event, (Delta, Progress))]
    async with Engine(Scripted([]), store=store, outside=outside()) as other:
        assert await watched(other.session("s").events()) == facts


class Overtaken(MemoryJournal):
    """A journal in which rows appear, and are told live, while a watcher reads it."""

    def __init__(self, hub: Hub) -> None:
        super().__init__()
        self.hub = hub
        self.rows = [Row(seq, "s.1", 0, Noted(str(seq), str(seq))) for seq in range(1, 5)]

    async def read(self, stream: str, after: int = 0) -> AsyncGenerator[Row]:
        self.hub.delta(wire.Delta("text", "half"), "s.1")
        for row in self.rows[:2]:
            self.hub.publish(row)
        for row in self.rows[after:3]:
            yield row
        for row in self.rows[2:]:
            self.hub.publish(row)


@pytest.mark.parametrize("after", range(4))
async def test_what_is_told_while_the_journal_is_read_is_told_once(after: int) -> None:
    hub = Hub()
    async with aclosing(events_after(hub, Overtaken(hub), "s", after)) as events:
        found = [await anext(events) for _ in range(4 - after)]
    assert found == [NoteGiven(seq, "s.1", str(seq)) for seq in range(after + 1, 5)]


class Halting:
    """A model whose reply comes in pieces; between them it waits for the test."""

    name = "halting"

    def __init__(self, pieces: int) -> None:
        self.pieces = pieces
        self.told = asyncio.Semaphore(0)
        self.more = asyncio.Semaphore(0)

    def encode(self, part: Part, before: Message | None = None) -> bytes:
        return b"" if isinstance(part, (Static, Context)) else part.role.encode()

    async def stream(self, request: Request) -> AsyncGenerator[wire.Delta | Reply]:
        for n in range(self.pieces):
            yield wire.Delta("text", f"{n} ")
            self.told.release()
            await self.more.acquire()
        yield wire.Delta("restart")
        yield wire.Delta("reasoning", "Hm. ")
        yield wire.Delta("text", "So.")
        yield Reply(Message("assistant", (Words("So."),)), "end", Usage())


async def test_a_late_watcher_gets_the_reply_in_the_making_then_its_further_pieces() -> None:
    model = Halting(4)
    async with Engine(model, outside=outside()) as engine:
        session = engine.session("s")
        async with session.run("Go.") as run:
            for _ in range(2):
                await model.told.acquire()
                model.more.release()
            await model.told.acquire()
            late = session.events(after=3)
            first = await anext(late)
            for _ in range(2):
                model.more.release()
            rest = await watched(late)
        await run.result()
    assert [first, *rest] == [
        Draft(4, 3, "0 1 2 ", "", "s.1"),
        Delta(4, 4, "text", "3 ", "s.1"),
        Delta(4, 5, "restart", "", "s.1"),
        Delta(4, 6, "reasoning", "Hm. ", "s.1"),
        Delta(4, 7, "text", "So.", "s.1"),
        ReplyFinished(4, "s.1", "So.", "", (), Usage()),
        RunStopped(5, "s.1", "answered", ""),
    ]


async def test_a_piece_holds_nothing_that_no_wire_can_carry() -> None:
    engine = Engine(Scripted(["a \x1b[2J \ud83d"]), outside=outside())
    async with engine, engine.session("s").run("Go.") as run:
        pieces = [event.text async for event in run if isinstance(event, Delta)]
    assert pieces == ["a \ufffd[2J \ufffd"]


async def test_a_watcher_that_comes_after_a_restart_sees_nothing_of_what_was_taken_back() -> None:
    hub = Hub()
    hub.delta(wire.Delta("text", "Wrong"))
    hub.delta(wire.Delta("restart"))
    hub.delta(wire.Delta("text", "Right"))
    watcher = hub.watch()
    assert await watcher.next() == Draft(1, 3, "Right", "")


@pytest.mark.parametrize("end", [Faulted("cut", "x"), None])
async def test_a_reply_in_the_making_that_failed_is_not_told_as_part_of_the_next(
    end: Faulted | None,
) -> None:
    hub = Hub()
    hub.delta(wire.Delta("text", "Half of "), "s.1")
    if end is not None:
        hub.publish(Row(5, "s.1", 0, end))
    else:
        hub.fail(StoreError("x"))
    hub.delta(wire.Delta("text", "Whole"), "s.1")
    watcher = hub.watch()
    event = await watcher.next()
    assert isinstance(event, Draft)
    assert (event.n, event.text) == (1, "Whole")


async def test_a_slow_watcher_loses_pieces_and_never_a_fact() -> None:
    hub = Hub()
    watcher = hub.watch()
    for n in range(3_000):
        hub.delta(wire.Delta("text", str(n)))
        if n % 100 == 0:
            hub.publish(Row(n // 100 + 1, "s.1", 0, Noted(str(n), str(n))))
    seen = [await watcher.next() for _ in range(1_030)]
    assert [event.seq for event in seen if isinstance(event, NoteGiven)] == list(range(1, 31))
    assert [event.n for event in seen if isinstance(event, Delta)] == list(range(1, 1_001))
    hub.delta(wire.Delta("text", "on"))
    again = await watcher.next()
    assert isinstance(again, Delta)
    assert again.n == 3_001  # the gap in n says that pieces were dropped


async def test_a_watcher_that_leaves_is_forgotten_and_the_run_goes_on() -> None:
    model = Halting(2)
    async with Engine(model, outside=outside()) as engine:
        session = engine.session("s")
        async with session.run("Go.") as run:
            watching = asyncio.create_task(watched(session.events()))
            await model.told.acquire()
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            for _ in range(2):
                model.more.release()
            assert (await run.result()).answered


async def test_thinking_and_text_of_a_real_stream_arrive_as_pieces_then_as_a_whole() -> None:
    answer = Answer([Thinking("Let me see.", "sig", deltas=2), Text("It ties.", deltas=3)])
    with Loopback([answer]) as server:
        engine = Engine(Claude(server), outside=outside())
        async with engine, engine.session("s").run("?") as run:
            events = [event async for event in run]
    pieces = [(event.kind, event.n) for event in events if isinstance(event, Delta)]
    assert pieces == [("reasoning", 1), ("reasoning", 2), ("text", 3), ("text", 4), ("text", 5)]
    whole = next(event for event in events if isinstance(event, ReplyFinished))
    assert (whole.text, whole.reasoning) == ("It ties.", "Let me see.")
    assert "".join(e.text for e in events if isinstance(e, Delta) and e.kind == "text") == "It ties."


async def test_a_late_watcher_of_a_stalled_stream_gets_what_came_so_far() -> None:
    answer = Answer([Text("It ties to the penny.", deltas=4)])
    with Loopback(in_order([Stall(6, answer)])) as server:
        engine = Engine(Claude(server), outside=outside())
        session = engine.session("s")
        async with engine, session.run("?") as run:
            early = aiter(run)
            while not (isinstance(event := await anext(early), Delta) and event.n == 3):
                pass
            async with aclosing(session.events(after=3)) as late:
                draft = await anext(late)
    assert isinstance(draft, Draft)
    assert "It ties to the penny.".startswith(draft.text)


async def test_a_failed_model_call_and_a_note_are_told() -> None:
    rows: list[Row] = [Row(7, "s.1", 0, Faulted("overloaded", "busy")), Row(8, "s.1", 0, Noted("k", "Mind."))]
    assert [event_of(row) for row in rows] == [
        ModelFailed(7, "s.1", "overloaded", "busy"),
        NoteGiven(8, "s.1", "Mind."),
    ]


async def test_a_watcher_is_told_when_the_store_fails() -> None:
    hub = Hub()
    watcher = hub.watch()
    hub.publish(Row(1, "s.1", 0, Noted("k", "Mind.")))
    hub.fail(StoreError("the disk is full"))
    assert isinstance(await watcher.next(), NoteGiven)
    with pytest.raises(StoreError, match="the disk is full"):
        await watcher.next()


async def test_every_fact_has_an_event_or_is_meant_to_have_none() -> None:
    assert {*_EVENTS, *UNSEEN} == {*get_args(Fact)}
    assert Replied in _EVENTS
