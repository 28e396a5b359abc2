"""What the rows of one table mean: its dates, its signed amounts, its currency."""

import datetime
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, NamedTuple

from . import dates, numbers
from .dates import Dates
from .decided import tell_currency, tell_decided
from .header import Columns, same_columns
from .numbers import Cell, Numbers, currency_in, is_currency, take_apart
from .source import Conventions, Findings, SourceError, quote
from .table import Row, Table, fitted, is_whole
from .words import BalanceKind, balance_of, side_of

_DATES = ("date", "value_date")
_NUMBERS = ("amount", "debit", "credit", "balance")
_CODE_LETTERS = 3
_LABEL_WORDS = 3
"""A dated row is taken for a balance only when its text is hardly more than that word."""


class Fields(NamedTuple):
    """What one row says, apart from its texts."""

    date: datetime.date
    value_date: datetime.date | None
    amount: Decimal
    balance: Decimal | None
    """The running balance after it; None when the row gives none."""
    currency: str | None


class Problem(NamedTuple):
    """Why a row cannot be taken over."""

    what: str


class Reading(NamedTuple):
    """A row that could be read one way."""

    fields: Fields
    cells: tuple[str, ...]
    """Its cells, each under its column."""
    repaired: bool
    """True when the row had too few or too many cells and only one reading of it made sense."""


class BalanceRow(NamedTuple):
    """A row, or a line above the header, that states a balance or a total and is no entry."""

    kind: BalanceKind
    amount: Decimal | None
    date: datetime.date | None
    row: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """One table, with all that had to be decided from the whole of it."""

    table: Table
    numbers: Numbers
    dates: Dates
    credit_sign: Literal[1, -1]
    """1 at a bank, where a credit is money in; -1 in books, where a debit is positive."""
    debit_signed: bool
    """True when the debit column has its minus signs already."""
    currency: str | None
    """Said once for the whole file; None when only the rows say it, or nothing does."""
    single: Literal["debit", "credit"] | None = None
    """Which side the one column of amounts counts as positive, where a person said it: on many cards a
    charge is. None: the signs are the account holder's."""

    def read(self, row: Row) -> Reading | Problem:
        """Reads one row; with too few or too many cells only if just one reading makes sense."""
        repaired = not is_whole(row, self.table)
        found: dict[Fields, tuple[str, ...]] = {}
        best = (False, 0)
        problem = Problem(f"{len(row.cells)} cells where the header has {self._width}")
        for cells in fitted(row, self.table):
            fields = self._fields(cells)
            if isinstance(fields, Problem):
                problem = problem if repaired else fields
                continue
            filled = self._filled(cells)
            if filled > best:
                best, found = filled, {}
            if filled == best:
                found.setdefault(fields, cells)
        if len(found) == 1:
            fields, cells = next(iter(found.items()))
            return Reading(fields, cells, repaired)
        if found:
            read = " or ".join(f"{fields.amount}" for fields in list(found)[:3])
            return Problem(f"{problem.what}: the amount may be {read}; add the missing quotes")
        return problem

    def take(self, row: Row, findings: Findings) -> Reading | None:
        """Reads one row and tells what was odd about it; None when it is left out."""
        reading = self.read(row)
        if isinstance(reading, Reading):
            if reading.repaired:
                fits = f"read with the amount {reading.fields.amount}, as only that fits"
                findings.add("warning", f"has {len(row.cells)} cells; {fits}", row.number)
            return reading
        if same_columns(row.cells, self.table.columns.names):
            findings.add("info", self.table.place("is the header once more"), row.number)
        else:
            findings.add("error", self.table.place(f"is left out: {reading.what}"), row.number)
        return None

    def balance_row(self, row: Row) -> BalanceRow | None:
        """The row as a balance or a total; None when it is none."""
        columns = self.table.columns
        date = self.dates.read(columns.cell(row.cells, "date"))
        text = columns.joined(row.cells, "text")
        label = text if date else next((cell for cell in row.cells if cell), "")
        if date and len(label.split()) > _LABEL_WORDS and self._says_amount(row.cells):
            return None
        kind = balance_of(label)
        if kind is None or (date and kind == "total"):
            return None
        amount = self._balance(row.cells, kind == "total")
        return BalanceRow(kind, amount, date or self._date_in(label), row.number, row.cells)

    def preamble(self) -> Iterator[BalanceRow]:
        """The balances that are stated above the header."""
        for row in self.table.preamble:
            label = row.cells[0] if row.cells else ""
            kind = balance_of(label)
            if kind is None:
                continue
            read = ((cell, self.numbers.read(cell)) for cell in row.cells[1:])
            amount = next((self._signed(cell, value) for cell, value in read if value is not None), None)
            yield BalanceRow(kind, amount, self._date_in(label), row.number, row.cells)

    def total_in(self, cells: Sequence[str]) -> Decimal | None:
        """What the row of a total states, signed as its entries are; None when it states nothing.

        It may state debits and credits side by side.
        """
        columns = self.table.columns
        if {"debit", "credit"} <= set(columns.roles):
            both = [self.numbers.read(columns.cell(cells, role)) for role in ("debit", "credit")]
            debit, credit = (value or Decimal(0) for value in both)
            signed = credit + debit if self.debit_signed else credit - debit
            return None if both == [None, None] else self.credit_sign * signed
        amount = self._amount(cells)
        return None if isinstance(amount, Problem) else amount

    def _says_amount(self, cells: Sequence[str]) -> bool:
        return any(self.table.columns.cell(cells, role) for role in ("amount", "debit", "credit"))

    @property
    def _width(self) -> int:
        return len(self.table.columns.names)

    def _filled(self, cells: Sequence[str]) -> tuple[bool, int]:
        """How much of the header a reading uses: with a cell gone, the fuller one is right."""
        columns = self.table.columns
        given = [columns.cell(cells, role) for role in (*_DATES, *_NUMBERS, "currency")]
        return bool(given[0]), sum(1 for cell in given if cell)

    def _fields(self, cells: Sequence[str]) -> Fields | Problem:
        columns = self.table.columns
        written = {role: columns.cell(cells, role) for role in _DATES}
        days = {role: self.dates.read(text) for role, text in written.items() if text}
        date = days.get("date") or days.get("value_date")
        wrong = next((written[role] for role, day in days.items() if day is None), None)
        if date is None or wrong is not None:
            return Problem(f"{quote(wrong)} is no date" if wrong else "has no date")
        amount = self._amount(cells)
        if isinstance(amount, Problem):
            return amount
        balance = columns.cell(cells, "balance")
        running = self.numbers.read(balance) if balance else None
        if balance and running is None:
            return Problem(f"{quote(balance)} is no balance")
        running = None if running is None else self._signed(balance, running)
        currency = self._currency_of(cells)
        if isinstance(currency, Problem):
            return currency
        return Fields(date, days.get("value_date"), amount, running, currency)

    def _amount(self, cells: Sequence[str]) -> Decimal | Problem:
        columns = self.table.columns
        if {"debit", "credit"} <= set(columns.roles):
            return self._two_columns(cells)
        text = columns.cell(cells, self.single or "amount")
        value = self.numbers.read(text)
        if value is None:
            return Problem(f"{quote(text)} is no amount" if text else "has no amount")
        if "side" in columns.roles and self.single is None:
            return self._by_side(value, columns.cell(cells, "side"))
        return self._signed(text, value)

    def _signed(self, text: str, value: Decimal) -> Decimal:
        """A number with a suffix such as CR has its sign from that; others from the side they count."""
        if self.credit_sign == 1 and self.single is None:
            return value
        written = take_apart(text)
        if written and written.side:
            return value * self.credit_sign
        if self.single is None:
            return value
        return value * (self.credit_sign if self.single == "credit" else -self.credit_sign)

    def _two_columns(self, cells: Sequence[str]) -> Decimal | Problem:
        columns = self.table.columns
        texts = [columns.cell(cells, role) for role in ("debit", "credit")]
        if not any(texts):
            return Problem("has neither a debit nor a credit")
        values = [self.numbers.read(text) if text else Decimal(0) for text in texts]
        debit, credit = values
        if debit is None or credit is None:
            return Problem(f"{quote(texts[0] if debit is None else texts[1])} is no amount")
        if debit and credit:
            return Problem(f"has both a debit ({debit}) and a credit ({credit})")
        return self.credit_sign * (credit + debit if self.debit_signed else credit - debit)

    def _by_side(self, value: Decimal, flag: str) -> Decimal | Problem:
        side = side_of(flag)
        if side is None:
            return Problem(f"{quote(flag)} is neither debit nor credit")
        if value < 0 and side == "credit":
            return Problem(f"{value} is negative and yet marked {quote(flag)}")
        return self.credit_sign * (abs(value) if side == "credit" else -abs(value))

    def _currency_of(self, cells: Sequence[str]) -> str | Problem | None:
        written = self.table.columns.cell(cells, "currency")
        if not written:
            return self._currency_in_amount(cells) or self.currency
        code = currency_in(written) or written.upper()
        if len(code) != _CODE_LETTERS or not code.isalpha():
            return Problem(f"{quote(written)} is no currency code")
        return sys.intern(code)

    def _currency_in_amount(self, cells: Sequence[str]) -> str | None:
        columns = self.table.columns
        for role in ("amount", "debit", "credit"):
            written = take_apart(columns.cell(cells, role))
            if written is not None and written.currency:
                return written.currency
        return None

    def _balance(self, cells: Sequence[str], total: bool) -> Decimal | None:  # noqa: FBT001
        if total:
            return None
        columns = self.table.columns
        text = columns.cell(cells, "balance")
        balance = self.numbers.read(text)
        if balance is not None:
            return self._signed(text, balance)
        amount = self._amount(cells)
        return None if isinstance(amount, Problem) else amount

    def _date_in(self, label: str) -> datetime.date | None:
        words = (word.strip(":,;()") for word in label.split())
        found = (self.dates.read(word) for word in words)
        return next((day for day in found if day is not None), None)


def read_layout(
    table: Table, conventions: Conventions, credit_sign: Literal[1, -1], findings: Findings
) -> Layout:
    """Decides what the whole table has to decide, and tells where what a person said was used.

    Raises:
        SourceError: its dates or numbers contradict each other.
        UndecidedError: two readings of them fit.
    """
    table = replace(table, columns=_settled(table))
    layout = Layout(
        table=table,
        numbers=numbers.decide(_cells(table, _NUMBERS), table.file, conventions),
        dates=dates.decide(_cells(table, _DATES), table.file, conventions),
        credit_sign=credit_sign,
        debit_signed=_debit_signed(table),
        currency=_currency(table) or conventions.currency,
        single=_single(table.columns),
    )
    tell_decided(layout.dates, layout.numbers, conventions, findings)
    if "currency" not in table.columns.roles:
        tell_currency(_currency(table), conventions, findings)
    return layout


def _settled(table: Table) -> Columns:
    """The columns, those with a word of two meanings after a look at what is in them.

    `Valuta` is a date in German and a currency in Dutch; `Type` may say debit and credit, which makes
    amounts without a sign right or wrong.
    """
    roles = dict(table.columns.roles)
    dates_ = roles.get("value_date", ())
    codes = tuple(at for at in dates_ if _all(table, at, is_currency))
    if codes:
        roles["currency"] = (*roles.get("currency", ()), *codes)
        roles["value_date"] = tuple(at for at in dates_ if at not in codes)
    sides = tuple(at for at in roles.get("type", ()) if _all(table, at, side_of))
    if sides and "side" not in roles:
        roles["side"] = sides
    return Columns(table.columns.names, {role: found for role, found in roles.items() if found})


def _single(columns: Columns) -> Literal["debit", "credit"] | None:
    """The side of the amounts where there is one column for one side; a header is none by itself then."""
    sides: tuple[Literal["debit", "credit"], ...] = ("debit", "credit")
    found: list[Literal["debit", "credit"]] = [side for side in sides if side in columns.roles]
    return found[0] if len(found) == 1 and "amount" not in columns.roles else None


def _all(table: Table, index: int, fits: Callable[[str], object]) -> bool:
    """True when a column has something in it and all of that fits."""
    cells = (row.cells[index] for row in table.rows if is_whole(row, table) and row.cells[index])
    fitting = [bool(fits(cell)) for cell in cells]
    return bool(fitting) and all(fitting)


def nothing_read(table: Table) -> SourceError:
    """The refusal of a table of which no row could be taken over."""
    first = table.rows[0]
    return SourceError(
        table.file,
        "no row below the header could be read; the first of them needs a date and an amount in the"
        f" columns {', '.join(table.columns.names[:20])}",
        row=first.number,
        value=table.delimiter.join(first.cells),
    )


def _cells(table: Table, roles: Sequence[str]) -> Iterator[Cell]:
    indexes = [index for role in roles for index in table.columns.roles.get(role, ())[:1]]
    for row in table.rows if indexes else ():
        if is_whole(row, table):
            yield from (Cell(row.number, row.cells[index]) for index in indexes)


def _debit_signed(table: Table) -> bool:
    """True when each debit has a minus; with a plus as well, the minus is a debit taken back."""
    written = [take_apart(cell.text) for cell in _cells(table, ("debit",))]
    signs = {each.negative for each in written if each is not None and each.body.strip("0.,")}
    return signs == {True}


def _currency(table: Table) -> str | None:
    columns = table.columns
    indexes = [index for role in _NUMBERS for index in columns.roles.get(role, ())[:1]]
    named = {currency_in(columns.names[index]) for index in indexes} - {None}
    if not named:
        above = (cell.strip(" :") for row in table.preamble for cell in row.cells)
        named = {cell for cell in above if is_currency(cell)}
    return named.pop() if len(named) == 1 else None
