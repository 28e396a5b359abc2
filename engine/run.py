"""A run at work: its place in the journal, its state, and the means it works with."""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import SecretStr

from ..namespaces.toolbox import Toolbox
from .approvals import ApprovalPolicy
from .clock import RunClock
from .effort import EffortChoice
from .hub import Hub
from .lifetimes import LifetimeChoice
from .locks import WriteLocks
from .mail import Mail
from .memory import SessionMemory
from .models.catalog import ModelInfo
from .models.model import Model
from .pool import Pool
from .resident.workspace import Workspace
from .roles import Chosen
from .session_skills import SessionSkills
from .state import State, apply
from .store.facts import Fact
from .store.journal import Lease, Row, Scope
from .traced.trail import Trail
from .wire import Wire


@dataclass(frozen=True, slots=True)
class Means:
    """What the runs of a session work with. None of it is part of the state."""

    model: Model
    wire: Wire
    toolbox: Toolbox
    locks: WriteLocks
    slots: asyncio.Semaphore
    """Bounds the tool calls at work."""
    pool: Pool
    workspace: Workspace | None
    credentials: Mapping[str, Mapping[str, SecretStr]]
    """Per namespace."""
    info: ModelInfo = field(default_factory=ModelInfo)
    """What is known of the model, its prices above all."""
    effort: EffortChoice = field(default_factory=EffortChoice)
    """Who decides how much the model thinks."""
    skills: SessionSkills = field(default_factory=SessionSkills)
    approvals: ApprovalPolicy = field(default_factory=ApprovalPolicy)
    """Which calls need a person."""
    trail: Trail = field(default_factory=Trail)
    """Where the runs are traced."""
    memory: SessionMemory | None = None
    """What is remembered across sessions; None for nothing."""
    lifetime: LifetimeChoice = field(default_factory=LifetimeChoice)
    """Who decides how long the provider keeps what it caches."""
    digest: Chosen | None = None
    """Who writes digests; None leaves them to rules."""


class _Given(NamedTuple):
    """Rows on their way into the journal."""

    appended: "asyncio.Future[None]"
    rows: list[Row]

    @property
    def durable(self) -> list[Row]:
        """The rows, once they are in the journal; none when they did not get there."""
        failed = self.appended.cancelled() or self.appended.exception() is not None
        return [] if failed else self.rows


@dataclass(slots=True)
class Run:
    """One run, driven by `loop.drive`."""

    id: str
    store: Scope
    lease: Lease
    state: State
    clock: RunClock
    hub: Hub
    means: Means
    asking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """One call at a time asks a person, so that none does beyond the budget."""
    mail: Mail = field(init=False)
    """What others say to it."""
    _queued: int = field(init=False)
    """Sequence number of the last row given to the journal, be it durable yet or not."""
    _given: deque[_Given] = field(default_factory=deque[_Given], init=False)
    """What is not folded yet, in the journal's order: who waits for the first may wake up last."""

    def __post_init__(self) -> None:
        self._queued = self.state.seq
        self.mail = Mail(self.store.journal, self.lease)

    async def record(self, *facts: Fact) -> None:
        """The only place where state changes: durable first, then folded, then published.

        A cancellation that comes meanwhile is delivered after the facts are folded: what is in the
        journal is in the state.

        Raises:
            StoreError: nothing was recorded; the run cannot go on in this process.
        """
        at = self.clock.now_us()
        first = self._queued + 1
        self._queued += len(facts)
        rows = [Row(first + place, self.id, at, fact) for place, fact in enumerate(facts)]
        appended = asyncio.ensure_future(self.store.journal.append(self.lease, rows))
        self._given.append(_Given(appended, rows))
        interrupted: asyncio.CancelledError | None = None
        while not appended.done():
            try:
                await asyncio.wait([appended])
            except asyncio.CancelledError as error:
                interrupted = error
        while self._given and self._given[0].appended.done():
            for row in self._given.popleft().durable:
                apply(self.state, row)
                self.hub.publish(row)
                self.means.trail.recorded(row)
        self.means.trail.kept(self.id, at)
        appended.result()
        if interrupted is not None:
            raise interrupted
