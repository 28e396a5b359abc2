"""The books of GnuCash, whether from XML or from a database: its account tree and its transactions."""

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from ..bank.statement import Often
from ..tables.dates import Dates
from ..tables.source import Finding, Findings, SourceError, quote
from .books import LedgerFile, Line, Weight
from .completion import MAX_ACCOUNT, MAX_TEXT, tidy

_MAX_DEPTH = 50
"""Accounts above one another; no chart of accounts is half as deep."""
_FRACTION = re.compile(r"(-?\d{1,19})/(\d{1,19})", re.ASCII)
_SHORT = 8
"""Characters of a transaction's id that name it, as long as they do."""
_NOON = "10:59"
"""The time that GnuCash gives a day so that it is the same one everywhere."""


class Account(NamedTuple):
    """One account as the file has it."""

    name: str
    code: str
    commodity: str
    """ISO 4217 code or symbol of what it holds; empty when the file does not say it."""
    parent: str
    """Id of the account above it; empty for the root."""
    root: bool
    template: bool
    """True for one of scheduled transactions, which is no account of the books."""


@dataclass(frozen=True, slots=True)
class Split:
    """One line of a transaction."""

    account: str
    """Id of its account."""
    value: str
    """In the currency of the transaction, as a fraction: `-6240/100`."""
    quantity: str
    """In the commodity of the account, as a fraction."""
    memo: str
    row: int


@dataclass(slots=True)
class Transaction:
    """One transaction as the file has it."""

    id: str
    currency: str
    posted: str
    """The moment it is posted at, in the zone that is written, or in UTC."""
    day: str
    """The day that GnuCash keeps beside it; empty in old files."""
    number: str
    text: str
    row: int
    splits: list[Split] = field(default_factory=list[Split])


@dataclass(slots=True)
class Book:
    """All that was found in one file."""

    file: str
    accounts: dict[str, Account] = field(default_factory=dict[str, Account])
    transactions: list[Transaction] = field(default_factory=list[Transaction])


def lines_of_book(book: Book, findings: Findings, more: Sequence[Finding] = ()) -> LedgerFile:
    """Makes the lines of a book; what is odd in it is told.

    Raises:
        SourceError: it has no transaction and no account.
    """
    if not book.accounts and not book.transactions:
        raise SourceError(book.file, "holds no accounts and no transactions of GnuCash; save it anew")
    making = _Making(book, findings)
    lines = [line for each in book.transactions for line in making.lines(each)]
    making.often.tell()
    return LedgerFile(
        file=book.file,
        format="gnucash",
        lines=tuple(lines),
        balances=(),
        findings=(*more, *findings.done()),
        accounts=tuple(sorted(set(making.names.values()))),
    )


class _Making:
    def __init__(self, book: Book, findings: Findings) -> None:
        self._book, self._findings = book, findings
        self.often = Often(findings)
        self.names: dict[str, str] = {
            each: self._name(each)
            for each, account in book.accounts.items()
            if not account.root and not account.template
        }
        short = {each.id[:_SHORT] for each in book.transactions}
        self._length = _SHORT if len(short) == len(book.transactions) else None

    def lines(self, transaction: Transaction) -> Iterator[Line]:
        """The lines of one transaction; one that does not sum to 0 is told."""
        day = self._day(transaction)
        if day is None:
            what = f"a transaction is left out: {quote(transaction.day or transaction.posted)} is no date"
            self._findings.add("error", what, transaction.row)
            return
        total = Decimal(0)
        for split in transaction.splits:
            account = self._book.accounts.get(split.account)
            if account is not None and account.template:
                self.often.add("info", "belongs to a scheduled transaction: not read", split.row)
                continue
            line = self._line(transaction, split, day)
            if line is not None:
                total += line.counts.amount
                yield line
        if total:
            what = f"the transaction does not balance: its lines sum to {total} {transaction.currency}"
            self._findings.add("error", what, transaction.row)

    def _line(self, transaction: Transaction, split: Split, day: datetime.date) -> Line | None:
        value, quantity = self._number(split.value, split), self._number(split.quantity, split)
        if value is None or quantity is None:
            return None
        account = self._book.accounts.get(split.account)
        commodity = (account.commodity if account else "") or transaction.currency
        weight = Weight(value, transaction.currency or None)
        amount = Weight(quantity, commodity or None)
        return Line(
            date=day,
            account=self._account(split),
            amount=quantity,
            currency=amount.currency,
            file=self._book.file,
            row=split.row,
            journal=transaction.id[: self._length],
            text=" ".join(f"{transaction.text} {transaction.number} {split.memo}".split())[:MAX_TEXT],
            weight=None if weight == amount else weight,
        )

    def _account(self, split: Split) -> str:
        if split.account in self.names:
            return self.names[split.account]
        known = self._book.accounts.get(split.account)
        if known is None:
            what = f"names the account {quote(split.account)}, which is not in the file"
            self._findings.add("error", what, split.row)
        else:
            self._findings.add("warning", "is on the root of all accounts", split.row)
        return tidy(known.name if known else f"unknown {split.account}")[:MAX_ACCOUNT]

    def _name(self, of: str) -> str:
        """The names from below the root down; an account that is above itself is told."""
        parts: list[str] = []
        seen: set[str] = set()
        at = of
        while (account := self._book.accounts.get(at)) is not None and not account.root:
            if at in seen or len(seen) >= _MAX_DEPTH:
                what = f"the account {quote(account.name)} is below itself, or more than {_MAX_DEPTH} deep"
                self.often.add("error", f"{what}: its name is not the whole one", 1)
                break
            seen.add(at)
            parts.insert(0, tidy(account.name))
            at = account.parent
        code = self._book.accounts[of].code
        return tidy(f"{code} {':'.join(parts)}")[:MAX_ACCOUNT] or "without name"

    def _number(self, text: str, split: Split) -> Decimal | None:
        found = _FRACTION.fullmatch(text)
        if found is None or not int(found[2]):
            self._findings.add("error", f"is left out: {quote(text)} is no amount", split.row)
            return None
        whole, parts = Decimal(found[1]), Decimal(found[2])
        value = whole / parts
        if value * parts != whole:
            self.often.add("warning", "an amount is a fraction that no decimal number equals", split.row)
        exponent = len(found[2]) - 1
        return value.quantize(Decimal(1).scaleb(-exponent)) if _is_ten(found[2]) else value

    def _day(self, transaction: Transaction) -> datetime.date | None:
        if transaction.day:
            return Dates(None).read(transaction.day)
        date, clock = transaction.posted[:10], transaction.posted[11:]
        day = Dates(None).read(date.strip() or "-")
        if clock[:5] in {_NOON, "00:00", ""} or day is None:
            return day
        # Older versions keep midnight in the zone of whoever entered it, as a moment in UTC.
        what = "is posted at a time of day: its date is that of the nearest midnight"
        self.often.add("info", what, transaction.row)
        return day + datetime.timedelta(clock[:2] >= "12" and len(clock) == len("23:00:00"))


def _is_ten(text: str) -> bool:
    return text.rstrip("0") == "1" and len(text) < len("1000000000000")


def unused(kinds: Mapping[str, int]) -> str | None:
    """What is said of business objects and the like; None when there are none."""
    if not kinds:
        return None
    listed = ", ".join(f"{count} {kind[:40]}" for kind, count in sorted(kinds.items())[:20])
    return f"not read: {listed}; what was posted of them is among the transactions"
