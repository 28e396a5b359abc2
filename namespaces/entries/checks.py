"""What is checked of an entry before it may be proposed or posted, and its canonical form.

What is wrong is a problem and refuses the entry; what a person should look at is a notice. Problems
are told all at once, but for a gap between debits and credits: that is looked at when the lines are right.
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from ..ledger.accounts import Account, Books
from ..ledger.books import BookFile
from ..tool import Record
from .currencies import in_units, minor_units
from .duplicates import already_there
from .entry import Entry, EntryLine
from .naming import account_meant, file_meant, usual_currency
from .texts import fault_of, one_line

_RECORD_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]*:[^\s\[\]]+")


class Notice(NamedTuple):
    """Something a person should look at before approving."""

    what: str
    record: Record | None = None
    """The record it is about; None when it is about none."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of an entry."""

    entry: Entry
    """In canonical form, as far as it could be made."""
    file: BookFile | None
    """None when it is not clear which."""
    accounts: tuple[Account | None, ...]
    """One for each line; None for a new account."""
    problems: tuple[str, ...]
    notices: tuple[Notice, ...]
    """Empty when there are problems."""


def check(given: Entry, books: Books, closed_until: datetime.date | None) -> Checked:
    """Checks an entry against the books and fills in what they decide.

    Args:
        given: The entry.
        books: The books as they are now.
        closed_until: Last day of the last closed period; None when none is closed.
    """
    file = file_meant(given, books)
    if isinstance(file, str):
        return Checked(given, None, (), (file,), ())
    entry, accounts, problems = _canonical(given, file, books)
    found = [*problems, *_texts(entry), *_dates(entry, closed_until), *_evidence(entry, books)]
    found = found or [*_gaps(entry)]
    if found:
        return Checked(entry, file, accounts, tuple(found), ())
    notices = (*_remarks(entry, books), *_said(given, entry), *_elsewhere(entry, accounts))
    return Checked(entry, file, accounts, (), (*notices, *_duplicate(entry, books)))


class _Canonical(NamedTuple):
    entry: Entry
    accounts: tuple[Account | None, ...]
    problems: list[str]


def _canonical(given: Entry, file: BookFile, books: Books) -> _Canonical:
    usual = usual_currency(file, given.lines)
    lines: list[EntryLine] = []
    accounts: list[Account | None] = []
    problems: list[str] = []
    for number, line in enumerate(given.lines, 1):
        meant = account_meant(line, books, usual)
        fault = meant.problem or _amount_fault(line, meant.currency)
        if fault:
            problems.append(f"line {number}: {fault}")
        named = {"account": meant.name, "currency": meant.currency, "text": one_line(line.text)}
        lines.append(_in_units(line.model_copy(update={**named, "new_account": meant.account is None})))
        accounts.append(meant.account)
    texts = {"text": one_line(given.text), "reference": one_line(given.reference)}
    entry = given.model_copy(update={**texts, "file": file.name, "lines": tuple(lines)})
    return _Canonical(entry, tuple(accounts), problems)


def _in_units(line: EntryLine) -> EntryLine:
    sides = {"debit": line.debit, "credit": line.credit}
    exact = {side: each and (in_units(each, line.currency) or each) for side, each in sides.items()}
    return line.model_copy(update=exact)


def _amount_fault(line: EntryLine, currency: str | None) -> str:
    if (line.debit is None) == (line.credit is None):
        return f"{line.account!r} needs either a debit or a credit"
    amount = line.debit or line.credit or Decimal(0)
    if in_units(amount, currency) is None:
        return f"{amount} has more than the {minor_units(currency)} decimals of {currency or 'the books'}"
    return ""


def _texts(entry: Entry) -> Iterator[str]:
    texts = {"text": entry.text, "reference": entry.reference}
    texts |= {f"line {number}: text": line.text for number, line in enumerate(entry.lines, 1)}
    for where, text in texts.items():
        if (fault := fault_of(text)) is not None:
            yield f"{where}: {text!r}: {fault}"
    if not entry.text:
        yield "text: an entry needs a text that says what it is"


def _dates(entry: Entry, closed_until: datetime.date | None) -> Iterator[str]:
    if closed_until is not None and entry.date <= closed_until:
        yield f"date: {entry.date} is in a closed period: the books are closed until {closed_until}"


def _evidence(entry: Entry, books: Books) -> Iterator[str]:
    known = {each.record.id for of in books.accounts for each in of.postings}
    for number, line in enumerate(entry.lines, 1):
        for identity in line.evidence:
            if not _RECORD_ID.fullmatch(identity):
                yield f"line {number}: {identity!r} is no record id, such as bank:txn/2026-09-14/8123"
            elif identity.startswith("ledger:line/") and identity not in known:
                yield f"line {number}: the books have no line {identity!r}"


def _gaps(entry: Entry) -> Iterator[str]:
    """Where debits and credits differ, by currency, and which line would settle it."""
    for currency in dict.fromkeys(line.currency for line in entry.lines):
        own = [(number, line) for number, line in enumerate(entry.lines, 1) if line.currency == currency]
        gap = sum((line.amount for _, line in own), Decimal(0))
        if gap:
            debits = sum((line.debit or Decimal(0) for _, line in own), Decimal(0))
            told = f"debits {debits}, credits {debits - gap}"
            yield f"{currency or 'the entry'} does not balance: {told}; {_settled_by(own, gap)}"


def _settled_by(lines: Sequence[tuple[int, EntryLine]], gap: Decimal) -> str:
    side = "credit" if gap > 0 else "debit"
    another = f"another line with a {side} of {abs(gap)}"
    short = [(number, line) for number, line in lines if (line.amount < 0) == (gap > 0)]
    if not short:
        return f"it needs {another}"
    number, line = short[-1]
    return f"line {number} with a {side} of {abs(line.amount) + abs(gap)}, or {another}, would balance it"


def _remarks(entry: Entry, books: Books) -> Iterator[Notice]:
    days = [each.line.date for of in books.accounts for each in of.postings]
    if days and not min(days) <= entry.date <= max(days):
        yield Notice(f"{entry.date} is outside the days of the books, {min(days)} to {max(days)}")
    if not any(line.evidence for line in entry.lines):
        yield Notice("no line names evidence: say by which records the entry is shown")
    for line in entry.lines:
        if line.new_account:
            yield Notice(f"{line.account!r} {line.currency or ''}".strip() + " is a new account")


def _elsewhere(entry: Entry, accounts: Sequence[Account | None]) -> Iterator[Notice]:
    """Accounts that only other files of the books have lines of."""
    for account in accounts:
        files = {each.line.file for each in account.postings} if account else set[str]()
        if account and files and entry.file not in files:
            yield Notice(f"{entry.file} has no line of {account.name!r}; {', '.join(sorted(files))} has")


def _duplicate(entry: Entry, books: Books) -> Iterator[Notice]:
    if (there := already_there(entry, books)) is not None:
        same = "the same accounts and amounts on the same day or under the same reference"
        yield Notice(f"the books have an entry like it, {same}: is it to be entered twice?", there)


def _said(given: Entry, entry: Entry) -> Iterator[Notice]:
    """Accounts that were meant by part of their name: to be looked at."""
    for number, (said, meant) in enumerate(zip(given.lines, entry.lines, strict=True), 1):
        if one_line(said.account) != meant.account:
            yield Notice(f"line {number}: {said.account!r} is taken for {meant.account!r}")
