"""Same currency and amount, on different days within the window."""

from collections.abc import Iterator, Sequence

from ..tool import Record
from .match import Pair, Pool, Rule, days_between
from .similarity import similarity

_COMPARED = 40_000
"""Pairs weighed among equal amounts; beyond that they are paired in the order of their dates."""


def within_window(pool: Pool, rule: Rule) -> list[Pair]:
    """Pairs one to one, the nearest days first, of equally near ones the most alike texts."""
    books = _grouped(pool.books)
    return [
        pair
        for key, bank in _grouped(pool.bank).items()
        if key in books
        for pair in _paired(bank, books[key], rule)
    ]


def _grouped(records: Sequence[Record]) -> dict[object, list[Record]]:
    found: dict[object, list[Record]] = {}
    for record in records:
        found.setdefault((record.currency, record.amount), []).append(record)
    return found


def _paired(bank: Sequence[Record], books: Sequence[Record], rule: Rule) -> Iterator[Pair]:
    if len(bank) * len(books) > _COMPARED:
        yield from _in_order(bank, books, rule)
        return
    ranked = sorted(
        (abs(days_between(a, b)), -similarity(a.text, b.text), a.id, b.id, a, b)
        for a in bank
        for b in books
        if abs(days_between(a, b)) <= rule.window_days
    )
    taken: set[str] = set()
    for days, _, _, _, a, b in ranked:
        if not {a.id, b.id} & taken:
            taken |= {a.id, b.id}
            yield Pair(a, b, f"the nearest of this amount, {days} days apart")


def _in_order(bank: Sequence[Record], books: Sequence[Record], rule: Rule) -> Iterator[Pair]:
    one, other = sorted(bank, key=_by_date), sorted(books, key=_by_date)
    at, there = 0, 0
    while at < len(one) and there < len(other):
        days = days_between(one[at], other[there])
        if abs(days) <= rule.window_days:
            yield Pair(one[at], other[there], f"in the order of dates, {abs(days)} days apart")
        at += days <= rule.window_days
        there += days >= -rule.window_days


def _by_date(record: Record) -> tuple[str, str]:
    return str(record.date), record.id
