"""General ledger and journal exports as CSV or XLSX, of any package, by the words of their header.

It reads flat files, one line a row with its account; reports that put each account under a heading
of its own are not read.
"""

from collections.abc import Iterator, Sequence

from ..tables.layout import BalanceRow, Layout, nothing_read, read_layout
from ..tables.opening import open_tables
from ..tables.package import is_package
from ..tables.source import Conventions, Findings, Source
from ..tables.table import Row, Table
from ..tables.words import COMMON, DATE, TEXT, Vocabulary
from .books import Format, LedgerFile, Line, StatedBalance

WORDS: Vocabulary = {
    **COMMON,
    "date": ("posting date", *DATE, "ecrituredate", "date ecriture", "accounting date"),
    "text": (*TEXT, "ecriturelib", "line description", "journal text", "posting text"),
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
        layout = read_layout(table, conventions, -1, findings)
        before = len(lines) + len(balances)
        for row in table.rows:
            if (stated := layout.balance_row(row)) is not None:
                balances += _stated(stated, layout, findings)
            elif (line := _line(row, layout, findings)) is not None:
                lines.append(line)
        if len(lines) + len(balances) == before:
            raise nothing_read(table)
    if any(line.currency is None for line in lines):
        findings.add("info", "names no currency: its amounts match only others without one")
    return LedgerFile(file, written, tuple(lines), tuple(balances), findings.done())


def _line(row: Row, layout: Layout, findings: Findings) -> Line | None:
    reading = layout.take(row, findings)
    if reading is None:
        return None
    table, fields, cells = layout.table, reading.fields, reading.cells
    return Line(
        date=fields.date,
        account=_account(table, cells),
        amount=fields.amount,
        currency=fields.currency,
        file=table.file,
        row=row.number,
        journal=table.columns.cell(cells, "journal")[:100],
        text=_text(table, cells),
    )


def _stated(stated: BalanceRow, layout: Layout, findings: Findings) -> Iterator[StatedBalance]:
    table = layout.table
    if stated.kind == "total" or stated.amount is None:
        findings.add("info", f"states the {stated.kind} and is no line", stated.row)
        return
    yield StatedBalance(
        account=_account(table, stated.cells),
        kind=stated.kind,
        amount=stated.amount,
        currency=table.columns.cell(stated.cells, "currency").upper() or layout.currency,
        date=stated.date,
        file=table.file,
        row=stated.row,
    )


def _account(table: Table, cells: Sequence[str]) -> str:
    """Code and name; the name of the file where it holds one account and has no such column."""
    parts = [table.columns.cell(cells, role) for role in ("code", "account")]
    named = " ".join(" ".join(part for part in parts if part).split())
    return named or table.file.rpartition(".")[0] or table.file


def _text(table: Table, cells: Sequence[str]) -> str:
    text = table.columns.joined(cells, "text")
    reference = table.columns.joined(cells, "reference")
    both = f"{text} {reference}" if reference and reference not in text else text
    return both.strip()[:_MAX_TEXT]
