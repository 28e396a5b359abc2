"""Amounts as whole numbers, and records by amount."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from ...tool import Record

_MOST_PLACES = 12
"""Decimal places beyond which no currency goes; an amount with more is matched as it is, never added."""


def places_of(records: Sequence[Record]) -> int:
    """Decimal places that all amounts need; at most 12."""
    exponents = {int(each.amount.as_tuple().exponent) for each in records if each.amount is not None}
    return min(_MOST_PLACES, max(0, -min(exponents, default=0)))


def scaled(records: Sequence[Record]) -> Callable[[Record], int]:
    """A function that gives the amount of one of these records in the smallest unit among them."""
    places = places_of(records)
    units = {each.id: int((each.amount or Decimal(0)).scaleb(places)) for each in records}
    return lambda record: units[record.id]


WEIGHED = 200
"""Most records of one side that are weighed for one of the other where amounts may differ."""


class Weighed(NamedTuple):
    """The records that are weighed for one of the other side, the earliest days first."""

    records: Sequence[Record]
    """At most `WEIGHED`."""
    is_cut: bool
    """Whether there are more."""


class ByAmount:
    """Records of one side, to be found by currency, days and range of amount."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._days: dict[tuple[str | None, int], list[Record]] = {}
        for record in sorted(records, key=_order):
            self._days.setdefault((record.currency, _ordinal(record)), []).append(record)

    def around(self, one: Record, days: int, low: Decimal, high: Decimal) -> Iterator[Record]:
        """Those within some days of one and from one amount to another, both included."""
        for day in range(_ordinal(one) - days, _ordinal(one) + days + 1):
            side = self._days.get((one.currency, day))
            if side:
                yield from side[bisect_left(side, low, key=_amount) : bisect_right(side, high, key=_amount)]

    def weighed(self, one: Record, days: int, low: Decimal, high: Decimal) -> Weighed:
        """The first of those."""
        found = list(islice(self.around(one, days, low, high), WEIGHED + 1))
        return Weighed(found[:WEIGHED], len(found) > WEIGHED)


def _ordinal(record: Record) -> int:
    return record.date.toordinal() if record.date else 0


def _amount(record: Record) -> Decimal:
    return record.amount or Decimal(0)


def _order(record: Record) -> tuple[Decimal, str]:
    return _amount(record), record.id


def by_amount(records: Sequence[Record]) -> dict[tuple[str | None, Decimal], list[Record]]:
    """Records by currency and amount."""
    found: dict[tuple[str | None, Decimal], list[Record]] = {}
    for record in records:
        found.setdefault((record.currency, _amount(record)), []).append(record)
    return found


def step_of(units: int) -> int:
    """How round an amount is: the largest 1, 5, 10, 50, 100, ... that divides it."""
    step = 1
    while units and units % (step * 10) == 0:
        step *= 10
    return step * 5 if units and units % (step * 5) == 0 else step
