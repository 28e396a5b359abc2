"""Runs with children, in a small world of their own."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from offing.engine import Call, Engine, Limits, MemoryStore, Playbook, Result, Roles, Scripted, Session
from offing.engine.approvals import ApprovalPolicy
from offing.engine.models.model import Model
from offing.engine.models.scripted import CallResult
from offing.engine.state import State, fold
from offing.engine.store import Store
from offing.engine.store.facts import Fact
from offing.namespaces import FunctionNamespace, Tool
from worlds import HandClock, outside

Does = Callable[[Playbook], Coroutine[object, object, str]]
"""What a strand does; it is found by the first word of its task."""
NO_END = Limits(strand_s=None, cancel_grace_s=0.05)
"""Waiting takes no time on a clock that is set by hand, so a strand's time would be up at once."""


def strand(task: str, **more: JsonValue) -> Mapping[str, JsonValue]:
    return {"title": f"Part {task.split()[0]}", "task": task, **more}


def delegate(*strands: Mapping[str, JsonValue] | str) -> Call:
    made = [dict(strand(each)) if isinstance(each, str) else dict(each) for each in strands]
    return Call("delegate", {"strands": made})  # type: ignore[dict-item]


@dataclass
class Family:
    """Engines over one store, as several processes are, whose runs delegate once and then answer."""

    calls: Sequence[Call]
    """What the top run asks for, in one reply."""
    does: Mapping[str, Does]
    tools: Sequence[Tool] = ()
    answer: Callable[[Sequence[CallResult]], str] = field(default=lambda results: "Done.")
    limits: Limits = NO_END
    store: Store = field(default_factory=MemoryStore)
    clock: HandClock = field(default_factory=HandClock)
    model: Model | Roles | None = None
    policy: ApprovalPolicy = field(default_factory=ApprovalPolicy)
    scripted: Scripted = field(init=False)

    def __post_init__(self) -> None:
        self.scripted = Scripted(self._plays)

    async def _plays(self, book: Playbook, text: str) -> str:
        first = text.split()[0]
        if first in self.does:
            return await self.does[first](book)
        return self.answer(await book.calls(*self.calls))

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[Session]:
        """Session `s`, in an engine of its own."""
        async with Engine(
            self.model or self.scripted,
            [FunctionNamespace("sys", list(self.tools)), FunctionNamespace("other", list(self.tools))],
            store=self.store,
            limits=self.limits,
            approvals=self.policy,
            outside=outside(self.clock),
        ) as engine:
            yield engine.session("s")

    async def ask(self) -> Result:
        async with self.session() as session:
            return await session.ask("Go.")

    async def facts(self, *kinds: type[Fact]) -> list[tuple[str, Fact]]:
        """The facts of these kinds, each with its run."""
        rows = self.store.scoped("local").journal.read("s")
        return [(row.run, row.known) async for row in rows if isinstance(row.fact, kinds)]

    async def state(self) -> State:
        return await fold(self.store.scoped("local").journal.read("s"))

    async def results(self) -> dict[str, str]:
        """What each call of the top run came to, as the model read it."""
        state = await self.state()
        return {one.call: one.content for message in state.conversation.messages for one in message.results}

    def with_limits(self, **limits: object) -> "Family":
        self.limits = replace(self.limits, **limits)  # type: ignore[arg-type]
        return self


def says(text: str) -> Does:
    async def say(book: Playbook) -> str:
        return text

    return say


def does(*calls: Call) -> Does:
    """Makes the calls in one reply, and answers with what they came to."""

    async def work(book: Playbook) -> str:
        return " | ".join(result.text for result in await book.calls(*calls))

    return work
