"""Which days are reconciled: those that were asked for, else the last full month of both sides."""

import calendar
import datetime
import re
from collections.abc import Iterable
from typing import NamedTuple

from ....namespaces.bank.accounts import Account
from ....namespaces.ledger.accounts import Books
from ....namespaces.matching.reconciliation import Period
from ...errors import ConfigurationError

_MONTH = re.compile(r"([0-9]{4})-([0-9]{2})")
_DAYS = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.\.([0-9]{4}-[0-9]{2}-[0-9]{2})")
_IDLE = datetime.timedelta(4)
"""How long before the end of a month data may stop and still have all of it: a long weekend."""


class Covered(NamedTuple):
    """From the first day to the last of which data know."""

    first: datetime.date
    last: datetime.date


def period_of(asked: str) -> Period:
    """The period that `2026-09` or `2026-09-01..2026-09-30` names.

    Raises:
        ConfigurationError: it names none.
    """
    try:
        if found := _MONTH.fullmatch(asked):
            return month_of(datetime.date(int(found[1]), int(found[2]), 1))
        if found := _DAYS.fullmatch(asked):
            start, end = map(datetime.date.fromisoformat, found.groups())
            if start <= end:
                return Period(start, end)
    except ValueError:
        pass
    raise ConfigurationError(
        f"--period {asked!r} is no period: give a month (2026-09) or days from .. to (2026-09-01..2026-09-30)"
    )


def month_of(day: datetime.date) -> Period:
    """The month that a day lies in."""
    last = calendar.monthrange(day.year, day.month)[1]
    return Period(day.replace(day=1), day.replace(day=last))


def last_full_month(bank: Covered, books: Covered) -> Period:
    """The last month that both sides have in full; where they have none, the days that both have.

    Books that end in the same month as a statement go on to its end: they may just hold nothing later.

    Raises:
        ConfigurationError: they have no day in common.
    """
    first, last = max(bank.first, books.first), min(bank.last, books.last)
    if first > last:
        raise ConfigurationError(
            f"the bank's data are of {bank.first} to {bank.last} and the books' of {books.first} to"
            f" {books.last}: no day is in both; give files of the same time"
        )
    month = month_of(last)
    if month.end - _IDLE > last:
        month = month_of(month.start - datetime.timedelta(1))
    if month.end >= first:
        return month
    month = month_of(last)
    if month == month_of(bank.last):
        return month if bank.last >= month.end - _IDLE else Period(first, bank.last)
    return Period(first, last)


def bank_covers(accounts: Iterable[Account]) -> Covered | None:
    """From the first to the last day of which statements know; None when they hold no day."""
    days = [each.entry.booked for account in accounts for each in account.booked]
    days += [each.last for account in accounts for each in account.balances if each.last is not None]
    return Covered(min(days), max(days)) if days else None


def books_cover(books: Books) -> Covered | None:
    """From the first to the last day of which the books know; None when they hold no day."""
    days = [each.line.date for account in books.accounts for each in account.postings]
    stated = [account.opening.date for account in books.accounts if account.opening is not None]
    days += [day for day in stated if day is not None]
    return Covered(min(days), max(days)) if days else None
