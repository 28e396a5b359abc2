"""Numbers as people write them in running text: what each may mean, and how precise it claims to be.

`1.234,56`, `1'234.50`, `1 234`, `12,34,567`, `1.2m`: unlike a column of a file, one number of a text has
no neighbours that would show which mark is the decimal one, so it may have two readings.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

SPACES = " \u00a0\u2009\u202f"
_GROUPING = f"'\u2019{SPACES}"
NUMBER = (
    rf"(?:\d{{1,3}}(?:[.,{_GROUPING}]\d{{3}})+(?:[.,]\d+)?(?!\d)"
    r"|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?(?!\d)"
    r"|\d+(?:[.,]\d+)?)"
)
"""A number without sign, as a pattern."""

_THOUSAND, _MILLION, _BILLION = Decimal(1_000), Decimal(1_000_000), Decimal(1_000_000_000)
MULTIPLIERS: Mapping[str, Decimal] = {
    **dict.fromkeys(("k", "thousand", "tsd.", "tsd", "mille", "t"), _THOUSAND),
    **dict.fromkeys(("m", "mn", "mm", "million", "millions", "mio.", "mio", "mill.", "millionen"), _MILLION),
    **dict.fromkeys(("bn", "b", "billion", "billions", "mrd.", "mrd", "milliard", "milliards"), _BILLION),
    "lakh": Decimal(100_000),
    "crore": Decimal(10_000_000),
}
"""What may stand behind a number, in small letters."""

_GROUP = 3


class Reading(NamedTuple):
    """One meaning of a written number."""

    value: Decimal
    """Never negative: the sign is read apart."""
    step: Decimal
    """The worth of its last digit: 0.01 for 1,234.56 and 100,000 for 1.2m."""

    def rounds_from(self, exact: Decimal) -> bool:
        """Whether it is what the exact size comes to at the precision shown; a half goes either way."""
        return abs(abs(exact) - self.value) * 2 <= self.step and (exact == self.value or self.value > 0)

    def roughly(self) -> "Reading":
        """The same as an approximation: zeros at its end are no claim."""
        step = self.step
        while self.value and not self.value % (step * 10):
            step *= 10
        return Reading(self.value, step)


def readings(body: str, multiplier: str = "") -> tuple[Reading, ...]:
    """What a number may mean; two readings where its one mark may be the decimal one or not."""
    factor = MULTIPLIERS.get(multiplier.casefold(), Decimal(1))
    found: list[Reading] = []
    for whole, fraction in _splits(body):
        value = Decimal(f"{whole}.{fraction}" if fraction else whole)
        found.append(Reading(value * factor, Decimal(1).scaleb(-len(fraction)) * factor))
    return tuple(found)


def _splits(body: str) -> Iterator[tuple[str, str]]:
    """Digits before and after the decimal mark, for each way to read them."""
    spaced = any(mark in body for mark in _GROUPING)
    bare = re.sub(f"[{_GROUPING}]", "", body)
    marks = [letter for letter in bare if letter in ".,"]
    if not marks:
        yield bare, ""
        return
    last = marks[-1]
    whole, _, fraction = bare.rpartition(last)
    digits = re.sub("[.,]", "", whole)
    if len(set(marks)) > 1:
        yield digits, fraction
    elif len(marks) > 1:
        yield digits + fraction, ""
    else:
        may_group = len(fraction) == _GROUP and not spaced and len(digits) <= _GROUP and digits[0] != "0"
        if may_group:
            yield digits + fraction, ""
        yield digits, fraction
