"""The live side of tracing: rows and marks go into a session's tree, and its spans to the sinks.

Nothing here may slow or stop a run: sinks take spans at once, and a mistake ends the tracing alone.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ...tracing.span import Sink, Span
from ..models.model import Effort
from ..store.journal import Row
from .content import is_wanted
from .run_trace import About, RunTrace
from .tree import Tree

_log = logging.getLogger("offing.tracing")


@dataclass(frozen=True, slots=True)
class Tracing:
    """Whether and where an engine's runs are traced."""

    sinks: Sequence[Sink] = ()
    """Where spans go, such as a `FileSink`; closed with the engine. None traces nothing."""
    content: bool | None = None
    """Whether spans hold what was said and what tools were given and gave. None for the standard's variable,
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, which is off by default."""
    versions: tuple[tuple[str, str], ...] = field(default=())
    """What the host wants told of itself with each run, such as (("app", "2.1"),)."""

    def trail(self, stream: str, now_us: Callable[[], int]) -> "Trail":
        """The trail of one stream, from its first row on."""
        content = is_wanted() if self.content is None else self.content
        about = About(content=content, versions=self.versions)
        return Trail(stream, about, self.sinks, now_us)

    def close(self, wait_s: float) -> None:
        """Delivers what the sinks have, for so many seconds at most. Blocks."""
        for sink in self.sinks:
            sink.close(wait_s)


class Trail:
    """What a session tells of its runs while it works on them."""

    def __init__(
        self,
        stream: str = "",
        about: About | None = None,
        sinks: Sequence[Sink] = (),
        now_us: Callable[[], int] = lambda: 0,
    ) -> None:
        """Without sinks it does nothing."""
        self._tree = Tree(stream, about or About()) if sinks else None
        self._sinks = sinks
        self._now_us = now_us

    def knows(self, window: int | None) -> None:
        """Tells how many tokens the model takes."""
        if self._tree is not None:
            self._tree.knows(window)

    def past(self, row: Row) -> None:
        """Takes in a row that was recorded, and traced, before."""
        self._give(lambda tree: tree.take(row) and [])

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
