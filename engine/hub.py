"""Where watchers of a session are told what happens.

A watcher may come late, be slow, or leave: it never holds up the run. A slow one loses deltas, never
facts.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field

from .events import Delta, Draft, Durable, Event, Progress, event_of
from .models.model import Delta as ModelDelta
from .store.facts import Faulted, Replied, Stopped
from .store.journal import Journal, Row

_DELTAS = 1_000
"""Deltas that wait for a slow watcher before further ones are dropped."""


class Watcher:
    """One watcher's queue."""

    def __init__(self, hub: "Hub") -> None:
        self._hub = hub
        self._waiting: deque[Event | Exception] = deque()
        self._drafts = 0
        self._more = asyncio.Event()

    def tell(self, event: Event | Exception) -> None:
        """Queues an event, unless it is a draft and too many are waiting.

        An exception is queued like an event, and raised to the watcher in its turn.
        """
        if isinstance(event, (Delta, Progress)):
            if self._drafts >= _DELTAS:
                return
            self._drafts += 1
        self._waiting.append(event)
        self._more.set()

    async def next(self) -> Event:
        """The next event; waits for it.

        Raises:
            StoreError: the run cannot go on, because its store failed.
        """
        while not self._waiting:
            self._more.clear()
            await self._more.wait()
        event = self._waiting.popleft()
        if isinstance(event, Exception):
            raise event
        self._drafts -= isinstance(event, (Delta, Progress))
        return event

    def leave(self) -> None:
        """No more events, please."""
        self._hub.watchers.discard(self)


@dataclass(slots=True)
class _Making:
    """A reply in the making."""

    n: int = 0
    """Pieces so far."""
    text: list[str] = field(default_factory=list[str])
    reasoning: list[str] = field(default_factory=list[str])


class Hub:
    """The watchers of one session."""

    def __init__(self) -> None:
        self.watchers: set[Watcher] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._seq = 0
        self._making: dict[str, _Making] = {}
        """By run: a run and its children speak at the same time."""

    def publish(self, row: Row) -> None:
        """Tells of a row that is durable and folded."""
        self._seq = row.seq
        if isinstance(row.fact, (Replied, Faulted, Stopped)):
            self._making.pop(row.run, None)
        if self.watchers and (event := event_of(row)) is not None:
            self._tell(event)

    def delta(self, piece: ModelDelta, run: str = "") -> None:
        """Tells of a piece of the reply that a run has in the making."""
        making = self._making.setdefault(run, _Making())
        making.n += 1
        if piece.kind == "restart":
            making.text.clear()
            making.reasoning.clear()
        else:
            (making.text if piece.kind == "text" else making.reasoning).append(piece.text)
        if self.watchers:
            self._tell(Delta(self._seq + 1, making.n, piece.kind, piece.text, run))

    def drafting(self, run: str) -> bool:
        """Whether pieces of a reply that the run has in the making were told."""
        making = self._making.get(run)
        return making is not None and bool(making.text or making.reasoning)

    def progress(self, run: str, call: str, text: str) -> None:
        """Tells how far a tool is. Safe from any thread."""
        loop = self._loop
        if loop is not None and self.watchers:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody watches any more
                loop.call_soon_threadsafe(self._tell, Progress(call, text, run))

    def bind(self) -> None:
        """Names the running loop as the one that tells; called before tools run."""
        self._loop = asyncio.get_running_loop()

    def watch(self) -> Watcher:
        """A watcher of all that is published from now on, with the replies in the making first."""
        watcher = Watcher(self)
        self.watchers.add(watcher)
        for run, making in self._making.items():
            text, reasoning = "".join(making.text), "".join(making.reasoning)
            watcher.tell(Draft(self._seq + 1, making.n, text, reasoning, run))
        return watcher

    def fail(self, error: Exception) -> None:
        """Tells the watchers that nothing more will come, and why."""
        self._making.clear()
        self._tell(error)

    def _tell(self, event: Event | Exception) -> None:
        for watcher in self.watchers:
            watcher.tell(event)


class _Seen:
    """What a watcher has been told: the newest fact, and that of each run."""

    def __init__(self, after: int) -> None:
        self._after = self._newest = after
        self._runs: dict[str, int] = {}

    def is_new(self, event: Event) -> bool:
        """Whether it tells the watcher anything; a fact is told by that."""
        if isinstance(event, Progress):
            return True
        if isinstance(event, Delta | Draft):
            return event.seq > self._runs.get(event.run, self._after)
        if event.seq <= self._newest:
            return False
        self._newest = self._runs[event.run] = event.seq
        return True


async def events_after(
    hub: Hub,
    journal: Journal,
    stream: str,
    after: int,
    failed: Callable[[], BaseException | None] = lambda: None,
) -> AsyncGenerator[Event]:
    """The facts after a sequence number, then what happens live, without gap or repetition.

    `failed` says why nothing will happen any more; None as long as something may.
    """
    watcher, seen = hub.watch(), _Seen(after)
    try:
        async for recorded in _recorded(journal, stream, after):
            seen.is_new(recorded)
            yield recorded
        if (error := failed()) is not None:
            raise error
        while True:
            event = await watcher.next()
            if seen.is_new(event):
                yield event
    finally:
        watcher.leave()


async def _recorded(journal: Journal, stream: str, after: int) -> AsyncIterator[Durable]:
    async for row in journal.read(stream, after):
        if (event := event_of(row)) is not None:
            yield event
