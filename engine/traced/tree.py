"""The spans of one stream, as a fold of its rows: live as they are recorded, or later out of the journal.

Rows tell nearly everything. What they do not, when a call began and when a first word came, is marked by
whoever drives the run (`trail.py`); without marks a part begins where the one before it ended.
"""

from dataclasses import replace

from ...tracing.span import Attribute, Link, Span, span_id, trace_id
from ..store.branches import Forked, Moved
from ..store.facts import Began, Opened, Unknown
from ..store.journal import Row
from .run_trace import About, RunTrace
from .stretch import Place


class Tree:
    """The traces of a stream's runs."""

    def __init__(self, stream: str, about: About) -> None:
        """Of `about`, the model is that of the stream's own first row, once it is known."""
        self._stream = stream
        self._about = about
        self._runs: dict[str, RunTrace] = {}
        self._forked: Forked | None = None

    def run(self, identity: str) -> RunTrace | None:
        """The trace of a run, for marks; None when nothing is known of it."""
        return self._runs.get(identity)

    def knows(self, window: int | None) -> None:
        """Tells how many tokens the model takes."""
        self._about = replace(self._about, window=window)
        for run in self._runs.values():
            run.about = replace(run.about, window=window)

    def take(self, row: Row) -> list[Span]:
        """Takes a row in; gives the spans that it ends."""
        match row.fact:
            case Opened(model=model, static=prompt, context=context):
                versions = (("prompt", prompt[:12]), ("context", context[:12]), *self._about.versions)
                self._about = replace(self._about, model=self._about.model or model, versions=versions)
            case Forked():
                self._forked = row.fact
            case Moved() | Unknown():
                pass
            case fact:
                if isinstance(fact, Began):
                    self._runs[row.run] = self._begun(row.run)
                run = self._runs.get(row.run)
                return [] if run is None else run.take(fact, row.at)
        return []

    def _begun(self, run: str) -> RunTrace:
        place = Place(trace_of(self._stream, run), "", self._stream.partition("~")[0], self._about.content)
        links: tuple[Link, ...] = ()
        if (forked := self._forked) is not None:
            told: dict[str, Attribute] = {
                "offing.link": "forked from",
                "offing.run": forked.run,
                "offing.iteration": forked.iteration,
            }
            links = (Link(trace_of(forked.stream, forked.run), span_id(forked.run, "stretch", 0), told),)
        return RunTrace(run, place, self._about, links)


def trace_of(stream: str, run: str) -> str:
    """The trace of a top run, by its name. What a rollback left is another run than its successor."""
    return trace_id(f"{stream}.{run.rpartition('.')[2]}")
