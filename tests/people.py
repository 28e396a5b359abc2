"""A session whose run waits for people, in a world of its own: the till that its tools pay from."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pydantic import JsonValue

from offing.compaction.conversation import ToolResult
from offing.engine import Call, Engine, Limits, MemoryStore, Result, Scripted, Session, Step
from offing.engine.approvals import ApprovalPolicy
from offing.engine.state import State, fold
from offing.engine.store import Store
from offing.engine.store.facts import Fact
from offing.namespaces import Effect, FunctionNamespace, Tool, tool
from worlds import HandClock, outside

Steps = Sequence[Step | str]


@dataclass
class Till:
    """What its tools did, in order."""

    done: list[str] = field(default_factory=list[str])

    def tools(self) -> list[Tool]:
        @tool(destructive=True)
        async def pay(to: str, amount: int = 10, note: str = "") -> str:
            """Pays."""
            self.done.append(f"pay {to} {amount}")
            return f"paid {amount} to {to}"

        @tool(effect=Effect.READ)
        async def look() -> str:
            """Looks."""
            self.done.append("look")
            return "seen"

        return [pay, look]


@dataclass
class People:
    """Engines over one store, as several processes are."""

    steps: Steps
    till: Till = field(default_factory=Till)
    policy: ApprovalPolicy = field(default_factory=ApprovalPolicy)
    store: Store = field(default_factory=MemoryStore)
    clock: HandClock = field(default_factory=HandClock)
    limits: Limits = field(default_factory=lambda: Limits(cancel_grace_s=0.05))
    tools: Sequence[Tool] | None = None

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[Session]:
        """Session `s`, in an engine of its own."""
        self.model = Scripted(self.steps)
        tools = self.till.tools() if self.tools is None else self.tools
        async with Engine(
            self.model,
            [FunctionNamespace("sys", list(tools))],
            store=self.store,
            limits=self.limits,
            approvals=self.policy,
            outside=outside(self.clock),
        ) as engine:
            yield engine.session("s")

    async def facts(self, *kinds: type[Fact]) -> list[Fact]:
        rows = self.store.scoped("local").journal.read("s")
        return [row.known async for row in rows if isinstance(row.fact, kinds)]

    async def state(self) -> State:
        return await fold(self.store.scoped("local").journal.read("s"))

    async def results(self) -> list[ToolResult]:
        """All results that the model was given."""
        state = await self.state()
        return [one for message in state.conversation.messages for one in message.results]

    async def contents(self) -> list[str]:
        return [one.content for one in await self.results()]


async def resumed(session: Session, run: str = "s.1") -> Result:
    return await (await session.resume(run)).result()


def pay(to: str, **more: JsonValue) -> Call:
    arguments: Mapping[str, JsonValue] = {"to": to, **more}
    return Call("sys__pay", arguments)


LOOK = Call("sys__look")
