"""Dates as people write them, and whether a column has the day or the month first."""

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from .numbers import Cell
from .source import Conventions, SourceError, UndecidedError, quote

Order = Literal["day", "month"]

_CLOCK = r"(?:[T ,]+\d{1,2}[:.]\d{2}.*)?"
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _CLOCK, re.ASCII)
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})" + _CLOCK, re.ASCII)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})" + _CLOCK, re.ASCII)
_DAY_NAME = re.compile(r"([0-9]{1,2})[-/. ]*([^\W\d_]{3,9})[-/., ]*([0-9]{4}|[0-9]{2})" + _CLOCK)
_NAME_DAY = re.compile(r"([^\W\d_]{3,9})\.? +([0-9]{1,2}),? +([0-9]{4})" + _CLOCK)
_MAX_DATE = 40
_MAX_CELL = 100
_FIRST_YEAR, _LAST_YEAR = 1900, 2199
_PIVOT = 69
"""Two-digit years from here on are of the last century, as POSIX has it."""
_MONTHS = (
    ("jan", "ene"),
    ("feb", "fev", "fév"),
    ("mar", "mär", "mrt", "maa", "mae"),
    ("apr", "avr", "abr"),
    ("may", "mai", "mei"),
    ("jun", "juin"),
    ("jul", "juil"),
    ("aug", "aou", "aoû", "ago"),
    ("sep", "set"),
    ("oct", "okt"),
    ("nov",),
    ("dec", "dez", "dic", "déc"),
)
"""How the names of the months begin in English, German, French, Dutch and Spanish."""


class _Numeric(NamedTuple):
    first: int
    second: int
    year: int
    dotted: bool


@dataclass(frozen=True, slots=True)
class Dates:
    """How the dates of one file are written."""

    order: Order | None
    """None when no date of the file needs it."""
    said: bool = False
    """True when the file leaves it open and a person said it."""

    def read(self, text: str) -> datetime.date | None:
        """The date as written, whatever time or zone follows; None when there is no such day."""
        return _read(text, self.order or "day") if len(text) <= _MAX_CELL else None


@lru_cache(maxsize=8192)
def _read(text: str, order: Order) -> datetime.date | None:
    """A file has few days and each many times: they are read once, and are one object."""
    text = text.strip()
    if len(text) > _MAX_DATE:
        return None
    numeric = _numeric(text)
    return _plain(text) if numeric is None else _ordered(numeric, order)


def decide(cells: Iterable[Cell], file: str, conventions: Conventions) -> Dates:
    """Decides from all dates of a file at once whether 03/04 is in April or in March.

    Dates with dots (03.04.2026) have the day first wherever they are written.

    Raises:
        SourceError: some dates have only the one order and some the other, or not the one that was said
            firmly.
        UndecidedError: both fit all of them.
    """
    proofs: dict[Order, Cell] = {}
    undecided: Cell | None = None
    for cell in cells:
        numeric = _numeric(cell.text.strip()) if len(cell.text) <= _MAX_CELL else None
        if numeric is None:
            continue
        fits = _orders(numeric)
        if len(fits) == 1:
            proofs.setdefault(fits[0], cell)
        elif fits and undecided is None and numeric.first != numeric.second:
            undecided = cell
    if len(proofs) > 1:
        raise _two_orders(file, proofs)
    if proofs:
        return Dates(_shown(file, proofs, conventions))
    if undecided is not None and conventions.day_first is None:
        raise _two_readings(file, undecided)
    return Dates("month" if conventions.day_first is False else "day", said=undecided is not None)


def is_date(text: str) -> bool:
    """True for a text that is a date in one order at least."""
    numeric = _numeric(text.strip())
    if numeric is not None:
        return bool(_orders(numeric))
    return len(text) <= _MAX_DATE and _plain(text.strip()) is not None


def _shown(file: str, proofs: dict[Order, Cell], conventions: Conventions) -> Order:
    order, cell = next(iter(proofs.items()))
    if "day_first" in conventions.firm and conventions.day_first not in {None, order == "day"}:
        what = f"has the {order} first, so day_first={conventions.day_first} cannot be"
        raise SourceError(file, what, row=cell.row, value=cell.text)
    return order


@lru_cache(maxsize=8192)
def _numeric(text: str) -> _Numeric | None:
    found = _YEAR_LAST.fullmatch(text) if len(text) <= _MAX_DATE else None
    if found is None:
        return None
    return _Numeric(int(found[1]), int(found[3]), _year(found[4]), found[2] == ".")


def _orders(numeric: _Numeric) -> list[Order]:
    orders: tuple[Order, ...] = ("day",) if numeric.dotted else ("day", "month")
    return [order for order in orders if _ordered(numeric, order) is not None]


def _ordered(numeric: _Numeric, order: Order) -> datetime.date | None:
    if order == "day" or numeric.dotted:
        return _day(numeric.year, numeric.second, numeric.first)
    return _day(numeric.year, numeric.first, numeric.second)


def _plain(text: str) -> datetime.date | None:
    """A date that reads one way only: year first, or the month as a word."""
    if found := _YEAR_FIRST.fullmatch(text):
        return _day(int(found[1]), int(found[3]), int(found[4]))
    if found := _COMPACT.fullmatch(text):
        return _day(int(found[1]), int(found[2]), int(found[3]))
    if found := _DAY_NAME.fullmatch(text):
        return _day(_year(found[3]), _month(found[2]), int(found[1]))
    if found := _NAME_DAY.fullmatch(text):
        return _day(int(found[3]), _month(found[1]), int(found[2]))
    return None


def _month(name: str) -> int:
    """Number of the month; 0, which is none, for a word that names no month."""
    name = name.casefold()
    return next((n for n, begins in enumerate(_MONTHS, 1) if name.startswith(begins)), 0)


def _year(text: str) -> int:
    year = int(text)
    if len(text) > 2:  # noqa: PLR2004 (the length of a two-digit year)
        return year
    return year + (1900 if year >= _PIVOT else 2000)


def _day(year: int, month: int, day: int) -> datetime.date | None:
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None


def _two_orders(file: str, proofs: dict[Order, Cell]) -> SourceError:
    day, month = proofs["day"], proofs["month"]
    return SourceError(
        file,
        f"has the day first, yet {quote(month.text)} in line {month.row} has the month first; one"
        " file has one order: correct the line that is wrong, or export the file again",
        row=day.row,
        value=day.text,
    )


def _two_readings(file: str, cell: Cell) -> UndecidedError:
    day, month = Dates("day").read(cell.text), Dates("month").read(cell.text)
    return UndecidedError(
        file,
        f"reads as {day} with day_first=True and as {month} with day_first=False, and no other date"
        " of the file decides it; say which with day_first=",
        argument="day_first",
        row=cell.row,
        value=cell.text,
    )
