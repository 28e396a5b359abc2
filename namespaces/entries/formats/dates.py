"""A day written as the other dates of a file are."""

import datetime
import re
from collections.abc import Sequence

from ...tables.dates import Order

_YEAR_FIRST = re.compile(r"\d{4}([-/.])(\d{1,2})\1(\d{1,2})(?!\d)", re.ASCII)
_COMPACT = re.compile(r"\d{8}(?!\d)", re.ASCII)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?!\d)", re.ASCII)
_DAY_NAME = re.compile(r"(\d{1,2})([-/. ]+)([^\W\d_]{3,9})([-/., ]+)(\d{4}|\d{2})(?!\d)")
_NAME_DAY = re.compile(r"([^\W\d_]{3,9})(\.? +)(\d{1,2})(,? +)\d{4}")
_MONTHS = "January February March April May June July August September October November December"
_ENGLISH = tuple(_MONTHS.split())
_SHORT = 3


def like(samples: Sequence[str], day: datetime.date, order: Order) -> str:
    """The day as the samples are written; where that cannot be told, as 2026-09-14.

    Args:
        samples: Dates of the file, none of them empty.
        day: What to write.
        order: Whether the samples have the day or the month first.
    """
    if not samples:
        return day.isoformat()
    # The shortest one shows whether days and months are written with a zero in front.
    sample = min(samples, key=len).strip()
    if found := _YEAR_FIRST.match(sample):
        mark, month, date = found[1], found[2], found[3]
        return f"{day.year}{mark}{_like(day.month, month, date)}{mark}{_like(day.day, date, month)}"
    if _COMPACT.match(sample):
        return f"{day:%Y%m%d}"
    if found := _YEAR_LAST.match(sample):
        mark, parts = found[2], (found[1], found[3])
        day_first = order == "day" or mark == "."
        first, second = (day.day, day.month) if day_first else (day.month, day.day)
        written = f"{_like(first, *parts)}{mark}{_like(second, *reversed(parts))}"
        return f"{written}{mark}{_year(day, found[4])}"
    return _named(samples, day)


def _named(samples: Sequence[str], day: datetime.date) -> str:
    name = _month(samples, day)
    if found := [match for each in samples if (match := _DAY_NAME.match(each.strip()))]:
        first = min(found, key=lambda match: len(match[1]))
        return f"{_like(day.day, first[1])}{first[2]}{name}{first[4]}{_year(day, first[5])}"
    if found := [match for each in samples if (match := _NAME_DAY.match(each.strip()))]:
        first = min(found, key=lambda match: len(match[3]))
        return f"{name}{first[2]}{_like(day.day, first[3])}{first[4]}{day.year}"
    return day.isoformat()


def _month(samples: Sequence[str], day: datetime.date) -> str:
    """The month's English name, whole or its first letters, as the samples have theirs."""
    names = [found[0] for each in samples if (found := re.search(r"[^\W\d_]{3,9}", each))]
    name = _ENGLISH[day.month - 1]
    if all(len(each) <= _SHORT for each in names):
        name = name[:_SHORT]
    return name.upper() if all(each.isupper() for each in names) else name


def _like(number: int, sample: str, other: str = "") -> str:
    """With a zero in front of one digit, unless the sample has none; from 10 on the other part shows it."""
    bare = len(sample) == 1 or (sample[0] != "0" and len(other) == 1)
    return str(number) if bare else f"{number:02d}"


def _year(day: datetime.date, sample: str) -> str:
    return str(day.year)[-len(sample) :]
