"""Dates as journals write them: the year first, or left out where a directive says it."""

import datetime
import re

from ..tables.source import quote
from .completion import Malformed

DATE = r"(?:\d{4}[-/.])?\d{1,2}[-/.]\d{1,2}"
_DATE = re.compile(r"(?:(\d{4})[-/.])?(\d{1,2})[-/.](\d{1,2})", re.ASCII)


def read_date(text: str, year: int | None) -> datetime.date:
    """The date; `year` is that of one without a year, None when nothing says it.

    Raises:
        Malformed: there is no such day, or its year is not said.
    """
    found = _DATE.fullmatch(text)
    if found is None:
        raise Malformed(f"{quote(text)} is no date")
    if found[1] is None and year is None:
        raise Malformed(f"{quote(text)} has no year, and no directive Y says it")
    try:
        return datetime.date(int(found[1] or year or 0), int(found[2]), int(found[3]))
    except ValueError:
        raise Malformed(f"{quote(text)} is no date") from None
