"""What every reader makes of a statement file, whatever its format."""

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import PurePosixPath

from ..tables.source import Conventions, Finding, Findings, Severity, Source

__all__ = [
    "Balance",
    "Entry",
    "Finding",
    "Often",
    "Reader",
    "Statement",
    "StatementFile",
    "closing_day",
    "named_by",
    "tell_breaks",
    "tell_gap",
    "total",
]


@dataclass(frozen=True, slots=True)
class Entry:
    """One movement on an account."""

    id: str
    """The bank's own reference (FITID); empty when the file gives none. Not always unique."""
    booked: datetime.date
    """The local day as the bank wrote it, whatever its time zone."""
    amount: Decimal
    """Signed: money in is positive, also on a card account."""
    currency: str | None
    """ISO 4217 code; None when the file does not say it."""
    row: int
    """Line in which the entry begins, counted from 1."""
    value_date: datetime.date | None = None
    """The day from which it bears interest; None when the file gives none."""
    name: str = ""
    """The other party."""
    text: str = ""
    """All else that is said of it, on one line."""
    pending: bool = False
    """True when the bank has only noted it: it counts in no balance."""


@dataclass(frozen=True, slots=True)
class Balance:
    """What an account held at the end of a day."""

    amount: Decimal
    date: datetime.date | None
    """None when the file gives the balance no date."""
    row: int | None
    """Line in which it stands; of a derived one, the line it was derived from."""
    derived: bool = False
    """True when a running balance or the other balance gave it, so the file does not state it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One account in one currency, as one file has it."""

    account: str
    """As the file names it; the file's own name when it names none."""
    currency: str | None
    file: str
    entries: tuple[Entry, ...]
    """In the order of the file."""
    opening: Balance | None = None
    """Before the first entry."""
    closing: Balance | None = None
    """After the last entry, or later."""
    start: datetime.date | None = None
    """First day that the file says it covers; None when it does not say."""
    end: datetime.date | None = None
    notice: bool = False
    """True for a notification, whose entries a statement has as well."""

    @property
    def named(self) -> bool:
        """False when the file names no account, so that its own name stands for one."""
        return not self.account.startswith(named_by(self.file))

    @property
    def booked(self) -> tuple[Entry, ...]:
        """The entries that are not pending."""
        return tuple(entry for entry in self.entries if not entry.pending)

    @property
    def gap(self) -> Decimal | None:
        """Closing less opening less all booked: 0 when it ties; None without both balances."""
        if self.opening is None or self.closing is None:
            return None
        return self.closing.amount - self.opening.amount - total(self.booked)


@dataclass(frozen=True, slots=True)
class StatementFile:
    """All that one file holds."""

    file: str
    statements: tuple[Statement, ...]
    findings: tuple[Finding, ...]
    format: str = ""
    """Which reader read it: references are the bank's within one format, and others in another."""


@dataclass(slots=True)
class Often:
    """Collects what a whole file may have in each line, so that it hides no other finding."""

    findings: Findings
    _seen: dict[tuple[Severity, str], list[int]] = field(
        default_factory=dict[tuple[Severity, str], list[int]]
    )

    def add(self, severity: Severity, what: str, row: int) -> None:
        """Notes one more line of which this is to be said."""
        self._seen.setdefault((severity, what), []).append(row)

    def tell(self) -> None:
        """Tells each once, with the first line and how often."""
        for (severity, what), rows in self._seen.items():
            more = f" ({len(rows)} times, first here)" if len(rows) > 1 else ""
            self.findings.add(severity, f"{what}{more}", rows[0])


Reader = Callable[[Source, Conventions], StatementFile]
"""Reads one format. It raises SourceError when it cannot read the file, and nothing else; what it
can read with doubt, or has to leave out, is a finding."""


def named_by(file: str) -> str:
    """What an account is called that its file does not name: the file without its ending."""
    return str(PurePosixPath(file).with_suffix(""))


def total(entries: Iterable[Entry]) -> Decimal:
    """The sum of the amounts; of entries in one currency."""
    return sum((entry.amount for entry in entries), Decimal(0))


def tell_gap(statement: Statement, findings: Findings) -> None:
    """Tells when opening, entries and closing do not tie."""
    if statement.gap and statement.opening and statement.closing:
        reached = statement.opening.amount + total(statement.booked)
        findings.add(
            "error",
            f"does not tie: opening and entries make {reached}, the closing balance is"
            f" {statement.closing.amount}, a gap of {statement.gap}",
            statement.closing.row,
        )


def tell_breaks(statements: Iterable[Statement], findings: Findings) -> None:
    """Tells where an account's statement does not open with what the one before it closed with."""
    ordered = sorted(statements, key=closing_day)
    before: dict[tuple[str, str | None], Balance] = {}
    for each in ordered:
        key = (each.account, each.currency)
        last = before.get(key)
        if last and each.opening and last.amount != each.opening.amount:
            what = f"opens with {each.opening.amount}, yet the statement before it closes with {last.amount}"
            findings.add("error", f"{what}: a statement is missing, or stands there twice", each.opening.row)
        if each.closing:
            before[key] = each.closing


def closing_day(statement: Statement) -> datetime.date:
    """The day it closes; the first day there is when it does not say."""
    dated = statement.closing and statement.closing.date
    return dated or datetime.date.min
