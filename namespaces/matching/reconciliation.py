"""Why the bank's balance and the books' differ at the end of a period, item by item.

    bank balance - books balance = what only the bank has - what only the books have
                                 + what was already different before the period

Records of some days around the period take part in the matching, so that a cheque written on the last
day and presented on the third is a timing difference and not a missing one.
"""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ..bank.accounts import Account as BankAccount
from ..errors import NamespaceError
from ..ledger.accounts import Account as LedgerAccount
from ..records import Term
from ..tool import Record
from .exact import same_day
from .match import Match, Outcome, Rule, Strategy, match
from .nearly import nearly_equal
from .reference import by_reference
from .timing import within_window

STRATEGIES: tuple[Strategy, ...] = (by_reference, same_day, within_window, nearly_equal)
"""In the order of how much they show."""


class Period(NamedTuple):
    """Days from one to another, both included."""

    start: datetime.date
    end: datetime.date

    def __contains__(self, day: object) -> bool:
        return isinstance(day, datetime.date) and self.start <= day <= self.end


class Group(Enum):
    """What kind of difference an item is."""

    TIMING = "timing"
    """On both sides in the end, or may well be: it resolves itself."""
    MISSING_IN_BOOKS = "missing_in_books"
    MISSING_AT_BANK = "missing_at_bank"
    AMOUNT_DIFFERS = "amount_differs"
    """Matched within the tolerance."""


class Item(NamedTuple):
    """One record, or one match, that makes the two balances differ."""

    group: Group
    why: str
    terms: tuple[Term, ...]
    """What it adds to the bank's balance less the books'; the first is the item itself."""


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """One bank account against one account of the books over a period."""

    period: Period
    rule: Rule
    matches: tuple[Match, ...]
    """Both sides in the period."""
    from_before: tuple[Match, ...]
    """One side in the period, the other before it: these clear what was open at its start."""
    items: tuple[Item, ...]
    """By group, then by date."""
    bank_balance: Record | None
    """At the end of the period; None when no file states a dated balance."""
    books_balance: Record | None
    bank_opening: Record | None
    """At the end of the day before the period."""
    books_opening: Record | None

    def of(self, group: Group) -> list[Item]:
        """The items of one group."""
        return [item for item in self.items if item.group is group]


def reconcile(bank: BankAccount, books: LedgerAccount, period: Period, rule: Rule) -> Reconciliation:
    """Reconciles two accounts.

    Raises:
        NamespaceError: they are in different currencies, or the period ends before it begins.
    """
    if bank.currency != books.currency:
        raise NamespaceError(
            f"{bank.label!r} is in {bank.currency or 'no stated currency'} and {books.label!r} in"
            f" {books.currency or 'no stated currency'}: currencies never mix. For files that state"
            " none, currency= of the namespace says it"
        )
    if period.end < period.start:
        raise NamespaceError(f"the period ends on {period.end}, before it begins on {period.start}")
    around = datetime.timedelta(rule.window_days)
    start, end = period.start - around, period.end + around
    outcome = match(bank.between(start, end), books.between(start, end), rule, STRATEGIES)
    items = [*_across(outcome, period), *_unmatched(outcome, period, rule, _reach(bank))]
    eve = period.start - datetime.timedelta(1)
    inside, before = _placed(outcome.matches, period)
    return Reconciliation(
        period=period,
        rule=rule,
        matches=inside,
        from_before=before,
        items=tuple(sorted(items, key=_order)),
        bank_balance=bank.balance_on(period.end),
        books_balance=books.balance_on(period.end),
        bank_opening=bank.balance_on(eve),
        books_opening=books.balance_on(eve),
    )


def _placed(matches: Iterable[Match], period: Period) -> tuple[tuple[Match, ...], tuple[Match, ...]]:
    inside: list[Match] = []
    before: list[Match] = []
    for each in matches:
        days = (each.bank.date, each.book.date)
        if all(day in period for day in days):
            inside.append(each)
        elif any(day in period for day in days) and _last(each) in period:
            before.append(each)
    return tuple(inside), tuple(before)


def _across(outcome: Outcome, period: Period) -> Iterable[Item]:
    """Matches with one side after the period, and those whose amounts differ."""
    for each in outcome.matches:
        bank, book = each.bank, each.book
        if _after(book, period) and not _after(bank, period):
            why = f"in the books on {book.date}, after the period ({book.id})"
            yield Item(Group.TIMING, why, (Term(1, bank),))
        elif _after(bank, period) and not _after(book, period):
            why = f"at the bank on {bank.date}, after the period ({bank.id})"
            yield Item(Group.TIMING, why, (Term(-1, book),))
        elif each.difference and _last(each) in period:
            why = f"{bank.amount} at the bank, {book.amount} in the books ({book.id})"
            yield Item(Group.AMOUNT_DIFFERS, why, (Term(1, bank), Term(-1, book)))


def _unmatched(outcome: Outcome, period: Period, rule: Rule, reach: datetime.date) -> Iterable[Item]:
    for record in outcome.bank_only:
        if record.date in period:
            why = f"nothing like it in the books within {rule.window_days} days"
            yield Item(Group.MISSING_IN_BOOKS, why, (Term(1, record),))
    for record in outcome.books_only:
        if record.date is None or record.date not in period:
            continue
        if record.date + datetime.timedelta(rule.window_days) > reach:
            why = f"not at the bank by {reach}, where its data end: it may still come"
            yield Item(Group.TIMING, why, (Term(-1, record),))
        else:
            why = f"nothing like it at the bank within {rule.window_days} days"
            yield Item(Group.MISSING_AT_BANK, why, (Term(-1, record),))


def _reach(bank: BankAccount) -> datetime.date:
    """The last day of which the bank's files know."""
    days = [each.entry.booked for each in bank.booked]
    days += [each.last for each in bank.balances if each.last is not None]
    return max(days, default=datetime.date.min)


def _after(record: Record, period: Period) -> bool:
    return record.date is not None and record.date > period.end


def _last(found: Match) -> datetime.date | None:
    days = [day for day in (found.bank.date, found.book.date) if day is not None]
    return max(days, default=None)


def _order(item: Item) -> tuple[int, datetime.date, str]:
    record = item.terms[0].record
    return list(Group).index(item.group), record.date or datetime.date.min, record.id


def terms_of(items: Sequence[Item]) -> list[Term]:
    """What items add to the bank's balance less the books', term by term."""
    return [term for item in items for term in item.terms]
