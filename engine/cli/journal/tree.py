"""A run and its children as lines: each child's part stands indented under the title of its strand."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ...lineage import child_of, lineage
from ...store.facts import Replied
from ...store.journal import Row
from ...store.strands import Delegated
from .summary import RunSummary
from .timeline import lines_of, short

_INDENT = "    "


def tree_lines(rows: Sequence[Row], run: str) -> Iterator[str]:
    """The lines of a run and of those below it, from their rows.

    A child's lines follow those of the call that handed it its part, though its rows lie among its
    siblings' in the journal.
    """
    of_each: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        of_each[row.run].append(row)
    return _lines(of_each, run)


def _lines(of_each: Mapping[str, Sequence[Row]], run: str) -> Iterator[str]:
    iteration = 0
    for row in of_each.get(run, ()):
        if isinstance(row.fact, Replied):
            iteration += 1
            yield f"iteration {iteration}"
        yield from lines_of(row)
        if isinstance(row.fact, Delegated):
            for number, strand in enumerate(row.fact.strands, start=1):
                child = child_of(run, row.fact.call, number)
                yield from _child(of_each, child, strand.title)


def _child(of_each: Mapping[str, Sequence[Row]], run: str, title: str) -> Iterator[str]:
    summary = RunSummary(run)
    for row in of_each.get(run, ()):
        summary.take(row)
    yield f"{_INDENT}{short(title)} (run {run}): {summary.state}"
    yield from (f"{_INDENT}{line}" for line in _lines(of_each, run))


def rows_of(rows: Sequence[Row], run: str) -> list[Row]:
    """The rows of a run and of those below it."""
    return [row for row in rows if run in lineage(row.run)]
