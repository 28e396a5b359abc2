"""A session of two runs as a process of its own, which kills itself at the N-th boundary it passes.

    python tests/kill_scenario.py FOLDER KILL_AT          one process; KILL_AT 0 lets it live
    python tests/kill_scenario.py --serve                 forks one such process for each line of input

FOLDER holds the store, or its URL in `store.url`, the session's files and `log.jsonl`: what the tools did
to the world, each line durable before the next boundary. A boundary is passed before, inside and after
each operation of the store that changes something, and at the beginning, in the middle and at the end of
each tool. A process that finds a session in the folder goes on with it. A third word on the line, the URL
of a server, lets a model be asked there.
"""

import asyncio
import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from offing.compaction.conversation import Message
from offing.engine import (
    ApprovalPolicy,
    ApprovalRule,
    Call,
    Engine,
    Playbook,
    Result,
    Scripted,
    Session,
    Workspace,
)
from offing.engine.errors import JournalUnreadable, LeaseHeld
from offing.engine.events import Progress
from offing.engine.handle import RunHandle
from offing.engine.models.anthropic import AnthropicModel
from offing.engine.models.model import Delta, Model, Part, Reply, Request
from offing.engine.state import State, fold
from offing.engine.store import store_at
from offing.engine.store.codec import KINDS, Body, decode
from offing.engine.store.inbox import Item, Posting
from offing.engine.store.journal import Artifacts, Journal, Lease, Row, Scope, Store
from offing.namespaces import (
    Effect,
    FunctionNamespace,
    Inspection,
    Record,
    Tool,
    ToolContext,
    ToolOutput,
)
from offing.namespaces.functions import tool

SESSION = "books"
REQUESTS = ("Close September.", "Pay the rest.")
ANSWERS = ("Closed: 25.00 GBP. [[world:txn/1]]", "Paid.")
FILE = "report.txt"
REPORTS = ("September is closed.\n" * 400, "October is open.\n" * 700)
NO_DROP = ApprovalPolicy((ApprovalRule("world__drop", "deny"),))
HELD = 3
"""How a process ends that finds another at work."""

Boundary = Callable[[str], None]


class Log:
    """What happened, one JSON object a line."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "log.jsonl"

    def add(self, what: str, **more: object) -> None:
        line = json.dumps({"what": what, **more}).encode() + b"\n"
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(file, line)
            os.fsync(file)
        finally:
            os.close(file)

    def read(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text().splitlines()]


class Boundaries:
    """Counts what is passed; the chosen one is the last."""

    def __init__(self, log: Log, kill_at: int) -> None:
        self.count = 0
        self._log = log
        self._kill_at = kill_at
        self._guard = threading.Lock()

    def __call__(self, name: str) -> None:
        with self._guard:
            self.count += 1
            if self.count == self._kill_at:
                self._log.add("kill", at=name)
                os.kill(os.getpid(), signal.SIGKILL)


def store_in(folder: Path) -> Store:
    """The session's store: where `store.url` says, else in a file."""
    url = folder / "store.url"
    return store_at(url.read_text() if url.exists() else folder / "store.db")


@dataclass(frozen=True, slots=True)
class BoundedStore:
    """A store with a boundary around each change."""

    inner: Store
    at: Boundary

    def scoped(self, tenant: str) -> Scope:
        scope = self.inner.scoped(tenant)
        return Scope(BoundedJournal(scope.journal, self.at), BoundedArtifacts(scope.artifacts, self.at))

    async def close(self) -> None:
        self.at("close")
        await self.inner.close()


@dataclass(frozen=True, slots=True)
class BoundedJournal:
    inner: Journal
    at: Boundary

    async def acquire(self, stream: str) -> Lease:
        lease = await self.inner.acquire(stream)
        self.at("acquired")
        return lease

    async def release(self, lease: Lease) -> None:
        self.at("release")
        await self.inner.release(lease)

    def append(self, lease: Lease, rows: Sequence[Row]) -> Awaitable[None]:
        kinds = "+".join(type(row.fact).__name__ for row in rows)
        self.at(f"{kinds} given")
        durable = asyncio.ensure_future(self.inner.append(lease, rows))
        self.at(f"{kinds} queued")
        durable.add_done_callback(lambda _: self.at(f"{kinds} durable"))
        return durable

    def read(self, stream: str, after: int = 0) -> AsyncIterator[Row]:
        return self.inner.read(stream, after)

    async def post(self, stream: str, posting: Posting) -> int:
        self.at("posting given")
        number = await self.inner.post(stream, posting)
        self.at("posting durable")
        return number

    async def inbox(self, stream: str) -> Sequence[Item]:
        return await self.inner.inbox(stream)

    def on_post(self, lease: Lease, tell: Callable[[], object]) -> None:
        self.inner.on_post(lease, tell)


@dataclass(frozen=True, slots=True)
class BoundedArtifacts:
    inner: Artifacts
    at: Boundary

    async def put(self, data: bytes) -> str:
        self.at("artifact given")
        ref = await self.inner.put(data)
        self.at("artifact durable")
        return ref

    async def get(self, ref: str) -> bytes:
        return await self.inner.get(ref)


class BoundedWorkspace(Workspace):
    """A workspace with a boundary before and after each writing."""

    __slots__ = ("at",)

    def write(self, path: str, text: str) -> int:
        at: Boundary = self.at
        at("file to be written")
        size = super().write(path, text)
        at("file written")
        return size


def bounded_workspace(root: Path, at: Boundary) -> Workspace:
    workspace = BoundedWorkspace(root)
    object.__setattr__(workspace, "at", at)
    return workspace


class World:
    """Tools of each effect, in tasks and in threads, that log what they did and under which key."""

    def __init__(self, log: Log, at: Boundary) -> None:
        self._log = log
        self._at = at

    @property
    def tools(self) -> list[Tool]:
        once, repeatable = Effect.ONCE, Effect.REPEATABLE
        return [
            tool(effect=Effect.READ)(self.look),
            tool(effect=Effect.READ)(self.peek),
            tool(effect=Effect.READ)(self.export),
            tool(effect=repeatable, writes=frozenset({"shelf"}))(self.put),
            tool(effect=repeatable, writes=frozenset({"stamp"}))(self.stamp),
            tool(effect=once, writes=frozenset({"bank"}))(self.pay),
            tool(effect=once, writes=frozenset({"post"}))(self.post),
            tool(effect=once, writes=frozenset({"wire"}), inspect=self.found)(self.wire),
            tool(effect=once)(self.close_books),
            tool(effect=once, destructive=True)(self.drop),
        ]

    async def look(self, context: ToolContext) -> ToolOutput:
        """Looks at the account."""
        await self._act("look", context)
        return ToolOutput("12.50 GBP", records=(Record("txn/1", Decimal("12.50"), "GBP"),))

    def peek(self, context: ToolContext) -> str:
        """Looks at the account, in a thread."""
        return self._act_blocking("peek", context)

    def export(self, context: ToolContext) -> str:
        """Gives more than a context holds."""
        return self._act_blocking("export", context) * 5_000

    async def put(self, item: str, context: ToolContext) -> str:
        """Puts an item on the shelf."""
        return await self._act("put", context)

    def stamp(self, context: ToolContext) -> str:
        """Stamps the paper."""
        return self._act_blocking("stamp", context)

    async def pay(self, amount: int, context: ToolContext) -> str:
        """Pays."""
        return await self._act("pay", context)

    def post(self, entry: str, context: ToolContext) -> str:
        """Posts an entry."""
        return self._act_blocking("post", context)

    async def wire(self, amount: int, context: ToolContext) -> str:
        """Wires money; the bank can be asked what became of it."""
        return await self._act("wire", context)

    async def close_books(self, context: ToolContext) -> str:
        """Closes the books, alone."""
        return await self._act("close_books", context)

    async def drop(self, context: ToolContext) -> str:
        """Drops the table."""
        return await self._act("drop", context)

    async def found(self, arguments: object, context: ToolContext) -> Inspection:
        self._at("inspection begins")
        keys = {line["key"] for line in self._log.read() if line["what"] == "effect"}
        done = context.idempotency_key in keys
        return Inspection("done", ToolOutput("wire done")) if done else Inspection("not done")

    async def _act(self, name: str, context: ToolContext) -> str:
        self._at(f"{name} begins")
        await asyncio.sleep(0)
        self._take_effect(name, context)
        await asyncio.sleep(0)
        self._at(f"{name} ends")
        return f"{name} done"

    def _act_blocking(self, name: str, context: ToolContext) -> str:
        self._at(f"{name} begins")
        self._take_effect(name, context)
        self._at(f"{name} ends")
        return f"{name} done"

    def _take_effect(self, name: str, context: ToolContext) -> None:
        self._log.add("effect", tool=name, key=context.idempotency_key, call=context.call)
        self._at(f"{name} took effect")


def invoke(name: str, **arguments: Any) -> Call:  # noqa: ANN401  JSON
    return Call("world__invoke_tool", {"tool": name, "arguments": arguments})


def write(text: str) -> Call:
    return Call("write_file", {"path": FILE, "text": text})


async def playbook(book: Playbook, text: str) -> str:
    if text == REQUESTS[1]:
        await book.calls(invoke("pay", amount=2), write(REPORTS[1]), invoke("peek"))
        return ANSWERS[1]
    await book.calls(
        invoke("look"),
        invoke("peek"),
        invoke("put", item="a"),
        invoke("pay", amount=1),
        invoke("post", entry="a"),
        invoke("drop"),
        invoke("pya", amount=1),
        invoke("pay", amount="much"),
        say="Everything at once.",
    )
    items: list[Any] = [{"title": "close", "status": "active"}]
    await book.calls(
        Call("tasks", {"items": items, "confidence": 0.5}),
        write(REPORTS[0]),
        invoke("wire", amount=3),
        invoke("stamp"),
        Call("world__export"),
    )
    await book.calls(
        Call("read", {"source": "result/2.5", "length": 100}),
        Call("calculate", {"expression": "a * 2", "inputs": {"a": "world:txn/1"}}),
        invoke("close_books"),
        Call("link_records", {"figure": "25.00 GBP", "records": ["world:txn/1"]}),
        invoke("put", item="b"),
    )
    return ANSWERS[0]


class Logged:
    """A model that logs what it is sent."""

    def __init__(self, inner: Model, log: Log) -> None:
        self.name = inner.name
        self._inner = inner
        self._log = log

    def encode(self, part: Part, before: Message | None = None) -> bytes:
        return self._inner.encode(part, before)

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        self._log.add("request", segments=[segment.decode() for segment in request.segments])
        return self._inner.stream(request)


def state_of(session: Session) -> State:
    return session._state  # pyright: ignore[reportPrivateUsage]  # no host needs it


async def _begin(session: Session, state: State, number: int) -> RunHandle:
    if state.runs < number:
        async with session.run(REQUESTS[number - 1]) as run:
            return run
    return await session.resume(f"{SESSION}.{number}")


async def work(folder: Path, kill_at: int, url: str = "") -> None:
    """Brings the session to its end, from wherever it is."""
    log = Log(folder)
    at = Boundaries(log, kill_at)
    model = _asked_at(url) if url else Scripted(playbook)
    store = BoundedStore(store_in(folder), at)
    world = FunctionNamespace("world", World(log, at).tools)
    async with Engine(Logged(model, log), [world], store=store, approvals=NO_DROP) as engine:
        journal = store.scoped("local").journal
        session = engine.session(SESSION, workspace=bounded_workspace(folder / "files", at))
        for number in range(1, len(REQUESTS) + 1):
            state = await fold(journal.read(SESSION))
            if state.runs <= number:
                log.add("result", **_told(await _finish(session, state, number, log)))
            if state_of(session).seq and state_of(session) != await fold(journal.read(SESSION)):
                raise AssertionError("the state is not the fold of the journal")
    log.add("passed", count=at.count)


async def _finish(session: Session, state: State, number: int, log: Log) -> Result:
    run = await _begin(session, state, number)
    seen = [event.seq async for event in run if not isinstance(event, Progress)]
    log.add("seen", until=max(seen, default=0))
    return await run.result()


def _told(result: Result) -> dict[str, object]:
    return {
        "run": result.run,
        "why": result.why,
        "answer": result.answer,
        "unknown": result.unknown,
        "tasks": [asdict(task) for task in result.tasks],
    }


def _asked_at(url: str) -> Model:
    return AnthropicModel("claude-opus-5-5", SecretStr("k"), base_url=url)


def live(words: Sequence[str]) -> int:
    """One process's life; how it ends."""
    folder, kill_at, *url = words
    try:
        asyncio.run(work(Path(folder), int(kill_at), *url))
    except LeaseHeld:
        return HELD
    except BaseException:  # noqa: BLE001  a forked child must not return into its parent's loop
        traceback.print_exc()
        return 1
    return 0


def _warm_up() -> None:
    """Loads what each child would otherwise load by itself, for long."""
    for name in ("anthropic", "jsonschema.validators", "sqlite3", "psycopg"):
        importlib.import_module(name)
    for kind in KINDS:
        with contextlib.suppress(JournalUnreadable):
            decode(Body(kind, 1, b"0"))
    gc.freeze()


def serve(lives: Callable[[Sequence[str]], int]) -> None:
    """Forks a process a line, from a parent that has imported everything and has no threads."""
    _warm_up()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(lives(line.split()))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve(live)
    else:
        sys.exit(live(sys.argv[1:]))
