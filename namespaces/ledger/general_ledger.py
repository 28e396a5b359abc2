"""General ledger and journal exports as CSV or XLSX, of any package, by the words of their header.

Each row is a line; its account stands in it, or in the heading that it is under.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from ..tables.layout import BalanceRow, Layout, nothing_read, read_layout
from ..tables.opening import open_tables
from ..tables.package import is_package
from ..tables.source import Conventions, Findings, Source
from ..tables.table import Row, Table
from ..tables.words import COMMON, DATE, TEXT, Vocabulary
from .books import Format, LedgerFile, Line, StatedBalance
from .headings import Headings, headings_of

WORDS: Vocabulary = {
    **COMMON,
    "date": ("posting date", *DATE, "ecrituredate", "date ecriture", "accounting date"),
    "text": (*TEXT, "memo description", "ecriturelib", "line description", "journal text", "posting text"),
    "reference": (
        "reference",
        "ref",
        "referenz",
        "belegfeld 1",
        "pieceref",
        "referencia",
        "referentie",
    ),
    "account": (
        *(
            "account name",
            "accountname",
            "account",
            "ledger account",
            "gl account",
            "nominal account",
        ),
        *("kontobezeichnung", "kontoname", "konto", "comptelib", "libelle du compte", "compte"),
        *("grootboekrekening", "grootboek", "nombre de cuenta", "cuenta", "nominal", "rekening"),
    ),
    "code": (
        *("account code", "account number", "account no", "accountcode", "nominal code", "gl code"),
        *("kontonummer", "comptenum", "numero de compte", "rekeningnummer", "numero de cuenta"),
    ),
    "journal": (
        *(
            "journal number",
            "journalnumber",
            "journal no",
            "journal id",
            "entry number",
            "entry no",
        ),
        *("journal", "entry", "transaction number", "transaction no", "voucher no", "voucher"),
        *("belegnummer", "belegnr", "buchungsnummer", "ecriturenum", "boekstuknummer", "boekstuk"),
        *("asiento", "document no", "trans no", "no", "num"),
    ),
}
_MAX_TEXT = 2000


def read_general_ledger(source: Source, conventions: Conventions) -> LedgerFile:
    """Reads one general ledger or journal export.

    Raises:
        SourceError: it is no text, has no header or rows, or two readings of it fit.
    """
    findings = Findings(source.file)
    tables = open_tables(source, WORDS, conventions, findings)
    written: Format = "xlsx" if is_package(source) else "csv"
    return ledger_of_tables(source.file, written, tables, conventions, findings)


def ledger_of_tables(
    file: str, written: Format, tables: Sequence[Table], conventions: Conventions, findings: Findings
) -> LedgerFile:
    """The lines and balances that the tables of one file hold.

    Raises:
        SourceError: no row of a table can be read.
        UndecidedError: two readings of its dates or numbers fit.
    """
    lines: list[Line] = []
    balances: list[StatedBalance] = []
    for table in tables:
        reading = _Reading(read_layout(table, conventions, -1, findings), findings)
        reading.read()
        if not reading.lines and not reading.balances:
            raise nothing_read(table)
        lines += reading.lines
        balances += reading.balances
    if any(line.currency is None for line in lines):
        findings.add("info", "names no currency: its amounts match only others without one")
    return LedgerFile(file, written, tuple(lines), tuple(balances), findings.done())


class _Reading:
    """Takes the rows of one table for lines, balances, headings, or neither."""

    def __init__(self, layout: Layout, findings: Findings) -> None:
        self.layout, self.findings = layout, findings
        self.lines: list[Line] = []
        self.balances: list[StatedBalance] = []
        self._headings: Headings | None = headings_of(layout, findings)

    def read(self) -> None:
        """Reads all rows; what is no line is told."""
        for row in self.layout.table.rows:
            if (stated := self.layout.balance_row(row)) is not None:
                self._state(stated, row)
            elif self._headings is not None and self._headings.take(row):
                self._begin(row)
            else:
                self._line(row)

    def _begin(self, row: Row) -> None:
        """A heading may state what its account begins with."""
        text = self.layout.table.columns.cell(row.cells, "balance")
        amount = self.layout.numbers.read(text)
        if amount is not None:
            self._state(BalanceRow("opening", amount, None, row.number, row.cells), row)

    def _line(self, row: Row) -> None:
        reading = self.layout.take(row, self.findings)
        if reading is None:
            return
        table, fields, cells = self.layout.table, reading.fields, reading.cells
        account = self._account(cells)
        if not account:
            what = "is left out: names no account; fill it in, also where it is that of the row above"
            self.findings.add("error", table.place(what), row.number)
            return
        if self._headings is not None:
            self._headings.count(fields.amount)
        self.lines.append(
            Line(
                date=fields.date,
                account=account,
                amount=fields.amount,
                currency=fields.currency,
                file=table.file,
                row=row.number,
                journal=table.columns.cell(cells, "journal")[:100],
                text=_text(table, cells),
            )
        )

    def _state(self, stated: BalanceRow, row: Row) -> None:
        account = self._account(stated.cells, stated=True)
        if stated.kind == "total" and self._headings is not None:
            self._headings.close(row)
        elif stated.kind == "total" or stated.amount is None:
            self.findings.add("info", f"states the {stated.kind} and is no line", stated.row)
        elif not account:
            self.findings.add(
                "warning", f"states the {stated.kind} balance of no account: not used", stated.row
            )
        else:
            if stated.kind == "opening" and self._headings is not None:
                self._headings.opened(stated.amount)
            self.balances.append(self._balance(stated.kind, account, stated.amount, stated))

    def _balance(
        self, kind: Literal["opening", "closing"], account: str, amount: Decimal, stated: BalanceRow
    ) -> StatedBalance:
        table = self.layout.table
        currency = table.columns.cell(stated.cells, "currency").upper() or self.layout.currency
        return StatedBalance(account, kind, amount, currency, stated.date, table.file, stated.row)

    def _account(self, cells: Sequence[str], *, stated: bool = False) -> str:
        """Code and name, else the heading, else the file's name; empty where a row lacks what others have."""
        table = self.layout.table
        if {"account", "code"} & set(table.columns.roles):
            parts = [table.columns.cell(cells, role) for role in ("code", "account")]
            return " ".join(" ".join(part for part in parts if part).split())
        above = ""
        if self._headings is not None:
            above = self._headings.stated_account if stated else self._headings.account
        return above or table.file.rpartition(".")[0] or table.file


def _text(table: Table, cells: Sequence[str]) -> str:
    text = table.columns.joined(cells, "text")
    reference = table.columns.joined(cells, "reference")
    both = f"{text} {reference}" if reference and reference not in text else text
    return both.strip()[:_MAX_TEXT]
