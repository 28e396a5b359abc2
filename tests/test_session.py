"""One conversation: it begins, is left, interrupted and resumed, and shares nothing with others."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from offing.compaction.conversation import Media, Message, Text
from offing.engine import (
    About,
    Call,
    Engine,
    Limits,
    MemoryStore,
    OffingError,
    Playbook,
    Result,
    Scripted,
    SqliteStore,
    Step,
)
from offing.engine.answer import Citation
from offing.engine.audit import CacheAudit
from offing.engine.blocking import Blocking
from offing.engine.errors import ConfigurationError, Interrupted, LeaseHeld, NotFound, StoreError
from offing.engine.events import Delta, RunStarted, RunStopped
from offing.engine.handle import RunHandle
from offing.engine.store.facts import Began, Figure, Opened, Stored, Task
from offing.engine.store.journal import Lease, Row, Scope
from offing.engine.store.memory import MemoryJournal
from offing.namespaces import Attachment, Effect, FunctionNamespace, Record, Tool, ToolContext, ToolOutput
from offing.tracing import Usage
from worlds import Given, HandClock, World, async_tool, invoke, outside, state_of

PNG = b"\x89PNG\r\n\x1a\n"


class Total(BaseModel):
    total: int
    currency: str


class Gate:
    """A tool that says when it is at work and waits to be let go."""

    def __init__(self, effect: Effect = Effect.READ) -> None:
        self.at_work = asyncio.Event()
        self.let_go = asyncio.Event()
        self.ended: list[str] = []
        self.namespace = FunctionNamespace("sys", [async_tool(self._work, effect=effect)])

    async def _work(self, arguments: Given, context: ToolContext) -> ToolOutput:
        self.at_work.set()
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.ended.append(context.call)
            raise
        return ToolOutput(f"done {context.call}")


CALLING = [Step("I look.", [invoke("it")]), "It is done."]


async def test_a_question_is_answered_with_the_whole_result() -> None:
    async def it(arguments: Given, context: ToolContext) -> ToolOutput:
        return ToolOutput("ok", (known,))

    known = Record("sys:a", Decimal("12.50"), "GBP", text="A.")
    answer = "12.50 GBP [[sys:a]], and 3 [[ sys:b ]], again [[sys:a]]."
    used = Usage(input=5, output=2)
    tasks = Call("tasks", {"items": [{"title": "Look", "status": "done"}]})
    link = Call("link_records", {"figure": "12.50 GBP", "records": ["sys:a"]})
    batch = await World([async_tool(it)]).run(
        Step(calls=[invoke("it"), tasks], usage=used),
        Step(calls=[link], usage=used),
        Step(answer, usage=used),
        Step(answer, usage=used),  # sent back once, for the record that nobody read
    )
    invented = "there is no record sys:b; did you mean sys:a?"
    assert batch.result == Result(
        run="s.1",
        why="answered",
        detail="",
        answer=answer,
        citations=(Citation(1, "sys:a", known), Citation(2, "sys:b", None)),
        figures=(
            Figure("12.50 GBP", 0, 9, ("sys:a",)),
            Figure("3", 25, 26, ("sys:b",), invented),
        ),
        missing=(),
        skills={},
        links={"12.50 GBP": ("sys:a",)},
        tasks=(Task("Look", "done"),),
        unknown=(),
        iterations=4,
        retries=0,
        usage=Usage(input=20, output=8),
        cost=None,
        cache=CacheAudit(uncached=20),
    )
    assert batch.result.text().splitlines() == [
        "12.50 GBP [1], and 3 [not linked] [2], again [1].",
        "",
        "Not linked to a record that says the same:",
        f"- 3: {invented}",
        "",
        "Sources",
        "[1] sys:a: A. | 12.50 GBP",
        "[2] sys:b: NOT A RECORD OF THIS SESSION",
    ]


async def test_a_typed_answer_comes_as_its_type() -> None:
    model = Scripted(['{"total": 3, "currency": "GBP"}'])
    async with Engine(model, outside=outside()) as engine:
        assert await engine.session("s").ask("?", output=Total) == Total(total=3, currency="GBP")
    asked = model.requests[0].view[0]
    assert asked.blocks[0] == Text("?")
    assert asked.text.startswith(
        "?Answer with one JSON object, and nothing else, that fits this JSON Schema:"
    )


async def test_attached_pictures_are_shown_and_every_file_is_read_back_by_its_handle(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"1;2\r\n\xff")
    (tmp_path / "b.png").write_bytes(PNG)
    files = [tmp_path / "a.csv", str(tmp_path / "b.png"), Attachment("a.csv", b"other", "text/csv")]
    reads = [Call("read", {"source": "file/2-a.csv"}), Call("read", {"source": "file/b.png"})]
    model = Scripted([Step(calls=reads), "done", Step(calls=reads[:1]), "done"])
    async with Engine(model, outside=outside()) as engine:
        session = engine.session("s")
        await session.ask("See.", files=files)
        await session.ask("See again.", files=[Attachment("2-a.csv", b"third", "text/csv")])
        state = await state_of(engine, "s")
        kept = {
            handle: await engine.store.artifacts.get(stored.ref) for handle, stored in state.artifacts.items()
        }
    assert model.requests[0].view[0] == Message(
        "user",
        (
            Text("See."),
            Text(
                "Attached files, to be read by these handles:\n"
                "- file/a.csv: text/csv, 6 bytes\n"
                "- file/b.png: image/png, 8 bytes\n"
                "- file/2-a.csv: text/csv, 5 bytes"
            ),
            Media("image/png", "iVBORw0KGgo=", "b.png"),
        ),
    )
    assert kept == {
        "file/a.csv": b"1;2\r\n\xff",
        "file/b.png": PNG,
        "file/2-a.csv": b"other",
        "result/1.2/file_b.png": PNG,
        "file/2-2-a.csv": b"third",
    }
    first, second = (message.results for message in model.requests[-1].view if message.results)
    assert first[0].content == second[0].content == "[file/2-a.csv: characters 0 to 5 of 5]\nother"
    assert first[1].media == (Media("image/png", "iVBORw0KGgo=", "file_b.png"),)


@pytest.mark.parametrize(
    ("text", "files", "told"),
    [
        ("", [], "a message has to say something; got ''"),
        (" \n", [], "a message has to say something; got ' \\n'"),
        ("x", ["/nowhere/at/all.csv"], "cannot attach '/nowhere/at/all.csv': No such file or directory"),
        ("x", ["/tmp"], "cannot attach '/tmp': Is a directory"),
    ],
)
async def test_a_message_that_cannot_be_used_is_refused_and_leaves_the_session_free(
    text: str, files: list[str], told: str
) -> None:
    async with Engine(Scripted(["done"]), outside=outside()) as engine:
        session = engine.session("s")
        with pytest.raises(ConfigurationError) as caught:
            await session.ask(text, files=files)
        assert str(caught.value) == told
        assert (await session.ask("Go on.")).answered


async def test_leaving_the_block_detaches_and_the_run_goes_on() -> None:
    gate = Gate()
    async with Engine(Scripted(CALLING), [gate.namespace], outside=outside()) as engine:
        async with engine.session("s").run("Go.") as run:
            await gate.at_work.wait()
        gate.let_go.set()
        result = await run.result()
    assert (result.run, result.answer, gate.ended) == ("s.1", "It is done.", [])


async def test_a_watcher_or_waiter_that_is_cancelled_does_not_cancel_the_run() -> None:
    gate = Gate()
    async with Engine(Scripted(CALLING), [gate.namespace], outside=outside()) as engine:
        session = engine.session("s")
        waiting = asyncio.create_task(session.ask("Go."))
        await gate.at_work.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        gate.let_go.set()
        async with aclosing(session.events()) as events:
            while not isinstance(await anext(events), RunStopped):
                pass
    assert gate.ended == []


@pytest.mark.parametrize("effect", [Effect.READ, Effect.ONCE])
async def test_a_session_closed_in_the_middle_goes_on_in_another_engine(
    effect: Effect, tmp_path: Path
) -> None:
    gate, path = Gate(effect), tmp_path / "journal.db"
    engine = Engine(Scripted(CALLING), [gate.namespace], store=SqliteStore(path), outside=outside())
    async with engine.session("s").run("Go.") as run:
        await gate.at_work.wait()
    await engine.close()
    assert gate.ended == ["1.1"]
    again = Gate(effect)
    again.let_go.set()
    model = Scripted(CALLING)
    async with Engine(model, [again.namespace], store=SqliteStore(path), outside=outside()) as other:
        handle = await other.resume(run.id)
        names = [type(event).__name__ async for event in handle]
        result = await handle.result()
        rows = [row.seq async for row in other.store.journal.read("s")]
    assert (result.answer, result.iterations) == ("It is done.", 2)
    assert result.unknown == (() if effect is Effect.READ else ("1.1",))
    assert names == ["RunResumed", "CallFinished", "Delta", "ReplyFinished", "RunStopped"]
    assert rows == list(range(1, len(rows) + 1))


async def test_closing_tells_watchers_and_waiters_that_the_run_was_interrupted() -> None:
    gate = Gate()
    engine = Engine(Scripted(CALLING), [gate.namespace], outside=outside())
    session = engine.session("s")
    async with session.run("Go.") as run:
        waiter = asyncio.create_task(run.result())
        names: list[str] = []
        watcher = asyncio.create_task(_listed(run, names))
        await gate.at_work.wait()
        await session.close()
        for waiting in (waiter, watcher):
            with pytest.raises(
                Interrupted, match=r"run 's\.1' was interrupted: its session was closed\. Resume it"
            ):
                await waiting
    assert [name for name in names if name != "Delta"] == ["RunStarted", "RunResumed", "ReplyFinished"]
    with pytest.raises(
        ConfigurationError, match=r"session 's' is closed: open it again with Engine\.session"
    ):
        await session.ask("Again.")
    gate.let_go.set()
    assert (await (await engine.resume("s.1")).result()).answered
    await engine.close()


async def test_who_watches_a_run_after_it_was_interrupted_is_told_instead_of_waiting_for_ever() -> None:
    gate = Gate()
    engine = Engine(Scripted(CALLING), [gate.namespace], outside=outside())
    session = engine.session("s")
    async with session.run("Go.") as run:
        await gate.at_work.wait()
    idle = asyncio.create_task(anext(session.events(after=99)))
    await asyncio.sleep(0)
    await session.close()
    names: list[str] = []
    with pytest.raises(Interrupted, match=r"run 's\.1' was interrupted"):
        await _listed(run, names)
    assert names == ["RunStarted", "RunResumed", "ReplyFinished"]
    for watcher in (idle, anext(session.events(after=99))):
        with pytest.raises(Interrupted):
            await watcher
    await engine.close()


async def test_a_run_whose_session_is_closed_before_its_first_step_gives_its_lease_back() -> None:
    engine = Engine(Scripted(["Done."]), outside=outside())
    session = engine.session("s")
    async with session.run("Go.") as run:
        await session.close()
    with pytest.raises(Interrupted):
        await run.result()
    assert (await (await engine.resume("s.1")).result()).answer == "Done."
    await engine.close()


class Slow:
    """A system that connects once it is let go."""

    name = "slow"
    guide = None

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.let_go = asyncio.Event()

    @asynccontextmanager
    async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
        self.asked.set()
        await self.let_go.wait()
        yield ()


async def test_a_session_closed_while_it_connects_begins_no_run() -> None:
    slow, model = Slow(), Scripted(["Done."])
    engine = Engine(model, [slow], outside=outside())
    session = engine.session("s")
    asking = asyncio.create_task(session.ask("Go."))
    await slow.asked.wait()
    closing = asyncio.create_task(session.close())
    await asyncio.sleep(0)
    slow.let_go.set()
    await closing
    with pytest.raises(ConfigurationError, match="session 's' is closed"):
        await asking
    assert model.requests == []
    assert [row async for row in engine.store.journal.read("s")] == []
    await engine.close()


async def test_nothing_is_connected_for_a_run_that_does_not_exist() -> None:
    slow = Slow()
    async with Engine(Scripted([]), [slow], outside=outside()) as engine:
        with pytest.raises(NotFound, match=r"there is no run 'made-up\.1' to resume in session 'made-up'"):
            await asyncio.wait_for(engine.resume("made-up.1"), 10)
    assert not slow.asked.is_set()


async def test_closing_a_session_again_leaves_the_next_one_of_its_name_alone() -> None:
    async with Engine(Scripted(["Done."]), outside=outside()) as engine:
        former = engine.session("s")
        await former.close()
        session = engine.session("s")
        await former.close()
        assert engine.session("s") is session


async def test_a_run_that_stops_before_it_says_anything_does_not_answer_with_the_run_before() -> None:
    async with Engine(Scripted(["One."]), outside=outside()) as engine:
        session = engine.session("s")
        assert (await session.ask("First.")).answer == "One."
        second = await session.ask("Second.")  # the script has no step for it
    assert (second.why, second.answer) == ("fault", "")


async def test_a_session_that_another_process_began_meanwhile_keeps_that_ones_frame() -> None:
    store = MemoryStore()
    model = Scripted(["One.", "Two."])
    late = Engine(model, store=store, outside=outside()).session("s", about=About(company="Late Ltd"))
    with pytest.raises(ConfigurationError):
        await late.ask("")
    async with Engine(Scripted(["One."]), store=store, outside=outside()) as other:
        await other.session("s", about=About(company="First Ltd")).ask("First.")
    assert (await late.ask("Second.")).answer == "Two."
    assert b"First Ltd" in model.requests[0].segments[1]


class Jammed(Scripted):
    """A model whose connections cannot be closed."""

    async def close(self) -> None:
        raise OSError("jammed")


async def test_a_model_that_cannot_be_closed_leaves_the_store_closed(tmp_path: Path) -> None:
    engine = Engine(Jammed(["Done."]), store=SqliteStore(tmp_path / "j.db"), outside=outside())
    assert (await engine.ask("Go.")).answered
    with pytest.raises(OSError, match="jammed"):
        await engine.close()
    with pytest.raises(StoreError, match="the store is closed"):
        await engine.ask("Again.")


async def _listed(run: RunHandle, names: list[str]) -> None:
    async for event in run:
        names.append(type(event).__name__)


async def test_a_runs_events_can_be_had_again_and_are_its_own() -> None:
    async with Engine(Scripted(["One.", "Two."]), outside=outside()) as engine:
        session = engine.session("s")
        await session.ask("First.")
        async with session.run("Second.") as run:
            live = [event async for event in run]
        again = [event async for event in run]
        resumed = [event async for event in await session.resume(run.id)]
    durable = [event for event in live if not isinstance(event, Delta)]
    assert again == durable == resumed
    assert isinstance(durable[0], RunStarted)
    assert durable[0].text == "Second."


class Mistaken(MemoryJournal):
    """A host's own journal with a mistake in it."""

    def append(self, lease: Lease, rows: Sequence[Row]) -> Awaitable[None]:
        if lease.last == 0 and rows[0].seq > 3:
            raise ZeroDivisionError("a mistake")
        return super().append(lease, rows)


async def test_watchers_are_told_of_a_mistake_in_a_hosts_own_store() -> None:
    engine = Engine(Scripted(["One."]), store=Own(Mistaken()), outside=outside())
    async with engine.session("s").run("Go.") as run:
        with pytest.raises(ZeroDivisionError):
            async for _ in run:
                pass
        with pytest.raises(ZeroDivisionError):
            await run.result()


async def test_an_interrupted_run_has_to_be_resumed_before_another_begins() -> None:
    gate, store = Gate(), MemoryStore()
    engine = Engine(Scripted(CALLING), [gate.namespace], store=store, outside=outside())
    async with engine.session("s").run("Go."):
        await gate.at_work.wait()
    await engine.close()
    gate.let_go.set()
    script = [*CALLING, "Second."]
    async with Engine(Scripted(script), [gate.namespace], store=store, outside=outside()) as other:
        with pytest.raises(ConfigurationError, match=r"run 's\.1' was interrupted: resume it first"):
            await other.session("s").ask("Next.")
        assert (await (await other.resume("s.1")).result()).answered
        assert (await other.session("s").ask("Next.")).answer == "Second."


async def test_a_run_that_answered_is_given_again_and_not_worked_on() -> None:
    model = Scripted(["First.", "Second."])
    async with Engine(model, outside=outside()) as engine:
        first = await engine.session("s").ask("One.")
        handle = await engine.resume("s.1")
        assert await handle.result() == first
        assert [type(event).__name__ async for event in handle][-1] == "RunStopped"
        assert len(model.requests) == 1
        for name in ("s.2", "s.0", "s", "t.1"):
            with pytest.raises(NotFound):
                await engine.resume(name)
        assert (await engine.session("s").ask("Two.")).run == "s.2"


async def test_one_run_works_at_a_time_in_a_session() -> None:
    gate, store = Gate(), MemoryStore()
    engine = Engine(Scripted(CALLING), [gate.namespace], store=store, outside=outside())
    async with engine, engine.session("s").run("Go.") as run:
        await gate.at_work.wait()
        with pytest.raises(LeaseHeld, match="session 's' is being worked on: wait for its run to stop"):
            await engine.session("s").ask("Me too.")
        other = Engine(Scripted([]), store=store, outside=outside())
        with pytest.raises(LeaseHeld):
            await other.resume(run.id)
        gate.let_go.set()
        assert (await run.result()).answered
        await other.session("s").close()


async def test_what_two_ask_at_once_in_one_session_is_asked_by_one() -> None:
    gate = Gate()
    async with Engine(Scripted(CALLING), [gate.namespace], outside=outside()) as engine:
        session = engine.session("s")
        tasks = [asyncio.create_task(session.ask("Go.")) for _ in range(2)]
        await gate.at_work.wait()
        gate.let_go.set()
        first, second = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(first, Result)
    assert isinstance(second, LeaseHeld)


@pytest.mark.parametrize("name", ["a b", "a/b", "a.b", "x" * 65, "ü", "a\n"])
def test_a_session_name_that_cannot_be_used_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Engine(Scripted([]), outside=outside()).session(name)
    assert str(caught.value) == (
        f"a session cannot be called {name!r}: use 1 to 64 letters, digits, '_' and '-'"
    )


async def test_tenants_with_the_same_session_name_share_nothing() -> None:
    model = Scripted(["done"])
    store = MemoryStore()
    async with Engine(model, store=store, outside=outside()) as engine:
        await engine.scoped("a").session("s").ask("The secret of a.", files=[Attachment("a", b"a")])
        other = engine.scoped("b")
        assert other.session("s") is not engine.scoped("a").session("s")
        assert engine.scoped("a").session("s") is engine.scoped("a").session("s")
        with pytest.raises(NotFound):
            await other.resume("s.1")
        assert [row async for row in other.store.journal.read("s")] == []
        assert [row async for row in engine.store.journal.read("s")] == []
        with pytest.raises(ConfigurationError, match="a tenant needs a name; got ''"):
            engine.scoped("")


async def _investigation(book: Playbook, text: str) -> str:
    first = await book.call("sys__read_it", key=text)
    both = await book.calls(
        Call("sys__note_it", {"key": f"{text}/{first.text}"}), Call("tasks", {"items": [{"title": text}]})
    )
    return f"{text}: {both[0].text}"


async def test_a_thousand_sessions_in_one_process_with_interleaved_runs_share_nothing(tmp_path: Path) -> None:
    count, before = 1_000, set(threading.enumerate())
    everyone = asyncio.Barrier(count)
    seen: dict[str, list[str]] = {}

    async def read_it(arguments: Given, context: ToolContext) -> ToolOutput:
        await everyone.wait()  # all sessions are inside a run before any goes on
        seen.setdefault(context.run, []).append(arguments["key"])
        return ToolOutput(f"of {context.run}", (Record(arguments["key"]),))

    async def note_it(arguments: Given, context: ToolContext) -> ToolOutput:
        seen[context.run].append(arguments["key"])
        return ToolOutput(arguments["key"])

    tools = [async_tool(read_it, "read_it", effect=Effect.READ), async_tool(note_it, "note_it")]
    store = SqliteStore(tmp_path / "journal.db")
    model = Scripted(_investigation)
    async with Engine(model, [FunctionNamespace("sys", tools)], store=store, outside=outside()) as engine:
        results = await asyncio.gather(*(engine.session(f"c{n}").ask(f"q{n}") for n in range(count)))
        states = [await state_of(engine, f"c{n}") for n in range(0, count, 97)]
    assert [result.answer for result in results] == [f"q{n}: q{n}/of c{n}.1" for n in range(count)]
    assert seen == {f"c{n}.1": [f"q{n}", f"q{n}/of c{n}.1"] for n in range(count)}
    assert [list(state.records) for state in states] == [[f"sys:q{n}"] for n in range(0, count, 97)]
    assert all(state.opened == states[0].opened for state in states)
    assert len(set(threading.enumerate()) - before) < 40


async def test_a_session_keeps_what_its_host_needs_to_open_it_again() -> None:
    async with Engine(Scripted(["done"]), outside=outside()) as engine:
        await engine.session("s", about=About(user="Ann"), setup={"files": ["a.csv"]}).ask("Go.")
        rows = [row.fact async for row in engine.store.journal.read("s")]
        bad = engine.session("t", setup={"x": float("nan")})
        with pytest.raises(ConfigurationError, match="what was given cannot be kept"):
            await bad.ask("Go.")
    assert isinstance(rows[0], Opened)
    assert rows[0].setup == {"files": ["a.csv"]}


async def test_the_files_of_a_run_are_part_of_its_first_fact() -> None:
    async with Engine(Scripted(["done"]), limits=Limits(iterations=3), outside=outside()) as engine:
        await engine.session("s").ask("Go.", files=[Attachment("a", b"x", "text/plain")])
        rows = [row.fact async for row in engine.store.journal.read("s")]
    began = rows[1]
    assert isinstance(began, Began)
    ref = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    assert began == Began(
        Message(
            "user",
            (
                Text("Go."),
                Text("Attached files, to be read by these handles:\n- file/a: text/plain, 1 bytes"),
            ),
        ),
        Limits(iterations=3),
        None,
        (Stored("file/a", ref, 1, "text/plain"),),
    )


class Failing(MemoryJournal):
    """A journal whose n-th append fails."""

    def __init__(self, fails: int) -> None:
        super().__init__()
        self.left = fails

    def append(self, lease: Lease, rows: Sequence[Row]) -> Awaitable[None]:
        self.left -= 1
        if self.left == 0:
            failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            failed.set_exception(StoreError("the disk is full"))
            return failed
        return super().append(lease, rows)


class Own(MemoryStore):
    """A store with a journal of the host's own."""

    def __init__(self, journal: MemoryJournal) -> None:
        super().__init__()
        self.kept = Scope(journal, super().scoped("x").artifacts)

    def scoped(self, tenant: str) -> Scope:
        return self.kept


@pytest.mark.parametrize("fails", range(2, 6))
async def test_a_failing_store_ends_the_run_with_its_error_and_the_same_session_can_resume(
    fails: int,
) -> None:
    gate = Gate(Effect.REPEATABLE)
    gate.let_go.set()
    store = Own(Failing(fails))
    async with Engine(Scripted(CALLING), [gate.namespace], store=store, outside=outside()) as engine:
        session = engine.session("s")
        async with session.run("Go.") as run:
            with pytest.raises(StoreError, match="the disk is full"):
                [event async for event in run]
        with pytest.raises(StoreError, match="the disk is full"):
            await run.result()
        result = await (await session.resume("s.1")).result()
    assert (result.answer, result.unknown) == ("It is done.", ())


async def test_a_session_whose_first_append_failed_begins_anew() -> None:
    async with Engine(Scripted(["done"]), store=Own(Failing(1)), outside=outside()) as engine:
        session = engine.session("s")
        with pytest.raises(StoreError):
            await session.ask("Go.")
        assert (await session.ask("Go.")).run == "s.1"


async def test_rows_carry_the_injected_time() -> None:
    clock = HandClock()
    async with Engine(Scripted(["done", "done"]), outside=outside(clock)) as engine:
        await engine.session("s").ask("Go.")
        clock.at += 14_000_000
        await engine.session("s").ask("Go.")
        rows: list[Row] = [row async for row in engine.store.journal.read("s")]
    assert [row.at - HandClock().at for row in rows] == [0] * 5 + [14_000_000] * 4
    assert [row.run for row in rows] == ["s.1"] * 5 + ["s.2"] * 4


# Without an event loop.


def test_the_blocking_face_answers_again_and_again_and_in_types() -> None:
    model = Scripted(lambda book, text: _echo(text))
    with Engine(model, outside=outside()).blocking as engine:
        assert engine.ask("One.").answer == "One."
        assert engine.ask('{"total": 1, "currency": "EUR"}', output=Total) == Total(total=1, currency="EUR")
        assert engine.ask("See.", files=[Attachment("a", b"x")]).answer.startswith("See.")


async def _echo(text: str) -> str:
    return text.partition("Answer with one JSON object")[0]


async def test_the_blocking_face_works_inside_a_running_loop_and_from_many_threads() -> None:
    model = Scripted(lambda book, text: _echo(text))
    with Engine(model, outside=outside()).blocking as engine:
        assert engine.ask("In a notebook.").answer == "In a notebook."
        answers = await asyncio.gather(*(asyncio.to_thread(engine.ask, f"{n}") for n in range(20)))
    assert [result.answer for result in answers] == [str(n) for n in range(20)]


def test_the_blocking_face_raises_what_asking_raises() -> None:
    with Engine(Scripted([]), outside=outside()).blocking as engine:
        with pytest.raises(ConfigurationError):
            engine.ask("")
        assert engine.ask("x").why == "fault"


def test_closing_the_blocking_face_frees_whoever_waits_for_an_answer() -> None:
    begun, told = threading.Event(), list[str]()

    class Hanging:
        """An engine whose calls do not end by themselves, nor when it is closed."""

        async def ask(self, text: str, **more: object) -> Any:  # noqa: ANN401
            begun.set()
            await asyncio.Event().wait()

        async def close(self) -> None:
            pass

    engine = Blocking(Hanging())

    def wait() -> None:
        with pytest.raises(Interrupted, match="the engine was closed before there was an answer"):
            engine.ask("Go.")
        told.append("told")

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    assert begun.wait(10)
    engine.close()
    waiting.join(10)
    assert told == ["told"]


def test_the_blocking_faces_of_all_tenants_are_served_by_one_thread() -> None:
    engine = Engine(Scripted(lambda book, text: _echo(text)), outside=outside())
    before = _loops()
    for tenant in ("a", "b", "a"):
        assert engine.scoped(tenant).blocking.ask("Go.").answer == "Go."
    assert len(_loops() - before) == 1
    engine.blocking.close()


def _loops() -> set[threading.Thread]:
    """By themselves: those of other engines may end at any time."""
    return {thread for thread in threading.enumerate() if thread.name == "offing-loop"}


def test_the_errors_of_a_session_are_the_engines_own() -> None:
    assert all(
        issubclass(kind, OffingError) for kind in (ConfigurationError, LeaseHeld, NotFound, StoreError)
    )
