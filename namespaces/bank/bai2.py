"""BAI2: balances and transactions as North American banks report them, by the day.

The type code says the direction of an amount, and the currency where its decimal point is. All
control totals are compared. It reads no loans.
"""

import datetime
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from ..tables.source import Conventions, Findings, Source, SourceError, quote
from ..tables.text import decode, each_line
from .levels import (
    DIGITS,
    BadFieldError,
    Funds,
    Level,
    Record,
    Tree,
    day_of,
    funds_of,
    records_in,
    tell_control,
    units_of,
)
from .statement import Balance, Entry, Often, Statement, StatementFile, tell_breaks, tell_gap, total

_NONE = (
    *("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW"),
    *("PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"),
)
_THREE = ("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND")
_DECIMALS = {
    **dict.fromkeys(_NONE, 0),
    **dict.fromkeys(_THREE, 3),
}
"""Digits after the implied point, where they are not two."""
_SIGNS = ((range(100, 400), 1), (range(400, 700), -1), (range(920, 960), 1), (range(960, 1000), -1))
"""Type codes of credits and debits; the last two are for codes of the bank's own."""
_NOTICE = "890"
"""The type code of what has no money in it."""
_BALANCES = (("010", "015"), ("040", "045"))
"""Opening and closing: of the ledger, and what is available."""
_TOTALS = (("100", 1, "credits"), ("400", -1, "debits"))
_STATUS = {"2": "takes back what was reported before", "4": "is a test"}
_INTERIM = {"1", "3"}
_MAX_TEXT = 2000


class _Summary(NamedTuple):
    """One amount that an account record states."""

    amount: int | None
    """In the smallest unit; None when the field is empty."""
    items: int | None
    """Items it is made of; None when not given."""
    value_date: datetime.date | None


def read_bai2(source: Source, conventions: Conventions) -> StatementFile:
    """Reads all accounts of one BAI2 file, each account record as a statement.

    Raises:
        SourceError: it is no text, or has no account record in a group.
    """
    findings = Findings(source.file)
    often = Often(findings)
    records = records_in(each_line(decode(source, findings), source.file), findings)
    files = Tree(findings).build(records)
    groups = [group for file in files for group in file.inner]
    if not any(group.inner for group in groups):
        raise SourceError(source.file, "has no account: no 03 in a 02 in a 01; export a BAI2 file")
    readings = [_Group(group, conventions, findings, often) for group in groups]
    statements = tuple(each for reading in readings for each in reading.statements())
    for file in files:
        tell_control(file, findings)
    for statement in statements:
        tell_gap(statement, findings)
    tell_breaks(statements, findings)
    often.tell()
    return StatementFile(source.file, statements, findings.done())


@dataclass(slots=True)
class _Group:
    """Turns the accounts of one group into statements."""

    level: Level
    conventions: Conventions
    findings: Findings
    often: Often

    def statements(self) -> Iterator[Statement]:
        """One for each account record; none for a group that withdraws or tests."""
        head = self.level.head
        if reason := _STATUS.get(head.get(2)):
            self.findings.add("error", f"the group is left out: its status says that it {reason}", head.row)
            return
        if head.get(6) in _INTERIM:
            self.findings.add("warning", "is interim: a later file may have its entries again", head.row)
        day = day_of(head.get(3))
        if day is None:
            self.findings.add("error", f"as-of date {quote(head.get(3))} is no date", head.row)
        numbers = Counter(account.head.get(0) for account in self.level.inner)
        for account in self.level.inner:
            reading = _Account(account, self._currency(account), day, self.findings, self.often)
            yield reading.statement(repeated=numbers[account.head.get(0)] > 1)

    def _currency(self, account: Level) -> str:
        stated = account.head.get(1) or self.level.head.get(5)
        named = stated or self.conventions.currency or ""
        if named and not stated and self.conventions.said:
            what = f"amounts are taken as {named}, {self.conventions.said}"
            self.often.add("info", what, account.head.row)
        if not named:
            what = "names no currency: read as USD, as BAI2 has it"
            self.often.add("warning", what, account.head.row)
        if named and not re.fullmatch(r"[A-Za-z]{3}", named):
            what = f"currency {quote(named)} is no code: two decimals are taken"
            self.findings.add("error", what, account.head.row)
        return named.upper() or "USD"


@dataclass(slots=True)
class _Account:
    """Turns one account record and its details into a statement."""

    level: Level
    currency: str
    day: datetime.date | None
    """As-of date of the group; None when it has no readable one."""
    findings: Findings
    often: Often
    _summaries: dict[str, _Summary] = field(default_factory=dict[str, _Summary])

    def statement(self, *, repeated: bool) -> Statement:
        """The statement; `repeated` when the account stands in the group more than once."""
        head = self.level.head
        self._summarize()
        if repeated:
            self.day = self._own_day()
        entries = tuple(entry for each in self.level.details if (entry := self._entry(each)))
        self._tell_totals(entries)
        name = head.get(0)
        if not name:
            self.findings.add("error", "has no account number: it is named by its file", head.row)
        opening, closing = self._balances()
        return Statement(
            account=name or self.findings.file.rpartition(".")[0] or self.findings.file,
            currency=self.currency,
            file=self.findings.file,
            entries=entries,
            opening=opening,
            closing=closing,
        )

    def _summarize(self) -> None:
        """Reads the amounts of the account record."""
        head, index = self.level.head, 2
        try:
            while index < len(head.fields):
                code = head.get(index)
                index = self._summary(code, index + 1) if code else index + 1
        except BadFieldError as error:
            what = f"the rest of the account record is left out: {error}"
            self.findings.add("error", what, head.row)

    def _summary(self, code: str, index: int) -> int:
        head = self.level.head
        if not re.fullmatch(r"[0-9]{3}", code):
            raise BadFieldError(f"{quote(code)} is no type code")
        written, count = head.get(index), head.get(index + 1)
        amount = units_of(written)
        if (written and amount is None) or (count and not DIGITS.fullmatch(count)):
            raise BadFieldError(f"type {code} has the amount {quote(written)} and the count {quote(count)}")
        funds = funds_of(head, index + 2)
        first = self._summaries.setdefault(
            code, _Summary(amount, int(count) if count else None, funds.value_date)
        )
        if first.amount != amount:
            what = f"states {code} twice, {first.amount} and {amount}: the first counts"
            self.findings.add("error", what, head.row)
        return funds.end

    def _own_day(self) -> datetime.date | None:
        """The day of an account that a group has for several days: the one its value dates agree on."""
        days = {each.value_date for each in self._summaries.values() if each.value_date}
        days |= {day for each in self.level.details if (day := _value_date(each))}
        own = next(iter(days)) if len(days) == 1 else None
        if own is None or (self.day and own > self.day):
            what = f"the account stands in the group twice, and nothing says which day but {self.day}"
            self.findings.add("warning", what, self.level.head.row)
            return self.day
        what = "the account stands in the group twice: it is dated by its value dates"
        self.often.add("info", what, self.level.head.row)
        return own

    def _balances(self) -> tuple[Balance | None, Balance | None]:
        """Opening and closing, both of the ledger or both of what is available."""
        head = self.level.head
        stated = {code: each.amount for code, each in self._summaries.items() if each.amount is not None}
        ledger, available = _BALANCES
        pair = ledger if stated.keys() & set(ledger) or not stated.keys() & set(available) else available
        if pair is available:
            what = "states no ledger balance: what is available is taken for it"
            self.often.add("warning", what, head.row)
        found = [self._money(stated[code]) if code in stated else None for code in pair]
        for code, amount, name in zip(pair, found, ("opening", "closing"), strict=True):
            if amount is None:
                self.often.add("warning", f"has no {code}: no {name} balance", head.row)
        opening, closing = (None if each is None else Balance(each, self.day, head.row) for each in found)
        return opening, closing

    def _entry(self, record: Record) -> Entry | None:
        code = record.get(0)
        if code == _NOTICE and not units_of(record.get(1)):
            self.often.add("info", "is a notice without money, no entry", record.row)
            return None
        try:
            sign, funds = _sign(code), funds_of(record, 2)
            booked = self._booked(funds)
            amount = _positive(record.get(1))
        except BadFieldError as error:
            self.findings.add("error", f"entry of type {quote(code)} is left out: {error}", record.row)
            return None
        if record.get(2) == "V" and funds.value_date is None:
            self.findings.add("warning", f"value date {quote(record.get(3))} is no date", record.row)
        return Entry(
            id=record.get(funds.end),
            booked=booked,
            amount=self._money(sign * amount),
            currency=self.currency,
            row=record.row,
            value_date=funds.value_date,
            text=_text(record, funds.end),
        )

    def _booked(self, funds: Funds) -> datetime.date:
        booked = self.day or funds.value_date
        if booked is None:
            raise BadFieldError("neither it nor its group has a date")
        return booked

    def _money(self, units: int) -> Decimal:
        return Decimal(units).scaleb(-_DECIMALS.get(self.currency, 2))

    def _tell_totals(self, entries: Sequence[Entry]) -> None:
        """Compares the totals of credits and debits, and their numbers, with the entries."""
        for code, sign, what in _TOTALS:
            stated = self._summaries.get(code)
            if stated is None:
                continue
            rows = {each.row for each in self.level.details if _sign_or_none(each.get(0)) == sign}
            listed = [entry for entry in entries if entry.row in rows]
            amount = abs(total(listed))
            if stated.amount is not None and self._money(stated.amount) != amount:
                told = f"states {what} of {self._money(stated.amount)}, the entries make {amount}"
                self.findings.add("error", told, self.level.head.row)
            if stated.items is not None and stated.items != len(listed):
                told = f"states {stated.items} {what}, {len(listed)} are there"
                self.findings.add("error", told, self.level.head.row)


def _value_date(record: Record) -> datetime.date | None:
    return day_of(record.get(3)) if record.get(2).upper() == "V" else None


def _text(record: Record, end: int) -> str:
    """The text, and the customer's reference after it."""
    text = ",".join(record.fields[end + 2 :]).replace(",\n", " ").strip().removesuffix("/")
    return " ".join(f"{text} {record.get(end + 1)}".split())[:_MAX_TEXT]


def _sign(code: str) -> int:
    number = int(code) if re.fullmatch(r"[0-9]{3}", code) else 0
    for codes, sign in _SIGNS:
        if number in codes:
            return sign
    raise BadFieldError("the type code is neither a credit's nor a debit's")


def _sign_or_none(code: str) -> int | None:
    try:
        return _sign(code)
    except BadFieldError:
        return None


def _positive(written: str) -> int:
    units = units_of(written)
    if units is None or units < 0:
        raise BadFieldError(f"{quote(written)} is no amount; it would be 1234 for 12.34")
    return units
