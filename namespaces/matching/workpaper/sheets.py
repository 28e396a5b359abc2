"""A workpaper as XLSX: a summary, a sheet for each account, the open items, the input files.

Every figure is a number that was worked out here; beside each total a formula works it out again from the
cells above, so that who reviews the sheet sees what it is made of. The same workpaper gives the same bytes.
"""

import datetime
import io
import itertools
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, cast

from .lines import Line, Section, lines_of
from .statement import Statement, Workpaper

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.cell.cell import Cell as SheetCell
    from openpyxl.worksheet.worksheet import Worksheet

Cell = str | int | Decimal | datetime.date | None
_MONEY = "#,##0.00;[Red]-#,##0.00"
_DAY = "yyyy-mm-dd"
_NO_TITLE = re.compile(r"[\[\]:*?/\\\x00-\x1f']")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udfff]")
_TITLE = 31
"""Characters that the name of a sheet may have."""
_LONGEST = 32_767
"""Characters that a cell may have."""
_A4 = 9
"""As a workbook numbers paper."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first day that a ZIP file can say: no clock is in the file."""


class _Formula(NamedTuple):
    """A cell that is worked out by whoever opens the sheet."""

    text: str


_Row = Sequence[Cell | _Formula]


def write_xlsx(paper: Workpaper) -> bytes:
    """The workpaper as a workbook."""
    from openpyxl import Workbook

    book = Workbook()
    first = book.active
    assert first is not None
    book.remove(first)
    lines = lines_of(paper)
    _summary(_sheet(book, "Summary"), paper)
    for statement in paper.statements:
        own = [line for line in lines if (line.bank_account, line.ledger_account) == _key(statement)]
        _account(_sheet(book, statement.bank_account), statement, own)
    _open_items(_sheet(book, "Open items"), [line for line in lines if line.section is Section.OPEN])
    _inputs(_sheet(book, "Input files"), paper)
    return _without_clock(book, paper.made_on)


def _key(of: Statement) -> tuple[str, str]:
    return of.bank_account, of.ledger_account


def _sheet(book: "Workbook", wanted: str) -> "Worksheet":
    """A sheet named like that, as far as sheets can be; of equal names the second gets a number."""
    plain = _NO_TITLE.sub("-", wanted).strip() or "Account"
    taken = {name.casefold() for name in book.sheetnames}
    ends = itertools.chain([""], (f" ({number})" for number in itertools.count(2)))
    titles = (plain[: _TITLE - len(end)] + end for end in ends)
    title = next(each for each in titles if each.casefold() not in taken)
    sheet: Worksheet = book.create_sheet(title)
    return sheet


def _summary(sheet: "Worksheet", paper: Workpaper) -> None:
    page = _Page(sheet, (26, 26, 34, 10, 12, 12, 16, 16, 16, 16, 16, 12, 16, 12))
    page.title("Bank reconciliation")
    page.row(("Made on", paper.made_on))
    page.row(("Prepared by", paper.preparer or "not said"))
    approved_at = paper.approved_at
    when = () if approved_at is None else (f"{approved_at:%Y-%m-%d %H:%M} UTC",)
    page.row(("Approved by", paper.approver or ("not said" if approved_at else "not approved yet"), *when))
    page.row(())
    page.table(
        *(
            "Entity",
            "Bank account",
            "Ledger account",
            "Currency",
            "From",
            "To",
            "Bank, closing",
            "Books, closing",
        ),
        *("Difference", "Explained", "Unexplained", "Check", "Carried forward", "Open items"),
    )
    for of in paper.statements:
        at = page.next
        page.row(
            (
                *(of.entity, of.bank_account, of.ledger_account, of.currency or "", of.start, of.end),
                *(of.balances.bank_closing, of.balances.books_closing, of.balances.difference),
                *(
                    of.explained,
                    of.unexplained,
                    _Formula(f"=ROUND(G{at}-H{at}-J{at}-K{at},4)"),
                    of.outstanding,
                ),
                len(of.carried.bank) + len(of.carried.books),
            )
        )
    page.row(())
    page.row(("Check is 0 where bank less books is what is explained and unexplained together.",))


def _account(sheet: "Worksheet", of: Statement, lines: Sequence[Line]) -> None:
    page = _Page(sheet, (14, 18, 18, 58, 58, 26, 8, 44))
    page.title(f"{of.entity or of.bank_account}: bank reconciliation statement")
    page.row(("Bank account", of.bank_account))
    page.row(("Ledger account", of.ledger_account))
    page.row(("Currency", of.currency or "not said"))
    page.row(("Period", of.start, of.end))
    page.section("Balances", ("Balance", "Amount", "Items"))
    for line in _of(lines, Section.BALANCE):
        page.row((line.what, line.amount, line.count))
    page.section("Matched", ("Kind", "At the bank", "Bank less books", "Matches"))
    for line in _of(lines, Section.MATCHED):
        page.row((line.what, line.amount, line.adds, line.count))
    page.listed("Open items brought forward", _of(lines, Section.BROUGHT))
    for what, group in itertools.groupby(_of(lines, Section.ITEM), key=lambda line: line.what):
        page.listed(f"Items: {what}", list(group))
    page.listed("Open items carried forward", _of(lines, Section.OPEN))


def _of(lines: Iterable[Line], section: Section) -> list[Line]:
    return [line for line in lines if line.section is section]


def _open_items(sheet: "Worksheet", lines: Sequence[Line]) -> None:
    page = _Page(sheet, (26, 26, 34, 10, 8, 12, 16, 18, 58, 26, 8, 44))
    page.title("Open items carried forward")
    page.table(
        *("Entity", "Bank account", "Ledger account", "Currency", "Side", "Date", "Amount"),
        *("Adds to difference", "Text", "File", "Row", "Record"),
    )
    for line in lines:
        page.row(
            (
                *(line.entity, line.bank_account, line.ledger_account, line.currency, line.what),
                *(line.date, line.amount, line.adds, line.text, line.file, line.row, line.record),
            )
        )


def _inputs(sheet: "Worksheet", paper: Workpaper) -> None:
    page = _Page(sheet, (40, 70))
    page.title("Input files")
    page.table("File", "SHA-256")
    for each in paper.inputs:
        page.row((each.name, each.sha256))


class _Page:
    """Writes a sheet from the top down."""

    def __init__(self, sheet: "Worksheet", widths: Sequence[int]) -> None:
        from openpyxl.utils import get_column_letter

        self._sheet = sheet
        self.next = 1
        """Number of the next row."""
        for number, width in enumerate(widths, 1):
            sheet.column_dimensions[get_column_letter(number)].width = width
        sheet.sheet_view.showGridLines = False
        sheet.page_setup.orientation = "landscape"
        sheet.page_setup.fitToHeight = 0
        sheet.page_setup.paperSize = _A4
        if sheet.sheet_properties.pageSetUpPr is not None:
            sheet.sheet_properties.pageSetUpPr.fitToPage = True
        footer = sheet.oddFooter.center if sheet.oddFooter is not None else None
        if footer is not None:
            footer.text = "&A, page &P of &N"

    def title(self, text: str) -> None:
        self._styled((text,), size=14)
        self.row(())

    def section(self, text: str, columns: Sequence[str]) -> None:
        self.row(())
        self._styled((text,), size=12)
        self.head(*columns)

    def table(self, *columns: str) -> None:
        """The head of a table that fills the sheet: it stays in sight, and on each printed page."""
        self._sheet.print_title_rows = f"{self.next}:{self.next}"
        self.head(*columns)
        self._sheet.freeze_panes = f"A{self.next}"

    def head(self, *columns: str) -> None:
        from openpyxl.styles import PatternFill

        for cell in self._styled(columns):
            cell.fill = PatternFill("solid", fgColor="FFDDE6EE")

    def listed(self, text: str, lines: Sequence[Line]) -> None:
        """Lines that are records, with their sum and the sum once more as a formula."""
        if not lines:
            return
        titles = ("Date", "Amount", "Adds to difference", "Text", "Why", "File", "Row", "Record")
        self.section(text, titles)
        first = self.next
        for line in lines:
            amounts = (line.date, line.amount, line.adds)
            self.row((*amounts, line.text, line.why or line.what, line.file, line.row, line.record))
        total = sum((line.adds or Decimal(0) for line in lines), Decimal(0))
        check = _Formula(f"=ROUND(SUM(C{first}:C{self.next - 1})-C{self.next},4)")
        self._styled(("Together", None, total, "Check (has to be 0):", check))

    def row(self, cells: _Row) -> None:
        for _ in self._written(cells):
            pass

    def _styled(self, cells: _Row, *, size: int = 11) -> list["SheetCell"]:
        from openpyxl.styles import Font

        written = list(self._written(cells))
        for cell in written:
            cell.font = Font(bold=True, size=size)
        return written

    def _written(self, cells: _Row) -> Iterator["SheetCell"]:
        at = self.next
        self.next += 1
        for number, value in enumerate(cells, 1):
            if value is not None:
                cell = cast("SheetCell", self._sheet.cell(at, number))
                _fill(cell, value)
                yield cell


def _fill(cell: "SheetCell", value: Cell | _Formula) -> None:
    match value:
        case _Formula(text):
            cell.value = text
            cell.number_format = _MONEY
        case str():
            # A text stays one, whatever it begins with: the type is said, not guessed.
            cell.value = _CONTROL.sub("\ufffd", value)[:_LONGEST]
            cell.data_type = "s"
        case datetime.date():
            cell.value = value
            cell.number_format = _DAY
        case Decimal():
            cell.value = value
            cell.number_format = _MONEY
        case _:
            cell.value = value


def _without_clock(book: "Workbook", made_on: datetime.date) -> bytes:
    """The workbook's bytes, the day it was made on for its only time."""
    moment = datetime.datetime.combine(made_on, datetime.time())
    book.properties.created = moment
    book.properties.creator = "offing"
    written, settled = io.BytesIO(), io.BytesIO()
    book.save(written)
    with zipfile.ZipFile(written) as old, zipfile.ZipFile(settled, "w") as new:
        for name in old.namelist():
            entry = zipfile.ZipInfo(name, _EPOCH)
            part = old.read(name)
            if name == "docProps/core.xml":
                part = _MODIFIED.sub(rb"\g<1>%sT00:00:00Z\g<2>" % str(made_on).encode(), part)
            new.writestr(entry, part, zipfile.ZIP_DEFLATED)
    return settled.getvalue()


_MODIFIED = re.compile(rb"(<dcterms:modified[^>]*>)[^<]*(</dcterms:modified>)")
