"""Entries as rows of a sheet, below its last one and in the formats of the rows above."""

import copy
import datetime
import io
import zipfile
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from ...ledger.general_ledger import WORDS
from ...tables.layout import Layout, read_layout
from ...tables.opening import open_tables
from ...tables.source import Findings, Source
from ...tables.table import Table
from ...tables.workbook import open_workbook, rows_of
from ..entry import Entry, EntryLine
from .rows import Rows, Written
from .writer import Addition, CannotWriteError, Target

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell
    from openpyxl.worksheet.worksheet import Worksheet

_SHEET = "xl/worksheets/sheet"
_EXTENDED = b"<extLst"
"""What begins the part of a sheet that newer programs add, such as some rules and small charts."""
_KEPT = (
    *("[Content_Types].xml", "_rels/", "docProps/", "xl/workbook.xml", "xl/_rels/", "xl/styles.xml"),
    *("xl/sharedStrings.xml", "xl/theme/", "xl/calcChain.xml", "xl/tables/", "xl/printerSettings/"),
    *(_SHEET, "xl/worksheets/_rels/"),
)
"""How the parts begin that come through being read and written; any other would be lost in part."""
_MONEY = ("amount", "debit", "credit")


def write_workbook(entry: Entry, mark: str, target: Target) -> Addition:
    """Rows in the one sheet that has entries; texts are written as texts, whatever they begin with."""
    source = target.source
    _check_parts(source)
    findings = Findings(source.file)
    tables = open_tables(source, WORDS, target.conventions, findings)
    if len(tables) != 1:
        names = ", ".join(repr(table.sheet) for table in tables)
        raise CannotWriteError(
            f"the workbook has entries in several sheets, {names}: keep them in files of their own"
        )
    layout = read_layout(tables[0], target.conventions, -1, findings)
    rows = [*Rows.of(layout).written(entry, mark)]
    data = _with_rows(source, _sheet_of(source, layout.table), _Sheeted(layout, entry), rows)
    return Addition("\n".join("\t".join(row.cells) for row in rows), data)


def _check_parts(source: Source) -> None:
    with zipfile.ZipFile(io.BytesIO(source.data)) as package:
        names = package.namelist()
        extended = [name for name in names if name.startswith(_SHEET) and _EXTENDED in package.read(name)]
    lost = next((name for name in names if not name.startswith(_KEPT)), next(iter(extended), None))
    if lost is not None:
        raise CannotWriteError(
            f"the workbook's part {lost!r} would be lost in part: enter it with the program you use"
        )


def _sheet_of(source: Source, table: Table) -> str:
    workbook = open_workbook(source)
    for sheet in workbook.sheets:
        rows = {row.number: row for row in rows_of(workbook, sheet, Findings(source.file))}
        if all(rows.get(row.number) == row for row in (table.rows[0], table.rows[-1])):
            return sheet.name
    raise CannotWriteError("the sheet with the entries cannot be told")


class _Sheeted:
    """Values of an entry's cells, typed as those of the row they are written after."""

    def __init__(self, layout: Layout, entry: Entry) -> None:
        columns = layout.table.columns
        self._layout, self._day = layout, entry.date
        self._dates = {columns.first(role) for role in ("date", "value_date")}
        self._money = {columns.first(role): role for role in _MONEY}

    def value(self, at: int, row: Written, sample: object) -> object:
        """A date or number where the sample is one, else the text."""
        text = row.cells[at]
        if not text:
            return None
        if at in self._dates and isinstance(sample, datetime.datetime):
            return datetime.datetime.combine(self._day, datetime.time())
        if isinstance(sample, str):
            return text
        if at in self._money:
            return self._number(self._money[at], row.line)
        return int(text) if isinstance(sample, (int, float)) and text.isdecimal() else text

    def _number(self, role: str, line: EntryLine) -> Decimal:
        if role == "amount":
            signed = "side" not in self._layout.table.columns.roles
            return line.amount if signed else abs(line.amount)
        if (role == "debit") != (line.amount > 0):
            return Decimal(0)
        return -abs(line.amount) if role == "debit" and self._layout.debit_signed else abs(line.amount)


def _with_rows(source: Source, sheet: str, sheeted: _Sheeted, rows: Sequence[Written]) -> bytes:
    from openpyxl import load_workbook

    workbook = load_workbook(io.BytesIO(source.data))
    found = cast("Worksheet", workbook[sheet])
    _extend(found, len(rows))
    number = found.max_row
    for row in rows:
        number += 1
        for at in range(len(row.cells)):
            cell = cast("Cell", found.cell(number, at + 1))
            above = cast("Cell", found.cell(row.like, at + 1)) if row.like else None
            _fill(cell, above, sheeted.value(at, row, above.value if above else None))
    kept = io.BytesIO()
    workbook.save(kept)
    return kept.getvalue()


def _fill(cell: "Cell", above: "Cell | None", value: object) -> None:
    if above is not None and above.has_style:
        cell._style = copy.copy(above._style)  # type: ignore[attr-defined]
    if value is not None:
        cell.value = value  # type: ignore[assignment]
    if isinstance(value, str):
        cell.data_type = "s"


def _extend(sheet: "Worksheet", rows: int) -> None:
    """Lets a table that ends in the last row take in the new ones."""
    for table in sheet.tables.values():
        begins, _, ends = str(table.ref).partition(":")
        letters = ends.rstrip("0123456789")
        if ends == f"{letters}{sheet.max_row}":
            table.ref = f"{begins}:{letters}{sheet.max_row + rows}"
            if table.autoFilter is not None:
                table.autoFilter.ref = table.ref
