"""The answer that a run delivers after a correction was asked for.

A model that was told to give the whole answer again may answer with the corrected figure alone. Its reader
would lose the report: so the report stands, marked, with the reply behind it.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from ..run_state import RunState
from ..store.facts import Checked, Figure

_BETWEEN = "\n\n---\n\n"
"""Between an answer and the reply that corrects some of it: a line across, in Markdown."""
_HALF = 2


class Delivered(NamedTuple):
    """An answer with what the check made of it."""

    answer: str
    figures: tuple[Figure, ...] = ()
    missing: tuple[str, ...] = ()
    """Sections that it lacks."""


def delivered(run: RunState) -> Delivered:
    """The newest answer, or the one before with the newest behind it where that is but a part of it."""
    newest = Delivered(run.answer, *_found(run.checked))
    if run.draft is None:
        return newest
    draft = Delivered(run.draft.answer, *_found(run.draft.checked))
    if draft.answer == newest.answer:
        return draft
    return _joined(draft, newest) if _is_part(newest, draft) else newest


def _found(checked: Checked | None) -> tuple[tuple[Figure, ...], tuple[str, ...]]:
    return (checked.figures, checked.missing) if checked is not None else ((), ())


def _is_part(newest: Delivered, draft: Delivered) -> bool:
    """Whether a reply is less than half as long and cites less than half of what was right before."""
    sound, kept = _cited(figure for figure in draft.figures if not figure.problem), _cited(newest.figures)
    shorter = _HALF * len(newest.answer) < len(draft.answer)
    return shorter and len(sound) > 1 and _HALF * len(sound & kept) < len(sound)


def _cited(figures: Iterable[Figure]) -> frozenset[str]:
    return frozenset(record for figure in figures for record in figure.records)


def _joined(draft: Delivered, newest: Delivered) -> Delivered:
    before = len(draft.answer) + len(_BETWEEN)
    moved = (
        replace(figure, start=figure.start + before, end=figure.end + before) for figure in newest.figures
    )
    return Delivered(
        f"{draft.answer}{_BETWEEN}{newest.answer}",
        (*draft.figures, *moved),
        tuple(each for each in draft.missing if each in newest.missing),
    )
