"""BAI2 records: continued, nested in accounts, groups and files, and held against control totals."""

import datetime
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..tables.source import Findings, quote
from ..tables.text import Line

_OPENS = ("01", "02", "03")
_CLOSES = ("99", "98", "49")
_WHAT = ("file", "group", "account")
_KNOWN = {*_OPENS, *_CLOSES, "16", "88"}
_AMOUNT = re.compile(r"([+-]?)([0-9]{1,18})")
DIGITS = re.compile(r"[0-9]{1,9}")
_DAY = re.compile(r"([0-9]{2})([0-9]{2})([0-9]{2})")
_MANY = 20
_PIVOT = 80
"""Two-digit years from here on are of the last century."""
_FUNDS = {"": 0, "0": 0, "1": 0, "2": 0, "Z": 0, "V": 2, "S": 3}
"""Fields that follow each type of funds; after D it is said how many."""


class BadFieldError(Exception):
    """A record cannot be read on from there; the message says why."""


@dataclass(slots=True)
class Record:
    """One record with the lines that continue it."""

    code: str
    row: int
    parts: list[str]
    """What stands behind the code, and in the lines that continue it."""
    _split: list[str] | None = None
    """Its fields where there are many; few are split when they are asked for, which takes less memory."""

    @property
    def lines(self) -> int:
        """Physical records in it."""
        return len(self.parts)

    @property
    def fields(self) -> list[str]:
        """Without the code. The first one of a continuing line begins with a line feed."""
        if self._split is not None:
            return self._split
        fields = ",\n".join(self.parts).split(",")
        if len(fields) > _MANY:
            self._split = fields
        return fields

    def get(self, index: int) -> str:
        """One field; empty when the record has fewer."""
        fields = self.fields
        return fields[index].strip() if index < len(fields) else ""


@dataclass(slots=True)
class Level:
    """A file, a group or an account: from the record that opens it to the one that closes it."""

    depth: int
    """0 for the file, 1 for a group, 2 for an account."""
    head: Record
    inner: list["Level"] = field(default_factory=list["Level"])
    details: list[Record] = field(default_factory=list[Record])
    trailer: Record | None = None

    @property
    def lines(self) -> int:
        """Physical records in it, as control totals count them."""
        own = self.head.lines + sum(each.lines for each in self.details)
        end = self.trailer.lines if self.trailer else 0
        return own + end + sum(each.lines for each in self.inner)


class Funds(NamedTuple):
    """What a type of funds says, and the index of the field after it."""

    value_date: datetime.date | None
    end: int


def records_in(lines: Iterable[Line], findings: Findings) -> list[Record]:
    """The records in order, each with its continuations; lines that are none are told."""
    found: list[Record] = []
    for line in lines:
        text = line.text.strip(" \t\f\x1a\ufeff")
        code, _, rest = text.removesuffix("/").partition(",")
        if not text:
            continue
        if code not in _KNOWN or (code == "88" and not found):
            findings.add("error", f"{quote(text)} is left out: it begins no record", line.number)
        elif code == "88":
            found[-1].parts.append(rest)
        else:
            found.append(Record(sys.intern(code), line.number, [rest]))
    return found


@dataclass(slots=True)
class Tree:
    """Nests accounts in groups and groups in files."""

    findings: Findings
    files: list[Level] = field(default_factory=list[Level])
    _open: list[Level] = field(default_factory=list[Level])

    def build(self, records: Sequence[Record]) -> list[Level]:
        """All files; a record out of place is told and left out."""
        for record in records:
            if record.code in _OPENS:
                self._start(record, _OPENS.index(record.code))
            elif record.code in _CLOSES:
                self._end(record, _CLOSES.index(record.code))
            elif len(self._open) == len(_OPENS):
                self._open[-1].details.append(record)
            else:
                self._misplaced(record)
        self._close(0)
        return self.files

    def _start(self, record: Record, depth: int) -> None:
        self._close(depth)
        if len(self._open) < depth:
            self._misplaced(record)
            return
        level = Level(depth, record)
        (self._open[-1].inner if self._open else self.files).append(level)
        self._open.append(level)

    def _end(self, record: Record, depth: int) -> None:
        self._close(depth + 1)
        if len(self._open) <= depth:
            self._misplaced(record)
            return
        self._open.pop().trailer = record

    def _close(self, depth: int) -> None:
        """Gives up the levels from that depth on, which have no end."""
        while len(self._open) > depth:
            level = self._open.pop()
            what = f"the {_WHAT[level.depth]} has no {_CLOSES[level.depth]}: it may be cut off"
            self.findings.add("error", what, level.head.row)

    def _misplaced(self, record: Record) -> None:
        what = f"a {record.code} record stands where none may: it is left out"
        self.findings.add("error", what, record.row)


def tell_control(level: Level, findings: Findings) -> None:
    """Compares what a closing record states of sum and numbers with what is there."""
    for inner in level.inner:
        tell_control(inner, findings)
    trailer = level.trailer
    if trailer is None:
        return
    counts = [("records", level.lines)]
    if level.inner or level.depth < len(_OPENS) - 1:
        counts.insert(0, (f"{_WHAT[level.depth + 1]}s", len(level.inner)))
    stated = [units_of(trailer.get(index)) for index in range(len(counts) + 1)]
    wanted = [("a sum of", _sum_of(level)), *counts]
    for (what, there), said in zip(wanted, stated, strict=True):
        if said is None:
            findings.add(
                "warning", f"the {trailer.code} has no control total: {what} {there} there", trailer.row
            )
        elif said != there:
            told = f"control total of the {_WHAT[level.depth]}: {what} {said} stated, {there} there"
            findings.add("error", told, trailer.row)


def _sum_of(level: Level) -> int:
    """The sum that the closing record has to state: of amounts, or of the sums stated within."""
    if level.depth < len(_OPENS) - 1:
        stated = (units_of(each.trailer.get(0)) if each.trailer else None for each in level.inner)
        pairs = zip(stated, level.inner, strict=True)
        return sum(_sum_of(inner) if said is None else said for said, inner in pairs)
    details = sum(units_of(each.get(1)) or 0 for each in level.details)
    return details + sum(_stated_amounts(level.head))


def _stated_amounts(head: Record) -> Iterator[int]:
    index = 2
    while index < len(head.fields):
        if not head.get(index):
            index += 1
            continue
        yield units_of(head.get(index + 1)) or 0
        try:
            index = funds_of(head, index + 3).end
        except BadFieldError:
            return


def funds_of(record: Record, index: int) -> Funds:
    """What the type of funds at that index says."""
    kind = record.get(index).upper()
    if kind == "D":
        number = record.get(index + 1)
        if not re.fullmatch(r"[0-9]{1,3}", number):
            raise BadFieldError(f"{quote(number)} is no number of funds")
        return Funds(None, _within(record, index + 2 + 2 * int(number)))
    if kind not in _FUNDS:
        raise BadFieldError(f"{quote(kind)} is no type of funds; it would be one of 0, 1, 2, D, S, V, Z")
    end = index + 1 + _FUNDS[kind]
    if kind == "V":
        return Funds(day_of(record.get(index + 1)), end)
    return Funds(None, _within(record, end) if kind == "S" else end)


def _within(record: Record, end: int) -> int:
    """The index, as long as the fields before it are there."""
    if end > len(record.fields):
        raise BadFieldError("the amounts by availability are not all there")
    return end


def units_of(written: str) -> int | None:
    """An amount in the smallest unit; None when it is none."""
    found = _AMOUNT.fullmatch(written)
    return int(found[1] + found[2]) if found else None


def day_of(written: str) -> datetime.date | None:
    """The day of a YYMMDD; None when there is no such day."""
    found = _DAY.fullmatch(written)
    if found is None:
        return None
    year = int(found[1])
    try:
        return datetime.date(year + (1900 if year >= _PIVOT else 2000), int(found[2]), int(found[3]))
    except ValueError:
        return None
