"""Days, months and years that a text states: they are no figures, and a figure's source has to fit them."""

import calendar
import datetime
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ...namespaces.tool import Record

_MONTHS = (
    "january|januar|janvier|enero|januari|jan",
    "february|februar|f\u00e9vrier|febrero|februari|feb",
    "march|m\u00e4rz|mars|marzo|maart|mar",
    "april|avril|abril|apr",
    "may|mai|mayo|mei",
    "june|juni|juin|junio|jun",
    "july|juli|juillet|julio|jul",
    "august|ao\u00fbt|agosto|augustus|aug",
    "september|septembre|septiembre|sept|sep",
    "october|oktober|octobre|octubre|oct|okt",
    "november|novembre|noviembre|nov",
    "december|dezember|d\u00e9cembre|diciembre|dec|dez",
)
"""The names of the months in English, German, French, Spanish and Dutch, the whole ones first."""
_MONTH = "|".join(_MONTHS)
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|\.)?"
_YEAR = r"(?:19|20)\d{2}"
_UNTIL = r"(?:\s*(?:-|\u2013|to|and|bis|und|au|et)\s*)"


class Stated(NamedTuple):
    """A day, a month or a year as a text states it, and where."""

    start: int
    end: int
    year: int | None
    """None where the text leaves it out, as for the rest."""
    month: int | None
    """The first one, of a quarter."""
    day: int | None
    months: int = 1
    """How many: 3 for a quarter."""

    def fits(self, record: Record) -> bool:
        """Whether the record is of that time, as far as the record says."""
        spans = list(_spans(record))
        return not spans or any(self._within(first, last) for first, last in spans)

    def _within(self, first: datetime.date, last: datetime.date) -> bool:
        if self.year is None and self.month is None:
            return True
        years = range(first.year, last.year + 1) if self.year is None else (self.year,)
        return any(first <= end and start <= last for start, end in map(self._bounds, years))

    def _bounds(self, year: int) -> tuple[datetime.date, datetime.date]:
        try:
            start = datetime.date(year, self.month or 1, self.day or 1)
        except ValueError:
            return datetime.date.max, datetime.date.min
        if self.day is not None:
            return start, start
        last = 12 if self.month is None else self.month + self.months - 1
        return start, datetime.date(year, last, calendar.monthrange(year, last)[1])


def stated_days(text: str) -> list[Stated]:
    """Every date of a text, in its order; one that can be read two ways says only that it is one."""
    found: dict[int, Stated] = {}
    rest = text
    for pattern, read in _FORMS:
        for match in pattern.finditer(rest):
            found[match.start()] = read(match)
        rest = pattern.sub(lambda match: " " * len(match[0]), rest)
    return [found[at] for at in sorted(found)]


def _spans(record: Record) -> Iterator[tuple[datetime.date, datetime.date]]:
    """The days that a record is of: its own, and those its id names."""
    if record.date is not None:
        # What an account opens a day with, it held at the end of the day before: files give either day.
        around = datetime.timedelta(1 if record.id.endswith("/opening") else 0)
        yield record.date - around, record.date + around
    for match in _IN_ID.finditer(record.id):
        try:
            first = datetime.date.fromisoformat(match[1])
            last = datetime.date.fromisoformat(match[2]) if match[2] else first
        except ValueError:
            continue
        yield first, last


_IN_ID = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?:\.\.(\d{4}-\d{2}-\d{2}))?")


def _month(name: str) -> int | None:
    plain = name.casefold().rstrip(".")
    return next((n for n, names in enumerate(_MONTHS, 1) if plain in names.split("|")), None)


def _number(text: str | None) -> int | None:
    digits = re.sub(r"\D", "", text or "")
    return int(digits) if digits else None


def _whole_year(text: str | None) -> int | None:
    number = _number(text)
    return number + 2000 if number is not None and number < 100 else number  # noqa: PLR2004


def _named(match: "re.Match[str]") -> Stated:
    parts = match.groupdict()
    month = _month(parts["month"])
    return Stated(*match.span(), _number(parts.get("year")), month, _number(parts.get("day")))


def _iso(match: "re.Match[str]") -> Stated:
    return Stated(*match.span(), _number(match["year"]), _number(match["month"]), _number(match["day"]))


def _named_by_number(match: "re.Match[str]") -> Stated:
    return Stated(*match.span(), _number(match["year"]), _number(match["month"]), None)


def _alone(match: "re.Match[str]") -> Stated:
    return Stated(*match.span(), None, _month(match["month"] or match["may"]), None)


def _numeric(match: "re.Match[str]") -> Stated:
    first, second = int(match["first"]), int(match["second"])
    year = _whole_year(match["year"])
    if match["mark"] == "." or first > 12:  # noqa: PLR2004  (there is no such month)
        return Stated(*match.span(), year, second, first)
    if second > 12:  # noqa: PLR2004
        return Stated(*match.span(), year, first, second)
    return Stated(*match.span(), None, None, None)


def _part_of_year(match: "re.Match[str]") -> Stated:
    months = 3 if match["part"] in "Qq" else 6
    month = (int(match["number"]) - 1) * months + 1
    known = match["year"] is not None and month <= 12  # noqa: PLR2004  (there is no third half)
    return Stated(*match.span(), _number(match["year"]), month if known else None, None, months)


def _year_only(match: "re.Match[str]") -> Stated:
    return Stated(*match.span(), _number(match["year"]), None, None)


def _unread(match: "re.Match[str]") -> Stated:
    return Stated(*match.span(), None, None, None)


_EDGE = r"(?<![\w,/])(?<![^.]\.)"
_END = r"(?![\w/]|[.,]\d)"
_ALONE = "|".join(name.capitalize() for names in _MONTHS for name in names.split("|") if len(name) > 3)  # noqa: PLR2004
"""Months that need no more than their name; a short one, and May, are words as well."""


def _form(pattern: str, flags: re.RegexFlag = re.IGNORECASE) -> "re.Pattern[str]":
    return re.compile(f"{_EDGE}(?:{pattern}){_END}", flags)


_FORMS: tuple[tuple["re.Pattern[str]", Callable[["re.Match[str]"], Stated]], ...] = (
    (_form(r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2})?)?"), _iso),
    (_form(r"(?P<first>\d{1,2})(?P<mark>[./-])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})"), _numeric),
    (
        _form(
            r"(?:(?<=\b(?:am|im|ab) )|(?<=\b(?:vom|zum|bis|dem|den|der) )|(?<=\bseit )|(?<=\| ))"
            r"(?P<first>\d{1,2})(?P<mark>\.)(?P<second>0?[1-9]|1[0-2])\.(?P<year>)"
        ),
        _numeric,
    ),
    (
        _form(
            rf"(?:{_DAY}{_UNTIL})?(?P<day>{_DAY})\s+(?:of\s+|de\s+)?(?P<month>{_MONTH})\.?"
            rf"(?:,?\s+(?:de\s+)?(?P<year>{_YEAR}))?"
        ),
        _named,
    ),
    (
        _form(rf"(?P<month>{_MONTH})\.?\s+(?P<day>{_DAY})(?:{_UNTIL}{_DAY})?(?:,?\s+(?P<year>{_YEAR}))?"),
        _named,
    ),
    (_form(rf"(?P<month>{_MONTH})\.?,?\s+(?:de\s+)?(?P<year>{_YEAR})"), _named),
    (_form(r"(?P<year>(?:19|20)\d{2})-(?P<month>0[1-9]|1[0-2])"), _named_by_number),
    (_form(r"(?P<month>0?[1-9]|1[0-2])/(?P<year>(?:19|20)\d{2})"), _named_by_number),
    (_form(rf"(?P<part>[QH])(?P<number>[1-4])(?:[ /-]*(?P<year>{_YEAR}))?"), _part_of_year),
    (_form(r"FY ?(?:19|20)?\d{2}(?:/\d{2})?"), _unread),
    (
        _form(
            r"(?:19|20)\d{2}/\d{2}|\d{1,2}/\d{1,2}|\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?|\d{1,2}\.\d{2} Uhr"
        ),
        _unread,
    ),
    (re.compile(rf"\A(?P<month>{_MONTH})\.?\Z", re.IGNORECASE), _named),
    (_form(rf"(?P<month>{_ALONE})|(?:(?<=\bin )|(?<=\bfor )|(?<=\bof ))(?P<may>May)", re.NOFLAG), _alone),
    (_form(rf"(?P<year>{_YEAR})(?!\s*(?:[A-Z]{{3}}\b|[\u20ac$\u00a3]))", re.NOFLAG), _year_only),
)
"""The forms of a date, the fuller ones first: what one has taken is gone for the next."""
