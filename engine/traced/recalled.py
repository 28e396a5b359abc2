"""A run's trace out of the journal, with what a trace file knows better: when calls and words began."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...tracing.file import read_trace
from ...tracing.span import Span
from ..errors import NotFound
from ..history.streams import place_of
from ..store.journal import Journal
from .run_trace import About
from .tree import Tree


@dataclass(frozen=True, slots=True)
class Recalled:
    """A run as spans."""

    run: str
    trace: str
    spans: Sequence[Span]
    """Those of its children too. What is open ends at the newest row."""


async def recalled(journal: Journal, run: str, folder: Path | None, *, content: bool) -> Recalled:
    """The trace of a run, from the journal alone where there is no file of it.

    Raises:
        NotFound: there is no such run.
        StoreError: the store failed, or a row is damaged.
    """
    place = await place_of(journal, run)
    tree, spans, at_us = Tree(place.stream, About(content=content)), list[Span](), 0
    async for row in journal.read(place.stream):
        spans += tree.take(row)
        at_us = row.at
    spans += tree.open(at_us)
    traced = tree.run(place.run)
    if traced is None:
        raise NotFound(f"there is no run {run!r}")
    trace = traced.place.trace
    filed = [] if folder is None else await asyncio.to_thread(read_trace, folder, trace)
    own = [span for span in spans if _is_of(span, place.run)]
    return Recalled(run, trace, list(_with_times(own, {span.id: span for span in filed}, trace)))


def _is_of(span: Span, run: str) -> bool:
    of = str(span.attributes["offing.run"])
    return of == run or of.startswith(f"{run}.")


def _with_times(spans: Sequence[Span], filed: Mapping[str, Span], trace: str) -> Iterator[Span]:
    for span in spans:
        seen = filed.get(span.id)
        if seen is None:
            yield replace(span, trace=trace)
        else:
            told = {**span.attributes, **seen.attributes}
            yield replace(span, trace=trace, start_us=seen.start_us, end_us=seen.end_us, attributes=told)
