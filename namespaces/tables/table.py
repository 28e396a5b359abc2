"""A delimited file as a table: its delimiter, its header among other lines, its rows."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from .source import Findings, Source, SourceError
from .text import Line, decode, lines_of
from .words import Vocabulary, plain

HEADER_WITHIN = 100
"""Lines among which the header is looked for; banks put up to a few dozen above it."""
MAX_CELLS = 1000
_MAX_SPAN = 40
"""Lines that one quoted text may run over; an unclosed quote would swallow the file."""
_DELIMITERS = ";,\t|"


class Row(NamedTuple):
    """One record of the file."""

    number: int
    """Line in which it begins, counted from 1."""
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column plays which role."""

    names: tuple[str, ...]
    """The header as written, without empty names at its end."""
    roles: Mapping[str, tuple[int, ...]]
    """Indexes by role, the best word first."""

    def first(self, role: str) -> int | None:
        """Index of the best column of a role; None when there is none."""
        return self.roles.get(role, (None,))[0]

    def cell(self, cells: Sequence[str], role: str) -> str:
        """The cell of a role, stripped; empty when there is none."""
        index = self.first(role)
        return cells[index] if index is not None and index < len(cells) else ""

    def joined(self, cells: Sequence[str], role: str) -> str:
        """All cells of a role in the order of the file, as one line."""
        parts = (cells[index] for index in sorted(self.roles.get(role, ())) if index < len(cells))
        return " ".join(" ".join(parts).split())


@dataclass(frozen=True, slots=True)
class Table:
    """One delimited file."""

    file: str
    delimiter: str
    columns: Columns
    preamble: tuple[Row, ...]
    """What stands above the header."""
    rows: tuple[Row, ...]
    """What stands below it, blank lines left out; cells may be fewer or more than the columns."""


def read_table(source: Source, vocabulary: Vocabulary, findings: Findings) -> Table:
    """Reads a file as a table with a header.

    Raises:
        SourceError: it is no text, has no header with a date and an amount, or nothing below it.
    """
    lines = lines_of(decode(source, findings), source.file)
    declared = lines[0].text.strip().lower().removeprefix("sep=") if lines else ""
    if lines and lines[0].text.lower().startswith("sep=") and len(declared) == 1:
        lines = lines[1:]
    delimiter, header, columns = _header(lines, source.file, vocabulary)
    rows = tuple(_records(lines, delimiter, findings))
    above = tuple(row for row in rows if row.number < header)
    below = tuple(row for row in rows if row.number > header)
    if not below:
        raise SourceError(
            source.file, "has no rows below its header; export a period with entries", row=header
        )
    return Table(source.file, delimiter, columns, above, below)


def fitted(row: Row, table: Table) -> Iterator[tuple[str, ...]]:
    """The row's cells under the table's columns; several readings when it has too few or many.

    A cell may be missing anywhere, and a delimiter inside a text may have split it: each place
    gives a reading, and which of them make sense is for the caller to see.
    """
    width = len(table.columns.names)
    cells = row.cells
    while len(cells) > width and not cells[-1].strip():
        cells = cells[:-1]
    surplus = len(cells) - width
    if surplus == 0:
        yield cells
    elif surplus < 0:
        for at in range(len(cells), -1, -1):
            yield (*cells[:at], *("",) * -surplus, *cells[at:])
    elif surplus <= width:
        for at in range(width):
            merged = table.delimiter.join(cells[at : at + surplus + 1])
            yield (*cells[:at], merged, *cells[at + surplus + 1 :])


def is_whole(row: Row, table: Table) -> bool:
    """True when the row has a cell for each column, so that there is one reading of it."""
    width = len(table.columns.names)
    return len(row.cells) >= width and not any(cell.strip() for cell in row.cells[width:])


def _header(lines: Sequence[Line], file: str, vocabulary: Vocabulary) -> tuple[str, int, Columns]:
    best: tuple[int, str, int, Columns] | None = None
    for line in lines[:HEADER_WITHIN]:
        for delimiter in _DELIMITERS:
            columns = _columns(_split([line.text], delimiter), vocabulary)
            if _is_header(columns) and (best is None or len(columns.roles) > best[0]):
                best = (len(columns.roles), delimiter, line.number, columns)
    if best is None:
        raise SourceError(
            file,
            f"no header among the first {HEADER_WITHIN} lines; one line has to name the columns, at"
            " least a date and an amount (or debit and credit), such as: Date;Text;Amount",
            row=lines[0].number if lines else None,
            value=lines[0].text if lines else "",
        )
    return best[1:]


def _is_header(columns: Columns) -> bool:
    roles = columns.roles
    dated = "date" in roles or "value_date" in roles
    return dated and ("amount" in roles or {"debit", "credit"} <= set(roles))


def _columns(cells: Sequence[str], vocabulary: Vocabulary) -> Columns:
    names = tuple(cell.strip() for cell in cells)
    while names and not names[-1]:
        names = names[:-1]
    words = [plain(name) for name in names]
    roles: dict[str, tuple[int, ...]] = {}
    for role, known in vocabulary.items():
        ranked = [known.index(word) if word in known else None for word in words]
        found = [(rank, index) for index, rank in enumerate(ranked) if rank is not None]
        if found:
            roles[role] = tuple(index for _, index in sorted(found))
    return Columns(names, roles)


def _records(lines: Sequence[Line], delimiter: str, findings: Findings) -> Iterator[Row]:
    usual = _usual_delimiters(lines, delimiter)
    at = 0
    while at < len(lines):
        line = lines[at]
        span, cells = 1, _split([line.text], delimiter)
        if line.text.count('"') % 2:
            span, cells = _quoted(lines, at, delimiter, usual)
            if span == 1 and cells != _split([line.text], delimiter):
                findings.add("info", "a quote is opened and not closed: read without it", line.number)
        at += span
        if len(cells) > MAX_CELLS:
            findings.add("error", f"{len(cells)} cells are no row: left out", line.number)
        elif any(cell.strip() for cell in cells):
            yield Row(line.number, tuple(_clean(cell) for cell in cells))


def _usual_delimiters(lines: Sequence[Line], delimiter: str) -> int:
    counts = Counter(line.text.count(delimiter) for line in islice(lines, 500) if line.text.strip())
    return counts.most_common(1)[0][0] if counts else 0


def _quoted(lines: Sequence[Line], at: int, delimiter: str, usual: int) -> tuple[int, list[str]]:
    """A record with an odd number of quotes: it goes on in the next lines, or a quote is too much.

    It goes on if its first line has too few cells, no line between is a row, and the last one has
    the quote that closes it. Else a stray quote would swallow rows up to the next quote.
    """
    texts = [line.text for line in lines[at : at + _MAX_SPAN]]
    span = _lines_taken(texts, delimiter)
    between = texts[1 : span - 1]
    goes_on = span > 1 and texts[span - 1].count('"') % 2 and texts[0].count(delimiter) < usual
    if goes_on and all(text.count(delimiter) < max(usual, 1) for text in between):
        return span, _split([f"{text}\n" for text in texts[:span]], delimiter)
    cells = _split(texts[:1], delimiter)
    if span > 1 or len(cells) <= usual:
        cells = [cell.strip('"') for cell in texts[0].split(delimiter)]
    return 1, cells


def _clean(cell: str) -> str:
    """Takes away stray quotes, and the ="0123" that keeps spreadsheets from dropping zeros."""
    cell = cell.strip()
    if cell.startswith('="') and cell.endswith('"'):
        cell = cell[2:-1]
    return cell.strip('"').strip()


def _lines_taken(texts: Sequence[str], delimiter: str) -> int:
    reader = csv.reader((f"{text}\n" for text in texts), delimiter=delimiter)
    try:
        next(reader, None)
    except csv.Error:
        return 1
    return reader.line_num


def _split(texts: Sequence[str], delimiter: str) -> list[str]:
    try:
        return next(csv.reader(texts, delimiter=delimiter), list[str]())
    except csv.Error:
        # The module refuses what the file may well hold, such as a text over its own size limit.
        return "".join(texts).split(delimiter)
