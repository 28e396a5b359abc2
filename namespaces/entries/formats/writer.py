"""What every writer is given and gives back, and what those that append text have in common."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ...errors import NamespaceError
from ...ledger.books import LedgerFile
from ...tables.source import Conventions, Findings, Source
from ...tables.text import MARKS, decode
from ..entry import Entry, EntryLine

LEGACY = "cp1252"
"""What a text that is no UTF-8 is read as."""


class CannotWriteError(NamespaceError):
    """The entry cannot be written into this file; the message says why and what would be right."""


@dataclass(frozen=True, slots=True)
class Target:
    """The file that an entry is written into."""

    source: Source
    """As it is now."""
    conventions: Conventions
    """How it is read."""
    read: LedgerFile
    """What is read in it."""


class Addition(NamedTuple):
    """An entry written into a file."""

    text: str
    """The entry as it stands in the file, without the blank line before it."""
    data: bytes
    """The whole file with it."""


Writer = Callable[[Entry, str, Target], Addition]
"""Writes a canonical entry under a mark by which it is found again.

It raises CannotWriteError or SourceError, and touches no file. It does not promise that a reader
sees the entry as it was meant: that is checked of every writer's result in one place.
"""


@dataclass(frozen=True, slots=True)
class Text:
    """A text file that something is to be appended to."""

    data: bytes
    text: str
    encoding: str
    line_end: str

    @classmethod
    def of(cls, source: Source) -> "Text":
        """Reads the file as the readers do.

        Raises:
            SourceError: it is no text.
        """
        text = decode(source, Findings(source.file), LEGACY)
        ends = (end for end in ("\r\n", "\n", "\r") if end in text)
        return cls(source.data, text, encoding_of(source.data), next(ends, "\n"))

    def appended(self, lines: list[str], *, apart: bool = False) -> bytes:
        """The file with the lines at its end: not a byte before them differs.

        Args:
            lines: The lines, without their ends.
            apart: True when a blank line has to stand before them.

        Raises:
            CannotWriteError: the file's encoding has no such character.
        """
        ended = not self.text or self.text.endswith(("\n", "\r"))
        blank = not apart or not self.text.strip() or self.text.endswith(self.line_end * 2)
        before = ("" if ended else self.line_end) + ("" if blank else self.line_end)
        after = self.line_end if ended else ""
        try:
            return self.data + (before + self.line_end.join(lines) + after).encode(self.encoding)
        except UnicodeEncodeError as error:
            raise CannotWriteError(
                f"the file is in {self.encoding}, which has no {error.object[error.start]!r}: write"
                " the text without it"
            ) from error


def described(entry: Entry) -> str:
    """Text and reference as one, for formats that have one field for both."""
    known = not entry.reference or entry.reference in entry.text
    return entry.text if known else f"{entry.text} {entry.reference}"


def new_accounts(entry: Entry, target: Target) -> list[EntryLine]:
    """The first line on each account that the file is to declare."""
    new = {line.account: line for line in reversed(entry.lines) if line.new_account}
    return [line for name, line in reversed(new.items()) if name not in target.read.accounts]


def encoding_of(data: bytes) -> str:
    """The encoding that `decode` reads the bytes in."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return encoding
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return LEGACY
    return "utf-8"
