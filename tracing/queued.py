"""A sink with a thread of its own: whoever ends a span never waits for a disk or a network."""

import contextlib
import functools
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence

from .span import Span

_MOST = 10_000
"""Spans that wait; further ones are dropped."""
_BATCH = 500
_LINGER_S = 0.2
"""Seconds in which spans gather: a thread that wakes up for each would cost the run more than the spans."""
_TOLD_AGAIN_S = 60.0
"""Seconds between two log records about the same trouble."""

_log = logging.getLogger("offing.tracing")


class Queued:
    """Takes spans at once and delivers them in batches, in a thread that ends with the process.

    What does not fit into the queue, or cannot be delivered, is dropped; a log record says how many, at
    most once a minute.
    """

    def __init__(self, name: str) -> None:
        """Starts its thread with the first span."""
        self._name = name
        self._spans: queue.Queue[Span] = queue.Queue(_MOST)
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self.dropped = 0
        """Spans that were lost."""
        self._told_at = -_TOLD_AGAIN_S

    def take(self, span: Span) -> None:
        """Queues the span."""
        try:
            self._spans.put_nowait(span)
        except queue.Full:
            self._lost(1, "it is too slow")
        if self._thread is None:
            self._start()

    def close(self, wait_s: float) -> None:
        """Delivers what is queued, for so many seconds at most."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(wait_s)

    def _deliver(self, spans: Sequence[Span]) -> None:
        """Delivers, in the thread; may take its time and raise anything."""
        raise NotImplementedError

    def _finish(self) -> None:
        """Nothing more will come; in the thread too, so that whoever closes waits no longer than it likes."""

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=f"offing {self._name}", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        is_last = False
        while not is_last:
            is_last = self._closing.wait(_LINGER_S)
            self._guarded(self._drain)
        self._guarded(self._finish)

    def _drain(self) -> None:
        while True:
            batch: list[Span] = []
            with contextlib.suppress(queue.Empty):
                while len(batch) < _BATCH:
                    batch.append(self._spans.get_nowait())
            if not batch:
                return
            self._guarded(functools.partial(self._deliver, batch), len(batch))

    def _guarded(self, work: Callable[[], None], spans: int = 0) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001  a trace that cannot be kept never stops a run
            self._lost(spans, f"{type(error).__name__}: {error}")

    def _lost(self, spans: int, why: str) -> None:
        self.dropped += spans
        now = time.monotonic()
        if now - self._told_at >= _TOLD_AGAIN_S:
            self._told_at = now
            _log.warning("%s: %d spans were dropped so far: %s", self._name, self.dropped, why)
