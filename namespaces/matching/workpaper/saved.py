"""How a spreadsheet program saved a statement again: separators, dates and amounts as its country has them.

Only what has one meaning is read. Whether 03/04 is April or March, the other dates of the file have to say.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_SEPARATORS = (",", ";", "\t")
_DATE = re.compile(r"(\d{1,2})([./])(\d{1,2})\2(\d{4})", re.ASCII)
_WITH_COMMA = re.compile(r"-?\d{1,30},\d{1,20}", re.ASCII)
_MONTHS = 12


@dataclass(frozen=True, slots=True)
class Manner:
    """What tells the cells of one file."""

    decimal_comma: bool
    """Whether -28,50 is an amount: only where no comma parts the cells."""
    day_first: bool | None
    """Of 30/09/2026; None where no date of the file tells."""

    def amount(self, cell: str) -> str:
        """The amount as a statement has it; the cell itself where it is no such amount."""
        return cell.replace(",", ".") if self.decimal_comma and _WITH_COMMA.fullmatch(cell) else cell

    def date(self, cell: str) -> str:
        """The date as YYYY-MM-DD; the cell itself where it cannot be told."""
        found = _DATE.fullmatch(cell)
        day_first = True if found and found[2] == "." else self.day_first
        if found is None or day_first is None:
            return cell
        day, month = (found[1], found[3]) if day_first else (found[3], found[1])
        return f"{found[4]}-{month:>02}-{day:>02}"


def separator_of(first_line: str, header: Sequence[str]) -> str:
    """What parts the cells of a line that has to be a header; a comma where nothing makes it one."""
    for separator in _SEPARATORS:
        if first_line.rstrip("\r\n").replace('"', "").split(separator) == list(header):
            return separator
    return _SEPARATORS[0]


def manner_of(separator: str, dates: Iterable[str]) -> Manner:
    """How the cells of a file are written, by all its dates together."""
    slashed = [found for each in dates if (found := _DATE.fullmatch(each)) and found[2] == "/"]
    first = any(int(each[1]) > _MONTHS for each in slashed)
    second = any(int(each[3]) > _MONTHS for each in slashed)
    return Manner(separator != ",", first if first != second else None)
