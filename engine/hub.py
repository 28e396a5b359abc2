"""Where watchers of a session are told what happens.

A watcher may come late, be slow, or leave: it never holds up the run. A slow one loses deltas, never
facts.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable

from .events import Delta, Draft, Durable, Event, Progress, event_of
from .models.model import Delta as ModelDelta
from .store.facts import Faulted, Replied
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


class Hub:
    """The watchers of one session."""

    def __init__(self) -> None:
        self.watchers: set[Watcher] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._seq = 0
        self._n = 0
        self._draft: dict[str, list[str]] = {"text": [], "reasoning": []}

    def publish(self, row: Row) -> None:
        """Tells of a row that is durable and folded."""
        self._seq = row.seq
        if isinstance(row.fact, (Replied, Faulted)):
            self._clear()
        if self.watchers and (event := event_of(row)) is not None:
            self._tell(event)

    def delta(self, piece: ModelDelta) -> None:
        """Tells of a piece of the reply in the making."""
        self._n += 1
        if piece.kind == "restart":
            self._clear(self._n)
        else:
            self._draft[piece.kind].append(piece.text)
        if self.watchers:
            self._tell(Delta(self._seq + 1, self._n, piece.kind, piece.text))

    @property
    def drafting(self) -> bool:
        """Whether pieces of a reply in the making were told."""
        return any(self._draft.values())

    def progress(self, call: str, text: str) -> None:
        """Tells how far a tool is. Safe from any thread."""
        loop = self._loop
        if loop is not None and self.watchers:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody watches any more
                loop.call_soon_threadsafe(self._tell, Progress(call, text))

    def bind(self) -> None:
        """Names the running loop as the one that tells; called before tools run."""
        self._loop = asyncio.get_running_loop()

    def watch(self) -> Watcher:
        """A watcher of all that is published from now on, with the reply in the making first."""
        watcher = Watcher(self)
        self.watchers.add(watcher)
        if self._n:
            text, reasoning = ("".join(self._draft[kind]) for kind in ("text", "reasoning"))
            watcher.tell(Draft(self._seq + 1, self._n, text, reasoning))
        return watcher

    def _clear(self, n: int = 0) -> None:
        self._n = n
        for pieces in self._draft.values():
            pieces.clear()

    def fail(self, error: Exception) -> None:
        """Tells the watchers that nothing more will come, and why."""
        self._clear()
        self._tell(error)

    def _tell(self, event: Event | Exception) -> None:
        for watcher in self.watchers:
            watcher.tell(event)


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
    watcher = hub.watch()
    try:
        seen = after
        async for recorded in _recorded(journal, stream, after):
            seen = max(seen, recorded.seq)
            yield recorded
        if (error := failed()) is not None:
            raise error
        while True:
            event = await watcher.next()
            if not isinstance(event, Progress) and event.seq <= seen:
                continue
            if not isinstance(event, (Delta, Draft, Progress)):
                seen = event.seq
            yield event
    finally:
        watcher.leave()


async def _recorded(journal: Journal, stream: str, after: int) -> AsyncIterator[Durable]:
    async for row in journal.read(stream, after):
        if (event := event_of(row)) is not None:
            yield event
