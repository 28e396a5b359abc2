"""The rows of one sheet of a workbook, as texts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .cells import Styles, hides_decimals, number_text
from .package import Handlers, Package
from .source import Findings, SourceError, quote
from .table import MAX_CELLS, Row

MAX_ROWS = 1_048_576
"""The last row that a sheet may have."""
_MAX_TEXT = 32_767
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_SHOWN = 5
"""Hidden rows that are named."""


def read_sheet(
    package: Package, part: str, strings: Sequence[str], styles: Styles, findings: Findings
) -> Iterator[Row]:
    """The rows of a sheet that are not blank, each with its number in the sheet.

    Raises:
        SourceError: the part is missing, damaged or hostile.
    """
    sheet = _Sheet(package.file, strings, styles, findings)
    for _ in package.parse(part, Handlers(sheet.start, sheet.end, sheet.text)):
        yield from sheet.rows
        sheet.rows.clear()
    sheet.tell()


@dataclass(slots=True)
class _Sheet:
    file: str
    strings: Sequence[str]
    styles: Styles
    findings: Findings
    rows: list[Row] = field(default_factory=list[Row])
    _number: int = 0
    _cells: dict[int, str] = field(default_factory=dict[int, str])
    _column: int = 0
    """Of the cell that is open, from 1; of the last one between cells."""
    _kind: str = ""
    _style: str = ""
    _formula: bool = False
    _parts: list[str] = field(default_factory=list[str])
    _inside: bool = False
    _aside: bool = False
    _hidden: list[int] = field(default_factory=list[int])
    _rough: tuple[int, str] | None = None
    """How many numbers have more decimals than they show, and where the first is."""

    def start(self, element: str, given: Mapping[str, str]) -> None:
        """Opens a row, a cell or its value."""
        if element == "row":
            self._open_row(given)
        elif element == "c":
            self._open_cell(given)
        elif element == "f":
            self._formula = True
        elif element == "rPh":
            self._aside = True
        elif element in {"v", "t"}:
            self._inside = not self._aside

    def text(self, data: str) -> None:
        """Takes a part of a value."""
        if self._inside:
            self._parts.append(data)

    def end(self, element: str) -> None:
        """Closes what was opened."""
        self._inside = False
        if element == "c":
            self._close_cell()
        elif element == "row":
            self._close_row()
        elif element == "rPh":
            self._aside = False

    def tell(self) -> None:
        """Tells what holds for the whole sheet."""
        if self._hidden:
            named = ", ".join(map(str, self._hidden[:_SHOWN]))
            more = f" and {len(self._hidden) - _SHOWN} more" if len(self._hidden) > _SHOWN else ""
            self.findings.add("info", f"rows {named}{more} are hidden, and read all the same")
        if self._rough is not None:
            count, first = self._rough
            what = f"{count} numbers, first {first}, have more decimals than they show: all of them count"
            self.findings.add("warning", what)

    def _open_row(self, given: Mapping[str, str]) -> None:
        written = given.get("r", "")
        self._number = int(written) if written.isdecimal() and len(written) <= 9 else self._number + 1  # noqa: PLR2004
        if not 0 < self._number <= MAX_ROWS:
            raise SourceError(self.file, f"has a row {self._number}; a sheet has {MAX_ROWS} at most")
        self._cells, self._column = {}, 0
        if given.get("hidden") in {"1", "true"}:
            self._hidden.append(self._number)

    def _open_cell(self, given: Mapping[str, str]) -> None:
        found = _REFERENCE.fullmatch(given.get("r", ""))
        self._column = _index(found[1]) if found else self._column + 1
        self._kind, self._style = given.get("t", "n"), given.get("s", "0")
        self._formula, self._parts = False, []

    def _close_cell(self) -> None:
        written = "".join(self._parts)[:_MAX_TEXT]
        if self._formula and not written and self._kind != "str":
            what = f"cell {self._address} holds a formula and no value: open the file, save it, give it again"
            self.findings.add("error", what, self._number)
        text = self._value(written) if written else ""
        if text.strip():
            self._cells[self._column] = text

    def _value(self, written: str) -> str:
        match self._kind:
            case "s":
                index = int(written) if written.isdecimal() and len(written) < 9 else -1  # noqa: PLR2004
                return _clean(self.strings[index]) if 0 <= index < len(self.strings) else ""
            case "e":
                what = f"cell {self._address} holds the error {quote(written)}"
                self.findings.add("warning", what, self._number)
                return written
            case "b":
                return "TRUE" if written.strip() == "1" else "FALSE"
            case "n":
                return self._number_in(written)
            case _:
                return _clean(written)

    def _number_in(self, written: str) -> str:
        form = self.styles.of(self._style)
        text = number_text(written, form, self.styles)
        if text is None:
            return written
        if hides_decimals(text, form):
            count, first = self._rough or (0, self._address)
            self._rough = (count + 1, first)
        return text

    @property
    def _address(self) -> str:
        letters, index = "", self._column
        while index:
            index, rest = divmod(index - 1, 26)
            letters = chr(ord("A") + rest) + letters
        return f"{letters}{self._number}"

    def _close_row(self) -> None:
        if not self._cells:
            return
        width = max(self._cells)
        if width > MAX_CELLS:
            self.findings.add("error", f"{width} cells are no row: left out", self._number)
            return
        cells = tuple(self._cells.get(index, "") for index in range(1, width + 1))
        self.rows.append(Row(self._number, cells))
        self._cells = {}


def _index(letters: str) -> int:
    index = 0
    for letter in letters:
        index = index * 26 + ord(letter) - ord("A") + 1
    return index


def _clean(text: str) -> str:
    """On one line; without the apostrophe that marks a text as such."""
    line = text.strip()
    return line[1:].strip() if line.startswith("'") and line.count("'") == 1 else line
