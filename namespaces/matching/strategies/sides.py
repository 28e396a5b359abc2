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


class _Placed(NamedTuple):
    """A record with what it is looked up by."""

    day: int
    id: str
    size: int
    """Without its sign, in the smallest unit."""
    record: Record


class Neighbours:
    """Records of one side, to be found by currency, sign and days, or by what they say."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._sides: dict[object, list[_Placed]] = {}
        self._saying: dict[object, list[_Placed]] = {}
        self._sizes: dict[object, list[int]] = {}
        placed = [(_side(record, turn), _placed(record, turn)) for record in turn.many]
        for side, each in sorted(placed, key=lambda pair: pair[1][:2]):
            self._sides.setdefault(side, []).append(each)
            self._sizes.setdefault((side, each.day), []).append(each.size)
            for word in names(each.record.text) | references(each.record.text):
                self._saying.setdefault((side, word), []).append(each)
        for sizes in self._sizes.values():
            sizes.sort()
        self._carried = [(side, each) for side, each in placed if each.id in turn.carried]

    def count(self, one: Record, days: int) -> int:
        """How many there are of the same sign and currency within some days; what was carried not counted."""
        return len(_around(self._of(one), _ordinal(one), days))

    def count_of_smaller(self, one: Record, days: int) -> int:
        """How many of those are smaller, without looking at each; of what was carried, all count."""
        side, size, day = _side(one, self._turn), abs(self._turn.units(one)), _ordinal(one)
        around = (self._sizes.get((side, each), ()) for each in range(day - days, day + days + 1))
        return sum(bisect_left(sizes, size) for sizes in around) + len(self._carried)

    def of(self, one: Record, days: int) -> list[Record]:
        """Those that are smaller as well, and what was carried; the nearest days first."""
        return self._smaller(one, _around(self._of(one), _ordinal(one), days))

    def saying(self, one: Record) -> list[Record]:
        """Those that are smaller and share a name or a reference with the one that not all have; by days."""
        side, words = _side(one, self._turn), names(one.text) | references(one.text)
        day, days = _ordinal(one), self._turn.window.days
        saying = (_around(self._saying.get((side, word), ()), day, days) for word in sorted(words))
        found: list[_Placed] = []
        for around in sorted(saying, key=len):
            if len(found) + len(around) <= _SAYS_NOTHING:
                found += around
        return self._smaller(one, found)

    def _of(self, one: Record) -> Sequence[_Placed]:
        return self._sides.get(_side(one, self._turn), ())

    def _smaller(self, one: Record, found: Iterable[_Placed]) -> list[Record]:
        """Of records of the same side and days those that are smaller, and what was carried of that side."""
        turn, side = self._turn, _side(one, self._turn)
        carried = (each for of, each in self._carried if of == side and turn.near(one, each.record))
        size, day = abs(turn.units(one)), _ordinal(one)
        smaller = {each.id: each for each in (*found, *carried) if 0 < each.size < size}
        return [
            each.record for each in sorted(smaller.values(), key=lambda each: (abs(each.day - day), each.id))
        ]


def _placed(record: Record, turn: Turn) -> _Placed:
    return _Placed(_ordinal(record), record.id, abs(turn.units(record)), record)


def _around(records: Sequence[_Placed], day: int, days: int) -> Sequence[_Placed]:
    """Those within some days of one, of records by date."""
    low = bisect_left(records, day - days, key=_day)
    return records[low : bisect_right(records, day + days, key=_day)]


def _day(placed: _Placed) -> int:
    return placed.day


def _side(record: Record, turn: Turn) -> tuple[str | None, bool]:
    return record.currency, turn.units(record) > 0


def _ordinal(record: Record) -> int:
    return (record.date or datetime.date.min).toordinal()
