"""Equal amounts whose texts speak against each other: the same by chance, or the same in spite of them."""

import datetime
from bisect import bisect_left, bisect_right
from functools import lru_cache

from ...tool import Record
from ..match import Pool
from ..similarity import references
from ..vocabulary import fee_in, interest_in, names
from .amounts import scaled, step_of
from .pairs import LIKE, likeness

_REFERENCES_APART = 50
"""An amount has to be so many times rarer than one that is there by chance, where references differ."""
_NAMES_APART = 1
"""The same where only names differ: a bank and the books often say the same thing in different words."""


class Doubt:
    """Says of two equal amounts whether they may be the same movement in spite of their texts.

    Round and small amounts show nothing then; 4,321.17 on both sides within days does.
    """

    def __init__(self, pool: Pool) -> None:
        self._units = scaled([*pool.bank, *pool.books])
        self._days: dict[object, list[int]] = {}
        for record in pool.books:
            self._days.setdefault(self._side(record), []).append(_ordinal(record))
        for days in self._days.values():
            days.sort()

    def allows(self, bank: Record, book: Record) -> bool:
        """Whether the two may be taken for the same."""
        rarer = _apart(bank.text, book.text)
        return not rarer or self._others(bank, book) * rarer <= abs(self._units(bank))

    def _others(self, bank: Record, book: Record) -> int:
        """What there is around of the books, the more the rounder the amount."""
        days = self._days.get(self._side(bank), [])
        day, apart = _ordinal(bank), abs(_ordinal(bank) - _ordinal(book))
        around = bisect_right(days, day + apart) - bisect_left(days, day - apart)
        return around * step_of(abs(self._units(bank)))

    def _side(self, record: Record) -> tuple[str | None, bool]:
        return record.currency, self._units(record) > 0


@lru_cache(maxsize=65536)
def _apart(left: str, right: str) -> int:
    """How much rarer than by chance the amount has to be; 0 where the texts do not speak against it."""
    one, other = names(left), names(right)
    if not one or not other or references(left) & references(right) or likeness(left, right) >= LIKE:
        return 0
    if _of_bank(left) != _of_bank(right) or (references(left) and references(right)):
        return _REFERENCES_APART if 100 * len(one & other) < LIKE * min(len(one), len(other)) else 0
    return 0 if one & other else _NAMES_APART


def _of_bank(text: str) -> bool:
    """Whether a text calls a movement a fee or interest."""
    return bool(fee_in(text) or interest_in(text))


def _ordinal(record: Record) -> int:
    return (record.date or datetime.date.min).toordinal()
