"""The live side of tracing: rows and marks go into a session's tree, and its spans to the sinks.

Nothing here may slow or stop a run: sinks take spans at once, and a mistake ends the tracing alone.
"""

import logging
from collections.abc import AsyncGenerator, AsyncIterable, Callable
from functools import cache
from importlib import metadata
from typing import NamedTuple

from ...tracing.settings import Tracing
from ...tracing.span import Span, trace_id
from ..models.model import Effort
from ..store.journal import Row
from .host import host_context, span_of, traceparent
from .run_trace import About, RunTrace
from .tree import Tree

_log = logging.getLogger("offing.tracing")


class Joined(NamedTuple):
    """Which trace a stretch of work is part of, as `Resumed` keeps it; empty where it is not traced."""

    trace: str = ""
    host: str = ""


class Trail:
    """What a session tells of its runs while it works on them."""

    def __init__(
        self,
        stream: str = "",
        tracing: Tracing | None = None,
        now_us: Callable[[], int] = lambda: 0,
    ) -> None:
        """For one stream, from its first row on. Without sinks it does nothing."""
        self._stream, self._now_us = stream, now_us
        self._sinks = () if tracing is None else tracing.sinks
        self._tree: Tree | None = None
        if tracing is not None and tracing.sinks:
            versions = (("offing", version()), *tracing.versions)
            self._tree = Tree(stream, About(content=tracing.has_content, versions=versions))

    def joined(self, run: str, trace: str) -> Joined:
        """The trace that work on a run is part of from here on.

        It is the one that it has already; else that of the host's span in which it is begun; else one
        of its own.
        """
        if self._tree is None:
            return Joined()
        host = host_context()
        span = span_of(host)
        own = trace_id(self._stream, run, self._now_us()) if span is None else span.trace
        return Joined(trace or own, host)

    def traceparent(self, run: str, call: str) -> str:
        """The context of a call's span, for the systems that it goes to; empty where it is not traced."""
        traced = None if self._tree is None else self._tree.run(run)
        if traced is None:
            return ""
        return traceparent(traced.place.trace, traced.place.id("tool", call))

    def past(self, row: Row) -> None:
        """Takes in a row that was recorded, and traced, before."""
        self._give(lambda tree: tree.take(row) and [])

    async def reading(self, rows: AsyncIterable[Row]) -> AsyncGenerator[Row]:
        """The rows as they are, which it has to know before what follows them."""
        async for row in rows:
            self.past(row)
            yield row

    def recorded(self, row: Row) -> None:
        """Takes in a row that was recorded now."""
        self._give(lambda tree: tree.take(row))

    def kept(self, run: str, began_us: int) -> None:
        """The journal has taken in rows of a run that was given to it at that time."""
        self._mark(run, lambda traced, now: traced.kept(now - began_us))

    def asks(self, run: str, effort: Effort | None) -> None:
        """The model is asked."""
        self._mark(run, lambda traced, now: traced.asks(now, effort))

    def chunk(self, run: str) -> None:
        """A piece of the reply came."""
        self._mark(run, lambda traced, now: traced.chunk(now))

    def begins(self, run: str, call: str) -> None:
        """A call of a tool begins."""
        self._mark(run, lambda traced, now: traced.begins(call, now))

    def _mark(self, run: str, mark: Callable[[RunTrace, int], list[Span]]) -> None:
        if self._tree is not None:
            traced = self._tree.run(run)
            if traced is not None:
                self._give(lambda _: mark(traced, self._now_us()))

    def _give(self, spans: Callable[[Tree], list[Span]]) -> None:
        if self._tree is None:
            return
        try:
            for span in spans(self._tree):
                for sink in self._sinks:
                    sink.take(span)
        except Exception:  # noqa: BLE001  a mistake here must not reach the run
            _log.exception("tracing is off for the rest of the session")
            self._tree = None


@cache
def version() -> str:
    """The release of this library."""
    return metadata.version("offing")
