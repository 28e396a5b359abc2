"""Reconciles each pair, and what came of all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from ....namespaces.errors import NamespaceError
from ....namespaces.matching.reconciliation import Period, Reconciliation, reconcile
from ....namespaces.matching.workpaper import OpenItems, Statement, carried_to, statement_of
from ...errors import ConfigurationError
from .pairing import Pair, Pairing, Unpaired, pair_accounts, with_other_sign
from .period import bank_covers, books_cover, last_full_month, month_of, period_of
from .reading import Read
from .request import Request


@dataclass(frozen=True, slots=True)
class Worked:
    """One pair with what came of it."""

    pair: Pair
    done: Reconciliation
    statement: Statement


@dataclass(frozen=True, slots=True)
class Result:
    """All pairs over one period."""

    period: Period
    worked: tuple[Worked, ...]
    """In the order of the bank's accounts; one at least."""
    unpaired: tuple[Unpaired, ...]
    notes: tuple[str, ...]
    """What is odd about the files or the request, a sentence each."""

    @property
    def explained(self) -> bool:
        """Whether nothing is left: each account has a pair and each difference is explained."""
        return not self.unpaired and all(each.statement.unexplained == 0 for each in self.worked)


def work(read: Read, request: Request) -> Result:
    """Pairs the accounts and reconciles each pair.

    Raises:
        ConfigurationError: no account can be paired, the period is none, or two currencies meet.
    """
    pairing = pair_accounts(read.accounts, read.books, request.pairs)
    if not pairing.pairs:
        raise ConfigurationError("\n  ".join(how_to_pair(each) for each in pairing.unpaired))
    period = period_of(request.period) if request.period else _last_full_month(pairing, read)
    worked = tuple(_worked(pair, period, request, read.before) for pair in pairing.pairs)
    return Result(period, worked, pairing.unpaired, tuple(_notes(read, worked, period, request)))


def how_to_pair(unpaired: Unpaired) -> str:
    """What to give so that an account has a pair."""
    label = unpaired.bank.label
    if not unpaired.candidates:
        return _no_currency(label, unpaired.bank.currency, unpaired.currencies)
    first, *others = (repr(each.label) for each in unpaired.candidates)
    more = f"; it may also be {', '.join(others)}" if others else ""
    # After a blank a name with a dash in front would be an option.
    option = "--pair=" if label.startswith("-") else "--pair "
    given = f"{label} has no plain account in the books: give {option}{label!r}={first}{more}"
    turned = unpaired.turned
    return given if turned is None else f"{given}. {_other_sign(turned.label)}"


def _no_currency(label: str, currency: str | None, books: Sequence[str]) -> str:
    if currency is None:
        known = f"and no account of the books that is left is without one: they are in {', '.join(books)}"
        return f"{label} names no currency, {known}; say it with --currency"
    if not books:
        return f"{label} is in {currency}, and the books name no currency; say it with --currency"
    return f"{label} is in {currency}, and no account of the books that is left is: {', '.join(books)}"


def _other_sign(books: str) -> str:
    return (
        f"Its amounts are in {books!r} with the other sign: if its file has money out as positive, say so"
        " with --column debit=NAME, the column of its amounts"
    )


def _last_full_month(pairing: Pairing, read: Read) -> Period:
    bank, books = bank_covers(pair.bank for pair in pairing.pairs), books_cover(read.books)
    if bank is None or books is None:
        raise ConfigurationError("the files hold no dated movement: give the period with --period 2026-09")
    return last_full_month(bank, books)


def _worked(pair: Pair, period: Period, request: Request, before: Sequence[OpenItems]) -> Worked:
    carried = carried_to(before, pair.bank.label, pair.books.label, period.start)
    try:
        done = reconcile(pair.bank, pair.books, period, request.rule, carried)
    except NamespaceError as error:
        raise ConfigurationError(str(error)) from error
    statement = statement_of(done, request.company, pair.bank.label, pair.books.label)
    return Worked(pair, done, statement)


def _is_of(items: OpenItems, pair: Pair) -> bool:
    return items.bank_account == pair.bank.label or items.ledger_account == pair.books.label


def _of_pair(worked: Worked, period: Period, *, asked: bool) -> Iterator[str]:
    bank, books = worked.pair.bank, worked.pair.books
    if pending := len(bank.movements) - len(bank.booked):
        yield f"{bank.label}: {pending} of its entries are only pending at the bank, so they are not counted"
    if worked.statement.balances.difference is None:
        what = "no file states a dated balance, so the difference is not known"
        yield f"{bank.label}: {what}; give a statement with one, or with a running balance"
    if with_other_sign(bank, [books]) is not None:
        yield f"{bank.label}: {_other_sign(books.label)}"
    first = month_of(period.start).start
    left = [
        sum(_is_left(period, first, each.date) for each in of.between(None, None)) for of in (bank, books)
    ]
    if any(left) and not asked:
        outside = f"{left[0]} of the bank's entries and {left[1]} of the books' lie outside of these days"
        yield f"{bank.label}: {outside}: --period FROM..TO takes them in"


def _is_left(period: Period, first: date, day: date | None) -> bool:
    """True for a day after the period, or before it and not before `first`."""
    return day is not None and (day > period.end or first <= day < period.start)


def _notes(read: Read, worked: Sequence[Worked], period: Period, request: Request) -> Iterator[str]:
    findings = [*read.accounts.findings, *read.books.findings]
    yield from dict.fromkeys(
        [*(f"{each.where}: {each.what}" for each in findings if each.severity != "info"), *read.notes]
    )
    for each in worked:
        yield from (f"{each.pair.bank.label}: {finding}" for finding in each.done.findings)
        yield from _of_pair(each, period, asked=bool(request.period))
    eve = period.start - timedelta(1)
    for items in read.before:
        if not any(_is_of(items, each.pair) for each in worked):
            yield f"open items of {items.bank_account} are carried forward, and no such account is here"
        elif items.end != eve:
            what = f"are of {items.end}, and the period begins after {eve}: they are not carried forward"
            yield f"open items of {items.bank_account} {what}"
    if not read.before and any(each.statement.balances.opens_apart for each in worked):
        yield "bank and books differ at the start: give the statement of the period before with --carried"
