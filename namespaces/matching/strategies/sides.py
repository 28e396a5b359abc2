"""One record on one side, several on the other: batches and splits are the same search, turned round."""

import datetime
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ...tool import Record
from ..match import Kind, Pool, Proposal
from ..rule import AccountRule
from ..similarity import references
from ..vocabulary import names
from .amounts import scaled

_SAYS_NOTHING = 120
"""Records of some days beyond which the word that they have tells nothing of any; the rarer words count."""


class Turn(NamedTuple):
    """Which side has the one record and which the several."""

    kind: Kind
    ones: Sequence[Record]
    many: Sequence[Record]
    units: Callable[[Record], int]
    """The amount in the smallest unit of all amounts of the pool."""
    window: datetime.timedelta
    carried: frozenset[str]

    def proposal(
        self, one: Record, several: Sequence[Record], reason: str, evidence: Iterable[str]
    ) -> Proposal:
        """A match of one with several, each on its side."""
        bank, books = ((one,), tuple(several)) if self.kind == "batched" else (tuple(several), (one,))
        return Proposal(self.kind, bank, books, reason, tuple(evidence))

    def near(self, one: Record, other: Record) -> bool:
        """Whether the dates allow it; what was carried forward may be older than the window."""
        if one.date is None or other.date is None:
            return False
        if abs(one.date - other.date) <= self.window:
            return True
        return (other.id in self.carried and other.date < one.date) or (
            one.id in self.carried and one.date < other.date
        )


def turns(pool: Pool, rule: AccountRule) -> tuple[Turn, Turn]:
    """One of the bank with several of the books, and the other way round."""
    units = scaled([*pool.bank, *pool.books])
    window = datetime.timedelta(rule.window_days)
    return (
        Turn("batched", pool.bank, pool.books, units, window, pool.carried),
        Turn("split", pool.books, pool.bank, units, window, pool.carried),
    )


class Neighbours:
    """Records of one side, to be found by currency, sign and days, or by what they say."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._sides: dict[object, list[Record]] = {}
        self._saying: dict[object, list[Record]] = {}
        for record in sorted(turn.many, key=_order):
            side = _side(record, turn)
            self._sides.setdefault(side, []).append(record)
            for word in names(record.text) | references(record.text):
                self._saying.setdefault((side, word), []).append(record)
        self._carried = [each for each in turn.many if each.id in turn.carried]

    def count(self, one: Record, days: int) -> int:
        """How many there are of the same sign and currency within some days; what was carried not counted."""
        return len(_around(self._of(one), one, days))

    def of(self, one: Record, days: int) -> list[Record]:
        """Those that are smaller as well, and what was carried; the nearest days first."""
        found = [*_around(self._of(one), one, days), *self._carried]
        return self._smaller(one, found)

    def saying(self, one: Record) -> list[Record]:
        """Those that are smaller and share a name or a reference with the one that not all have; by days."""
        side, words = _side(one, self._turn), names(one.text) | references(one.text)
        days = self._turn.window.days
        saying = (_around(self._saying.get((side, word), ()), one, days) for word in sorted(words))
        found = list(self._carried)
        for around in sorted(saying, key=len):
            if len(found) + len(around) <= _SAYS_NOTHING:
                found += around
        return self._smaller(one, found)

    def _of(self, one: Record) -> Sequence[Record]:
        return self._sides.get(_side(one, self._turn), ())

    def _smaller(self, one: Record, found: Iterable[Record]) -> list[Record]:
        turn, size, day = self._turn, abs(self._turn.units(one)), _ordinal(one)
        smaller = [
            each
            for each in {each.id: each for each in found}.values()
            if 0 < abs(turn.units(each)) < size
            and _side(each, turn) == _side(one, turn)
            and turn.near(one, each)
        ]
        return sorted(smaller, key=lambda each: (abs(_ordinal(each) - day), each.id))


def _around(records: Sequence[Record], one: Record, days: int) -> Sequence[Record]:
    """Those within some days of one, of records by date."""
    low = bisect_left(records, _ordinal(one) - days, key=_ordinal)
    return records[low : bisect_right(records, _ordinal(one) + days, key=_ordinal)]


def _side(record: Record, turn: Turn) -> tuple[str | None, bool]:
    return record.currency, turn.units(record) > 0


def _ordinal(record: Record) -> int:
    return (record.date or datetime.date.min).toordinal()


def _order(record: Record) -> tuple[int, str]:
    return _ordinal(record), record.id
