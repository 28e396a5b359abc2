"""What every reader makes of a file of the books, whatever its format."""

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

from ..tables.source import Conventions, Finding, Source

Format = Literal["csv", "xlsx", "beancount", "hledger", "ledger", "iif", "gnucash", "sql"]
"""What a file of the books is written in."""

Origin = Literal["written", "inferred", "padding", "automated", "virtual"]
"""How a line came about. "written": account and amount stand in the file. "inferred": its amount does
not, and is what balances its entry. "padding": a `pad` of Beancount makes it. "automated": a rule of
the file makes it. "virtual": it is written, and its account is in brackets, so it balances nothing."""


class Weight(NamedTuple):
    """What a line counts when its entry is balanced."""

    amount: Decimal
    currency: str | None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a journal: one account debited or credited."""

    date: datetime.date
    account: str
    """Code and name as far as the file has them: `1200 Bank current account`; with those above it
    where accounts are a tree: `Assets:Bank:Checking`."""
    amount: Decimal
    """A debit is positive, a credit negative. Of a commodity it is the quantity."""
    currency: str | None
    """ISO 4217 code or the name of a commodity; a symbol, as written, where it stands for several
    currencies; None when the file does not say it."""
    file: str
    row: int
    """Line in that file, counted from 1; of a database the number of the row read."""
    journal: str = ""
    """Number of the journal or entry; empty when the file has none."""
    text: str = ""
    weight: Weight | None = None
    """Where it has a cost, a price, or balances nothing; None when it counts as its amount."""
    origin: Origin = "written"

    @property
    def counts(self) -> Weight:
        """What it counts when its entry is balanced."""
        return self.weight or Weight(self.amount, self.currency)


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
class Assertion:
    """What the file says an account holds at a point between its lines, to be checked."""

    account: str
    amount: Decimal
    currency: str | None
    date: datetime.date
    early: bool
    """True: before all lines of that day. False: after those above it in the file."""
    subaccounts: bool
    """True: with all accounts below it."""
    alone: bool
    """True: it is to hold no other currency."""
    tolerance: Decimal
    """How far off it may be."""
    file: str
    row: int
    by_date: bool = True
    """False: what stands above it in the file counts, whatever its date."""


@dataclass(frozen=True, slots=True)
class Padding:
    """An order to fill an account up, on that day, to what the next assertion on it says."""

    account: str
    source: str
    """The account on the other side."""
    date: datetime.date
    file: str
    row: int


class Symbol(NamedTuple):
    """How a file writes amounts of one currency: `$1,000.00`, `1.000,00 EUR`."""

    currency: str | None
    """As lines have it."""
    written: str
    """As the file writes it; empty where amounts stand alone."""
    first: bool
    """True when it stands before the number."""
    decimal: Literal[".", ","]


class Include(NamedTuple):
    """A file that another one names as a part of it; it is never opened by that name."""

    name: str
    """As written, with folders; it may be a pattern."""
    row: int


@dataclass(frozen=True, slots=True)
class LedgerFile:
    """All that one file holds."""

    file: str
    format: Format
    lines: tuple[Line, ...]
    balances: tuple[StatedBalance, ...]
    findings: tuple[Finding, ...]
    accounts: tuple[str, ...] = ()
    """Those it declares, also the ones without lines; empty when its format declares none."""
    assertions: tuple[Assertion, ...] = ()
    paddings: tuple[Padding, ...] = ()
    includes: tuple[Include, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    """How it writes its amounts; empty when its format leaves no choice."""

    @property
    def currency(self) -> str | None:
        """The one currency of all its lines and balances; None when they have several, or none."""
        named = {each.currency for each in self.lines} | {each.currency for each in self.balances}
        return named.pop() if len(named) == 1 else None


@dataclass(frozen=True, slots=True)
class BookFile:
    """One file of the books as it is told: what it is called, written in, and kept in."""

    name: str
    """Without its folder."""
    format: Format
    currency: str | None
    """The one currency of all that is in it; None when there are several, or none is named."""
    symbols: tuple[Symbol, ...] = ()
    """How it writes its amounts; empty when its format leaves no choice."""


Reader = Callable[[Source, Conventions], LedgerFile]
"""Reads one format. It raises SourceError when it cannot read the file, and nothing else."""
