"""What every reader makes of a file of the books, whatever its format."""

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from ..tables.source import Conventions, Finding, Source


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a journal: one account debited or credited."""

    date: datetime.date
    account: str
    """Code and name as far as the file has them: `1200 Bank current account`."""
    amount: Decimal
    """A debit is positive, a credit negative."""
    currency: str | None
    """ISO 4217 code; None when the file does not say it."""
    file: str
    row: int
    """Line in that file, counted from 1."""
    journal: str = ""
    """Number of the journal or entry; empty when the file has none."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class StatedBalance:
    """A balance that the file itself gives an account, in a row of its own."""

    account: str
    kind: Literal["opening", "closing"]
    amount: Decimal
    """A debit balance is positive."""
    currency: str | None
    date: datetime.date | None
    """None when the file gives it no date."""
    file: str
    row: int


@dataclass(frozen=True, slots=True)
class LedgerFile:
    """All that one file holds."""

    file: str
    lines: tuple[Line, ...]
    balances: tuple[StatedBalance, ...]
    findings: tuple[Finding, ...]


Reader = Callable[[Source, Conventions], LedgerFile]
"""Reads one format. It raises SourceError when it cannot read the file, and nothing else."""
