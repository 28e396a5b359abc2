"""A run that is cancelled stops, says what is done, what is not and what nobody knows, and can go on."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from offing.engine import Call, Engine, Limits, Scripted, SqliteStore, Step
from offing.engine.errors import ModelFault, NotOpen
from offing.engine.events import CancelRequested, Delta, event_of
from offing.engine.inbox import Inbox
from offing.engine.models.model import Delta as Piece
from offing.engine.models.model import Reply, Request
from offing.engine.store.facts import Resumed, Stopped
from offing.engine.store.inbox import Cancel, posting
from offing.engine.store.people import CancelAsked, Posted, Refused
from offing.namespaces import Effect, FunctionNamespace, Tool, ToolContext, ToolOutput
from people import LOOK, People, pay, resumed
from worlds import ANY, Given, HandClock, async_tool, invoke, outside

NOW = HandClock().at


async def cancel(people: People, *, at_once: bool = False) -> None:
    """Somebody in another process cancels."""
    inbox = Inbox(people.store.scoped("local"), people.clock)
    await inbox.cancel("s.1", reason="wrong month", at_once=at_once, by="ann")


@dataclass
class Works:
    """Tools that work until they are let go, or told to end."""

    at_work: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    begun: list[str] = field(default_factory=list[str])
    ended: list[str] = field(default_factory=list[str])

    def tool(self, name: str, effect: Effect, *, alone: bool = False) -> Tool:
        async def work(arguments: Given, context: ToolContext) -> ToolOutput:
            self.begun.append(name)
            self.at_work.set()
            await self.let_go.wait()
            self.ended.append(name)
            return ToolOutput(f"{name} done")

        writes = None if alone else frozenset[str]({name})
        return async_tool(work, name, effect=effect, writes=writes)

    @property
    def tools(self) -> list[Tool]:
        read = self.tool("read", Effect.READ)
        put, once = self.tool("put", Effect.REPEATABLE), self.tool("once", Effect.ONCE)
        return [read, put, once, self.tool("later", Effect.ONCE, alone=True)]


BATCH = [invoke("read"), invoke("put"), invoke("once"), invoke("later")]
WORK: list[Step | str] = [
    Step(calls=[Call("tasks", {"items": [{"title": "look", "status": "done"}, {"title": "close"}]})]),
    Step(calls=BATCH),
    "Done.",
]
DETAIL = "cancelled by ann: wrong month; 1 of 2 tasks are dealt with; left to do: close"
LATER = "sys__later was not executed: the run was cancelled."


async def cancelled(
    people: People, works: Works, then: Callable[[People], Coroutine[Any, Any, None]]
) -> list[str]:
    """The run's results, after somebody cancelled it while calls were at work; it has gone on then."""
    people.tools = works.tools
    async with people.session() as session:
        async with session.run("Go.") as run:
            await works.at_work.wait()
            await then(people)
            result = await asyncio.wait_for(run.result(), 20)
        assert (result.why, result.detail.removesuffix("; of unknown outcome: 2.3")) == ("cancelled", DETAIL)
        assert (result.unknown == ("2.3",)) == result.detail.endswith("; of unknown outcome: 2.3")
        contents = (await people.contents())[1:]
        assert works.begun == ["read", "put", "once"]
        works.let_go.set()
        assert (await resumed(session)).answer == "Done."
    assert (await people.contents())[1:] == contents
    return contents


INTERRUPTED = [
    "sys__read was interrupted: the run was cancelled. It may be called again.",
    "sys__put was interrupted: the run was cancelled. It may be called again.",
    "Outcome unknown: sys__once was started and the run was cancelled before it ended. It may have taken "
    "effect. Inspect before repeating.",
    LATER,
]


async def test_short_calls_end_and_what_has_not_begun_is_not_begun() -> None:
    people, works = People(WORK, limits=Limits(cancel_grace_s=20)), Works()

    async def then(people: People) -> None:
        await cancel(people)
        works.let_go.set()

    assert await cancelled(people, works, then) == ["read done", "put done", "once done", LATER]


async def test_long_calls_are_interrupted_and_what_may_have_happened_is_reported_unknown() -> None:
    people, works = People(WORK, limits=Limits(cancel_grace_s=0.01)), Works()
    assert await cancelled(people, works, cancel) == INTERRUPTED
    assert works.ended == []


async def test_stop_is_at_once() -> None:
    people, works = People(WORK, limits=Limits(cancel_grace_s=3600)), Works()

    async def then(people: People) -> None:
        await cancel(people, at_once=True)

    assert await cancelled(people, works, then) == INTERRUPTED


async def test_stop_after_a_cancel_does_not_wait_for_what_the_cancel_would() -> None:
    people, works = People(WORK, limits=Limits(cancel_grace_s=3600)), Works()

    async def then(people: People) -> None:
        await cancel(people)
        for _ in range(20):
            await asyncio.sleep(0)
        await cancel(people, at_once=True)

    assert await cancelled(people, works, then) == INTERRUPTED


async def test_a_call_in_a_thread_keeps_its_lock_until_it_really_ends() -> None:
    import threading

    at_work, let_go = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def block(arguments: Given, context: ToolContext) -> ToolOutput:
        loop.call_soon_threadsafe(at_work.set)
        let_go.wait()
        return ToolOutput("late")

    people = People([Step(calls=[invoke("it")]), Step(calls=[invoke("it")]), "Done."])
    people.tools = [Tool("it", "It.", ANY, block, blocking=True)]
    async with people.session() as session:
        async with session.run("Go.") as run:
            await at_work.wait()
            await cancel(people, at_once=True)
            result = await asyncio.wait_for(run.result(), 20)
        assert (result.why, result.unknown) == ("cancelled", ("1.1",))
        assert (await resumed(session)).answered
        let_go.set()
    assert (await people.contents())[1] == (
        "sys__it was not executed: sys__it outlived its timeout and still runs."
    )


class Slow(Scripted):
    """A model that is slow in the middle of its first reply, or fails at first."""

    def __init__(self, fault: ModelFault | None = None) -> None:
        super().__init__(["Done.", "Done."])
        self.at_work = asyncio.Event()
        self.left = False
        self._fault = fault

    async def stream(self, request: Request) -> AsyncGenerator[Piece | Reply]:
        if not self.at_work.is_set():
            if self._fault is not None:
                self.at_work.set()
                raise self._fault
            yield Piece("text", "It")
            self.at_work.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.left = True
        async for part in super().stream(request):
            yield part


async def test_a_model_in_mid_reply_is_left_and_what_it_said_is_void() -> None:
    model = Slow()
    async with Engine(model, outside=outside()) as engine:
        session = engine.session("s")
        async with session.run("Go.") as run:
            await model.at_work.wait()
            result = await asyncio.wait_for(run.cancel(reason="enough", by="ann"), 20)
            events = [event async for event in session_events(session, run)]
        assert (result.why, result.detail, result.answer, model.left) == (
            "cancelled",
            "cancelled by ann: enough",
            "",
            True,
        )
        assert events == ["RunStarted", "RunResumed", "CancelRequested", "RunStopped"]
        assert (await resumed(session)).answer == "Done."


async def session_events(session: Any, run: Any) -> AsyncGenerator[str]:  # noqa: ANN401
    async for event in run:
        if not isinstance(event, Delta):
            yield type(event).__name__


async def test_watchers_are_told_that_the_draft_is_void() -> None:
    model = Slow()
    deltas: list[str] = []
    async with Engine(model, outside=outside()) as engine, engine.session("s").run("Go.") as run:
        watching = asyncio.create_task(_deltas(run, deltas))
        await model.at_work.wait()
        await run.cancel()
        await watching
    assert deltas == ["text", "restart"]


async def _deltas(run: Any, deltas: list[str]) -> None:  # noqa: ANN401
    async for event in run:
        if isinstance(event, Delta):
            deltas.append(event.kind)


@dataclass
class LongWait(HandClock):
    """A clock on which a wait does not end."""

    waiting: asyncio.Event = field(default_factory=asyncio.Event)

    async def sleep_until(self, at_us: int) -> None:
        self.waiting.set()
        await asyncio.Event().wait()


async def test_a_run_that_waits_to_ask_again_is_cancelled_at_once() -> None:
    model, clock = Slow(ModelFault("overloaded", "busy")), LongWait()
    async with Engine(model, outside=outside(clock)) as engine:
        session = engine.session("s")
        async with session.run("Go.") as run:
            await clock.waiting.wait()
            assert (await asyncio.wait_for(run.cancel(), 20)).why == "cancelled"
        assert (await resumed(session)).answer == "Done."


async def test_who_cancels_is_a_fact_and_an_event() -> None:
    people = People([Step(calls=[pay("A")]), "Done."])
    async with people.session() as session:
        await session.ask("Go.")
        await cancel(people)
        result = await resumed(session)
        assert (result.why, result.detail) == ("cancelled", "cancelled by ann: wrong month")
        assert (await people.contents(), people.till.done) == (["Not executed: the run was cancelled."], [])
        assert (await resumed(session)).answered
    asked = CancelAsked(Posted(1, "ann", NOW), "wrong month")
    assert await people.facts(CancelAsked) == [asked]
    rows = people.store.scoped("local").journal.read("s")
    events = [event async for row in rows if isinstance(event := event_of(row), CancelRequested)]
    assert [(one.run, one.by, one.reason, one.at_once) for one in events] == [
        ("s.1", "ann", "wrong month", False)
    ]


async def test_a_cancelled_run_approves_nothing_any_more() -> None:
    people = People([Step(calls=[pay("A"), LOOK]), "Done."])
    async with people.session() as session:
        await session.ask("Go.")
        await cancel(people)
        await session.approve("1.1")
        assert (await resumed(session)).why == "cancelled"
        (refused,) = await people.facts(Refused)
        assert isinstance(refused, Refused)
        assert refused.why == "call '1.1' waits for no approval. Open are: none"
        assert people.till.done == ["look"]
        with pytest.raises(NotOpen):
            await session.approve("1.1")
        assert (await resumed(session)).answered
    assert people.till.done == ["look"]


async def test_a_run_that_has_stopped_cannot_be_cancelled() -> None:
    people = People([Step(calls=[LOOK]), "Done."], limits=Limits(iterations=1))
    async with people.session() as session:
        async with session.run("Go.") as run:
            assert (await run.result()).why == "limit"
        with pytest.raises(NotOpen, match=r"run 's\.1': it has stopped already \(limit\)"):
            await session.cancel()
        assert (await run.cancel()).why == "limit"
        assert (await resumed(session)).answered
        with pytest.raises(NotOpen, match="it has answered"):
            await session.cancel()


async def test_a_cancel_of_a_run_that_has_ended_is_none_of_the_next_one() -> None:
    people = People(["One.", Step(calls=[LOOK]), "Two."])
    journal = people.store.scoped("local").journal
    async with people.session() as session:
        await session.ask("First.")
        await journal.post("s", posting("s.1", Cancel(), "ann", NOW))
        assert (await session.ask("Second.")).answer == "Two."
    why = "run 's.1' is not at work any more"
    assert await people.facts(Refused) == [Refused(Posted(1, "ann", NOW), "cancel", why)]


async def test_a_cancel_of_an_earlier_run_interrupts_nothing_of_the_next_one() -> None:
    people, works = People(["One.", Step(calls=[invoke("read")]), "Two."]), Works()
    people.tools = works.tools
    async with people.session() as session:
        await session.ask("First.")
        async with session.run("Second.") as run:
            await works.at_work.wait()
            late = posting("s.1", Cancel(hard=True), "ann", NOW)
            await people.store.scoped("local").journal.post("s", late)
            for _ in range(20):
                await asyncio.sleep(0)
            works.let_go.set()
            assert (await run.result()).answer == "Two."
    assert await people.contents() == ["read done"]


async def test_a_cancel_from_another_process_is_seen_while_calls_are_at_work(tmp_path: Path) -> None:
    """Another store on the same file shares nothing with this one but the file."""
    people, works = (
        People(WORK, store=SqliteStore(tmp_path / "s.db"), limits=Limits(cancel_grace_s=0)),
        Works(),
    )

    async def then(people: People) -> None:
        other = SqliteStore(tmp_path / "s.db")
        await cancel(replace(people, store=other))
        await other.close()

    assert await cancelled(people, works, then) == INTERRUPTED


async def test_a_cancel_that_was_taken_in_before_a_kill_is_carried_out_by_the_next_driver() -> None:
    people = People([Step(calls=[pay("A")]), "Done."])
    async with people.session() as session:
        await session.ask("Go.")
        await cancel(people)
        run = await session._lead("s.1")  # pyright: ignore[reportPrivateUsage]  # a driver that is killed
        (item,) = await run.mail.items()
        await run.record(Resumed("process 7"), CancelAsked(Posted(item.id, item.who, item.at)))
        await run.store.journal.release(run.lease)
    async with people.session() as session:
        assert (await resumed(session)).why == "cancelled"
    assert [fact.why for fact in await people.facts(Stopped) if isinstance(fact, Stopped)] == [
        "waiting",
        "cancelled",
    ]


async def test_other_runs_of_the_engine_go_on() -> None:
    works = Works()
    script = [Step(calls=[invoke("read")]), "Done."]
    async with Engine(Scripted(script), [FunctionNamespace("sys", works.tools)], outside=outside()) as engine:
        one, other = engine.session("s"), engine.session("t")
        async with one.run("Go.") as first, other.run("Go.") as second:
            await works.at_work.wait()
            assert (await first.cancel(at_once=True)).why == "cancelled"
            works.let_go.set()
            assert (await second.result()).answer == "Done."
