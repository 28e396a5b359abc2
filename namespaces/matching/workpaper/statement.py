"""What a reconciliation statement says, before it is written to any kind of file."""

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from ...records import amount_of
from ..carried import Carried
from ..items import Item, added, terms_of
from ..match import KINDS, Kind, Match
from ..reconciliation import Reconciliation, open_items


class InputFile(NamedTuple):
    """A file that the statement is made of."""

    name: str
    """Without its folder."""
    sha256: str
    """Of its bytes, in hexadecimal."""


class Ends(NamedTuple):
    """What both sides held; None where no file says it."""

    bank_opening: Decimal | None
    books_opening: Decimal | None
    bank_closing: Decimal | None
    books_closing: Decimal | None

    @property
    def difference(self) -> Decimal | None:
        """The bank's closing balance less the books'; None unless both are known."""
        if self.bank_closing is None or self.books_closing is None:
            return None
        return self.bank_closing - self.books_closing

    @property
    def opens_apart(self) -> bool:
        """Whether the two opening balances are known and differ."""
        known = self.bank_opening is not None and self.books_opening is not None
        return known and self.bank_opening != self.books_opening


class Matched(NamedTuple):
    """The matches of one kind."""

    kind: Kind
    number: int
    """How many matches."""
    bank: Decimal
    """Sum of the records at the bank."""
    books: Decimal


@dataclass(frozen=True, slots=True)
class Statement:
    """One bank account against its account in the books over a period."""

    entity: str
    """Whose account it is; empty when nobody said it."""
    bank_account: str
    ledger_account: str
    currency: str | None
    """ISO 4217 code; None when no file says it."""
    start: datetime.date
    """First day of the period."""
    end: datetime.date
    """Last day, included."""
    balances: Ends
    matched: tuple[Matched, ...]
    """Kinds that occur, in the order of how much they show."""
    brought: Carried
    """What is known to have been open when the period began."""
    items: tuple[Item, ...]
    """What makes the two balances differ beside that, by group, then by date."""
    carried: Carried
    """What is open at the end: the next period begins with it."""

    @property
    def explained(self) -> Decimal:
        """What the open items brought forward and the items of the period come to."""
        return added([*self.brought.terms, *terms_of(self.items)])

    @property
    def unexplained(self) -> Decimal | None:
        """What of the difference nothing explains; None when a closing balance is not known."""
        difference = self.balances.difference
        return None if difference is None else difference - self.explained

    @property
    def outstanding(self) -> Decimal:
        """What the open items carried forward add to the bank's balance less the books'."""
        return added(self.carried.terms)


@dataclass(frozen=True, slots=True)
class Workpaper:
    """The statements of several accounts, with what they were made of and by whom."""

    statements: tuple[Statement, ...]
    inputs: tuple[InputFile, ...]
    made_on: datetime.date
    preparer: str
    """Who made it; empty when nobody said it."""
    approver: str = ""
    """Who approved it; empty until somebody has."""
    approved_at: datetime.datetime | None = None
    """When, in UTC; None until somebody has."""


def statement_of(done: Reconciliation, entity: str, bank_account: str, ledger_account: str) -> Statement:
    """The statement of one reconciliation.

    Args:
        done: What was found.
        entity: Whose account it is; empty when nobody said it.
        bank_account: The bank account's label.
        ledger_account: The label of the account in the books.
    """
    ends = (*done.opening, *done.closing)
    return Statement(
        entity=entity,
        bank_account=bank_account,
        ledger_account=ledger_account,
        currency=next((each.currency for each in ends if each is not None), None),
        start=done.period.start,
        end=done.period.end,
        balances=Ends(*(None if each is None else each.amount for each in ends)),
        matched=tuple(_matched([*done.matches, *done.from_before])),
        brought=done.known_before,
        items=done.items,
        carried=open_items(done),
    )


def _matched(matches: Sequence[Match]) -> Iterator[Matched]:
    for kind in KINDS:
        found = [each for each in matches if each.kind == kind]
        if found:
            bank = amount_of(record for each in found for record in each.bank)
            books = amount_of(record for each in found for record in each.books)
            yield Matched(kind, len(found), bank, books)
