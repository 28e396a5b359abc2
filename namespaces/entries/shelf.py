"""The files of the books as they are now: where they are, what is in them, how they are read."""

from dataclasses import dataclass
from pathlib import Path

from ..errors import NamespaceError
from ..ledger.accounts import gather
from ..ledger.books import LedgerFile
from ..ledger.namespace import Ledger
from ..tables.source import Findings, Source, read_source
from ..tables.text import decode
from .formats import WRITERS
from .formats.writer import Target


@dataclass(frozen=True, slots=True)
class Known:
    """A file as it is before anything is added."""

    target: Target
    findings: frozenset[str]
    """What is odd about it, taken by itself."""


class Shelf:
    """The files that a ledger reads. The one that was last looked at is kept as it was read."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known: Known | None = None

    def path(self, name: str | None) -> Path:
        """Where the file of that name is, links followed; the only one when no name is given.

        Raises:
            NamespaceError: there is no one such file.
        """
        found = [path for path in self._ledger.files if name in {None, self._ledger.name_of(path)}]
        if len(found) != 1:
            there_are = ", ".join(repr(self._ledger.name_of(path)) for path in self._ledger.files)
            raise NamespaceError(f"there is no one file {name!r} of the books; there are: {there_are}")
        return found[0].resolve()

    def source(self, name: str | None) -> Source:
        """The file's bytes, under the name that the books have for it.

        Raises:
            NamespaceError: there is no one such file, or it cannot be read.
        """
        path = self.path(name)
        return read_source(path, name or "")

    def known(self, source: Source) -> Known:
        """The file before anything is added to it; read again only when its content has changed.

        Raises:
            SourceError: it cannot be read.
        """
        conventions, known = self._ledger.conventions_of(source), self._known
        same = known is not None and (known.target.source, known.target.conventions) == (source, conventions)
        if known is None or not same:
            read = self._ledger.read(source, conventions)
            findings = frozenset(each.what for each in gather([read]).findings)
            self._known = known = Known(Target(source, conventions, read), findings)
        return known

    def read(self, source: Source) -> LedgerFile:
        """What the ledger reads in a file with this content.

        Raises:
            SourceError: it cannot be read.
        """
        return self._ledger.read(source, self._ledger.conventions_of(source))

    def holds(self, mark: str, source: Source) -> bool:
        """Whether an entry under that mark stands in the file.

        Raises:
            SourceError: it cannot be read.
        """
        read = self.known(source).target.read
        if read.format not in WRITERS:
            return False  # nothing is ever posted to them
        if read.format == "xlsx":
            return any(mark in f"{line.journal} {line.text}" for line in read.lines)
        return mark in decode(source, Findings(source.file))
