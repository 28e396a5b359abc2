"""What every reader makes of a statement file, whatever its format."""

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from ..tables.source import Conventions, Finding, Findings, Source

__all__ = [
    "Balance",
    "Entry",
    "Finding",
    "Reader",
    "Statement",
    "StatementFile",
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


Reader = Callable[[Source, Conventions], StatementFile]
"""Reads one format. It raises SourceError when it cannot read the file, and nothing else; what it
can read with doubt, or has to leave out, is a finding."""


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
