"""A session with Claude over a server that computes its prompt cache itself, and time that a test moves."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from loopback import Answer, Loopback, PromptCache, Reply, Script, Text, ToolUse
from offing.engine import ApprovalPolicy, ApprovalRule, Engine, Limits, MemoryStore, SqliteStore
from offing.engine.lifetimes import Caching
from offing.engine.store.cached import Cached
from offing.engine.store.facts import Replied
from offing.namespaces import FunctionNamespace, ToolContext, ToolOutput
from offing.tracing import Usage
from worlds import Claude, Given, HandClock, async_tool, outside

MINUTE_US = 60_000_000
ASKING = ApprovalPolicy((ApprovalRule("sys__*", "ask"),))
LONG = "A line that makes the prompt longer than what a provider caches at all. " * 40


async def _look(arguments: Given, context: ToolContext) -> ToolOutput:
    return ToolOutput(LONG)


SYSTEM = FunctionNamespace("sys", [async_tool(_look, "look")])
LOOKS = Answer([ToolUse("sys__look", {})])


def answers(text: str = "So it is.") -> Answer:
    return Answer([Text(text)])


@dataclass
class Kept:
    """An engine, its server and its clock."""

    engine: Engine
    server: Loopback
    cache: PromptCache
    clock: HandClock
    usages: list[Usage] = field(default_factory=list[Usage])

    def passes(self, minutes: float) -> None:
        self.clock.at += round(minutes * MINUTE_US)

    async def cached(self, session: str = "s") -> list[Cached]:
        """What became of each request in the cache, as the journal has it."""
        facts = [row.fact async for row in self.engine.store.journal.read(session)]
        return [fact.cached for fact in facts if isinstance(fact, Replied) and fact.cached is not None]

    async def told(self, session: str = "s") -> list[Usage]:
        """What each reply's usage says."""
        facts = [row.fact async for row in self.engine.store.journal.read(session)]
        return [fact.reply.usage for fact in facts if isinstance(fact, Replied)]


@asynccontextmanager
async def kept(
    *replies: Reply,
    caching: Caching | None = None,
    approvals: ApprovalPolicy | None = None,
    store: MemoryStore | SqliteStore | None = None,
    clock: HandClock | None = None,
    limits: Limits | None = None,
    script: Script | None = None,
) -> AsyncGenerator[Kept]:
    """The world, with what the model will say, by position unless there is a script."""
    clock = clock or HandClock()
    cache = PromptCache(512, now=lambda: clock.at / 1_000_000)
    with Loopback(script or list(replies), cache=cache) as server:
        engine = Engine(
            Claude(server),
            [SYSTEM],
            store=store,
            caching=caching,
            approvals=approvals,
            limits=limits,
            outside=outside(clock),
        )
        async with engine:
            yield Kept(engine, server, cache, clock)
    assert server.refusals == []


def markers(body: dict[str, Any]) -> str:
    """Where the cache markers of a request stand and how long they ask for, in render order."""
    blocks = [(f"tools.{n}", tool) for n, tool in enumerate(body["tools"])]
    blocks += [(f"system.{n}", block) for n, block in enumerate(body["system"])]
    for n, message in enumerate(body["messages"]):
        blocks += [(f"messages.{n}.{m}", block) for m, block in enumerate(message["content"])]
    marked = [(place, block["cache_control"]) for place, block in blocks if "cache_control" in block]
    return " ".join(f"{place}={marker.get('ttl', '5m')}" for place, marker in marked)


def outcomes(cached: Sequence[Cached]) -> list[str]:
    return [one.outcome for one in cached]
