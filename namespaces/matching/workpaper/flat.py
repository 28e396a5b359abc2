"""A workpaper as CSV: UTF-8 with a byte-order mark, as spreadsheets expect it.

A text that a spreadsheet would take for a formula, or that begins with an apostrophe, gets an apostrophe in
front; reading takes it away again. Dates are YYYY-MM-DD, amounts have a decimal point and no other mark.
"""

import csv
import io
from collections.abc import Iterator

from .lines import Line, lines_of
from .statement import Workpaper

COLUMNS = (
    "Section",
    "Entity",
    "Bank account",
    "Ledger account",
    "Currency",
    "What",
    "Date",
    "Amount",
    "Adds to difference",
    "Count",
    "Text",
    "Why",
    "File",
    "Row",
    "Record",
)
FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r", "'")
"""What a text may not begin with in a spreadsheet."""


def write_csv(paper: Workpaper) -> bytes:
    """The workpaper's lines under one header; the same workpaper gives the same bytes."""
    written = io.StringIO(newline="")
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows(_cells(line) for line in lines_of(paper))
    return written.getvalue().encode("utf-8-sig", "replace")


def _cells(line: Line) -> Iterator[str]:
    yield line.section.value
    for text in (line.entity, line.bank_account, line.ledger_account, line.currency, line.what):
        yield guarded(text)
    yield str(line.date) if line.date else ""
    for amount in (line.amount, line.adds):
        yield "" if amount is None else f"{amount:f}"
    yield "" if line.count is None else str(line.count)
    for text in (line.text, line.why, line.file):
        yield guarded(text)
    yield "" if line.row is None else str(line.row)
    yield guarded(line.record)


def guarded(text: str) -> str:
    """The text as no spreadsheet takes it for a formula."""
    return f"'{text}" if text.startswith(FORMULA_MARKS) else text


def unguarded(cell: str) -> str:
    """The text that `guarded` made the cell of."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(FORMULA_MARKS) else cell
