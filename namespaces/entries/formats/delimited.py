"""Entries as rows of a CSV file, written as its other rows are."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...ledger.general_ledger import WORDS
from ...tables.layout import Layout, read_layout
from ...tables.opening import open_tables
from ...tables.source import Findings
from ...tables.text import lines_of
from ..entry import Entry
from .rows import Rows
from .writer import Addition, Target, Text


def write_csv(entry: Entry, mark: str, target: Target) -> Addition:
    """Rows at the end of the file: its columns, delimiter, quotes, dates, numbers and line ends."""
    source = target.source
    findings = Findings(source.file)
    (table,) = open_tables(source, WORDS, target.conventions, findings)
    layout = read_layout(table, target.conventions, -1, findings)
    text = Text.of(source)
    quotes = _quotes(layout, text, source.file)
    rows = [quotes.row(row.cells) for row in Rows.of(layout).written(entry, mark)]
    return Addition("\n".join(rows), text.appended(rows))


@dataclass(frozen=True, slots=True)
class _Quotes:
    """Which columns of a file stand in quotes, and how many cells its rows have."""

    delimiter: str
    quoted: frozenset[int]
    width: int

    def row(self, cells: Sequence[str]) -> str:
        padded = [*cells, *("",) * (self.width - len(cells))]
        return self.delimiter.join(self._cell(at, cell) for at, cell in enumerate(padded))

    def _cell(self, at: int, cell: str) -> str:
        if at in self.quoted or self.delimiter in cell or '"' in cell:
            return '"' + cell.replace('"', '""') + '"'
        return cell


def _quotes(layout: Layout, text: Text, file: str) -> _Quotes:
    """As the last row has them that stands on one line."""
    delimiter = layout.table.delimiter
    lines = lines_of(text.text, file)
    sample = re.compile(rf'(?:"(?:[^"]|"")*"|[^"{re.escape(delimiter)}]*)(?:{re.escape(delimiter)}|$)')
    for row in reversed(layout.table.rows):
        line = lines[row.number - 1].text
        raw = [found[0].removesuffix(delimiter) for found in sample.finditer(line)]
        raw = raw[: len(row.cells)]
        if len(raw) == len(row.cells) >= len(layout.table.columns.names):
            quoted = frozenset(at for at, cell in enumerate(raw) if cell.startswith('"'))
            return _Quotes(delimiter, quoted, len(raw))
    return _Quotes(delimiter, frozenset(), len(layout.table.columns.names))
