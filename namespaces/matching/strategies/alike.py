"""Same currency and amount within the window, and texts that speak of the same."""

from collections.abc import Iterator, Sequence

from ...tool import Record
from ..evidence import apart
from ..match import Pool, Proposal, Proposed
from ..rule import AccountRule
from .amounts import by_amount
from .pairs import LIKE, Ranked, best_first, likeness, same

_COMPARED = 2500
"""Pairs of texts compared between equal amounts of two days; where there are more, the texts are left out."""


def alike(pool: Pool, rule: AccountRule) -> Proposed:
    """Pairs one to one, the nearest days first, of equally near ones the most alike texts."""
    books = by_amount(pool.books)
    return Proposed(
        [
            pair
            for key, bank in by_amount(pool.bank).items()
            if key in books
            for pair in _paired(bank, books[key], rule)
        ]
    )


def _paired(bank: Sequence[Record], books: Sequence[Record], rule: AccountRule) -> Iterator[Proposal]:
    for (days, _), a, b in best_first(_candidates(bank, books, rule.window_days)):
        yield same(a, b, f"the most alike of this amount, {apart(days)}")


def _candidates(bank: Sequence[Record], books: Sequence[Record], window: int) -> Iterator[Ranked]:
    there = _by_day(books)
    for day, ones in _by_day(bank).items():
        for other in range(day - window, day + window + 1):
            others = there.get(other, ())
            if len(ones) * len(others) <= _COMPARED:
                yield from _compared(ones, others, abs(day - other))


def _compared(ones: Sequence[Record], others: Sequence[Record], days: int) -> Iterator[Ranked]:
    for a in ones:
        for b in others:
            how = likeness(a.text, b.text)
            if how >= LIKE:
                yield Ranked((days, -how), a, b)


def _by_day(records: Sequence[Record]) -> dict[int, list[Record]]:
    found: dict[int, list[Record]] = {}
    for record in records:
        found.setdefault(record.date.toordinal() if record.date else 0, []).append(record)
    return found
