"""An XLSX file as a package of parts: what is refused before any of it is used, and each part as XML.

Nothing is unpacked to disk, and no part is read that the workbook does not name. A part with a DOCTYPE
is refused, so no entity is ever expanded.
"""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from .source import Source, SourceError, quote

MAX_UNPACKED = 256 * 1024 * 1024
"""Bytes of all parts that are read, unpacked."""
_MAX_RATIO = 500
"""Most bytes that a byte of the file may become; real workbooks stay under 100."""
_SMALL = 16 * 1024 * 1024
"""Bytes below which the ratio says nothing."""
_MAX_PARTS = 20_000
_MAX_DEPTH = 64
_CHUNK = 1 << 18
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)
"""What the standard library raises for a part that is not as its directory says."""
_ENCRYPTED = 1
"""The flag of a part that a password protects."""


def is_package(source: Source) -> bool:
    """True for bytes that begin as a workbook of any kind does."""
    return source.data.startswith((b"PK\x03\x04", b"PK\x05\x06", _OLE))


@dataclass(slots=True)
class Handlers:
    """What is called for a part's elements, with their names without namespace."""

    start: Callable[[str, Mapping[str, str]], None]
    end: Callable[[str], None]
    text: Callable[[str], None]


@dataclass(slots=True)
class Package:
    """The parts of one file."""

    file: str
    _zip: zipfile.ZipFile
    names: frozenset[str]
    _left: int = MAX_UNPACKED
    _depth: int = field(default=0)

    def parse(self, name: str, handlers: Handlers) -> Iterator[None]:
        """Calls the handlers for a part; pauses after each chunk, so that what was made can be used.

        Raises:
            SourceError: the part is missing, damaged, too large, no XML, or declares a DOCTYPE.
        """
        parser = self._parser(name, handlers)
        try:
            for chunk in self._chunks(name):
                parser.Parse(chunk, False)  # noqa: FBT003  expat has no keywords
                yield
            parser.Parse(b"", True)  # noqa: FBT003
        except expat.ExpatError as error:
            why = f"{expat.ErrorString(error.code)} in line {error.lineno}"
            raise SourceError(self.file, f"its part {quote(name)} is no XML ({why}); save it again") from None
        yield

    def parse_whole(self, name: str, handlers: Handlers) -> None:
        """Calls the handlers for all of a part; see `parse`."""
        for _ in self.parse(name, handlers):
            pass

    def _parser(self, name: str, handlers: Handlers) -> expat.XMLParserType:
        self._depth = 0

        def refuse(*_: object) -> None:
            what = f"its part {quote(name)} declares a DOCTYPE, which no spreadsheet program writes"
            raise SourceError(self.file, f"{what}: entities are never expanded; save it again")

        def start(element: str, attributes: dict[str, str]) -> None:
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                what = f"its part {quote(name)} nests more than {_MAX_DEPTH} elements"
                raise SourceError(self.file, f"{what}, which no spreadsheet program does")
            handlers.start(element.rpartition(":")[2], attributes)

        def end(element: str) -> None:
            self._depth -= 1
            handlers.end(element.rpartition(":")[2])

        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = refuse
        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.CharacterDataHandler = handlers.text
        return parser

    def _chunks(self, name: str) -> Iterator[bytes]:
        if name not in self.names:
            raise SourceError(self.file, f"has no part {quote(name)}: it is damaged; save it again")
        try:
            with self._zip.open(name) as part:
                yield from iter(lambda: self._counted(part.read(_CHUNK)), b"")
        except _DAMAGED as error:
            what = f"its part {quote(name)} is damaged ({error}); save it again"
            raise SourceError(self.file, what) from error

    def _counted(self, chunk: bytes) -> bytes:
        self._left -= len(chunk)
        if self._left < 0:
            raise _too_large(self.file)
        return chunk


def open_package(source: Source) -> Package:
    """Opens the package once nothing in its directory speaks against it.

    Raises:
        SourceError: it is no workbook of a kind that is read, is protected, or is hostile.
    """
    if source.data.startswith(_OLE):
        what = "is an old workbook (.xls) or one with a password; open it and save it as .xlsx without one"
        raise SourceError(source.file, what)
    try:
        opened = zipfile.ZipFile(io.BytesIO(source.data))
        parts = opened.infolist()
    except _DAMAGED as error:
        raise SourceError(source.file, f"is a damaged workbook ({error}); save it as .xlsx again") from error
    _check_parts(source, parts)
    return Package(source.file, opened, frozenset(part.filename for part in parts))


def _check_parts(source: Source, parts: list[zipfile.ZipInfo]) -> None:
    names = {part.filename for part in parts}
    odd = next((part.filename for part in parts if _is_odd(part.filename)), None)
    if odd is not None or len(names) < len(parts) or len(parts) > _MAX_PARTS:
        named = f"a part named {quote(odd)}" if odd is not None else "parts of one name, or too many"
        raise SourceError(source.file, f"holds {named}, which no spreadsheet program writes; save it again")
    if any(part.flag_bits & _ENCRYPTED for part in parts):
        raise SourceError(source.file, "is protected with a password; save it as .xlsx without one")
    for part in parts:
        swells = part.file_size > _SMALL and part.file_size > _MAX_RATIO * max(part.compress_size, 1)
        if part.file_size > MAX_UNPACKED or swells:
            raise _too_large(source.file)
    if "xl/workbook.bin" in names or "content.xml" in names:
        kind = "a binary workbook (.xlsb)" if "xl/workbook.bin" in names else "an OpenDocument file"
        raise SourceError(source.file, f"is {kind}; open it and save it as .xlsx")


def _is_odd(name: str) -> bool:
    """True for a name that leads out of the package, or hides where it leads."""
    plain = posixpath.normpath(name.rstrip("/")) == name.rstrip("/")
    return not plain or name.startswith(("/", "..")) or "\\" in name or ":" in name or "\0" in name


def _too_large(file: str) -> SourceError:
    return SourceError(
        file,
        f"would unpack to more than {MAX_UNPACKED} bytes, or to far more than it holds;"
        " save only the sheet with the entries, or export it as CSV",
    )
