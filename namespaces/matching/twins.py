"""Unmatched records beside others: a matched one of the same side, an unmatched one of the other.

The former were entered twice or charged twice, the latter could not be matched for what their texts say.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..tool import Record
from .evidence import apart, days_between
from .rule import AccountRule
from .similarity import references
from .vocabulary import names

_ALIKE = 60
"""Share of the shorter text's telling words that both have, from which they are alike; 0 to 100."""
_LATE_DAYS = 35
"""Days within which one reference, paid twice, is one debt: a payment run comes every month at most."""
_MONTH = range(27, 33)
"""Days between two payments of a monthly contract, weekends included."""
_INVOICE = re.compile(
    r"\b(?:inv\w*|bill|credit ?note|cn|re|rg|rechnung\w*|facture|fact|factuur|factura)\b", re.IGNORECASE
)
"""What names one debt. A number without such a word may be that of a contract, which is paid every month."""

_SERIES = 100
"""Equal amounts within some days beyond which they are a series, and none is a twin or a rival."""


class _Near:
    """Records by currency and amount, to be found by days."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._known: dict[object, list[Record]] = {}
        for record in sorted(records, key=_ordinal):
            self._known.setdefault((record.currency, record.amount), []).append(record)

    def of(self, record: Record, days: int) -> Sequence[Record]:
        """Those of its amount within some days; none where there are too many."""
        known, day = self._known.get((record.currency, record.amount), []), _ordinal(record)
        low = bisect_left(known, day - days, key=_ordinal)
        high = bisect_right(known, day + days, key=_ordinal)
        return known[low:high] if high - low <= _SERIES else ()


def _ordinal(record: Record) -> int:
    return record.date.toordinal() if record.date else 0


class Twin(NamedTuple):
    """The matched record that another looks like."""

    record: Record
    evidence: tuple[str, ...]


class Twins:
    """The matched records of one side, to be asked for the twin of an unmatched one."""

    def __init__(self, matched: Iterable[Record], wanting: Iterable[Record], rule: AccountRule) -> None:
        """Takes what is matched of the one side, and what is not of the other."""
        self._window = rule.window_days
        self._wanted = {(each.currency, each.amount) for each in wanting}
        self._known = _Near(matched)

    def of(self, record: Record) -> Twin | None:
        """The one that it looks like; None when nothing but the amount is the same.

        A series of equal amounts is no series of duplicates: different references tell them apart, and
        without a reference in common there is one twin within the window, not several within a month.
        Where the other side lacks a match for the amount as well, the two are late rather than double.
        """
        if not record.amount or (record.currency, record.amount) in self._wanted:
            return None
        near = self._known.of(record, max(_LATE_DAYS, self._window))
        referring = [each for each in near if references(record.text) & references(each.text)]
        found = referring or [each for each in near if _alike(record, each)]
        if not found or (len(found) > 1 and not referring):
            return None
        twin = min(found, key=lambda each: (abs(days_between(record, each)), each.id))
        days = abs(days_between(record, twin))
        if days > self._window and (not referring or _is_monthly(record, days)):
            return None
        return Twin(twin, (f"same amount {record.amount}", _said(record, twin), apart(days)))


class Rivals:
    """Unmatched records of one side, to be asked for one of the amount of one on the other side."""

    def __init__(self, records: Iterable[Record], rule: AccountRule) -> None:
        self._window = rule.window_days
        self._known = _Near(records)

    def of(self, record: Record) -> Record | None:
        """The nearest of the same amount within the window; None when there is none."""
        near = self._known.of(record, self._window)
        return min(near, key=lambda each: (abs(days_between(record, each)), each.id), default=None)


def _alike(record: Record, other: Record) -> bool:
    if references(record.text) and references(other.text):
        return False
    left, right = names(record.text), names(other.text)
    least = min(len(left), len(right))
    return bool(least) and 100 * len(left & right) >= _ALIKE * least


def _is_monthly(record: Record, days: int) -> bool:
    return days in _MONTH and _INVOICE.search(record.text) is None


def _said(record: Record, twin: Record) -> str:
    if common := sorted(references(record.text) & references(twin.text)):
        return f"same reference {common[0]}"
    return f"both texts say {', '.join(sorted(names(record.text) & names(twin.text))[:4])}"
