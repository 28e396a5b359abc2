"""Amounts that differ by no more than the tolerance, within the window."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from decimal import Decimal

from ..tool import Record
from .match import Pair, Pool, Rule, days_between
from .similarity import similarity

_CANDIDATES = 200
"""Most records of the books that are weighed for one of the bank."""


def nearly_equal(pool: Pool, rule: Rule) -> list[Pair]:
    """Pairs one to one, the smallest difference first; nothing at all without a tolerance."""
    if not rule.tolerance:
        return []
    ranked = sorted(_candidates(pool, rule), key=lambda each: each[:5])
    pairs: list[Pair] = []
    taken: set[str] = set()
    for difference, days, _, _, _, a, b in ranked:
        if not {a.id, b.id} & taken:
            taken |= {a.id, b.id}
            pairs.append(Pair(a, b, f"the amounts differ by {difference}, {days} days apart"))
    return pairs


_Ranked = tuple[Decimal, int, int, str, str, Record, Record]


def _candidates(pool: Pool, rule: Rule) -> Iterator[_Ranked]:
    books = {
        currency: sorted((each for each in pool.books if each.currency == currency), key=_amount)
        for currency in {each.currency for each in pool.books}
    }
    for a in pool.bank:
        for b in _around(a, books.get(a.currency, []), rule):
            days = abs(days_between(a, b))
            if days <= rule.window_days:
                gap = abs(_amount(a) - _amount(b))
                yield gap, days, -similarity(a.text, b.text), a.id, b.id, a, b


def _around(record: Record, books: Sequence[Record], rule: Rule) -> Sequence[Record]:
    low = bisect_left(books, _amount(record) - rule.tolerance, key=_amount)
    high = bisect_right(books, _amount(record) + rule.tolerance, key=_amount)
    return books[low : min(high, low + _CANDIDATES)]


def _amount(record: Record) -> Decimal:
    return record.amount or Decimal(0)
