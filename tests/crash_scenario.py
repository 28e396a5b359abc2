"""Two requests with all that a kill can meet: parallel side effects, approvals, a denial, a question, a
message and a cancellation, over tools of each effect, in tasks and in threads.

`offing.engine.crashes` finds `scenario` here, and the same over a real wire as `over_the_wire`.
"""

import asyncio
import hashlib
import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from offing.engine import ApprovalPolicy, ApprovalRule, Call, Engine, Limits, Playbook, Result, Scripted
from offing.engine.clock import SystemClock
from offing.engine.crashes import Deed, EngineScenario, Place
from offing.engine.inbox import Inbox
from offing.engine.models.anthropic import AnthropicModel
from offing.engine.models.model import Model
from offing.engine.resident.workspace import Workspace
from offing.engine.store import store_at
from offing.engine.store.facts import Began, Fact, Opened, Resumed, Settled, Started, Stopped, Stored
from offing.engine.store.journal import Row, Scope
from offing.engine.store.people import (
    Answered,
    CancelAsked,
    Decided,
    Expired,
    Questioned,
    Refused,
    Requested,
    Said,
)
from offing.namespaces import (
    Effect,
    FunctionNamespace,
    Inspection,
    Record,
    Tool,
    ToolContext,
    ToolOutput,
    tool,
)

SESSION, LAST = "crash", "crash.2"
REQUESTS = ("Close September.", "Pay what is due.")
MESSAGE, REPLY = "And post it.", "The second one."
ANSWERS = ("Closed: 25.00 GBP. [[world:txn/1]]", "Posted, in part.")
FILE, REPORT = "report.txt", "September is closed.\n" * 400
POLICY = ApprovalPolicy((ApprovalRule("world__drop", "deny"),))
UNINSPECTED = {"world__give", "world__post", "world__close_books", "world__pay"}
"""The tools of effect ONCE whose outcome nobody can look up."""


class World:
    """What was done, one JSON object a line, and the tools that do it."""

    place: Place
    """Where this process works. The tools are made once, before it is known."""

    @property
    def _path(self) -> Path:
        return self.place.folder / "world.jsonl"

    def deeds(self) -> list[Deed]:
        if not self._path.exists():
            return []
        return [Deed(*json.loads(line)) for line in self._path.read_text().splitlines()]

    def tools(self) -> list[Tool]:
        read, repeatable, once = Effect.READ, Effect.REPEATABLE, Effect.ONCE
        return [
            tool(effect=read)(self.look),
            tool(effect=read)(self.peek),
            tool(effect=read)(self.export),
            tool(effect=repeatable, writes=frozenset({"shelf"}))(self.put),
            tool(effect=repeatable, writes=frozenset({"stamp"}))(self.stamp),
            tool(effect=once, writes=frozenset({"bank"}))(self.give),
            tool(effect=once, writes=frozenset({"post"}))(self.post),
            tool(effect=once, writes=frozenset({"wire"}), inspect=self.found)(self.wire),
            tool(effect=once)(self.close_books),
            tool(effect=once, destructive=True)(self.drop),
            tool(destructive=True, writes=frozenset({"pay"}))(self.pay),
            tool(destructive=True, writes=frozenset({"settle"}), inspect=self.found)(self.settle),
            tool(effect=read)(self.give_up),
        ]

    async def look(self) -> ToolOutput:
        """Looks at the account."""
        return ToolOutput("12.50 GBP", records=(Record("txn/1", Decimal("12.50"), "GBP"),))

    def peek(self) -> str:
        """Looks at the account, in a thread."""
        return "12.50 GBP"

    def export(self) -> str:
        """Gives more than a context holds."""
        return "12.50 GBP" * 5_000

    async def put(self, item: str, context: ToolContext) -> str:
        """Puts an item on the shelf, where it is but once."""
        return await self._act(f"put {item}", context)

    def stamp(self, context: ToolContext) -> str:
        """Stamps the paper; one stamp covers the other."""
        return self._do("stamp", context)

    async def give(self, amount: int, context: ToolContext) -> str:
        """Gives money."""
        return await self._act(f"give {amount}", context)

    def post(self, entry: str, context: ToolContext) -> str:
        """Posts an entry."""
        return self._do(f"post {entry}", context)

    async def wire(self, amount: int, context: ToolContext) -> str:
        """Wires money; the bank can be asked what became of it."""
        return await self._act(f"wire {amount}", context)

    async def close_books(self, context: ToolContext) -> str:
        """Closes the books, alone."""
        return await self._act("close_books", context)

    async def drop(self, context: ToolContext) -> str:
        """Drops the table."""
        return await self._act("drop", context)

    async def pay(self, to: str, context: ToolContext) -> str:
        """Pays."""
        return await self._act(f"pay {to}", context)

    async def settle(self, to: str, context: ToolContext) -> str:
        """Settles a bill; the bank can be asked what became of it."""
        return await self._act(f"settle {to}", context)

    async def give_up(self) -> str:
        """Cancels its own run, as somebody else would, and never comes to an end."""
        inbox = Inbox(store_at(self.place.store).scoped("local"), SystemClock())
        await inbox.cancel(LAST, reason="enough", by="ann", key="cancel")
        await asyncio.Event().wait()
        return "never"

    async def found(self, arguments: object, context: ToolContext) -> Inspection:
        done = context.idempotency_key in {deed.key for deed in self.deeds()}
        return Inspection("done", ToolOutput("done")) if done else Inspection("not done")

    async def _act(self, what: str, context: ToolContext) -> str:
        await asyncio.sleep(0)
        done = self._do(what, context)
        await asyncio.sleep(0)
        return done

    def _do(self, what: str, context: ToolContext) -> str:
        line = json.dumps(Deed(what, context.idempotency_key)).encode() + b"\n"
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, line)
        os.close(file)
        return "done"


WORLD = World()
TOOLS = FunctionNamespace("world", WORLD.tools())


def deeds(place: Place) -> Iterable[Deed]:
    """An item on a shelf, or a stamp, is there once however often it was put."""
    done = WORLD.deeds()
    again = [deed for deed in set(done) if deed.what.startswith(("put ", "stamp"))]
    return [*again, *(deed for deed in done if deed not in again)]


def invoke(name: str, **arguments: Any) -> Call:  # noqa: ANN401  JSON
    return Call("world__invoke_tool", {"tool": name, "arguments": arguments})


async def play(book: Playbook, text: str) -> str:
    if text == REQUESTS[0]:
        return await close(book)
    if text == MESSAGE:
        await book.calls(invoke("post", entry="x"), Call("world__give_up"), invoke("look"))
        return ANSWERS[1]
    await book.calls(
        invoke("look"),
        Call("world__pay", {"to": "A"}),
        Call("world__settle", {"to": "B"}),
        Call("world__pay", {"to": "C"}),
        Call("ask_user", {"question": "Which one?"}),
    )
    return "Nobody said anything."


async def close(book: Playbook) -> str:
    await book.calls(
        invoke("look"),
        invoke("peek"),
        invoke("put", item="a"),
        invoke("give", amount=1),
        invoke("post", entry="a"),
        invoke("drop"),
        invoke("gvie", amount=1),
        invoke("give", amount="much"),
        say="Everything at once.",
    )
    items: list[Any] = [{"title": "close", "status": "active"}]
    await book.calls(
        Call("tasks", {"items": items, "confidence": 0.5}),
        Call("write_file", {"path": FILE, "text": REPORT}),
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


def engine_of(place: Place, model: Model) -> Engine:
    WORLD.place = place
    limits = Limits(cancel_grace_s=0.02)
    engine = Engine(model, [TOOLS], store=store_at(place.store), limits=limits, approvals=POLICY)
    engine.session(SESSION, workspace=Workspace(place.folder / "files"))
    return engine


async def say_all(inbox: Inbox, result: Result) -> None:
    """What people say to the run that waits: a message first, then a word on all that is open."""
    run = result.run
    await inbox.say(run, MESSAGE, by="ann", key="message")
    for question in result.questions:
        await inbox.answer(run, question.call, REPLY, by="ann", key=question.call)
    for asked in result.approvals:
        call, key = asked.call, asked.call
        if asked.arguments["to"] == "C":
            await inbox.deny(run, call, reason="C is no supplier", by="bob", key=key)
        else:
            await inbox.approve(run, call, by="bob", digest=asked.digest, key=key)


class Left:
    """What the processes left in the store."""

    def __init__(self, rows: Sequence[Row], scope: Scope, place: Place) -> None:
        self.rows, self.scope, self.place = rows, scope, place

    def facts(self, *kinds: type[Fact]) -> list[Any]:
        return [row.fact for row in self.rows if isinstance(row.fact, kinds)]


def problems(place: Place) -> Iterable[str]:
    """What is wrong with what was left, beside what every sweep looks at."""
    return asyncio.run(_problems(place))


async def _problems(place: Place) -> list[str]:
    store = store_at(place.store)
    scope = store.scoped("local")
    left = Left([row async for row in scope.journal.read(SESSION)], scope, place)
    inbox = await scope.journal.inbox(SESSION)
    found = [problem for check in (_doubts, _runs, _words, _failed, _file) for problem in check(left)]
    found += [problem async for problem in _artifacts(left)]
    await store.close()
    return found + [f"in the inbox: {inbox}"] * bool(inbox)


def _doubts(left: Left) -> Iterator[str]:
    """Exactly the calls in doubt that nobody could look up were reported unknown, and the model was told."""
    resumes = [row.seq for row in left.rows if isinstance(row.fact, Resumed)]
    started = {row.fact.call: row.seq for row in left.rows if isinstance(row.fact, Started)}
    in_doubt = {
        row.fact.result.call
        for row in left.rows
        if isinstance(row.fact, Settled) and row.fact.tool in UNINSPECTED
        if any(started.get(row.fact.result.call, row.seq) < resume < row.seq for resume in resumes)
    }
    unknown = {fact.result.call for fact in left.facts(Settled) if fact.unknown}
    told = {fact.result.call for fact in left.facts(Settled) if "Outcome unknown" in fact.result.content}
    if not in_doubt == unknown == told:
        yield f"in doubt: {in_doubt}, reported unknown: {unknown}, told: {told}"


def _runs(left: Left) -> Iterator[str]:
    """Each run began once; the rows stand without gap; each run stopped as it had to."""
    if [fact.message.text for fact in left.facts(Began)] != list(REQUESTS) or len(left.facts(Opened)) != 1:
        yield f"began: {left.facts(Began)}"
    if [row.seq for row in left.rows] != list(range(1, len(left.rows) + 1)):
        yield f"rows: {[row.seq for row in left.rows]}"
    stops = Counter(fact.why for fact in left.facts(Stopped))
    if stops["cancelled"] != 1 or stops["answered"] != 2 or not stops["waiting"]:
        yield f"stops: {stops}"


def _words(left: Left) -> Iterator[str]:
    """Each word was asked for once and taken in once, and none was refused."""
    asked = sorted(fact.call for fact in left.facts(Requested, Questioned))
    if asked != ["6.2", "6.3", "6.4", "6.5"]:
        yield f"asked: {asked}"
    decided = sorted((fact.call, fact.approved, fact.posted.who) for fact in left.facts(Decided))
    if decided != [("6.2", True, "bob"), ("6.3", True, "bob"), ("6.4", False, "bob")]:
        yield f"decided: {decided}"
    answered = [(fact.call, fact.text) for fact in left.facts(Answered)]
    said = [fact.message.text for fact in left.facts(Said)]
    cancelled = [fact.reason for fact in left.facts(CancelAsked)]
    told = (answered, said, cancelled, left.facts(Refused, Expired))
    if told != ([("6.5", REPLY)], [MESSAGE], ["enough"], []):
        yield f"taken in and refused: {told}"
    items = [fact.posted.item for fact in left.facts(Decided, Answered, Said, CancelAsked)]
    if len(set(items)) != 6:
        yield f"items: {items}"


def _failed(left: Left) -> Iterator[str]:
    """What was to fail failed, and of the rest only what the cancellation or a doubt explains."""
    failed = {fact.result.call for fact in left.facts(Settled) if fact.result.error and not fact.unknown}
    if not {"1.6", "1.7", "1.8", "6.4", "7.2"} <= failed <= {"1.6", "1.7", "1.8", "6.4", "7.1", "7.2", "7.3"}:
        yield f"failed: {failed}"
    [denied] = [fact.result.content for fact in left.facts(Settled) if fact.result.call == "6.4"]
    if not denied.startswith("Denied by bob: C is no supplier."):
        yield f"denied: {denied!r}"


def _file(left: Left) -> Iterator[str]:
    files = {path.name: path.read_text() for path in (left.place.folder / "files").iterdir()}
    if files != {FILE: REPORT}:
        yield f"files: { {name: len(text) for name, text in files.items()} }"


async def _artifacts(left: Left) -> AsyncIterator[str]:
    """Whatever a fact names is there, byte for byte."""
    stored: list[Stored] = [one for fact in left.facts(Settled) for one in fact.stored]
    sizes = {one.ref: one.size for one in stored}
    opened: Opened = left.facts(Opened)[0]
    for ref in (*sizes, opened.frame, opened.static, opened.context):
        data = await left.scope.artifacts.get(ref)
        if hashlib.sha256(data).hexdigest() != ref or len(data) != sizes.get(ref, len(data)):
            yield f"artifact {ref} is not whole"
    if [one.handle for one in stored] != ["result/2.5"]:
        yield f"handles: {stored}"


scenario = EngineScenario(
    lambda place: engine_of(place, Scripted(play)), deeds, REQUESTS, people=say_all, wrong=problems
)


def asked_over_the_wire(place: Place) -> Engine:
    url = Path(os.environ["CRASH_WIRE"]).read_text().strip()
    return engine_of(place, AnthropicModel("claude-opus-5-5", SecretStr("k"), base_url=url))


WIRE_REPLIES: list[Any] = [
    {
        "blocks": [
            {"type": "thinking", "thinking": "Where to begin?"},
            {"type": "text", "text": "Everything at once."},
            {"type": "tool_use", "name": "world__look", "input": {}},
            {"type": "tool_use", "name": "world__give", "input": {"amount": 1}},
            {"type": "tool_use", "name": "world__put", "input": {"item": "a"}},
        ],
        "stop_reason": "tool_use",
    },
    {
        "blocks": [
            {"type": "thinking", "thinking": "Now the rest."},
            {
                "type": "tool_use",
                "name": "world__invoke_tool",
                "input": {"tool": "wire", "arguments": {"amount": 2}},
            },
            {"type": "tool_use", "name": "write_file", "input": {"path": FILE, "text": "half"}},
        ],
        "stop_reason": "tool_use",
    },
    {"blocks": [{"type": "text", "text": "Closed."}]},
]
"""By position: what a client is told that was killed and goes on is what it would have been told."""

over_the_wire = EngineScenario(asked_over_the_wire, deeds, REQUESTS[:1])
