"""MT940: statements as SWIFT messages, read by line.

Tolerant of what banks do to the form (no envelope, wrapped lines, control bytes, a missing entry
date), strict about what an amount, a day and a balance are. Pages of one statement become one.
It reads no MT942, which has no balances.
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from ..tables.decided import tell_currency
from ..tables.source import Conventions, Findings, Source, SourceError, quote
from ..tables.text import decode, each_line
from .messages import Field, Messages
from .narrative import joined, read_narrative, tidy
from .statement import (
    Balance,
    Entry,
    Often,
    Statement,
    StatementFile,
    named_by,
    tell_breaks,
    tell_gap,
    total,
)

_NUMBER = r"[0-9]{1,15}(?:,[0-9]{0,3}|\.[0-9]{2})?"
_BALANCE = re.compile(rf"([CD])([0-9]{{6}})([A-Z]{{3}})({_NUMBER})")
_LINE = re.compile(
    rf"(?P<value>[0-9]{{6}})(?P<entry>[0-9]{{4}})?(?P<mark>R?[CD])(?P<funds>[A-Z])?(?P<amount>{_NUMBER})"
    r"(?P<type>[A-Z][A-Z0-9]{3})(?P<own>.*?)(?://(?P<bank>.*))?"
)
_SIGNS = {"C": 1, "D": -1, "RC": -1, "RD": 1}
"""The reversal of a credit takes money out again."""
_TOTALS = re.compile(rf"/SUM/([0-9]{{1,9}})/([0-9]{{1,9}})/({_NUMBER})/({_NUMBER})/?")
_COUNTED = re.compile(rf"([0-9]{{1,9}})[A-Z]{{3}}({_NUMBER})")
_NO_REFERENCE = {"", "NONREF", "NREF", "NOTPROVIDED", "KREF+", "EREF", "PREF", "MARF"}
_FAR = datetime.timedelta(120)
"""Value and entry date are hardly ever further apart, and the latter has no year."""
_PIVOT = 80
"""Two-digit years from here on are of the last century, as SWIFT has it."""


class _Movement(NamedTuple):
    """One :61: with the lines of its :86:."""

    field: Field
    narrative: list[str]


class _StatedBalance(NamedTuple):
    balance: Balance
    currency: str
    last: bool
    """False for the M of a page that is not the first, or not the last."""


@dataclass(slots=True)
class _Page:
    """One message."""

    account: str
    number: str
    """Statement number, without the page's."""
    sequence: str
    """As the message has it."""
    row: int
    currency: str | None
    opening: _StatedBalance | None
    closing: _StatedBalance | None
    entries: tuple[Entry, ...] = ()

    @property
    def first(self) -> datetime.date | None:
        """Day of the opening balance; None on a page that is not the first."""
        return self.opening.balance.date if self.opening and self.opening.last else None

    def follows(self, other: "_Page") -> bool:
        """True when it is the other's next page."""
        continues = self.opening is not None and not self.opening.last
        unfinished = other.closing is not None and not other.closing.last
        same = (self.account, self.number, self.currency) == (other.account, other.number, other.currency)
        return continues and unfinished and same

    def statement(self, file: str) -> Statement:
        """The page as if it were a whole statement."""
        return Statement(
            account=self.account,
            currency=self.currency,
            file=file,
            entries=self.entries,
            opening=self.opening and self.opening.balance,
            closing=self.closing and self.closing.balance,
        )


def read_mt940(source: Source, conventions: Conventions) -> StatementFile:
    """Reads all statements of one MT940 file.

    Raises:
        SourceError: it is no text, or holds no statement.
    """
    findings = Findings(source.file)
    lines = each_line(decode(source, findings), source.file)
    often = Often(findings)
    messages = Messages(findings, often).split(lines)
    pages: list[_Page] = []
    while messages:
        pages.append(_Reading(messages.popleft(), conventions, findings, often).page())
    if not any(page.opening or page.closing or page.entries for page in pages):
        raise SourceError(
            source.file, "has no :60F:, :61: or :62F: that can be read, so no statement; export MT940"
        )
    statements = tuple(_whole(group, findings) for group in _grouped(pages))
    for statement in statements:
        tell_gap(statement, findings)
    tell_breaks(statements, findings)
    often.tell()
    return StatementFile(source.file, statements, findings.done())


@dataclass(slots=True)
class _Reading:
    """Turns the tags of one message into a page."""

    fields: list[Field]
    conventions: Conventions
    findings: Findings
    often: Often

    def page(self) -> _Page:
        """The page, with all that is odd about it told."""
        opening, closing = self._balance("60"), self._balance("62")
        number, _, _ = self._first("28").partition("/")
        if not number:
            self.often.add("warning", "has no :28C:, so no statement number", self.fields[0].row)
        page = _Page(
            account=self._account(),
            number=number,
            sequence=self._first("28"),
            row=self.fields[0].row,
            currency=self._currency(opening, closing),
            opening=opening,
            closing=closing,
        )
        read = (self._entry(movement, page) for movement in self._movements())
        page.entries = tuple(entry for entry in read if entry is not None)
        self._tell_totals(page)
        return page

    def _named(self, *tags: str) -> list[Field]:
        return [each for each in self.fields if each.tag in tags]

    def _first(self, tag: str) -> str:
        """What the first tag of that number says, its lines put together."""
        found = (each for each in self.fields if each.tag.startswith(tag))
        return next(("".join(each.lines).strip() for each in found), "")

    def _account(self) -> str:
        if name := " ".join(self._first("25").split()):
            return name
        self.findings.add("error", "has no :25:: the account is named by its file", self.fields[0].row)
        return named_by(self.findings.file)

    def _currency(self, *balances: _StatedBalance | None) -> str | None:
        codes = [each.currency for each in balances if each is not None]
        if len(set(codes)) > 1:
            what = f"opens in {codes[0]} and closes in {codes[1]}: read as {codes[0]}"
            self.findings.add("error", what, self.fields[0].row)
        if not codes and self.conventions.currency is None:
            self.findings.add("error", "has no balance, so no currency", self.fields[0].row)
        if not codes:
            tell_currency(None, self.conventions, self.findings)
        return codes[0] if codes else self.conventions.currency

    def _balance(self, kind: str) -> _StatedBalance | None:
        """The opening (60) or the closing (62) balance."""
        found = self._named(f"{kind}F", f"{kind}M")
        name = "opening" if kind == "60" else "closing"
        if not found:
            self.findings.add("error", f"has no :{kind}F:, no {name} balance", self.fields[0].row)
            return None
        chosen = found[0] if kind == "60" else found[-1]
        if len(found) > 1:
            self.findings.add("error", f"has {len(found)} {name} balances: one is taken", chosen.row)
        written = _BALANCE.fullmatch("".join(chosen.lines).strip())
        if written is None and (written := _BALANCE.fullmatch(chosen.lines[0].strip())):
            self.findings.add("warning", f"lines after :{chosen.tag}: are left out", chosen.row + 1)
        if written is None:
            what = f":{chosen.tag}: {quote(chosen.lines[0])} is no balance; it would be C260930EUR12,34"
            self.findings.add("error", what, chosen.row)
            return None
        day = _day(written[2])
        if day is None:
            self.findings.add("error", f":{chosen.tag}: {quote(written[2])} is no date", chosen.row)
        amount = _signed(written[1], written[4])
        return _StatedBalance(Balance(amount, day, chosen.row), written[3], chosen.tag[2] == "F")

    def _movements(self) -> Iterator[_Movement]:
        """Each :61: with the :86: that follows it; one after the closing balance is of the whole."""
        current: _Movement | None = None
        for each in self.fields:
            if each.tag == "86" and current is not None:
                current.narrative.extend(each.lines)
                continue
            if current is not None:
                yield current
            current = _Movement(each, []) if each.tag == "61" else None
            if each.tag == "86" and not _TOTALS.fullmatch("".join(each.lines)):
                self.findings.add("info", f"says of no entry: {quote(tidy(joined(each.lines)))}", each.row)
        if current is not None:
            yield current

    def _entry(self, movement: _Movement, page: _Page) -> Entry | None:
        row = movement.field.row
        head, details = _wrapped(movement.field.lines)
        found = _LINE.fullmatch(head)
        if found is None:
            what = f"entry {quote(head)} is left out: it would be YYMMDDMMDDC12,34NTRFreference"
            self.findings.add("error", what, row)
            return None
        value = _day(found["value"])
        booked = self._booked(found, value, page, row)
        if booked is None:
            what = f"entry {quote(head)} is left out: {quote(found['value'])} is no date"
            self.findings.add("error", what, row)
            return None
        self._tell_odd(found, abs(booked - (value or booked)), page, row)
        bank, own = (found["bank"] or "").strip(), found["own"].strip()
        said = read_narrative(movement.narrative)
        more = [each for each in (details, own) if each not in _NO_REFERENCE and each not in said.text]
        return Entry(
            id="" if bank in _NO_REFERENCE else bank,
            booked=booked,
            amount=_signed(found["mark"], found["amount"]),
            currency=page.currency,
            row=row,
            value_date=value,
            name=said.name,
            text=tidy(" ".join([said.text, *more])),
        )

    def _tell_odd(self, found: re.Match[str], apart: datetime.timedelta, page: _Page, row: int) -> None:
        """Tells what of an entry that is read may yet be wrong."""
        if found["funds"] and page.currency and found["funds"] != page.currency[2:]:
            what = f"funds code {found['funds']} is not that of {page.currency}, in which it is read"
            self.findings.add("warning", what, row)
        if apart > _FAR:
            what = f"is valued {apart.days} days from the day it is booked on: one may be wrong"
            self.findings.add("warning", what, row)

    def _booked(
        self, found: re.Match[str], value: datetime.date | None, page: _Page, row: int
    ) -> datetime.date | None:
        """The entry date, else the value date; never later than the closing balance that counts it."""
        last = page.closing and page.closing.balance.date
        if not found["entry"]:
            self.often.add("info", "has no entry date: the value date counts", row)
        entry = _entry_day(found["entry"], value or last, page) if found["entry"] else None
        if found["entry"] and entry is None:
            self.findings.add("warning", f"entry date {quote(found['entry'])} is no date: not used", row)
        if value is None and entry is not None:
            self.findings.add("warning", f"value date {quote(found['value'])} is no date: it has none", row)
        day = entry or value
        if day and last and day > last:
            what = "is dated after the closing balance that counts it: booked on the day of that"
            self.often.add("info", what, row)
            return last
        return day and self._not_before(day, page, row, stated=entry is not None)

    def _not_before(self, day: datetime.date, page: _Page, row: int, *, stated: bool) -> datetime.date:
        """The day; of one before the statement that only the value date gave, the closing one."""
        first = page.first
        last = page.closing and page.closing.balance.date
        if first is None or day >= first:
            return day
        if last and not stated:
            what = "is valued before the opening balance: booked on the day of the closing one"
            self.often.add("info", what, row)
            return last
        self.findings.add("warning", f"is dated {day}, before the opening balance of {first}", row)
        return day

    def _tell_totals(self, page: _Page) -> None:
        """Compares the numbers and sums that the message gives with what was read."""
        marks = (_LINE.fullmatch(_wrapped(each.lines)[0]) for each in self._named("61"))
        sums = {side: (0, Decimal(0)) for side in "DC"}
        for found in filter(None, marks):
            side = "C" if _SIGNS[found["mark"]] > 0 else "D"
            count, amount = sums[side]
            sums[side] = (count + 1, amount + _decimal(found["amount"]))
        for side, count, amount, row in self._stated_totals():
            if (count, amount) != sums[side]:
                what = "credits" if side == "C" else "debits"
                has, makes = sums[side]
                what = f"control total: {count} {what} of {amount} are stated, {has} of {makes} are there"
                self.findings.add("error", f"{page.sequence}: {what}" if page.sequence else what, row)

    def _stated_totals(self) -> Iterator[tuple[str, int, Decimal, int]]:
        for each in self._named("86"):
            if found := _TOTALS.fullmatch("".join(each.lines)):
                yield "D", int(found[1]), _decimal(found[3]), each.row
                yield "C", int(found[2]), _decimal(found[4]), each.row
        for each in self._named("90C", "90D"):
            if found := _COUNTED.fullmatch("".join(each.lines).strip()):
                yield each.tag[2], int(found[1]), _decimal(found[2]), each.row


def _grouped(pages: Sequence[_Page]) -> list[list[_Page]]:
    """The pages of each statement, in the order of the file."""
    groups: list[list[_Page]] = []
    open_groups: dict[tuple[str, str, str | None], list[_Page]] = {}
    for page in pages:
        key = (page.account, page.number, page.currency)
        group = open_groups.get(key)
        if group is not None and page.follows(group[-1]):
            group.append(page)
            continue
        open_groups[key] = [page]
        groups.append(open_groups[key])
    return groups


def _whole(group: Sequence[_Page], findings: Findings) -> Statement:
    """The pages as one statement; where they do not fit together is told."""
    first, last = group[0], group[-1]
    if first.opening and not first.opening.last:
        findings.add("error", "begins with :60M:, so the pages before it are missing", first.row)
    if last.closing and not last.closing.last:
        findings.add("error", "ends with :62M:, so the pages after it are missing", last.row)
    for one, other in pairwise(group):
        if one.closing and other.opening and one.closing.balance.amount != other.opening.balance.amount:
            what = f"page {other.sequence} opens with {other.opening.balance.amount}, yet the page before"
            what += f" closes with {one.closing.balance.amount}: a page is missing"
            findings.add("error", what, other.opening.balance.row)
    _tell_pages(group, findings)
    entries = tuple(entry for page in group for entry in page.entries)
    return replace(first.statement(findings.file), entries=entries, closing=last.statement("").closing)


def _tell_pages(group: Sequence[_Page], findings: Findings) -> None:
    """Says which of several pages does not tie."""
    for page in group if len(group) > 1 else ():
        statement = page.statement(findings.file)
        if statement.gap:
            what = f"page {page.sequence} does not tie: its {len(page.entries)} entries make"
            what += f" {total(page.entries)}, a gap of {statement.gap}"
            findings.add("error", what, page.row)


def _wrapped(lines: Sequence[str]) -> tuple[str, str]:
    """A :61: and the details after it; where it was broken anywhere, it is put together first."""
    whole = "".join(lines)
    head, coded, details = whole.partition("/TRCD/")
    if coded:
        return head.strip(), f"TRCD {details.strip('/ ')}"
    if _LINE.fullmatch(lines[0].strip()):
        return lines[0].strip(), tidy(joined(lines[1:]))
    return whole.strip(), ""


def _signed(mark: str, written: str) -> Decimal:
    return _SIGNS[mark] * _decimal(written) + Decimal(0)  # no minus before a zero


def _decimal(written: str) -> Decimal:
    return Decimal(written.replace(",", ".").rstrip("."))


def _day(written: str) -> datetime.date | None:
    year = int(written[:2])
    return _date(year + (1900 if year >= _PIVOT else 2000), written[2:])


def _date(year: int, month_day: str) -> datetime.date | None:
    try:
        return datetime.date(year, int(month_day[:2]), int(month_day[2:]))
    except ValueError:
        return None


def _entry_day(written: str, near: datetime.date | None, page: _Page) -> datetime.date | None:
    """MMDD in a year that puts it within the statement, else the one nearest to the value date."""
    if near is None:
        return None
    first = page.first or datetime.date.min
    last = (page.closing and page.closing.balance.date) or datetime.date.max
    days = (_date(near.year + step, written) for step in (0, -1, 1))
    known = (day for day in days if day)
    return min(known, key=lambda day: (not first <= day <= last, abs(day - near)), default=None)
