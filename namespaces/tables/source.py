"""One file as it is read: its bytes, what was odd about it, and why it may be refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import JsonValue

from ..errors import NamespaceError

MAX_FILE_BYTES = 256 * 1024 * 1024
"""Larger files are refused unread: a decade of statements of a busy account is a tenth of it."""
MAX_FINDINGS = 200
"""Findings kept per file; the rest is counted."""
_MAX_QUOTED = 60
_SHOWN = 20
"""Findings that a tool shows at once."""

Severity = Literal["info", "warning", "error"]


class SourceError(NamespaceError):
    """A file that cannot be read; the message names line and value and what would be right."""

    def __init__(self, file: str, what: str, *, row: int | None = None, value: str | None = None) -> None:
        self.file = file
        self.row = row
        """Line in the file, counted from 1; None when it is about the whole file."""
        self.value = value
        """The offending text as the file has it; None when there is no one text."""
        quoted = "" if value is None else f"{quote(value)}: "
        super().__init__(f"{place(file, row)}: {quoted}{what}")


class UndecidedError(SourceError):
    """A file that can be read, once a person has said how."""

    def __init__(
        self, file: str, what: str, *, argument: str, row: int | None = None, value: str | None = None
    ) -> None:
        self.argument = argument
        """What decides: `day_first`, `decimal` or `columns`."""
        super().__init__(file, what, row=row, value=value)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something odd about a file that could be read."""

    what: str
    """What is odd, and what was made of it."""
    file: str
    row: int | None = None
    """Line in the file, counted from 1; None when it is about the whole file."""
    severity: Severity = "warning"
    """"info": nothing is lost. "warning": look at it. "error": something was not taken over."""

    @property
    def where(self) -> str:
        """File and line as a person writes them."""
        return place(self.file, self.row)


@dataclass(slots=True)
class Findings:
    """Collects the findings about one file; a file with a fault in each line stays bounded."""

    file: str
    _kept: list[Finding] = field(default_factory=list[Finding])
    _more: int = 0

    def add(self, severity: Severity, what: str, row: int | None = None) -> None:
        """Keeps one finding, or counts it when there are too many."""
        if len(self._kept) < MAX_FINDINGS:
            self._kept.append(Finding(what, self.file, row, severity))
        else:
            self._more += 1

    def take(self, others: "Findings") -> None:
        """Keeps all that was found about the same file elsewhere."""
        for each in others._kept:
            self.add(each.severity, each.what, each.row)
        self._more += others._more

    def done(self) -> tuple[Finding, ...]:
        """All that was kept, and how many more there were."""
        if not self._more:
            return tuple(self._kept)
        more = Finding(f"{self._more} more findings of this kind", self.file, None, "error")
        return (*self._kept, more)


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read into memory."""

    file: str
    """What findings and records show: its name, with its folder where two files have one name."""
    data: bytes


@dataclass(frozen=True, slots=True)
class Conventions:
    """What the person who has the files knows of them, used only where a file leaves it open."""

    day_first: bool | None = None
    """True: 03/04 is the third of April. None: not known, so such a file is refused."""
    decimal: Literal[".", ","] | None = None
    """Whether 1,234 is one and a bit or a thousand and more. None: not known."""
    currency: str | None = None
    """ISO 4217 code of files that name no currency. None: not known, and amounts have none."""
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    """The column of each role, by its name in the header or, in a file without one, by its number from
    1: `{"date": "Data operacji", "amount": "3"}`. Roles that are not in it go by the header's words."""
    said: str = ""
    """What is told where they are used: `as decided for account DE1 on 2026-11-30`. Empty: nothing."""
    firm: frozenset[str] = frozenset()
    """Names of those fields of which a file that shows something else is refused; of the others counts
    what the file shows."""


def read_source(path: Path, name: str = "") -> Source:
    """Reads one file.

    Args:
        path: Where it is.
        name: What it is called in findings and records; empty for its name without its folder.

    Raises:
        SourceError: it is missing, no file, unreadable or too large.
    """
    called = name or path.name
    try:
        if path.is_dir():
            raise SourceError(called, "is a folder; name the files in it")
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise SourceError(called, f"has {size} bytes; split it into files of up to {MAX_FILE_BYTES}")
        return Source(called, path.read_bytes())
    except FileNotFoundError:
        raise SourceError(
            called, f"there is no such file at {str(path)!r}; give the path of an existing file"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(
            called, f"cannot be read ({reason}); give a file that this process may read"
        ) from error


class Stamp(NamedTuple):
    """What shows that a file has changed."""

    size: int
    """In bytes; -1 for a file that is not there."""
    mtime_ns: int
    """Nanoseconds since 1970; 0 for a file that is not there."""


def stamp_of(path: Path) -> Stamp:
    """The file's stamp as it is now."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return Stamp(-1, 0)
    return Stamp(found.st_size, found.st_mtime_ns)


def not_read(error: SourceError) -> Finding:
    """What is told of a file that could not be read."""
    keeps = "; read_as keeps the answer of the user" if isinstance(error, UndecidedError) else ""
    return Finding(f"the file is not read: {error}{keeps}", error.file, error.row, "error")


def place(file: str, row: int | None) -> str:
    """File and line as a person writes them."""
    return file if row is None else f"{file} line {row}"


def quote(value: str) -> str:
    """A value for a message: quoted, and short whatever the file holds."""
    if len(value) <= _MAX_QUOTED:
        return repr(value)
    return f"{value[:_MAX_QUOTED]!r}... ({len(value)} characters)"


def shown_findings(findings: Sequence[Finding]) -> list[JsonValue]:
    """Findings for the model, the grave ones first, and how many were not shown."""
    order = {"error": 0, "warning": 1, "info": 2}
    first = sorted(findings, key=lambda each: order[each.severity])[:_SHOWN]
    shown: list[JsonValue] = [
        {"severity": each.severity, "where": each.where, "what": each.what} for each in first
    ]
    if len(findings) > len(first):
        shown.append({"not_shown": len(findings) - len(first)})
    return shown
