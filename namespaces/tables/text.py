"""Bytes to lines: which encoding a file is in, and where its lines end."""

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

from .source import Findings, Source, SourceError

MAX_LINE = 100_000
"""Characters in one line: a longer one is no row of a table."""
MAX_LINES = 2_000_000
_LINE_END = re.compile(r"\r\n|\r|\n")
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Line(NamedTuple):
    """One line of a file."""

    number: int
    """Counted from 1."""
    text: str


def decode(source: Source, findings: Findings, legacy: str = "cp1252") -> str:
    """The file's text: by its byte-order mark, else UTF-8 if it is that, else the legacy encoding.

    Bytes that are legal UTF-8 beyond ASCII are practically never anything else, so UTF-8 goes
    before what a header claims.

    Raises:
        SourceError: it holds NUL bytes, so it is no text.
    """
    for mark, encoding in MARKS:
        if source.data.startswith(mark):
            return _with_mark(source.data[len(mark) :], encoding, findings)
    nul = source.data.find(b"\0")
    if nul >= 0:
        raise SourceError(
            source.file,
            "holds NUL bytes, so it is no text file; export it as text (UTF-8) from where it came",
            row=_row_of(source.data, nul),
        )
    try:
        return source.data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _without_mark(source.data, error, legacy, findings)


def lines_of(text: str, file: str) -> list[Line]:
    """All lines at once; see `each_line`.

    Raises:
        SourceError: a line is too long, or there are too many.
    """
    return list(each_line(text, file))


def each_line(text: str, file: str) -> Iterator[Line]:
    """Splits at LF, CRLF and lone CR, and at nothing else: a form feed or U+2028 is content.

    A list of all lines takes several times the memory of their text.

    Raises:
        SourceError: a line is too long, or there are too many.
    """
    count = text.count("\n") + text.count("\r") - text.count("\r\n") + 1
    if count > MAX_LINES:
        raise SourceError(file, f"has {count} lines; split it into files of {MAX_LINES}")
    begins, number = 0, 0
    for number, found in enumerate(_LINE_END.finditer(text), 1):
        ends = found.start()
        if ends - begins > MAX_LINE:
            raise _too_long(file, number, text[begins:ends])
        yield Line(number, text[begins:ends])
        begins = found.end()
    if len(text) - begins > MAX_LINE:
        raise _too_long(file, number + 1, text[begins:])
    yield Line(number + 1, text[begins:])


def _too_long(file: str, row: int, text: str) -> SourceError:
    return SourceError(
        file,
        f"a line of {len(text)} characters is no row of a table; it may have {MAX_LINE}",
        row=row,
        value=text,
    )


def _with_mark(data: bytes, encoding: str, findings: Findings) -> str:
    text = data.decode(encoding, errors="replace")
    if "\ufffd" in text:
        row = text.count("\n", 0, text.index("\ufffd")) + 1
        findings.add("warning", f"some bytes are no {encoding.upper()}: shown as \ufffd", row)
    return text.replace("\0", "\ufffd")


def _without_mark(data: bytes, error: UnicodeDecodeError, legacy: str, findings: Findings) -> str:
    if error.reason == "unexpected end of data" and error.start > len(data) - 4 and error.start:
        findings.add("warning", "ends in the middle of a character: it may be cut off")
        return data[: error.start].decode("utf-8")
    row = _row_of(data, error.start)
    findings.add("info", f"byte 0x{data[error.start]:02X} is no UTF-8: read as {legacy}", row)
    text = data.decode(legacy, errors="replace")
    if "\ufffd" in text:
        findings.add("warning", f"some bytes are no {legacy} either: shown as \ufffd")
    return text


def _row_of(data: bytes, position: int) -> int:
    head = data[:position]
    return (head.count(b"\n") or head.count(b"\r")) + 1
