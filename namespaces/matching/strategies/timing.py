"""Same currency and amount, on different days within the window."""

from collections.abc import Iterator, Sequence

from ...tool import Record
from ..evidence import apart, days_between
from ..match import Pool, Proposal, Proposed
from ..rule import AccountRule
from ..similarity import similarity
from .amounts import by_amount
from .doubt import Doubt
from .pairs import Ranked, best_first, same

_COMPARED = 40_000
"""Pairs weighed among equal amounts; beyond that they are paired in the order of their dates."""


def within_window(pool: Pool, rule: AccountRule) -> Proposed:
    """Pairs one to one, the nearest days first, of equally near ones the most alike texts."""
    books, doubt = by_amount(pool.books), Doubt(pool)
    return Proposed(
        [
            pair
            for key, bank in by_amount(pool.bank).items()
            if key in books
            for pair in _paired(bank, books[key], rule, doubt)
        ]
    )


def _paired(
    bank: Sequence[Record], books: Sequence[Record], rule: AccountRule, doubt: Doubt
) -> Iterator[Proposal]:
    if len(bank) * len(books) > _COMPARED:
        yield from (
            each for each in _in_order(bank, books, rule) if doubt.allows(each.bank[0], each.books[0])
        )
        return
    ranked = (
        Ranked((abs(days_between(a, b)), -similarity(a.text, b.text)), a, b)
        for a in bank
        for b in books
        if abs(days_between(a, b)) <= rule.window_days and doubt.allows(a, b)
    )
    for (days, _), a, b in best_first(ranked):
        yield same(a, b, f"the nearest of this amount, {apart(days)}")


def _in_order(bank: Sequence[Record], books: Sequence[Record], rule: AccountRule) -> Iterator[Proposal]:
    one, other = sorted(bank, key=_by_date), sorted(books, key=_by_date)
    at, there = 0, 0
    while at < len(one) and there < len(other):
        days = days_between(one[at], other[there])
        if abs(days) <= rule.window_days:
            yield same(one[at], other[there], f"in the order of dates, {apart(days)}")
        at += days <= rule.window_days
        there += days >= -rule.window_days


def _by_date(record: Record) -> tuple[str, str]:
    return str(record.date), record.id
