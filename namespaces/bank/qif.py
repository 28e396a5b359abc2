"""QIF: the bank, card and cash sections of what Quicken and many banks export.

A file names neither currency nor balances, and its dates and amounts are written by local custom:
what it leaves open (03/04, 1,234) is refused with both readings. The splits of an entry are its
text. It reads no investments.
"""

import datetime
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from ..tables import dates, numbers
from ..tables.decided import tell_currency, tell_decided
from ..tables.numbers import Cell
from ..tables.source import Conventions, Findings, Source, SourceError, quote
from ..tables.text import Line, decode, each_line
from ..tables.words import balance_of
from .statement import Entry, Statement, StatementFile, named_by

_BANKS = {"bank": "Bank", "ccard": "CCard", "cash": "Cash", "oth a": "Oth A", "oth l": "Oth L"}
"""Sections that hold entries."""
_INVESTMENTS = {"invst", "port", "401(k)/403(b)", "401(k)"}
_LISTS = {"cat", "class", "memorized", "security", "prices", "budget", "tag", "invitem", "template"}
"""Sections of what is no entry."""
_SPLITS = "SE$%"
_FIELDS = "DTUPMNLCA"
_SPLIT_DATE = "split"
"""Stands for a date within the splits: those help to decide the order, and no more."""
_IGNORED = "FXYIQOKBRV1"
"""Fields of other programs that say nothing of an entry."""
_AROUND_MARKS = re.compile(r"\s*([-/.'])\s*")
_SHORT_YEAR = re.compile(r"(\d{1,2})([-/.])(\d{1,2})'(\d{4}|\d{1,2})", re.ASCII)
_MAX_TEXT = 2000


@dataclass(slots=True)
class _Split:
    category: str = ""
    memo: str = ""
    amount: str = ""
    row: int = 0


class _Field(NamedTuple):
    code: str
    row: int
    text: str


@dataclass(slots=True)
class _Raw:
    """One record of a section, before its dates and amounts are read."""

    section: str
    account: str
    row: int
    fields: list[_Field] = field(default_factory=list[_Field])
    """In the order of the file."""
    splits: list[_Split] = field(default_factory=list[_Split])

    def all(self, code: str) -> list[Cell]:
        """The fields of that letter."""
        return [Cell(each.row, each.text) for each in self.fields if each.code == code]

    def cell(self, code: str) -> Cell:
        """The first field of that letter; an empty one when there is none."""
        return next(iter(self.all(code)), Cell(self.row, ""))

    def joined(self, code: str) -> str:
        """All fields of that letter on one line."""
        return " ".join(" ".join(each.text for each in self.fields if each.code == code).split())


class _Key(NamedTuple):
    account: str
    """Empty when the file names none."""
    section: str


def read_qif(source: Source, conventions: Conventions) -> StatementFile:
    """Reads the bank, card and cash sections of one QIF file.

    Raises:
        SourceError: it has none, is no text, or two readings of its dates or amounts fit.
    """
    findings = Findings(source.file)
    text = decode(source, findings)
    sections = _Sections(source.file, findings)
    sections.read(each_line(text, source.file), whole=text.endswith(("\n", "\r", "^")))
    if not sections.keys:
        what = "has no section !Type:Bank, !Type:CCard or !Type:Cash; export a bank or card account as QIF"
        raise SourceError(source.file, what)
    how = dates.decide(_dates(sections), source.file, conventions)
    marks = numbers.decide(_amounts(sections.records), source.file, conventions)
    tell_decided(how, marks, conventions, findings)
    tell_currency(None, conventions, findings)
    reading = _Reading(source.file, conventions.currency, how, marks, findings)
    statements = tuple(reading.statements(sections))
    if conventions.currency is None:
        findings.add("warning", "names no currency: its amounts match only others without one")
    findings.add("warning", "states no balances: nothing shows whether entries are missing")
    return StatementFile(source.file, statements, findings.done())


def _dates(sections: "_Sections") -> Iterator[Cell]:
    for raw in sections.records:
        for each in [*raw.all("D"), *raw.all(_SPLIT_DATE)]:
            yield Cell(each.row, _plain_date(each.text))
    for each in sections.other_dates:
        yield Cell(each.row, _plain_date(each.text))


def _amounts(records: Iterable[_Raw]) -> Iterator[Cell]:
    for raw in records:
        yield from (*raw.all("T"), *raw.all("U"))
        yield from (Cell(split.row, split.amount) for split in raw.splits if split.amount)


@lru_cache(maxsize=4096)
def _plain_date(text: str) -> str:
    """A date without Quicken's blanks and with an apostrophe year, which is past 1999, in full."""
    squeezed = _AROUND_MARKS.sub(r"\1", text.strip())
    found = _SHORT_YEAR.fullmatch(squeezed)
    if found is None:
        return squeezed
    day, mark, month, year = found.groups()
    return f"{day}{mark}{month}{mark}{int(year) + 2000 if len(year) < 3 else year}"  # noqa: PLR2004


class _Sections:
    """Splits a file into the records of its bank sections; all else is told."""

    def __init__(self, file: str, findings: Findings) -> None:
        self.file, self.findings = file, findings
        self.records = deque[_Raw]()
        self.keys: dict[_Key, None] = {}
        """The bank sections in order, also those without records."""
        self.other_dates: list[Cell] = []
        """Of investments: they help to decide the order, and no more."""
        self._section = ""
        self._account = ""
        self._open: _Raw | None = None
        self._skipped: set[str] = set()
        self._unknown: dict[str, int] = {}

    def read(self, lines: Iterable[Line], *, whole: bool) -> None:
        """Reads all lines; `whole` says that the last one was not cut off."""
        for line in lines:
            text = line.text.lstrip("\ufeff").rstrip()
            if text.startswith("!"):
                self._head(text[1:].strip(), line.number)
            elif text == "^":
                self._close()
            elif text.strip():
                self._take(text, line.number)
        self._end(whole=whole)
        self._tell()

    def _head(self, text: str, row: int) -> None:
        if self._open is not None and self._open.section:
            self.findings.add("warning", "a record ends without ^ before the next section", self._open.row)
        self._close()
        kind, _, name = text.partition(":")
        kind, name = kind.strip().casefold(), name.strip().casefold()
        if kind == "type":
            self._section = _BANKS.get(name, f"!{name}")
            if name in _BANKS:
                self.keys[_Key(self._account, self._section)] = None
            elif name not in _LISTS:
                what = f"the section !Type:{name[:20]} is not read: only bank, card and cash ones are"
                self.findings.add("error", what, row)
        elif kind == "account":
            self._section, self._account = "account", ""
        elif kind == "clear":
            self._section, self._account = "", ""

    def _take(self, text: str, row: int) -> None:
        code, rest = text[0], text[1:].strip()
        if self._section == "account":
            self._take_account(code, rest, row)
        elif self._section in _BANKS.values():
            if self._open is None:
                self._open = _Raw(self._section, self._account, row)
            self._take_field(self._open, code, rest, row)
        else:
            self._skip(code, rest, row)

    def _take_account(self, code: str, rest: str, row: int) -> None:
        if code == "N":
            self._account = " ".join(rest.split())[:200]
        elif code == "$" and rest.strip("0.,"):
            what = f"the balance {quote(rest)} of an account block has no place among the entries: not used"
            self.findings.add("info", what, row)

    def _take_field(self, raw: _Raw, code: str, rest: str, row: int) -> None:
        if code in _SPLITS:
            _take_split(raw, code, rest, row)
        elif code == "D" and raw.splits:
            raw.fields.append(_Field(_SPLIT_DATE, row, rest))
        elif code in _FIELDS:
            raw.fields.append(_Field(code, row, rest))
        elif code not in _IGNORED:
            self._unknown.setdefault(code, row)

    def _skip(self, code: str, rest: str, row: int) -> None:
        self._skipped.add(self._section)
        if code == "D" and self._section.removeprefix("!") in _INVESTMENTS:
            self.other_dates.append(Cell(row, rest))
        elif not self._section and code in "DT":
            self.findings.add("error", "a record outside of any section is left out", row)

    def _close(self) -> None:
        if self._open is not None:
            self.records.append(self._open)
        self._open = None

    def _end(self, *, whole: bool) -> None:
        """The last record counts without its ^ only when its last line is whole."""
        if self._open is None:
            return
        what = "the last record ends without ^, so the file may be cut off: "
        self.findings.add("error", what + ("it is kept" if whole else "it is left out"), self._open.row)
        if whole:
            self._close()
        self._open = None

    def _tell(self) -> None:
        names = sorted(name[1:] for name in self._skipped if name[1:] in _LISTS)
        if names:
            self.findings.add("info", f"its lists ({', '.join(names)}) hold no entries: not used")
        for code, row in list(self._unknown.items())[:20]:
            self.findings.add(
                "warning", f"lines that begin with {code!r} are no fields of QIF: not used", row
            )


def _take_split(raw: _Raw, code: str, rest: str, row: int) -> None:
    if code == "S" or not raw.splits or (code == "$" and raw.splits[-1].amount):
        raw.splits.append(_Split(row=row))
    split = raw.splits[-1]
    if code == "S":
        split.category = rest
    elif code == "E":
        split.memo = f"{split.memo} {rest}".strip()
    elif code == "$":
        split.amount, split.row = rest, row


@dataclass(frozen=True, slots=True)
class _Reading:
    """Turns records into entries."""

    file: str
    currency: str | None
    dates: dates.Dates
    numbers: numbers.Numbers
    findings: Findings

    def statements(self, sections: _Sections) -> Iterator[Statement]:
        """One for each account; sections of one kind that name none are one account."""
        parts: dict[_Key, list[Entry]] = {key: [] for key in sections.keys}
        while sections.records:
            # A record is let go once it is an entry: together they would be twice the memory.
            raw = sections.records.popleft()
            entry = self._entry(raw)
            if entry is not None:
                parts[_Key(raw.account, raw.section)].append(entry)
        unnamed = [key for key in parts if not key.account]
        if unnamed:
            self.findings.add("info", "names no account: it is named by its file")
        stem = named_by(self.file)
        for key, entries in parts.items():
            alone = f"{stem} {key.section}" if len(unnamed) > 1 else stem
            yield Statement(key.account or alone, self.currency, self.file, tuple(entries))

    def _entry(self, raw: _Raw) -> Entry | None:
        booked = self._day(raw.cell("D").text)
        amount = self.numbers.read(self._written(raw).text)
        problem = _run_together(raw) or self._problem(raw, booked, amount)
        if problem or booked is None or amount is None:
            self.findings.add("error", f"an entry is left out: {problem}", raw.row)
            return None
        self._tell_amounts(raw, amount)
        name = raw.joined("P")
        if balance_of(name) == "opening":
            what = f"the opening balance {amount} is an entry in this file, so it is in its sum"
            self.findings.add("warning" if amount else "info", what, raw.row)
        return Entry(
            id="",
            booked=booked,
            amount=amount,
            currency=self.currency,
            row=raw.row,
            name=name[:_MAX_TEXT],
            text=_text(raw),
        )

    def _day(self, written: str) -> datetime.date | None:
        return self.dates.read(_plain_date(written))

    def _written(self, raw: _Raw) -> Cell:
        return raw.cell("T") if raw.cell("T").text else raw.cell("U")

    def _problem(self, raw: _Raw, booked: datetime.date | None, amount: Decimal | None) -> str | None:
        if booked is None:
            return f"D {quote(raw.cell('D').text)} is no date"
        if amount is None:
            return f"T {quote(self._written(raw).text)} is no amount"
        return None

    def _tell_amounts(self, raw: _Raw, amount: Decimal) -> None:
        """Tells when the splits or the second amount contradict the entry's; the entry's counts."""
        other = self.numbers.read(raw.cell("U").text) if raw.cell("U").text else amount
        if other != amount:
            what = f"T is {amount}, yet U is {quote(raw.cell('U').text)}: T counts"
            self.findings.add("warning", what, raw.row)
        parts = [self.numbers.read(split.amount) for split in raw.splits if split.amount]
        made = sum((part for part in parts if part is not None), Decimal(0))
        if parts and (made != amount or None in parts):
            what = f"its splits make {made}, the entry is {amount}: the entry counts"
            self.findings.add("warning", what, raw.row)


def _run_together(raw: _Raw) -> str | None:
    if any(len(raw.all(code)) > 1 for code in "DTU"):
        return "D or T stands in it twice, so two entries may have run together"
    return None


def _text(raw: _Raw) -> str:
    """Memo, number and category, then the splits."""
    number = raw.joined("N")
    parts = [raw.joined("M"), f"number {number}" if number else "", raw.joined("L"), raw.joined("A")]
    parts += [f"[{split.category} {split.memo} {split.amount}]" for split in raw.splits]
    return " ".join(" ".join(parts).split())[:_MAX_TEXT]
