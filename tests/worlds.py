"""The small world that the engine's tests run in: a clock set by hand, a few tools, one batch of calls."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic import JsonValue, SecretStr

from loopback import Loopback
from offing.compaction.conversation import ToolResult
from offing.engine import Call, Engine, Limits, Result, Scripted, Step, Workspace
from offing.engine.clock import Outside
from offing.engine.models.anthropic import AnthropicModel, Options
from offing.engine.models.model import Request
from offing.engine.state import State, fold
from offing.engine.store import Store
from offing.namespaces import Effect, FunctionNamespace, Tool, ToolContext, ToolOutput

MODEL = "claude-opus-5-5"
ANY: Mapping[str, JsonValue] = {"type": "object"}
"""The schema of a tool that takes anything."""
DAY_US = 24 * 3600 * 1_000_000

Given: TypeAlias = Mapping[str, Any]
"""The arguments a tool is given."""
Function = Callable[[Given, ToolContext], Awaitable[ToolOutput]]


@dataclass
class HandClock:
    """A clock that only a test moves. It begins on Monday, 2026-09-14, 08:00 UTC."""

    at: int = 1_789_372_800_000_000
    luck: float = 0.0
    slept: list[int] = field(default_factory=list[int])
    """How long each wait was, in microseconds: waiting moves the clock and takes no time."""

    def now_us(self) -> int:
        return self.at

    async def sleep_until(self, at_us: int) -> None:
        self.slept.append(at_us - self.at)
        self.at = max(self.at, at_us)

    def chance(self) -> float:
        return self.luck


@dataclass
class Counted:
    """Names of sessions in order: s1, s2, ..."""

    given: int = 0

    def new(self) -> str:
        self.given += 1
        return f"s{self.given}"


def outside(clock: HandClock | None = None) -> Outside:
    return Outside(clock or HandClock(), Counted())


class Claude(AnthropicModel):
    """The real adapter, remembering what it was given to send."""

    def __init__(self, server: Loopback, model: str = MODEL, options: Options | None = None) -> None:
        super().__init__(model, SecretStr("k"), base_url=server.url, options=options)
        self.sent: list[Request] = []

    def stream(self, request: Request):  # type: ignore[no-untyped-def]  # noqa: ANN201
        self.sent.append(request)
        return super().stream(request)


def async_tool(
    function: Function,
    name: str = "it",
    *,
    effect: Effect = Effect.ONCE,
    writes: frozenset[str] | None = None,
    timeout_s: float = 60,
) -> Tool:
    """A tool that takes anything and is an asynchronous function."""
    return Tool(name, f"Does {name}.", ANY, function, effect, writes=writes, timeout_s=timeout_s)


def invoke(name: str, /, *, ns: str = "sys", **arguments: JsonValue) -> Call:
    """A call through the meta-tool."""
    return Call(f"{ns}__invoke_tool", {"tool": name, "arguments": arguments})


@dataclass
class Batch:
    """What became of one run of a few batches of calls."""

    result: Result
    state: State
    model: Scripted
    engine: Engine

    @property
    def results(self) -> list[ToolResult]:
        return [one for message in self.state.conversation.messages for one in message.results]

    @property
    def contents(self) -> list[str]:
        return [one.content for one in self.results]


@dataclass
class World:
    """How a batch is run."""

    tools: Sequence[Tool] = ()
    limits: Limits = field(default_factory=Limits)
    store: Store | None = None
    workspace: Workspace | None = None
    credentials: Mapping[str, Mapping[str, SecretStr]] = field(
        default_factory=dict[str, Mapping[str, SecretStr]]
    )
    pinned: Sequence[str] = ()

    @asynccontextmanager
    async def ran(self, *steps: Step | str) -> AsyncGenerator[Batch]:
        """Runs the steps in session `s`, and gives what became of it while the engine is open."""
        model = Scripted(steps)
        system = FunctionNamespace("sys", list(self.tools))
        async with Engine(
            model,
            [system],
            store=self.store,
            limits=self.limits,
            pinned=self.pinned,
            outside=outside(),
        ) as engine:
            session = engine.session("s", workspace=self.workspace, credentials=self.credentials)
            result = await session.ask("Go.")
            yield Batch(result, await state_of(engine, "s"), model, engine)
            model.check_finished()

    async def told(self, *calls: Call) -> list[ToolResult]:
        """The results of one batch of calls."""
        async with self.ran(Step(calls=calls), "done") as batch:
            assert batch.result.answered, batch.result
            return batch.results

    async def run(self, *steps: Step | str) -> Batch:
        """What became of the steps; the engine is closed by then."""
        async with self.ran(*steps) as batch:
            return batch


async def state_of(engine: Engine, session: str) -> State:
    """The session's state as its journal has it."""
    return await fold(engine.store.journal.read(session))
