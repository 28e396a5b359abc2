"""IIF, which QuickBooks Desktop imports and exports: its transactions (TRNS, SPL, ENDTRNS).

A row that begins with ! names the columns of the rows of that kind below it. Lists (accounts, customers)
hold no entries; of the accounts their names are kept.
"""

import csv
import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from ..tables import dates, numbers
from ..tables.decided import tell_currency, tell_decided
from ..tables.numbers import Cell
from ..tables.source import Conventions, Findings, Source, SourceError, quote
from ..tables.text import decode, lines_of
from .books import LedgerFile, Line
from .completion import MAX_ACCOUNT, MAX_TEXT, tidy

_TEXTS = ("NAME", "MEMO", "DOCNUM")
_NEEDED = ("ACCNT", "AMOUNT")


class _Row(NamedTuple):
    """One line of an entry, by the names of its columns."""

    number: int
    cells: Mapping[str, str]

    def cell(self, name: str) -> Cell:
        return Cell(self.number, self.cells.get(name, "").strip())


@dataclass(slots=True)
class _Entry:
    row: int
    rows: list[_Row] = field(default_factory=list[_Row])
    whole: bool = False
    """True when its ENDTRNS was there."""


def read_iif(source: Source, conventions: Conventions) -> LedgerFile:
    """Reads the transactions of one IIF file.

    Raises:
        SourceError: it is no text, or has no transaction.
        UndecidedError: two readings of its dates or amounts fit.
    """
    findings = Findings(source.file)
    rows = _Rows(findings)
    for line in lines_of(decode(source, findings), source.file):
        rows.take(line.text, line.number)
    entries = rows.done()
    if not entries:
        raise SourceError(source.file, "has no transaction (TRNS); export transactions, not only lists")
    cells = [row for entry in entries for row in entry.rows]
    how = dates.decide([row.cell("DATE") for row in cells], source.file, conventions)
    marks = numbers.decide([row.cell("AMOUNT") for row in cells], source.file, conventions)
    tell_decided(how, marks, conventions, findings)
    tell_currency(None, conventions, findings)
    reading = _Reading(source.file, how, marks, conventions.currency, findings)
    lines = [line for entry in entries for line in reading.lines(entry)]
    if conventions.currency is None:
        findings.add("info", "names no currency: its amounts match only others without one")
    accounts = tuple(sorted(rows.accounts))
    return LedgerFile(source.file, "iif", tuple(lines), (), findings.done(), accounts)


class _Rows:
    """Splits a file into the lines of its transactions; all else is told."""

    def __init__(self, findings: Findings) -> None:
        self.accounts: set[str] = set()
        self._findings = findings
        self._columns: dict[str, tuple[str, ...]] = {}
        self._entries: list[_Entry] = []
        self._open: _Entry | None = None
        self._lists: dict[str, int] = {}

    def take(self, text: str, number: int) -> None:
        """Reads one row."""
        cells = _split(text.lstrip("\ufeff"))
        kind = cells[0].strip().upper() if cells else ""
        if kind.startswith("!"):
            self._columns[kind[1:]] = tuple(cell.strip().upper() for cell in cells)
        elif kind in {"TRNS", "SPL"}:
            self._line(kind, cells, number)
        elif kind == "ENDTRNS":
            self._end(number)
        elif kind == "ACCNT":
            name = tidy(self._row(kind, cells, number).cell("NAME").text)
            self.accounts |= {name[:MAX_ACCOUNT]} if name else set[str]()
        elif kind in self._columns:
            self._lists.setdefault(kind, number)
        elif any(cells):
            self._findings.add("error", f"{quote(text)} is no row of a kind that was named", number)

    def done(self) -> list[_Entry]:
        """All entries; what is left open is told."""
        self._close(None)
        for kind, number in list(self._lists.items())[:20]:
            self._findings.add("info", f"rows of the list {kind[:20]} hold no entries: not used", number)
        return self._entries

    def _row(self, kind: str, cells: Sequence[str], number: int) -> _Row:
        return _Row(number, dict(zip(self._columns.get(kind, ()), cells, strict=False)))

    def _line(self, kind: str, cells: Sequence[str], number: int) -> None:
        missing = [name for name in _NEEDED if name not in self._columns.get(kind, ())]
        if missing:
            what = f"a row {kind} without a row !{kind} above it that names {', '.join(missing)}"
            self._findings.add("error", f"{what}: it is not read", number)
            return
        row = self._row(kind, cells, number)
        if kind == "TRNS":
            self._close(number)
            self._open = _Entry(number, [row])
        elif self._open is not None:
            self._open.rows.append(row)
        else:
            self._findings.add("error", "a row SPL belongs to no TRNS: it is not read", number)

    def _end(self, number: int) -> None:
        if self._open is None:
            self._findings.add("error", "ENDTRNS ends nothing", number)
            return
        self._open.whole = True
        self._close(number)

    def _close(self, number: int | None) -> None:
        entry, self._open = self._open, None
        if entry is None:
            return
        if not entry.whole:
            where = "the end of the file" if number is None else f"line {number}"
            what = f"the entry has no ENDTRNS before {where}: lines of it may be missing"
            self._findings.add("error", what, entry.row)
        self._entries.append(entry)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Turns entries into lines."""

    file: str
    dates: dates.Dates
    numbers: numbers.Numbers
    currency: str | None
    findings: Findings

    def lines(self, entry: _Entry) -> Iterator[Line]:
        """The lines of one entry; one that does not sum to 0 is told."""
        first = entry.rows[0]
        day = self._day(first)
        total = Decimal(0)
        for row in entry.rows:
            line = self._line(entry, row, self._day(row) or day)
            if line is not None:
                total += line.amount
                yield line
        if total:
            what = f"the entry does not balance: its lines sum to {total}"
            self.findings.add("error", what, entry.row)

    def _day(self, row: _Row) -> datetime.date | None:
        return self.dates.read(row.cell("DATE").text)

    def _line(self, entry: _Entry, row: _Row, day: datetime.date | None) -> Line | None:
        amount = self.numbers.read(row.cell("AMOUNT").text)
        account = tidy(row.cell("ACCNT").text)
        written = row.cell("DATE").text
        if day is None or (written and self._day(row) is None):
            self._left_out(row, f"{quote(written)} is no date" if written else "has no date")
        elif amount is None:
            self._left_out(row, f"{quote(row.cell('AMOUNT').text)} is no amount")
        elif not account or len(account) > MAX_ACCOUNT:
            self._left_out(row, f"{quote(account)} is no account" if account else "names no account")
        else:
            said = " ".join(row.cell(name).text for name in _TEXTS)
            number = f"{self.file}:{entry.row}"
            text = " ".join(said.split())[:MAX_TEXT]
            return Line(day, account, amount, self.currency, self.file, row.number, number, text)
        return None

    def _left_out(self, row: _Row, what: str) -> None:
        self.findings.add("error", f"is left out: {what}", row.number)


def _split(text: str) -> list[str]:
    if text.count('"') % 2:
        return text.split("\t")
    try:
        return next(csv.reader([text], delimiter="\t"), list[str]())
    except csv.Error:
        return text.split("\t")
