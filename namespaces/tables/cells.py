"""What a cell of a workbook says, as the text that the same cell of a CSV would have.

A number keeps the 15 digits that a spreadsheet program works with, so 0.1 + 0.2 is 0.3; it is not
rounded to the fewer decimals that its format may show. A date is written YYYY-MM-DD.
"""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, InvalidOperation
from typing import Literal

from .numbers import MAX_AMOUNT, Exact

Kind = Literal["number", "date", "percent"]

_DIGITS = Context(prec=15)
_LAST_SERIAL = 2_958_465
"""31 December 9999."""
_NO_LEAP_YEAR = 60
"""The serial number that 1900-02-29 has, a day which never was."""
_BUILT_IN = {
    **dict.fromkeys((*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)), "yyyy-mm-dd"),
    **dict.fromkeys((2, 4, 7, 8, 39, 40, 44), "0.00"),
    **dict.fromkeys((9,), "0%"),
    **dict.fromkeys((10,), "0.00%"),
}
"""Formats that a workbook uses by number, as far as they change what is made of a cell."""
_NOT_SHOWN = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h|m|s|\$)[^\]]*\]', re.IGNORECASE)
_CURRENCY = re.compile(r"\[\$[^\]]*\]")
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_DATE_LETTERS = re.compile(r"[ymdhs]", re.IGNORECASE)
_DECIMALS = re.compile(r"[0#?]\.([0#?]+)")


@dataclass(frozen=True, slots=True)
class Format:
    """What a number format makes of a number."""

    kind: Kind
    decimals: int
    """Decimals that it shows; 0 also where it shows as many as there are."""
    general: bool
    """True when it shows as many decimals as there are."""


def format_of(code: str) -> Format:
    """The format of a code such as `#,##0.00;[Red](#,##0.00)`."""
    shown = _CURRENCY.sub("", _NOT_SHOWN.sub("", code)).partition(";")[0]
    if shown.strip().casefold() in {"general", "standard", "@", ""}:
        return Format("number", 0, general=True)
    if "%" in shown:
        return Format("percent", 0, general=True)
    if not _ELAPSED.search(shown) and _DATE_LETTERS.search(shown):
        return Format("date", 0, general=False)
    decimals = _DECIMALS.search(shown)
    return Format("number", len(decimals[1]) if decimals else 0, general=False)


@dataclass(frozen=True, slots=True)
class Styles:
    """The formats of a workbook by the number of their style, and where its days begin."""

    formats: Sequence[Format] = field(default_factory=tuple[Format, ...])
    since_1904: bool = False
    """True when day 0 is 1904-01-01, as on old Macs."""

    def of(self, style: str) -> Format:
        """The format of a style; a plain number's for one that there is not."""
        index = int(style) if style.isdecimal() and len(style) < 9 else 0  # noqa: PLR2004  no such number
        return self.formats[index] if index < len(self.formats) else Format("number", 0, general=True)

    def date(self, serial: Decimal) -> str | None:
        """The day with that serial number, and the time if it has one; None when there is none."""
        if not 0 <= serial <= _LAST_SERIAL:
            return None
        seconds = int((serial * 86_400).to_integral_value())
        days, rest = divmod(seconds, 86_400)
        time = str(datetime.timedelta(seconds=rest)) if rest else ""
        if not days and not self.since_1904:
            return time or None
        first = datetime.date(1904, 1, 1) if self.since_1904 else datetime.date(1899, 12, 30)
        if not self.since_1904 and days < _NO_LEAP_YEAR:
            days += 1
        try:
            day = first + datetime.timedelta(days)
        except OverflowError:
            return None
        return f"{day} {time:0>8}" if time else str(day)


def built_in(number: int) -> str:
    """The code of a format that workbooks use by number; a plain number's for one without meaning here."""
    return _BUILT_IN.get(number, "General")


def number_text(written: str, form: Format, styles: Styles) -> str | None:
    """A stored number as text; None when it is no number, or no day where a day is to be."""
    value = _decimal(written)
    if value is None:
        return None
    if form.kind == "date":
        return styles.date(value)
    if form.kind == "percent":
        return f"{_plain(value * 100)}%"
    return Exact(_plain(value, form.decimals))


def hides_decimals(text: str, form: Format) -> bool:
    """True for a number with more decimals than its format shows."""
    shows = form.kind == "number" and not form.general and isinstance(text, Exact)
    return shows and len(text.partition(".")[2]) > form.decimals


def _decimal(written: str) -> Decimal | None:
    try:
        value = _DIGITS.create_decimal(written)
    except InvalidOperation:
        return None
    fits = value.is_finite() and -MAX_AMOUNT < value.adjusted() < MAX_AMOUNT // 2
    return value if fits else None


def _plain(value: Decimal, decimals: int = 0) -> str:
    """Without exponent, and with at least so many decimals."""
    text = f"{value:f}"
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0").ljust(decimals, "0")
    return f"{whole}.{fraction}" if fraction else whole
