"""Why the bank's balance and the books' differ at the end of a period, item by item.

    bank balance - books balance = sum of the items + what was already different before the period

Records of some days around the period take part in the matching, so that a cheque written on the last
day and presented on the third is a timing difference and not a missing one. So do the items that the
period before left open, however old.
"""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from ..bank.accounts import Account as BankAccount
from ..errors import NamespaceError
from ..ledger.accounts import Account as LedgerAccount
from ..tool import Record
from .carried import Carried
from .explain import explain
from .gathered import Sources, gather
from .items import Group, Item, added, in_order
from .match import Match, match
from .placing import Period, Placing, known_before, still_open
from .rule import AccountRule
from .strategies import STRATEGIES

__all__ = ["Balances", "Period", "Reconciliation", "open_items", "reconcile"]

_FIRST_YEAR, _LAST_YEAR = 1900, 2199
_SETTLED = (Group.CANCELLED, Group.CLEARED)
"""Groups whose items leave nothing open."""


class Balances(NamedTuple):
    """What the two accounts held; None where no file states a dated balance."""

    bank: Record | None
    books: Record | None

    @property
    def difference(self) -> Decimal | None:
        """Bank less books; None without both."""
        if self.bank is None or self.books is None:
            return None
        return (self.bank.amount or Decimal(0)) - (self.books.amount or Decimal(0))


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """One bank account against one account of the books over a period."""

    period: Period
    rule: AccountRule
    currency: str | None
    """Of both accounts; None when the files state none."""
    matches: tuple[Match, ...]
    """All of it in the period."""
    from_before: tuple[Match, ...]
    """Some of it before the period, none after it: these take up what was open at its start."""
    into_next: tuple[Match, ...]
    """Some of it after the period: what of it is in the period is still open at its end."""
    items: tuple[Item, ...]
    """By group, then by date. Their amounts make what the period added to the bank less the books."""
    carried: Carried
    """What the statement of the period before left open, as far as it could be used."""
    known_before: Carried
    """All that is known to have been open at the start: what was carried, and what cleared besides."""
    still_open: Carried
    """Of what is known to have been open at the start, what is open at the end."""
    findings: tuple[str, ...]
    """Where a search reached its bound, what was left open for want of evidence, what is odd."""
    opening: Balances
    """At the end of the day before the period."""
    closing: Balances
    """At the end of the period."""

    def of(self, group: Group) -> list[Item]:
        """The items of one group."""
        return [item for item in self.items if item.group is group]


def reconcile(
    bank: BankAccount,
    books: LedgerAccount,
    period: Period,
    rule: AccountRule,
    carried: Carried = Carried(),  # noqa: B008  it is frozen
) -> Reconciliation:
    """Reconciles two accounts.

    Args:
        bank: The bank account.
        books: Its account in the books, in the same currency.
        period: Both days included.
        rule: How strictly the two are compared.
        carried: What the period before left open, as `open_items` gives it. Where the files still hold
            such a record, it counts once.

    Raises:
        NamespaceError: they are in different currencies, the period ends before it begins, or it is not of
            the years 1900 to 2199.
    """
    _refuse_what_cannot_be(bank, books, period)
    eve = period.start - datetime.timedelta(1)
    opening = Balances(bank.balance_on(eve), books.balance_on(eve))
    sources = Sources(bank.between, books.between, opening.difference, bank.currency)
    pool = gather(sources, period, rule.window_days, carried)
    outcome = match(pool.bank, pool.books, rule, STRATEGIES, pool.carried.ids)
    placing = Placing(period, pool.carried.ids)
    items = [_weighed(item, rule) for item in explain(outcome, placing, rule, _reach(bank))]
    from_before = tuple(filter(placing.clears, outcome.matches))
    known = known_before(pool.carried, from_before, placing)
    return Reconciliation(
        period=period,
        rule=rule,
        currency=bank.currency,
        matches=tuple(filter(placing.inside, outcome.matches)),
        from_before=from_before,
        into_next=tuple(filter(placing.reaches_out, outcome.matches)),
        items=tuple(sorted(items, key=in_order)),
        carried=pool.carried,
        known_before=known,
        still_open=still_open(known, from_before, placing),
        findings=(*pool.findings, *_unexplained(opening, known, carried), *outcome.findings),
        opening=opening,
        closing=Balances(bank.balance_on(period.end), books.balance_on(period.end)),
    )


def open_items(done: Reconciliation) -> Carried:
    """What a period carries forward: all that makes the two balances differ at its end.

    Of a match whose amounts differ both sides are carried: the difference is open until it is mended.
    """
    terms = [term for item in done.items if item.group not in _SETTLED for term in item.terms]
    return Carried(
        (*done.still_open.bank, *(term.record for term in terms if term.sign > 0)),
        (*done.still_open.books, *(term.record for term in terms if term.sign < 0)),
    )


def _unexplained(opening: Balances, known: Carried, carried: Carried) -> tuple[str, ...]:
    """What of the opening difference the statement of the period before leaves unexplained."""
    rest = (opening.difference or Decimal(0)) - added(known.terms)
    if not carried or opening.difference is None or not rest:
        return ()
    return (
        f"at the start the balances differ by {opening.difference}; what was carried forward and what cleared"
        f" besides explains {added(known.terms)} of it, and {rest} is not explained",
    )


def _refuse_what_cannot_be(bank: BankAccount, books: LedgerAccount, period: Period) -> None:
    if bank.currency != books.currency:
        raise NamespaceError(
            f"{bank.label!r} is in {bank.currency or 'no stated currency'} and {books.label!r} in"
            f" {books.currency or 'no stated currency'}: currencies never mix. For files that state"
            " none, currency= of the namespace says it"
        )
    if period.end < period.start:
        raise NamespaceError(f"the period ends on {period.end}, before it begins on {period.start}")
    if not (period.start.year >= _FIRST_YEAR and period.end.year <= _LAST_YEAR):
        raise NamespaceError(
            f"the period is from {period.start} to {period.end}: give days of {_FIRST_YEAR} to {_LAST_YEAR}"
        )


def _reach(bank: BankAccount) -> datetime.date:
    """The last day of which the bank's files know."""
    days = [each.entry.booked for each in bank.booked]
    days += [each.last for each in bank.balances if each.last is not None]
    return max(days, default=datetime.date.min)


def _weighed(item: Item, rule: AccountRule) -> Item:
    return item if abs(item.amount) >= rule.materiality else item._replace(material=False)
