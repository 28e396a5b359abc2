"""The accounts of all statement files together, with an id for each entry and balance."""

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from ..errors import NamespaceError
from ..records import Ids, amount_of, by_tool, id_part
from ..tables.source import Finding
from ..tool import Record
from .overlaps import once, parts_of
from .statement import Balance, Entry, Statement, StatementFile
from .unnamed import exported_twice

_MAX_TEXT = 300
_LEAST_SUFFIX = 4
"""Characters by which an account may be named from its end, as people name cards."""


@dataclass(frozen=True, slots=True)
class Movement:
    """One entry with the record it is cited by."""

    entry: Entry
    record: Record


@dataclass(frozen=True, slots=True)
class StatedBalance:
    """One balance of a statement with the record it is cited by."""

    balance: Balance
    record: Record
    closing: bool
    """False for an opening balance."""
    last: datetime.date | None
    """Last day whose entries it counts; None when nothing says."""


@dataclass(frozen=True, slots=True)
class Account:
    """One account in one currency, from all files that have it."""

    label: str
    """What it is called in arguments: its name, with the currency where that is needed."""
    name: str
    currency: str | None
    files: tuple[str, ...]
    movements: tuple[Movement, ...]
    """By booking day, then as the files have them."""
    balances: tuple[StatedBalance, ...]
    gaps: tuple[Decimal, ...]
    """For each statement with both balances, what it does not tie by."""

    @property
    def booked(self) -> tuple[Movement, ...]:
        """The movements that are not pending."""
        return tuple(each for each in self.movements if not each.entry.pending)

    def between(self, start: datetime.date | None, end: datetime.date | None) -> list[Record]:
        """Records of the movements booked from one day to another, both included."""
        low, high = start or datetime.date.min, end or datetime.date.max
        return [each.record for each in self.booked if low <= each.entry.booked <= high]

    def balance_on(self, day: datetime.date) -> Record | None:
        """What it held at the end of a day: stated, or worked out from the nearest stated one."""
        known = [each for each in self.balances if each.last is not None]
        if not known:
            return None
        nearest = min(known, key=lambda each: _distance(each, day))
        last = nearest.last or day
        if last == day:
            return nearest.record
        later = self.between(min(last, day) + datetime.timedelta(1), max(last, day))
        change = amount_of(later) if day > last else -amount_of(later)
        amount = (nearest.record.amount or Decimal(0)) + change
        return Record(
            id=f"bank:balance/{id_part(self.label)}/{day}/computed",
            amount=amount,
            currency=self.currency,
            date=day,
            text=f"balance of {self.label} at the end of {day}, from the one of {last}",
            derivation=by_tool("bank__get_balance", {"account": self.label, "date": str(day)}),
        )


@dataclass(frozen=True, slots=True)
class Accounts:
    """All that the files of one bank namespace hold."""

    accounts: tuple[Account, ...]
    findings: tuple[Finding, ...]

    def find(self, label: str) -> Account:
        """The account of that name, or with that ending.

        Raises:
            NamespaceError: there is none, or several; the message names those there are.
        """
        wanted = _squeeze(label)
        for matches in (str.__eq__, str.endswith):
            if matches is str.endswith and len(wanted) < _LEAST_SUFFIX:
                break
            found = [each for each in self.accounts if matches(_squeeze(each.label), wanted)]
            found = found or [each for each in self.accounts if matches(_squeeze(each.name), wanted)]
            if len(found) == 1:
                return found[0]
        there_are = ", ".join(repr(each.label) for each in self.accounts[:50]) or "none"
        raise NamespaceError(f"there is no one account {label!r}; there are: {there_are}")

    def movement(self, record: str) -> tuple[Account, Movement] | None:
        """The movement with that record id; None when there is none."""
        for account in self.accounts:
            for each in account.movements:
                if each.record.id == record:
                    return account, each
        return None


def gather(files: Iterable[StatementFile], failed: Iterable[Finding] = ()) -> Accounts:
    """Puts the statements of all files together by account and currency.

    The order of the files changes nothing. An entry that several files have is counted once; see
    `overlaps`.
    """
    ordered = sorted(files, key=lambda each: each.file)
    formats = {each.file: each.format for each in ordered}
    findings = [finding for each in ordered for finding in each.findings]
    findings += exported_twice(statement for each in ordered for statement in each.statements)
    parts: dict[tuple[str, str | None], list[Statement]] = {}
    spelled: dict[str, str] = {}
    for statement in (statement for each in ordered for statement in each.statements):
        # An IBAN is one account, in groups of four or not.
        name = spelled.setdefault(_squeeze(statement.account), statement.account)
        parts.setdefault((name, statement.currency), []).append(statement)
    names = Counter(name for name, _ in parts)
    ids = Ids()
    made: list[Account] = []
    for (name, currency), statements in parts.items():
        label = f"{name} {currency or ''}".strip() if names[name] > 1 else name
        entries = list(once(parts_of(statements, formats), findings))
        entries.sort(key=lambda each: each[1].booked)
        movements = tuple(Movement(entry, _record(ids, of, entry)) for of, entry in entries)
        balances = tuple(each for of in statements for each in _balances(ids, label, of))
        gaps = tuple(of.gap for of in statements if of.gap is not None)
        in_files = tuple(dict.fromkeys(of.file for of in statements))
        made.append(Account(label, name, currency, in_files, movements, balances, gaps))
    findings += [finding for account in made for finding in _breaks(account)]
    return Accounts(tuple(made), (*failed, *findings))


def _record(ids: Ids, of: Statement, entry: Entry) -> Record:
    name = id_part(entry.id) if entry.id else f"L{entry.row}"
    text = " ".join(f"{entry.name} {entry.text}".split())[:_MAX_TEXT]
    return Record(
        id=ids.give(f"bank:txn/{entry.booked}/{name}"),
        amount=entry.amount,
        currency=entry.currency,
        date=entry.booked,
        text=f"{text} (pending)" if entry.pending else text,
        file=of.file,
        row=entry.row,
    )


def _balances(ids: Ids, label: str, of: Statement) -> Iterator[StatedBalance]:
    days = [entry.booked for entry in of.booked]
    for kind, balance in (("opening", of.opening), ("closing", of.closing)):
        if balance is None:
            continue
        date = balance.date or (max(days, default=None) if kind == "closing" else None)
        record = Record(
            id=ids.give(f"bank:balance/{id_part(label)}/{date or 'undated'}/{kind}"),
            amount=balance.amount,
            currency=of.currency,
            date=date,
            text=f"{kind} balance of {label}",
            file=of.file,
            row=balance.row,
        )
        before = min(days) - datetime.timedelta(1) if days else balance.date
        yield StatedBalance(balance, record, kind == "closing", date if kind == "closing" else before)


def _breaks(account: Account) -> Iterator[Finding]:
    """Tells where the closing balances of two files do not follow from the entries between them."""
    closings = [each for each in account.balances if each.closing and each.last is not None]
    closings.sort(key=lambda each: each.last or datetime.date.min)
    for one, other in pairwise(closings):
        if one.last is None or one.last == other.last:
            continue
        between = account.between(one.last + datetime.timedelta(1), other.last)
        gap = other.balance.amount - one.balance.amount - amount_of(between)
        if gap:
            what = f"{account.label}: from the balance of {one.last} to that of {other.last} "
            what += f"{gap} is not in any file: entries are missing in between"
            yield Finding(what, other.record.file or "", other.record.row, "error")


def _distance(stated: StatedBalance, day: datetime.date) -> tuple[int, bool]:
    """How far a stated balance is from a day; of two as near, a closing one is the better."""
    last = stated.last or datetime.date.min
    return abs((last - day).days), not stated.closing


def _squeeze(name: str) -> str:
    return "".join(name.split()).casefold()
