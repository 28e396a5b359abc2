"""A workbook (XLSX) as tables: the sheets that have a header with a date and an amount.

No formula is ever evaluated: the value that was saved with it counts, and one without a value is told.
Macros and links to other workbooks are left alone.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .cells import Format, Styles, built_in, format_of
from .header import HEADER_WITHIN, Candidate, Columns, find_header, no_header
from .package import Handlers, Package, open_package
from .sheet import read_sheet
from .source import Findings, Source, SourceError, quote
from .table import Row, Table
from .words import Vocabulary

_TAB = "\t"
_MAX_STRINGS = 2_000_000
_MAX_TEXT = 32_767
"""Characters that a cell may hold."""
_MAX_SHEETS = 500


class Sheet(NamedTuple):
    """One sheet of a workbook."""

    name: str
    part: str
    hidden: bool


@dataclass(slots=True)
class Workbook:
    """What all sheets of a workbook share."""

    package: Package
    sheets: list[Sheet] = field(default_factory=list[Sheet])
    strings: list[str] = field(default_factory=list[str])
    styles: Styles = field(default_factory=Styles)


def read_workbook(
    source: Source, vocabulary: Vocabulary, findings: Findings, chosen: Mapping[str, str] | None = None
) -> tuple[Table, ...]:
    """Reads each sheet that has entries as a table of its own.

    Args:
        source: The file.
        vocabulary: The words by which columns are known.
        findings: Collects what is odd: also the sheets that are not read.
        chosen: The columns that a person has chosen, as `Conventions.columns` has them.

    Raises:
        SourceError: it is no workbook, damaged, protected or hostile, or has no entries.
        UndecidedError: no sheet names a date and an amount in words that are known.
    """
    workbook = open_workbook(source)
    _tell_around(workbook.package, findings)
    made: list[Table] = []
    unknown: list[tuple[Sheet, list[Candidate]]] = []
    for sheet in workbook.sheets:
        rows = tuple(rows_of(workbook, sheet, findings))
        candidates = candidates_of(rows)
        found = find_header(candidates, vocabulary, chosen or {})
        if found is None:
            unknown += [(sheet, candidates)] if rows else []
            continue
        above = tuple(row for row in rows if row.number < found.begins and row.number != found.row)
        below = tuple(_under(row, found.columns) for row in rows if row.number >= found.begins)
        if sheet.hidden:
            findings.add("info", f"sheet {quote(sheet.name)} is hidden, and read all the same")
        made += [Table(source.file, _TAB, found.columns, above, below, sheet.name)] if below else []
    if not made:
        raise _nothing(source.file, unknown, vocabulary, chosen or {})
    for sheet, _ in unknown:
        what = f"sheet {quote(sheet.name)} has no header with a date and an amount: it is not read"
        findings.add("warning", what)
    return _named(made, findings)


def open_workbook(source: Source) -> Workbook:
    """Reads what all sheets share, and no sheet.

    Raises:
        SourceError: it is no workbook, damaged, protected or hostile.
    """
    package = open_package(source)
    targets = _relations(package, "_rels/.rels", "")
    main = dict(targets.values()).get("officeDocument", "xl/workbook.xml")
    folder, name = posixpath.split(main)
    related = _relations(package, f"{folder}/_rels/{name}.rels", folder)
    listed = _Listed(related)
    package.parse_whole(main, Handlers(listed.start, _ignore, _ignore))
    if not listed.sheets:
        raise SourceError(source.file, "is no workbook with a sheet; save it as .xlsx")
    by_kind = dict(related.values())
    strings = _Strings(source.file)
    if "sharedStrings" in by_kind:
        package.parse_whole(by_kind["sharedStrings"], Handlers(strings.start, strings.end, strings.text))
    formats = _Formats()
    if "styles" in by_kind:
        package.parse_whole(by_kind["styles"], Handlers(formats.start, formats.end, _ignore))
    styles = Styles(tuple(formats.formats), listed.since_1904)
    return Workbook(package, listed.sheets[:_MAX_SHEETS], strings.found, styles)


def rows_of(workbook: Workbook, sheet: Sheet, findings: Findings) -> Iterator[Row]:
    """The rows of one sheet that are not blank."""
    return read_sheet(workbook.package, sheet.part, workbook.strings, workbook.styles, findings)


def candidates_of(rows: Sequence[Row]) -> list[Candidate]:
    """The rows that may be the header."""
    return [Candidate(row.number, row.cells, _TAB) for row in rows[:HEADER_WITHIN]]


def _under(row: Row, columns: Columns) -> Row:
    """A row with one cell for each column: in a sheet none is ever out of place."""
    width = len(columns.names)
    return Row(row.number, (*row.cells[:width], *("",) * (width - len(row.cells))))


def _nothing(
    file: str,
    unknown: Sequence[tuple[Sheet, list[Candidate]]],
    vocabulary: Vocabulary,
    chosen: Mapping[str, str],
) -> SourceError:
    if not unknown:
        return SourceError(file, "has no rows below its header; export a period with entries")
    _, candidates = max(unknown, key=lambda each: len(each[1]))
    return no_header(candidates, file, vocabulary, chosen)


def _named(made: Sequence[Table], findings: Findings) -> tuple[Table, ...]:
    """The tables, with the names of their sheets only where there are several."""
    if len(made) == 1:
        only = made[0]
        return (Table(only.file, only.delimiter, only.columns, only.preamble, only.rows),)
    names = ", ".join(quote(table.sheet) for table in made[:20])
    findings.add("warning", f"has entries in {len(made)} sheets, and all are read: {names}")
    return tuple(made)


def _tell_around(package: Package, findings: Findings) -> None:
    if any(name.endswith("vbaProject.bin") for name in package.names):
        findings.add("info", "holds macros: they are ignored")
    if any(name.startswith("xl/externalLinks/") for name in package.names):
        findings.add("info", "refers to other workbooks: the values that were saved count")


def _ignore(*_: object) -> None:
    pass


def _relations(package: Package, name: str, folder: str) -> dict[str, tuple[str, str]]:
    """Kind and path of each part that a part refers to, by id; none outside of the package."""
    found: dict[str, tuple[str, str]] = {}

    def start(element: str, given: Mapping[str, str]) -> None:
        if element != "Relationship" or given.get("TargetMode") == "External":
            return
        target = given.get("Target", "")
        path = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
        found[given.get("Id", "")] = (given.get("Type", "").rpartition("/")[2], path)

    if name in package.names:
        package.parse_whole(name, Handlers(start, _ignore, _ignore))
    return found


class _Listed:
    """Takes the sheets from the workbook's own part."""

    def __init__(self, related: Mapping[str, tuple[str, str]]) -> None:
        self._related = related
        self.sheets: list[Sheet] = []
        self.since_1904 = False

    def start(self, element: str, given: Mapping[str, str]) -> None:
        if element == "workbookPr":
            self.since_1904 = given.get("date1904") in {"1", "true"}
        if element != "sheet":
            return
        reference = next((value for key, value in given.items() if key.rpartition(":")[2] == "id"), "")
        kind, path = self._related.get(reference, ("", ""))
        if kind == "worksheet":
            self.sheets.append(Sheet(given.get("name", ""), path, given.get("state", "visible") != "visible"))


class _Strings:
    """Takes the texts that cells share; what is only said of their pronunciation is left out."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.found: list[str] = []
        self._parts: list[str] = []
        self._aside = False
        self._inside = False

    def start(self, element: str, _: Mapping[str, str]) -> None:
        if element == "si":
            self._parts = []
        self._aside = self._aside or element == "rPh"
        self._inside = element == "t" and not self._aside

    def text(self, data: str) -> None:
        if self._inside:
            self._parts.append(data)

    def end(self, element: str) -> None:
        self._inside = False
        self._aside = self._aside and element != "rPh"
        if element != "si":
            return
        if len(self.found) >= _MAX_STRINGS:
            what = f"holds more than {_MAX_STRINGS} texts; export the sheet with the entries as CSV"
            raise SourceError(self._file, what)
        self.found.append("".join(self._parts)[:_MAX_TEXT])


class _Formats:
    """Takes the number format of each style."""

    def __init__(self) -> None:
        self.formats: list[Format] = []
        self._codes: dict[str, str] = {}
        self._in_cells = False

    def start(self, element: str, given: Mapping[str, str]) -> None:
        if element == "numFmt":
            self._codes[given.get("numFmtId", "")] = given.get("formatCode", "")
        elif element == "cellXfs":
            self._in_cells = True
        elif element == "xf" and self._in_cells:
            number = given.get("numFmtId", "0")
            code = self._codes.get(number)
            if code is None:
                code = built_in(int(number) if number.isdecimal() else 0)
            self.formats.append(format_of(code))

    def end(self, element: str) -> None:
        if element == "cellXfs":
            self._in_cells = False
