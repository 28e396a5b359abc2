"""A run without a session around it, for tests of what drives it, and a clock that a test sets."""

from collections.abc import Sequence
from dataclasses import dataclass

from offing.compaction.conversation import Message, Text
from offing.engine.hub import Hub
from offing.engine.limits import Limits
from offing.engine.locks import WriteLocks
from offing.engine.models.model import Model
from offing.engine.models.scripted import Scripted
from offing.engine.pool import Pool
from offing.engine.resident import RESIDENT
from offing.engine.run import Means, Run
from offing.engine.slots import FairSlots
from offing.engine.state import State, fold
from offing.engine.store.facts import Began, Opened, Resumed
from offing.engine.store.journal import Scope
from offing.engine.wire import Wire
from offing.namespaces.meta_tools import Connected
from offing.namespaces.tool import Tool
from offing.namespaces.toolbox import Toolbox

STREAM = "s"
RUN = "s.1"
NOON = 1_790_000_000_000_000
"""A moment in September 2026; microseconds since 1970 in UTC."""


@dataclass(slots=True)
class SetClock:
    """A clock that stands until a test moves it."""

    now: int = NOON

    def now_us(self) -> int:
        return self.now

    async def sleep_until(self, at_us: int) -> None:
        self.now = max(self.now, at_us)

    def chance(self) -> float:
        return 0.0


async def bare_run(
    store: Scope, model: Model | None = None, tools: Sequence[Tool] = (), hub: Hub | None = None
) -> Run:
    """The right to work on the stream, and its state as the journal has it."""
    model = model or Scripted(())
    lease = await store.journal.acquire(STREAM)
    means = Means(
        model=model,
        wire=Wire(model, [b"static", b"context"]),
        toolbox=Toolbox(RESIDENT, [Connected("world", tools)]),
        locks=WriteLocks(),
        slots=FairSlots(16),
        pool=Pool(4),
        workspace=None,
        credentials={},
    )
    state = await fold(store.journal.read(STREAM), State())
    return Run(RUN, store, lease, state, SetClock(), hub or Hub(), means)


async def begun_run(
    store: Scope, model: Model | None = None, tools: Sequence[Tool] = (), hub: Hub | None = None
) -> Run:
    """The same, with the facts recorded that begin a session and a run."""
    run = await bare_run(store, model, tools, hub)
    began = Began(Message("user", (Text("Go."),)), Limits(iterations=30))
    await run.record(Opened("scripted", "f", "s", "c", {}), began, Resumed("process 1 on here"))
    return run
