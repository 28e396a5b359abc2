"""The spans of one stream, as a fold of its rows: live as they are recorded, or later out of the journal.

Rows tell nearly everything. What they do not, when a call began and when a first word came, is marked by
whoever drives the run (`trail.py`); without marks a part begins where the one before it ended.
"""

from collections.abc import Iterator
from dataclasses import replace

from ...tracing.span import Attribute, Link, Span, digest, span_id, trace_id
from ..lineage import parent_of, top_of
from ..store.branches import Forked, Moved
from ..store.facts import Began, Compacted, Opened, Resumed, Stopped, Unknown
from ..store.journal import Row
from .parts import OPEN, PARKED, End, Place
from .run_trace import About, RunFact, RunTrace, Strand


class Tree:
    """The traces of a stream's runs."""

    def __init__(self, stream: str, about: About) -> None:
        """Of `about`, the model is that of the stream's own first row, once it is known."""
        self._stream = stream
        self._about = about
        self._runs: dict[str, RunTrace] = {}
        self._forked: tuple[Forked, int] | None = None
        self._is_compacted = False

    def run(self, identity: str) -> RunTrace | None:
        """The trace of a run, for marks; None when nothing is known of it."""
        return self._runs.get(identity)

    def take(self, row: Row) -> list[Span]:
        """Takes a row in; gives the spans that it ends."""
        match row.fact:
            case Opened(model=model, static=prompt, context=context):
                versions = (("prompt", prompt[:12]), ("context", context[:12]), *self._about.versions)
                self._about = replace(self._about, model=self._about.model or model, versions=versions)
            case Forked():
                self._forked = (row.fact, row.at)
            case Moved() | Unknown():
                pass
            case fact:
                return self._of_run(row, fact)
        return []

    def open(self, at_us: int) -> list[Span]:
        """Ends what is open, to show a run that somebody works on, or was killed."""
        return [span for run in reversed(self._runs.values()) for span in run.ends(at_us, OPEN)]

    def _of_run(self, row: Row, fact: RunFact) -> list[Span]:
        if isinstance(fact, Began):
            self._runs[row.run] = self._begun(row)
        run = self._runs.get(row.run)
        if run is None:
            return []
        match fact:
            case Began() if run.strand is not None:
                run.goes_on(row.at)
            case Resumed() if run.strand is not None:
                run.works_with(fact)
                return []  # it goes on when its parent does
            case Resumed():
                return self._resumed(row, run, fact)
            case Stopped():
                ended = self._below_end(row, PARKED)
                return [*ended, *run.take(fact, row.at)]
            case Compacted() if run.strand is None:
                self._is_compacted = self._is_compacted or fact.done.is_felt
            case _:
                pass
        return run.take(fact, row.at)

    def _resumed(self, row: Row, run: RunTrace, fact: Resumed) -> list[Span]:
        """The run goes on, and with it each child that has not stopped."""
        open_ones = [each for each in self._below(row.run) if not each.has_stopped]
        ended = [span for each in reversed(open_ones) for span in each.killed(each.at)]
        run.at = max([run.at, *(each.at for each in open_ones)])
        ended += run.take(fact, row.at)
        for each in open_ones:
            each.place = each.place._replace(trace=run.place.trace, is_joined=run.place.is_joined)
            each.goes_on(row.at)
        return ended

    def _below_end(self, row: Row, end: End) -> list[Span]:
        """Children have no stop of their own when their run stops to wait: it ends their stretches too."""
        below = reversed(list(self._below(row.run)))
        return [span for each in below for span in each.ends(row.at, end)]

    def _below(self, run: str) -> Iterator[RunTrace]:
        return (each for name, each in self._runs.items() if name.startswith(f"{run}."))

    def _begun(self, row: Row) -> RunTrace:
        above = self._runs.get(parent_of(row.run))
        seed = _seed(self._stream, row.run, row.at)
        content, session = self._about.content, self._stream.partition("~")[0]
        if above is not None:
            call, _, number = row.run.removeprefix(f"{top_of(row.run)}.").rpartition(".")
            place = above.place._replace(seed=seed, parent=above.place.id("tool", call), run=row.run)
            strand = Strand(int(number), above.titles.get(row.run, ""), above)
            return RunTrace(place, above.about, strand=strand, copied_until_us=above.copied_until_us)
        place = Place(trace_id(seed), seed, "", row.run, session, content)
        if self._forked is None:
            return RunTrace(place, self._about, is_compacted=self._is_compacted)
        forked, forked_at = self._forked
        links = (_link(forked, row),)
        return RunTrace(place, self._about, links, None, forked_at, is_compacted=self._is_compacted)


def _seed(stream: str, run: str, began_at: int) -> str:
    """A name may be used again, by another tenant or in another store; that run began at another time."""
    return digest("run", stream, run, began_at)[:32]


def _link(forked: Forked, began: Row) -> Link:
    """To the run that a fork came from, which has begun when its copy has."""
    seed = _seed(forked.stream, forked.run, began.at)
    told: dict[str, Attribute] = {
        "offing.link": "forked from",
        "offing.run": forked.run,
        "offing.iteration": forked.iteration,
    }
    return Link(forked.trace or trace_id(seed), span_id(seed, "stretch", 0), told)
