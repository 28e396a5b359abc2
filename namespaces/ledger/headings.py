"""Reports that put the lines of each account under a heading, instead of naming it in each line.

A heading is a row with one text and no date or amount, but perhaps the balance that its account begins
with. The total that names it closes it, and a heading inside an open one is an account below it. In a
report without such totals each heading ends the one before. What a total says is compared with the
lines above it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from ..tables.layout import Layout
from ..tables.source import Findings, quote
from ..tables.table import Row
from ..tables.words import balance_of, plain

_TOTAL_OF = re.compile(
    r"^\s*(?:sub-?totals?|totals?|total(?:en|es|aux)?|totaal|summe|gesamt(?:summe)?)"
    r"(?:\s+(?:for|of|de|du|der|des|von|van|für|voor|para))?[\s:]+",
    re.IGNORECASE,
)
_WITH_BELOW = re.compile(r"\s+with sub-?\s?(?:accounts?|s)\s*$", re.IGNORECASE)
_TEXT = re.compile(r"[^\W\d_]")
_MAX_NAME = 200


@dataclass(slots=True)
class _Open:
    """An account whose lines are being read."""

    name: str
    sum: Decimal = Decimal(0)
    stated: Decimal = Decimal(0)
    """Of the opening balances under it: some reports count them in their totals."""


@dataclass(slots=True)
class Headings:
    """Follows the rows of one table from heading to heading."""

    layout: Layout
    findings: Findings
    closed: frozenset[str]
    """Names that a total closes, in plain words."""
    _open: list[_Open] = field(default_factory=list[_Open])
    _last: str = ""
    """The account that was closed last: some reports state its closing balance below its total."""

    @property
    def account(self) -> str:
        """The account that the next line belongs to, with those above it; empty before the first heading."""
        return ":".join(each.name for each in self._open)

    @property
    def stated_account(self) -> str:
        """The account that a balance belongs to: the one that is open, else the one closed last."""
        return self.account or self._last

    def take(self, row: Row) -> bool:
        """Whether the row is a heading; then what follows belongs to it."""
        name = heading_in(row, self.layout)
        if name is None:
            return False
        while self._open and plain(self._open[-1].name) not in self.closed:
            self._pop()
        self._open.append(_Open(name))
        return True

    def count(self, amount: Decimal) -> None:
        """Counts a line of the account."""
        if self._open:
            self._open[-1].sum += amount

    def opened(self, amount: Decimal) -> None:
        """Notes a balance that the account is stated to begin with."""
        if self._open:
            self._open[-1].stated += amount

    def close(self, row: Row) -> None:
        """Ends the account that a total names, and compares it."""
        name = plain(_closes(row))
        if name not in {plain(each.name) for each in self._open}:
            return
        while plain(self._open[-1].name) != name:
            self._pop()
        total, done, path = self.layout.total_in(row.cells), self._open[-1], self.account
        self._last = path
        self._pop()
        if total is not None and total not in {done.sum, done.sum + done.stated}:
            what = f"the total of {quote(path)} is {total}, its lines make {done.sum}"
            self.findings.add("error", what, row.number)

    def _pop(self) -> None:
        done = self._open.pop()
        if self._open:
            self._open[-1].sum += done.sum
            self._open[-1].stated += done.stated


def headings_of(layout: Layout, findings: Findings) -> Headings | None:
    """What follows the headings of a table; None where each line names its account, or none is there."""
    columns = layout.table.columns
    if {"account", "code"} & set(columns.roles):
        return None
    if not any(heading_in(row, layout) for row in layout.table.rows):
        return None
    return Headings(layout, findings, _closed(layout.table.rows))


def heading_in(row: Row, layout: Layout) -> str | None:
    """The account that a row is the heading of; None when it is none."""
    balance = layout.table.columns.first("balance")
    filled = [cell for at, cell in enumerate(row.cells) if cell and at != balance]
    if len(filled) != 1 or not _TEXT.search(filled[0]) or balance_of(filled[0]) is not None:
        return None
    return None if layout.dates.read(filled[0]) else " ".join(filled[0].split())[:_MAX_NAME]


def _closed(rows: Iterable[Row]) -> frozenset[str]:
    return frozenset(plain(name) for row in rows if (name := _closes(row)))


def _closes(row: Row) -> str:
    """The account that a total is of, as it is written; empty for a row that is none."""
    label = next((cell for cell in row.cells if cell), "")
    found = _TOTAL_OF.match(label)
    return "" if found is None else _WITH_BELOW.sub("", label[found.end() :]).strip()
