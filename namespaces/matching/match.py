"""Which bank record and which book record are the same movement.

Pure: no clock, no files, and the order of what comes in changes nothing. Strategies run one after
the other, each over what the former left; a record is in one match at most. Currencies never mix:
a record without a currency matches only others without one.
"""

import datetime
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

from ..records import amount_of
from ..tool import Record
from .similarity import similarity

Kind = Literal["exact", "timing", "near"]
SHOWN_ALTERNATIVES = 5


@dataclass(frozen=True, slots=True)
class Rule:
    """How far apart the two sides of a match may be."""

    window_days: int = 5
    """Days between the bank's date and that of the books, either one first. 0: the same day only."""
    tolerance: Decimal = Decimal(0)
    """By how much the amounts may differ. 0: not at all."""


class Pair(NamedTuple):
    """A bank record and a book record that one strategy takes for the same."""

    bank: Record
    book: Record
    reason: str


class Pool(NamedTuple):
    """The records that are not matched yet, each with an amount and a date, by id."""

    bank: tuple[Record, ...]
    books: tuple[Record, ...]


Strategy = Callable[[Pool, Rule], list[Pair]]
"""Proposes pairs from a pool. It names each record once at most and depends on no order."""


@dataclass(frozen=True, slots=True)
class Match:
    """One proposed match with its evidence."""

    bank: Record
    book: Record
    kind: Kind
    """"exact": same amount and day. "timing": same amount, other day. "near": the amounts differ."""
    days: int
    """Days from the books' date to the bank's; negative when the bank was first."""
    difference: Decimal
    """The bank's amount less the books'."""
    similarity: int
    """How alike the texts are, 0 to 100."""
    reason: str
    """Why these two and no others."""
    alternatives: tuple[str, ...]
    """Ids of other records that would have fitted one of the sides; a few of them."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Every record that came in, once."""

    matches: tuple[Match, ...]
    bank_only: tuple[Record, ...]
    """At the bank and not in the books."""
    books_only: tuple[Record, ...]
    """In the books and not at the bank."""

    @property
    def difference(self) -> Decimal:
        """The bank's sum less the books': what is unmatched and what matched nearly. One currency."""
        near = sum((match.difference for match in self.matches), Decimal(0))
        return amount_of(self.bank_only) - amount_of(self.books_only) + near


def match(
    bank: Sequence[Record], books: Sequence[Record], rule: Rule, strategies: Sequence[Strategy]
) -> Outcome:
    """Matches one to one.

    Raises:
        ValueError: two records of one side have the same id.
    """
    for side in (bank, books):
        if len({record.id for record in side}) != len(side):
            raise ValueError("two records have the same id: each is to be given once")
    pool = Pool(_usable(bank), _usable(books))
    whole = pool
    pairs: list[Pair] = []
    for strategy in strategies:
        found = strategy(pool, rule)
        pairs += found
        pool = _without(pool, found)
    alternatives = _Alternatives(whole, rule)
    matches = sorted((_match(pair, alternatives) for pair in pairs), key=_by_book)
    matched = {record.id for pair in pairs for record in (pair.bank, pair.book)}
    return Outcome(
        tuple(matches),
        tuple(sorted((each for each in bank if each.id not in matched), key=_by_date)),
        tuple(sorted((each for each in books if each.id not in matched), key=_by_date)),
    )


def days_between(bank: Record, book: Record) -> int:
    """Days from the books' date to the bank's; both have a date."""
    return 0 if bank.date is None or book.date is None else (bank.date - book.date).days


class _Alternatives:
    """Finds what else would have fitted, without looking at every record for every match."""

    def __init__(self, pool: Pool, rule: Rule) -> None:
        self._window = datetime.timedelta(rule.window_days)
        self._sides = [_dated(side) for side in pool]

    def of(self, pair: Pair) -> tuple[str, ...]:
        bank, books = self._sides
        found = [*self._like(pair.bank, books), *self._like(pair.book, bank)]
        own = {pair.bank.id, pair.book.id}
        return tuple(each for each in found if each not in own)[:SHOWN_ALTERNATIVES]

    def _like(self, record: Record, side: dict[object, list[tuple[datetime.date, str]]]) -> list[str]:
        dated = side.get((record.currency, record.amount), [])
        day = record.date or datetime.date.min
        low = bisect_left(dated, day - self._window, key=_first)
        high = bisect_right(dated, day + self._window, key=_first)
        return [each for _, each in dated[low : min(high, low + SHOWN_ALTERNATIVES + 1)]]


def _dated(side: Sequence[Record]) -> dict[object, list[tuple[datetime.date, str]]]:
    found: dict[object, list[tuple[datetime.date, str]]] = {}
    for record in side:
        day = record.date or datetime.date.min
        found.setdefault((record.currency, record.amount), []).append((day, record.id))
    for dated in found.values():
        dated.sort()
    return found


def _match(pair: Pair, alternatives: _Alternatives) -> Match:
    days = days_between(pair.bank, pair.book)
    difference = (pair.bank.amount or Decimal(0)) - (pair.book.amount or Decimal(0))
    kind: Kind = "near" if difference else "timing" if days else "exact"
    return Match(
        pair.bank,
        pair.book,
        kind,
        days,
        difference,
        similarity(pair.bank.text, pair.book.text),
        pair.reason,
        alternatives.of(pair),
    )


def _usable(records: Sequence[Record]) -> tuple[Record, ...]:
    known = [each for each in records if each.amount is not None and each.date is not None]
    return tuple(sorted(known, key=lambda each: each.id))


def _without(pool: Pool, pairs: Sequence[Pair]) -> Pool:
    bank = {pair.bank.id for pair in pairs}
    books = {pair.book.id for pair in pairs}
    return Pool(
        tuple(each for each in pool.bank if each.id not in bank),
        tuple(each for each in pool.books if each.id not in books),
    )


def _first(dated: tuple[datetime.date, str]) -> datetime.date:
    return dated[0]


def _by_book(found: Match) -> tuple[datetime.date, str]:
    return _by_date(found.book)


def _by_date(record: Record) -> tuple[datetime.date, str]:
    return record.date or datetime.date.min, record.id
