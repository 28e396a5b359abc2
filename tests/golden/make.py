"""Writes the golden journal of a release, once: a session in which each kind of fact occurs.

    python tests/golden/make.py > tests/golden/journal_0_1_0.jsonl

What is written is for good: a later release has to fold it to the same state.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path

from pydantic import BaseModel, JsonValue

from offing.compaction.conversation import Block, Message, Raw, Reasoning, Text, ToolCall
from offing.engine import About, Budget, Engine, Limits, MemoryStore
from offing.engine.approvals import ApprovalPolicy
from offing.engine.clock import Outside
from offing.engine.errors import ModelFault
from offing.engine.leaving import give_back
from offing.engine.lifetimes import KeepWarm
from offing.engine.memory import MemoryPolicy
from offing.engine.models.model import Delta, Part, Reply, Request, StopReason
from offing.engine.store.codec import encode
from offing.engine.store.facts import Fact, Resumed
from offing.engine.store.inbox import Posting
from offing.engine.warming import Waiting, keep_warm
from offing.namespaces import Attachment, Effect, FunctionNamespace, Record, ToolOutput
from offing.namespaces.functions import tool
from offing.skills import SkillFolders
from offing.tracing import Usage

PNG = b"\x89PNG\r\n\x1a\n"
DAY_US = 86_400_000_000


def reply(*blocks: Block, stop: StopReason = "tools", raw: Raw | None = None, detail: str = "") -> Reply:
    return Reply(Message("assistant", blocks, raw), stop, Usage(9, 8, 7, 6, 5, 4), detail)


def call(name: str, malformed: str | None = None, /, **arguments: JsonValue) -> ToolCall:
    return ToolCall("", name, arguments, malformed)


TASKS: list[JsonValue] = [
    {"title": "read", "status": "done"},
    {"title": "explain", "status": "active"},
    {"title": "post", "status": "failed"},
    {"title": "close"},
]
RAW = Raw("anthropic", "claude-opus-5-5", '[{"type":"text","text":"é"}]'.encode())


def replies() -> Iterator[Reply | ModelFault]:
    """What the model says, over all runs."""
    yield reply(
        Reasoning("First look, then pay."),
        Text("I look."),
        call("bank__look"),
        call("bank__export"),
        call("bank__scan"),
        call("bank__pay", amount=1),
        call("bank__put"),
        call("bank__close"),
        call("bank__close", why="again"),
        call("ask_user", question="Which month?", options=["August", "September"]),
        call("bank__lok"),
        call("tasks", items=TASKS, confidence=0.5),
        call("bank__look", '{"a":'),
        raw=RAW,
    )
    yield reply(
        call("link_records", figure="25.00 GBP", records=["bank:txn/1"]),
        call("calculate", expression="a*2", inputs={"a": "bank:txn/1"}, label="Doubled"),
        call("load_skill", name="close"),
        call("bank__pay", amount=-1),
        call("bank__close", why="late"),
        call("remember", text="Ann wants months in words.", days=30),
    )
    yield reply(Text("The balance is"), stop="length")
    yield reply(Text("25.00 GBP [[bank:txn/1]] [[calc:2.2]]"), stop="end")
    yield reply(Text("twelve"), stop="end")
    yield reply(Text('{"balance": "12.50"}'), stop="end")
    yield ModelFault("overloaded", "busy", headers={"retry-after": "2"}, usage=Usage(3, 2, 1, 0, 1, 0))
    yield ModelFault("auth", "no key")
    yield ModelFault("rate limited", "come back later", headers={"retry-after": "900"})
    yield reply(Text("Wait"), stop="pause")
    yield reply(call("bank__look"), call("bank__close"))
    yield reply(call("bank__look"), stop="length")
    yield reply(Text("I would rather not."), stop="refusal", detail="policy")
    yield reply(Text("No room."), stop="window")
    yield ModelFault("too long", "prompt is too long")
    yield reply(Text("Done at last."), stop="end")


SKILLS = {
    "start": ("From the start.", ""),
    "close": ("Loaded by the model.", ""),
    "count": ("Named by the user.", "\nmetadata:\n  version: '1'\n  output: out.md"),
}


def write_skills(folder: Path) -> SkillFolders:
    """Skills that each become active in another way; one asks for a section."""
    for name, (text, more) in SKILLS.items():
        (folder / name).mkdir()
        head = f"name: {name}\ndescription: {text}{more}"
        (folder / name / "SKILL.md").write_text(f"---\n{head}\n---\n{text}\n")
        (folder / name / "out.md").write_text("## Count\n")
    return SkillFolders([folder], shipped=False)


class Told:
    """A model that says what it is told to say."""

    name = "golden"

    def __init__(self) -> None:
        self._left = replies()

    def encode(self, part: Part, before: Message | None = None) -> bytes:
        return repr(part).encode()

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        said = next(self._left)
        if isinstance(said, ModelFault):
            raise said
        yield said

    async def warm(self, request: Request) -> Usage:
        return Usage(0, 7)


class Balance(BaseModel):
    balance: Decimal


@dataclass
class Clock:
    """A second passes with each look at it."""

    now: int = 1_790_000_000_000_000

    def now_us(self) -> int:
        self.now += 1_000_000
        return self.now

    async def sleep_until(self, at_us: int) -> None:
        self.now = max(self.now, at_us)

    def chance(self) -> float:
        return 0.5


async def look() -> ToolOutput:
    """Looks at the account."""
    day = date(2026, 9, 14)
    first = Record("txn/1", Decimal("12.50"), "GBP", day, "Fee\u00e9", "statement.ofx", 7)
    return ToolOutput({"balance": "12.50"}, records=(first, Record("note/1", text="no amount")))


async def export() -> str:
    """Gives more than a context holds, and a character that no wire can carry."""
    return "row\x00 " * 5_000


async def scan() -> ToolOutput:
    """Gives an image and a file."""
    files = (Attachment("scan.png", PNG, "image/png"), Attachment("rows.bin", b"\x00\x01"))
    return ToolOutput("scanned", attachments=files)


async def pay(amount: int) -> str:
    """Pays, and never comes back; refuses to pay nothing."""
    if amount < 0:
        raise ValueError(f"cannot pay {amount}")
    return await asyncio.get_running_loop().create_future()


async def put() -> str:
    """Puts."""
    return "put"


async def close(why: str = "done") -> str:
    """Closes the account."""
    return "closed"


async def session(skills: SkillFolders) -> list[Mapping[str, JsonValue]]:
    """The rows of the golden session."""
    clock, store = Clock(), MemoryStore()
    tools = [
        tool(effect=Effect.READ)(look),
        tool(effect=Effect.READ)(export),
        tool(effect=Effect.READ)(scan),
        tool(effect=Effect.ONCE, timeout_s=0.01)(pay),
        tool(effect=Effect.REPEATABLE)(put),
        tool(destructive=True)(close),
    ]
    limits = Limits(iterations=4, parallel_calls=1, budget=Budget(tokens=1_000_000))
    outside = Outside(clock=clock)
    bank, memory = FunctionNamespace("bank", tools), MemoryPolicy()
    approvals = ApprovalPolicy(expires_after_s=3600, approver_differs=True)
    async with Engine(
        Told(),
        [bank],
        store=store,
        limits=limits,
        skills=skills,
        approvals=approvals,
        memory=memory,
        outside=outside,
    ) as engine:
        books = engine.session(
            "books", about=About(company="Acme"), setup={"files": ["a.ofx"]}, skills=["start"]
        )
        await books.ask("Explain September.", files=[Attachment("a.png", PNG, "image/png")], by="ann")
        await books.say("The fees too.", files=[Attachment("a.png", PNG, "image/png")], by="ann")
        await books.approve("1.6", by="bob")
        await books.deny("1.7", reason="once is enough", by="bob")
        await books.answer("1.8", "September", by="ann")
        await (await books.resume("books.1")).result()
        await store.scoped("local").journal.post(
            "books", Posting("books.1", "dance", b"{}", "eve", clock.now)
        )
        clock.now += DAY_US
        more = Budget(tokens=5, cost=Decimal("1.50"))
        await (await books.resume("books.1", more=more)).result()
        await books.ask("How much? /count", output=Balance)
        await books.ask("Go on.")
        waiting = Waiting(lambda: books._state, lambda: books._lead(None), give_back)
        await keep_warm(waiting, KeepWarm(times=1, cost=None), clock)
        for _ in range(2):
            await (await books.resume("books.3")).result()
        await books.cancel(reason="not now", by="ann")
        for days in (0, 0, 0, 1, 0, 0):
            clock.now += days * DAY_US
            await (await books.resume("books.3")).result()
        await engine.fork("books.3", at=6, model=Told(), session="again")
        await engine.rollback("again.3", at=6)
        journal = store.scoped("local").journal
        return [
            {"seq": row.seq, "run": row.run, "at": row.at, **_body(row.known)}
            async for row in journal.read("again")
        ]


def _body(fact: Fact) -> dict[str, JsonValue]:
    """As a row keeps it, without the host and the process that happened to write it."""
    if isinstance(fact, Resumed):
        fact = replace(fact, owner="process 4711 on books")
    body = encode(fact)
    return {"kind": body.kind, "version": body.version, "body": body.body.decode()}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        for line in asyncio.run(session(write_skills(Path(made)))):
            sys.stdout.write(json.dumps(line) + "\n")
