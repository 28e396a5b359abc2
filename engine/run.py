"""A run at work: its place in the journal, its state, and the means it works with."""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pydantic import SecretStr

from ..namespaces.toolbox import Toolbox
from .approvals import ApprovalPolicy
from .clock import RunClock
from .effort import EffortChoice
from .halting import Halt
from .hub import Hub
from .locks import WriteLocks
from .mail import Mail
from .models.catalog import ModelInfo
from .models.model import Model
from .pool import Pool
from .resident.workspace import Workspace
from .session_skills import SessionSkills
from .slots import FairSlots
from .state import State, apply
from .store.facts import Fact
from .store.journal import Lease, Row, Scope
from .wire import HEAD, Wire


@dataclass(frozen=True, slots=True)
class Voice:
    """A model as a session's runs speak with it."""

    model: Model
    static: bytes
    """The frame's first layer, encoded for it."""
    context: bytes
    """The second."""
    info: ModelInfo = field(default_factory=ModelInfo)
    """What is known of the model, its prices above all."""
    effort: EffortChoice = field(default_factory=EffortChoice)


@dataclass(frozen=True, slots=True)
class Means:
    """What the runs of a session work with. None of it is part of the state."""

    model: Model
    wire: Wire
    toolbox: Toolbox
    locks: WriteLocks
    slots: FairSlots
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
    child: Voice | None = None
    """Who works on children; None for the same model, in the same words."""

    def of_child(self) -> "Means":
        """What a child works with: all of it, but for a wire, and perhaps a model, of its own."""
        voice = self.child
        if voice is None:
            return replace(self, wire=Wire(self.model, self.wire.segments[:HEAD]))
        wire = Wire(voice.model, [voice.static, voice.context])
        return replace(self, model=voice.model, wire=wire, info=voice.info, effort=voice.effort)


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
class _Stream:
    """The place of a tree of runs in the journal: one sequence for all of them."""

    state: State
    """The session's, with those of the children in it."""
    queued: int
    """Sequence number of the last row given to the journal, be it durable yet or not."""
    given: deque[_Given] = field(default_factory=deque[_Given])
    """What is not folded yet, in the journal's order: who waits for the first may wake up last."""


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
    parent: "Run | None" = None
    """Who started it; None for a top run."""
    mail: Mail = field(init=False)
    """What others say to it and to the other runs of its tree."""
    halt: Halt = field(default_factory=Halt, init=False)
    reserving: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """Held from reading what is left to reserving some of it for children."""
    _stream: _Stream = field(init=False)

    def __post_init__(self) -> None:
        above = self.parent
        self._stream = _Stream(self.state, self.state.seq) if above is None else above._stream
        self.mail = Mail(self.store.journal, self.lease) if above is None else above.mail

    @property
    def session(self) -> State:
        """The state of the whole session."""
        return self._stream.state

    def descendant(self, run: str) -> "Run":
        """A child of it, or a child's child, that the state knows: to record in its name, or to drive it.

        Raises:
            LookupError: there is none.
        """
        state = self.session.of(run)
        if state is None:
            raise LookupError(f"there is no run {run!r} at work")
        if state is self.state:
            return self
        given = (self.store, self.lease, state, self.clock, self.hub, self.means.of_child())
        return Run(run, *given, parent=self)

    async def record(self, *facts: Fact) -> None:
        """The only place where state changes: durable first, then folded, then published.

        A cancellation that comes meanwhile is delivered after the facts are folded: what is in the
        journal is in the state.

        Raises:
            StoreError: nothing was recorded; the run cannot go on in this process.
        """
        at = self.clock.now_us()
        stream = self._stream
        first = stream.queued + 1
        stream.queued += len(facts)
        rows = [Row(first + place, self.id, at, fact) for place, fact in enumerate(facts)]
        appended = asyncio.ensure_future(self.store.journal.append(self.lease, rows))
        stream.given.append(_Given(appended, rows))
        interrupted: asyncio.CancelledError | None = None
        while not appended.done():
            try:
                await asyncio.wait([appended])
            except asyncio.CancelledError as error:
                interrupted = error
        while stream.given and stream.given[0].appended.done():
            for row in stream.given.popleft().durable:
                apply(stream.state, row)
                self.hub.publish(row)
        appended.result()
        if interrupted is not None:
            raise interrupted
