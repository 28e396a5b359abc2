"""The cells of an entry's rows in a table whose columns are known by their roles."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Literal, NamedTuple

from ...tables.layout import Layout, Reading
from ...tables.table import Row
from ..entry import Entry, EntryLine
from .amounts import Style, style_of
from .dates import like
from .writer import CannotWriteError

_CODE = re.compile(r"(\S*\d\S*) (.+)")
_LOOK_BACK = 2000
"""Rows from the end that show how rows are written."""
Side = Literal["debit", "credit"]


class _Sample(NamedTuple):
    """A row that the file has, which shows how such a row is written."""

    number: int
    cells: Sequence[str]
    amount: Decimal
    currency: str | None


class Written(NamedTuple):
    """One row of an entry."""

    line: EntryLine
    cells: tuple[str, ...]
    like: int | None
    """Number of the row it was written after; None when no row is on the same side."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Writes rows as a table has them."""

    layout: Layout
    samples: tuple[_Sample, ...]
    """The newest first, and no more than are needed."""
    style: Style

    @classmethod
    def of(cls, layout: Layout) -> "Rows":
        """Learns from the rows that are there.

        Raises:
            CannotWriteError: the table has no column for accounts, or none for texts.
        """
        roles = layout.table.columns.roles
        if "account" not in roles and "code" not in roles:
            raise CannotWriteError("the file has no column for accounts, so no row of it could name one")
        if not {"journal", "reference", "text"} & set(roles):
            raise CannotWriteError("the file has no column for texts, so the entry could not be found again")
        newest = islice(reversed(layout.table.rows), _LOOK_BACK)
        read = ((row.number, layout.read(row)) for row in newest)
        samples = tuple(
            _Sample(number, found.cells, found.fields.amount, found.fields.currency)
            for number, found in read
            if isinstance(found, Reading) and not found.repaired
        )
        amounts = (cell for row in layout.table.rows for cell in _numbers(layout, row))
        return cls(layout, samples, style_of(amounts, layout.numbers.decimal))

    def written(self, entry: Entry, mark: str) -> Iterator[Written]:
        """A row for each line of the entry."""
        columns = self.layout.table.columns
        days = self._days(entry)
        for line in entry.lines:
            sample = self._sample(line)
            roles = {**self._texts(entry, line, mark), **days, **self._money(line, sample)}
            found = ((columns.first(role), cell) for role, cell in roles.items())
            cells = {at: cell for at, cell in found if at is not None} | self._account(line)
            row = tuple(cells.get(at, "") for at in range(len(columns.names)))
            yield Written(line, row, sample.number if sample else None)

    def _texts(self, entry: Entry, line: EntryLine, mark: str) -> dict[str, str]:
        """The mark is the number of the journal where there is one, else it follows the reference."""
        roles = self.layout.table.columns.roles
        has_journal, has_reference = "journal" in roles, "reference" in roles
        reference = " ".join(part for part in (entry.reference, "" if has_journal else mark) if part)
        text = entry.text_of(line)
        if not has_reference:
            text = f"{text} {reference}".strip()
        elif "text" not in roles:
            reference = f"{text} {reference}".strip()
        return {"text": text, "reference": reference, "journal": mark}

    def _days(self, entry: Entry) -> dict[str, str]:
        columns = self.layout.table.columns
        order = self.layout.dates.order or "day"
        written: dict[str, str] = {}
        for role in ("date", "value_date"):
            days = [cell for each in self.samples if (cell := columns.cell(each.cells, role))]
            if days or role == "date":
                written[role] = like(days, entry.date, order)
        return written

    def _account(self, line: EntryLine) -> dict[int, str]:
        """Code and name as the account's other rows have them; a new one is taken apart."""
        columns = self.layout.table.columns
        at = [columns.first(role) for role in ("code", "account")]
        width = len(columns.names)
        for row in reversed(self.layout.table.rows):
            if len(row.cells) < width:
                continue
            cells = [row.cells[index] if index is not None else "" for index in at]
            if " ".join(" ".join(cells).split()) == line.account:
                return {index: cell for index, cell in zip(at, cells, strict=True) if index is not None}
        code, account = at
        if code is None or account is None:
            return {index: line.account for index in at if index is not None}
        found = _CODE.fullmatch(line.account)
        return {code: found[1], account: found[2]} if found else {account: line.account}

    def _money(self, line: EntryLine, sample: _Sample | None) -> dict[str, str]:
        columns = self.layout.table.columns
        currency = {"currency": line.currency or ""}
        if {"debit", "credit"} <= set(columns.roles):
            return {**currency, **self._two_columns(line, sample)}
        plain = self.style.digits(line.amount, 0)
        if "side" in columns.roles:
            side: Side = "debit" if line.amount > 0 else "credit"
            flag = columns.cell(sample.cells, "side") if sample else side
            return {**currency, "amount": self._like(sample, "amount", line) or plain, "side": flag}
        signed = plain if line.amount > 0 else f"-{plain}"
        return {**currency, "amount": self._like(sample, "amount", line) or signed}

    def _two_columns(self, line: EntryLine, sample: _Sample | None) -> dict[str, str]:
        side, other = ("debit", "credit") if line.amount > 0 else ("credit", "debit")
        minus = "-" if side == "debit" and self.layout.debit_signed else ""
        own = self._like(sample, side, line)
        rest = self.layout.table.columns.cell(sample.cells, other) if sample and own else ""
        zero = rest if self.layout.numbers.read(rest) == 0 else ""
        return {side: own or f"{minus}{self.style.digits(line.amount, 0)}", other: zero}

    def _like(self, sample: _Sample | None, role: str, line: EntryLine) -> str:
        """The amount as the sample has its own in that column; empty when it has none there."""
        cell = self.layout.table.columns.cell(sample.cells, role) if sample else ""
        return self.style.like(cell, line.amount) if self.layout.numbers.read(cell) else ""

    def _sample(self, line: EntryLine) -> _Sample | None:
        """The newest row on the same side, if possible in the same currency."""
        alike = [each for each in self.samples if each.amount * line.amount > 0]
        same = (each for each in alike if each.currency == line.currency)
        return next(same, alike[0] if alike else None)


def _numbers(layout: Layout, row: Row) -> Iterator[str]:
    for role in ("amount", "debit", "credit"):
        yield layout.table.columns.cell(row.cells, role)
