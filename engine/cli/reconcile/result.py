"""Reconciles each pair, and what came of all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from ....namespaces.errors import NamespaceError
from ....namespaces.matching.reconciliation import Period, Reconciliation, reconcile
from ....namespaces.matching.workpaper import OpenItems, Statement, carried_to, statement_of
from ...errors import ConfigurationError
from .pairing import Pair, Pairing, Unpaired, pair_accounts
from .period import bank_covers, books_cover, last_full_month, period_of
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
        currency = unpaired.bank.currency or "no stated currency (say it with --currency)"
        return f"{label} has no account in the books in {currency}"
    first, *others = (repr(each.label) for each in unpaired.candidates)
    more = f"; it may also be {', '.join(others)}" if others else ""
    return f"{label} has no plain account in the books: give --pair {label!r}={first}{more}"


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


def _notes(read: Read, worked: Sequence[Worked], period: Period, request: Request) -> Iterator[str]:
    findings = [*read.accounts.findings, *read.books.findings]
    yield from (f"{each.where}: {each.what}" for each in findings if each.severity != "info")
    for each in worked:
        yield from (f"{each.pair.bank.label}: {finding}" for finding in each.done.findings)
        if each.statement.balances.difference is None:
            yield f"{each.pair.bank.label}: no file states a dated balance, so the difference is not known"
    eve = period.start - timedelta(1)
    for items in read.before:
        if not any(_is_of(items, each.pair) for each in worked):
            yield f"open items of {items.bank_account} are carried forward, and no such account is here"
        elif items.end != eve:
            what = f"are of {items.end}, and the period begins after {eve}: they are not carried forward"
            yield f"open items of {items.bank_account} {what}"
    if not read.before and any(each.statement.balances.opens_apart for each in worked):
        yield "bank and books differ at the start: give the statement of the period before with --carried"
