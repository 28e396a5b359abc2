"""A delimited file as a table: its delimiter, its header among other lines, its rows."""

import csv
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, overload

from .header import HEADER_WITHIN, Candidate, Columns, find_header, no_header
from .source import Findings, Source, SourceError
from .text import Line, decode, each_line
from .words import Vocabulary

MAX_CELLS = 1000
_MAX_FITTED = 64
"""Columns up to which a row with too few or many cells is tried: each place there is a reading."""
_MAX_CROOKED = 50_000
_MAX_SPAN = 40
"""Lines that one quoted text may run over; an unclosed quote would swallow the file."""
_LOOKED_AT = 500
"""Lines from which the usual number of delimiters is taken."""
_DELIMITERS = ";,\t|"


class Row(NamedTuple):
    """One record of the file."""

    number: int
    """Line in which it begins, counted from 1; in a workbook the row of its sheet."""
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """One delimited file, or the sheets of a workbook."""

    file: str
    delimiter: str
    """What cells are joined with where they are shown; a tab in a workbook."""
    columns: Columns
    preamble: tuple[Row, ...]
    """What stands above the header."""
    rows: Sequence[Row]
    """What stands below it, blank lines left out; cells may be fewer or more than the columns."""
    sheet: str = ""
    """The sheet it is, where a workbook has several with entries; else empty."""

    def place(self, text: str) -> str:
        """A text about a row, with its sheet where that is needed to find it."""
        return f"{text} [sheet {self.sheet}]".lstrip() if self.sheet else text


def read_table(
    source: Source, vocabulary: Vocabulary, findings: Findings, chosen: Mapping[str, str] | None = None
) -> Table:
    """Reads a delimited file as a table.

    Args:
        source: The file.
        vocabulary: The words by which columns are known.
        findings: Collects what is odd.
        chosen: The columns that a person has chosen, as `Conventions.columns` has them.

    Raises:
        SourceError: it is no text, or has nothing below its header.
        UndecidedError: no line names a date and an amount in words that are known.
    """
    text = decode(source, findings)
    first = without_declaration(list(islice(each_line(text, source.file), HEADER_WITHIN + 1)))
    candidates = candidates_in(first)
    found = find_header(candidates, vocabulary, chosen or {})
    if found is None:
        raise no_header(candidates or _whole_lines(first), source.file, vocabulary, chosen or {})
    skipped = first[0].number - 1
    above = tuple(
        row
        for row in records_in(iter(first), found.delimiter, Findings(source.file))
        if row.number < found.begins and row.number != found.row
    )
    every = records_in(islice(each_line(text, source.file), skipped, None), found.delimiter, findings)
    length = _counted((row for row in every if row.number >= found.begins), source.file, found.columns)
    below = Split(text, source.file, found.delimiter, skipped, found.begins, length)
    if not below:
        raise SourceError(
            source.file, "has no rows below its header; export a period with entries", row=found.row or None
        )
    return Table(source.file, found.delimiter, found.columns, above, below)


def _counted(rows: Iterable[Row], file: str, columns: Columns) -> int:
    """How many rows there are, as long as they are those of the header: each odd one costs many readings."""
    width = len(columns.names)
    count = crooked = 0
    for row in rows:
        count += 1
        crooked += not _fits(row, width)
        if crooked > _MAX_CROOKED:
            what = f"is the {crooked}th row with another number of cells than its header has"
            raise SourceError(file, f"{what}; export it again, with quotes around texts", row=row.number)
    return count


def without_declaration(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines without the `sep=;` that a spreadsheet program puts first."""
    declared = lines[0].text.strip().lower().removeprefix("sep=") if lines else ""
    declares = bool(lines) and lines[0].text.lower().startswith("sep=") and len(declared) == 1
    return lines[1:] if declares else lines


def _whole_lines(lines: Sequence[Line]) -> list[Candidate]:
    return [Candidate(line.number, (line.text,), "") for line in lines[:1]]


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
    elif width > _MAX_FITTED:
        return
    elif surplus < 0:
        for at in range(len(cells), -1, -1):
            yield (*cells[:at], *("",) * -surplus, *cells[at:])
    elif surplus <= width:
        for at in range(width):
            merged = table.delimiter.join(cells[at : at + surplus + 1])
            yield (*cells[:at], merged, *cells[at + surplus + 1 :])


def is_whole(row: Row, table: Table) -> bool:
    """True when the row has a cell for each column, so that there is one reading of it."""
    return _fits(row, len(table.columns.names))


def _fits(row: Row, width: int) -> bool:
    return len(row.cells) == width or (len(row.cells) > width and not any(map(str.strip, row.cells[width:])))


def candidates_in(lines: Sequence[Line]) -> list[Candidate]:
    """The lines that may be the header, split at each delimiter there may be."""
    return [
        Candidate(line.number, tuple(_clean(cell) for cell in cells), delimiter)
        for line in lines[:HEADER_WITHIN]
        for delimiter in _DELIMITERS
        if len(cells := _split([line.text], delimiter)) > 1
    ]


@dataclass(frozen=True, slots=True)
class Split(Sequence[Row]):
    """Rows that are split anew on each walk: kept, they would take ten times the memory of their text."""

    text: str
    file: str
    delimiter: str
    skipped: int
    """Lines that are left out, before what stands above the header."""
    begins: int
    """The first line below the header."""
    length: int
    """How many there are."""

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[Row]:
        lines = islice(each_line(self.text, self.file), self.skipped, None)
        every = records_in(lines, self.delimiter, Findings(self.file))
        return (row for row in every if row.number >= self.begins)

    def __reversed__(self) -> Iterator[Row]:
        return reversed(tuple(self))

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if index == 0:
            return next(iter(self))
        return tuple(self)[index]


def records_in(lines: Iterator[Line], delimiter: str, findings: Findings) -> Iterator[Row]:
    """The rows in some lines, blank ones left out; what is odd about them is told."""
    ahead = deque(islice(lines, _LOOKED_AT))
    usual = _usual_delimiters(ahead, delimiter)
    while line := (ahead.popleft() if ahead else next(lines, None)):
        if '"' not in line.text:
            cells = tuple(map(str.strip, line.text.split(delimiter)))
        elif line.text.count('"') % 2:
            ahead.extend(islice(lines, max(0, _MAX_SPAN - len(ahead))))
            cells = tuple(map(_clean, _quoted(line, ahead, delimiter, usual, findings)))
        else:
            cells = tuple(map(_clean, _split([line.text], delimiter)))
        if len(cells) > MAX_CELLS:
            findings.add("error", f"{len(cells)} cells are no row: left out", line.number)
        elif any(cells):
            yield Row(line.number, cells)


def _usual_delimiters(lines: Iterable[Line], delimiter: str) -> int:
    counts = Counter(line.text.count(delimiter) for line in lines if line.text.strip())
    return counts.most_common(1)[0][0] if counts else 0


def _quoted(line: Line, ahead: deque[Line], delimiter: str, usual: int, findings: Findings) -> list[str]:
    """A record with an odd number of quotes: it goes on in the next lines, or a quote is too much.

    It goes on if its first line has too few cells, no line between is a row, and the last one has
    the quote that closes it. Else a stray quote would swallow rows up to the next quote.
    """
    texts = [line.text, *(each.text for each in islice(ahead, _MAX_SPAN - 1))]
    span = _lines_taken(texts, delimiter)
    between = texts[1 : span - 1]
    goes_on = span > 1 and texts[span - 1].count('"') % 2 and texts[0].count(delimiter) < usual
    if goes_on and all(text.count(delimiter) < max(usual, 1) for text in between):
        for _ in range(span - 1):
            ahead.popleft()
        return _split([f"{text}\n" for text in texts[:span]], delimiter)
    cells = _split(texts[:1], delimiter)
    if span > 1 or len(cells) <= usual:
        bare = [cell.strip('"') for cell in texts[0].split(delimiter)]
        if bare != cells:
            findings.add("info", "a quote is opened and not closed: read without it", line.number)
        return bare
    return cells


def _clean(cell: str) -> str:
    """Takes away stray quotes, and the ="0123" that keeps spreadsheets from dropping zeros."""
    cell = cell.strip()
    if '"' not in cell:
        return cell
    if cell.startswith('="') and cell.endswith('"'):
        cell = cell[2:-1]
    stray = cell.startswith('"') or cell.count('"') % 2
    return cell.strip('"').strip() if stray else cell


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
