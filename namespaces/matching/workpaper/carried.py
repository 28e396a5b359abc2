"""Reads the open items of the month before back from its statement, as CSV.

It may have been opened and saved by a spreadsheet program, as long as nothing in it got another meaning.
"""

import csv
import datetime
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from ...records import amount_of
from ...tables.source import Source, SourceError
from ...tool import Record
from ..carried import Carried
from .flat import COLUMNS, unguarded
from .lines import Section
from .saved import Manner, manner_of, separator_of

_AMOUNT = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,20})?", re.ASCII)
_AS_WRITTEN = "give the statement as it was written, not as a spreadsheet saved it again"


@dataclass(frozen=True, slots=True)
class OpenItems:
    """What one account's statement carries forward."""

    bank_account: str
    ledger_account: str
    end: datetime.date
    """Last day of the period that the statement is of."""
    carried: Carried


def read_open_items(source: Source) -> tuple[OpenItems, ...]:
    """The open items of every account in a statement, in its order.

    Raises:
        SourceError: it is no statement, it is cut, or a line of it cannot be read; the message names line
            and value.
    """
    rows = _rows(source)
    _refuse_cut(source.file, rows)
    accounts = dict.fromkeys(row.account for row in rows if row.account != ("", ""))
    return tuple(_open(account, [row for row in rows if row.account == account]) for account in accounts)


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of the file, its texts without guards."""

    file: str
    number: int
    """Line in the file, counted from 1."""
    cells: dict[str, str]

    @property
    def section(self) -> str:
        return self.cells["Section"]

    @property
    def account(self) -> tuple[str, str]:
        return self.cells["Bank account"], self.cells["Ledger account"]

    def amount(self, column: str) -> Decimal:
        if not _AMOUNT.fullmatch(self.cells[column]):
            raise self.wrong(column, "is no amount; it would be -1234.50")
        return Decimal(self.cells[column])

    def day(self) -> datetime.date:
        try:
            return datetime.date.fromisoformat(self.cells["Date"])
        except ValueError:
            raise self.wrong("Date", "is no date; it would be 2026-09-30") from None

    def number_of(self, column: str) -> int:
        cell = self.cells[column]
        if not (cell.isascii() and cell.isdigit() and len(cell) < 10):  # noqa: PLR2004  (a thousand million)
            raise self.wrong(column, "is no whole number; it would be 12")
        return int(cell)

    def record(self) -> Record:
        cells = self.cells
        if not cells["Record"]:
            raise self.wrong("Record", "is no record id; it would be bank:txn/2026-09-30/8123")
        return Record(
            id=cells["Record"],
            amount=self.amount("Amount") if cells["Amount"] else None,
            currency=cells["Currency"] or None,
            date=self.day() if cells["Date"] else None,
            text=cells["Text"],
            file=cells["File"] or None,
            row=self.number_of("Row") if cells["Row"] else None,
        )

    def written(self, manner: Manner) -> "_Row":
        """The row with date and amount as a statement has them."""
        date, amount = manner.date(self.cells["Date"]), manner.amount(self.cells["Amount"])
        return replace(self, cells={**self.cells, "Date": date, "Amount": amount})

    def wrong(self, column: str, what: str) -> SourceError:
        whole = f"{column} {what}; {_AS_WRITTEN}"
        return SourceError(self.file, whole, row=self.number, value=self.cells[column])


def _rows(source: Source) -> list[_Row]:
    try:
        text = source.data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceError(source.file, f"is no UTF-8 text, so no statement; {_AS_WRITTEN}") from None
    separator = separator_of(text.partition("\n")[0], COLUMNS)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        header = next(reader, list[str]())
        if tuple(header) != COLUMNS:
            what = f"is not the header of a statement, which begins {','.join(COLUMNS[:4])}; {_AS_WRITTEN}"
            raise SourceError(source.file, what, row=1, value=",".join(header))
        rows = [_row(source.file, reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        raise SourceError(source.file, f"is no CSV ({error}); {_AS_WRITTEN}", row=reader.line_num) from None
    manner = manner_of(separator, (row.cells["Date"] for row in rows))
    return [row.written(manner) for row in rows]


def _row(file: str, number: int, cells: Sequence[str]) -> _Row:
    if len(cells) != len(COLUMNS):
        what = f"has {len(cells)} cells where the header has {len(COLUMNS)}; {_AS_WRITTEN}"
        raise SourceError(file, what, row=number, value=",".join(cells))
    row = _Row(file, number, {name: unguarded(cell) for name, cell in zip(COLUMNS, cells, strict=True)})
    if row.section not in {section.value for section in Section}:
        raise row.wrong("Section", "is no section of a statement")
    return row


def _refuse_cut(file: str, rows: Sequence[_Row]) -> None:
    last = rows[-1] if rows else None
    if last is None or last.section != Section.END.value:
        raise SourceError(file, f"does not end with the line {Section.END.value}: it is cut; {_AS_WRITTEN}")
    if last.number_of("Count") != len(rows) - 1:
        what = f"lines are stated and {len(rows) - 1} are there; {_AS_WRITTEN}"
        raise SourceError(file, what, row=last.number, value=last.cells["Count"])


def _open(account: tuple[str, str], rows: Sequence[_Row]) -> OpenItems:
    sides: dict[str, list[Record]] = {"bank": [], "books": []}
    for row in rows:
        if row.section == Section.OPEN.value:
            if row.cells["What"] not in sides:
                raise row.wrong("What", "is no side; it would be bank or books")
            sides[row.cells["What"]].append(row.record())
    carried = Carried(tuple(sides["bank"]), tuple(sides["books"]))
    _refuse_other_sum(carried, rows)
    return OpenItems(*account, _end(rows), carried)


def _refuse_other_sum(carried: Carried, rows: Sequence[_Row]) -> None:
    stated = _stated(rows, Section.BALANCE, "Carried forward")
    made = amount_of(carried.bank) - amount_of(carried.books)
    if stated.amount("Amount") != made:
        raise stated.wrong("Amount", f"is stated, the open items make {made}")


def _end(rows: Sequence[_Row]) -> datetime.date:
    return _stated(rows, Section.STATEMENT, "Period to").day()


def _stated(rows: Sequence[_Row], section: Section, what: str) -> _Row:
    found = [row for row in rows if row.section == section.value and row.cells["What"] == what]
    if len(found) != 1:
        raise rows[0].wrong("Bank account", f"has {len(found)} lines {what!r} where one has to be")
    return found[0]


def carried_to(
    items: Iterable[OpenItems], bank_account: str, ledger_account: str, start: datetime.date
) -> Carried:
    """What is carried to a period that begins on a day: only what ends on the day before.

    Of a bank account that is named after its file, each month's has another name: then the account in
    the books says which it is.
    """
    ended = [each for each in items if each.end == start - datetime.timedelta(1)]
    own = [each for each in ended if each.bank_account == bank_account]
    own = own or [each for each in ended if each.ledger_account == ledger_account]
    return own[0].carried if own else Carried()
