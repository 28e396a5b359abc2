"""What makes the two balances differ, item by item."""

import datetime
from collections.abc import Iterable
from decimal import Decimal
from enum import Enum
from typing import NamedTuple

from ..records import Term
from ..tool import Record
from .match import Match


class Group(Enum):
    """What kind of difference an item is."""

    TIMING = "timing"
    """On both sides in the end, or may well be: it resolves itself."""
    MISSING_IN_BOOKS = "missing_in_books"
    MISSING_AT_BANK = "missing_at_bank"
    FEE = "fee"
    """Taken by the bank or by who settled the payments, and not in the books."""
    INTEREST = "interest"
    """Paid or taken by the bank, and not in the books."""
    DUPLICATE = "duplicate"
    """Like a matched record of the same side: entered twice, or charged twice."""
    AMOUNT_DIFFERS = "amount_differs"
    """Matched within the tolerance."""
    TRANSPOSED = "transposed"
    """Matched, with two digits swapped in the books."""
    REVERSED = "reversed"
    """Matched, with the wrong sign in the books."""
    EXCHANGE = "exchange"
    """Matched at another rate of exchange."""
    CANCELLED = "cancelled"
    """A record and its reversal on one side: together they add 0."""
    CLEARED = "cleared"
    """Open before the period and settled in it: it takes away what it added to the difference then."""


class Item(NamedTuple):
    """One record, or one match, that makes the two balances differ."""

    group: Group
    why: str
    terms: tuple[Term, ...]
    """What it adds to the bank's balance less the books'; the first is the item itself."""
    match: Match | None = None
    """The match that it comes of; None for a record without one."""
    evidence: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    """Ids of records that are to be looked at beside it."""
    material: bool = True
    """False when it is smaller than the rule's materiality."""

    @property
    def record(self) -> Record:
        """The item itself."""
        return self.terms[0].record

    @property
    def amount(self) -> Decimal:
        """What it adds to the bank's balance less the books'."""
        return added(self.terms)


def added(terms: Iterable[Term]) -> Decimal:
    """What terms make together; a record without an amount counts 0."""
    return sum((term.sign * (term.record.amount or Decimal(0)) for term in terms), Decimal(0))


def terms_of(items: Iterable[Item]) -> list[Term]:
    """What items add to the bank's balance less the books', term by term."""
    return [term for item in items for term in item.terms]


def in_order(item: Item) -> tuple[int, datetime.date, str]:
    """By group, then by date."""
    record = item.record
    return list(Group).index(item.group), record.date or datetime.date.min, record.id
