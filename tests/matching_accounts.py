"""Two accounts made of records, for tests of matching: no files, balances that tie."""

import datetime
from collections.abc import Sequence
from decimal import Decimal

from offing.namespaces.bank.accounts import Account as BankAccount
from offing.namespaces.bank.accounts import Movement, StatedBalance
from offing.namespaces.bank.statement import Balance, Entry
from offing.namespaces.ledger.accounts import Account as LedgerAccount
from offing.namespaces.ledger.accounts import Posting
from offing.namespaces.ledger.books import Line
from offing.namespaces.matching.match import Match, Outcome, match
from offing.namespaces.matching.rule import AccountRule
from offing.namespaces.matching.strategies import STRATEGIES
from offing.namespaces.tool import Record

START = datetime.date(2026, 1, 1)
"""The day after the opening balances."""


def day(text: str) -> datetime.date:
    """`09-14` is the 14th of September 2026."""
    return datetime.date.fromisoformat(f"2026-{text}")


def line(name: str, amount: str, date: str, text: str = "", currency: str | None = "GBP") -> Record:
    return Record(name, Decimal(amount), currency, day(date), text)


def matched(bank: Sequence[Record], books: Sequence[Record], rule: AccountRule | None = None) -> Outcome:
    return match(bank, books, rule or AccountRule(), STRATEGIES)


def named(found: Match) -> str:
    """A match in short: `b1 + b2 = l1, split`."""
    sides = (" + ".join(each.id for each in side) for side in (found.bank, found.books))
    return f"{' = '.join(sides)}, {found.kind}"


def bank_account(records: Sequence[Record], opening: str = "0", currency: str | None = "GBP") -> BankAccount:
    movements = tuple(Movement(_entry(each), each) for each in sorted(records, key=_date))
    eve = START - datetime.timedelta(1)
    amount = Decimal(opening)
    stated = Record("bank:balance/opening", amount, currency, eve, "opening balance")
    balance = StatedBalance(Balance(amount, eve, 1), stated, closing=True, last=eve)
    return BankAccount(
        label="bank",
        name="bank",
        currency=currency,
        files=(),
        movements=movements,
        balances=(balance,),
        gaps=(),
    )


def ledger_account(
    records: Sequence[Record], opening: str = "0", currency: str | None = "GBP"
) -> LedgerAccount:
    postings = tuple(Posting(_line(each), each) for each in sorted(records, key=_date))
    stated = Record("ledger:balance/opening", Decimal(opening), currency, START, "opening balance")
    return LedgerAccount(
        label="books",
        name="books",
        currency=currency,
        postings=postings,
        opening=stated,
        closing=None,
    )


def _entry(record: Record) -> Entry:
    return Entry(record.id, _date(record), record.amount or Decimal(0), record.currency, 1, text=record.text)


def _line(record: Record) -> Line:
    return Line(_date(record), "books", record.amount or Decimal(0), record.currency, "made up", 1)


def _date(record: Record) -> datetime.date:
    return record.date or START
