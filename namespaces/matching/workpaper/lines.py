"""A workpaper as lines, one fact each: what both the CSV and the XLSX are written of."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Literal

from ...tool import Record
from ..carried import Carried
from ..items import Item
from .statement import Statement, Workpaper


class Section(Enum):
    """What kind of fact a line is."""

    STATEMENT = "Statement"
    BALANCE = "Balance"
    MATCHED = "Matched"
    BROUGHT = "Brought forward"
    ITEM = "Item"
    OPEN = "Carried forward"
    INPUT = "Input file"
    END = "End"


Side = Literal["bank", "books"]


@dataclass(frozen=True, slots=True)
class Line:
    """One fact. What a line does not say is empty or None."""

    section: Section
    entity: str = ""
    bank_account: str = ""
    ledger_account: str = ""
    currency: str = ""
    what: str = ""
    """Which fact: a balance, a kind of match, a group of items, a side, a name."""
    date: datetime.date | None = None
    amount: Decimal | None = None
    """As the record has it."""
    adds: Decimal | None = None
    """What it adds to the bank's balance less the books'."""
    count: int | None = None
    text: str = ""
    why: str = ""
    file: str = ""
    row: int | None = None
    """Line in that file, counted from 1."""
    record: str = ""


def lines_of(paper: Workpaper) -> tuple[Line, ...]:
    """All lines: who and when, account by account, then the input files, and the number of lines."""
    lines = [
        Line(Section.STATEMENT, what="Made on", date=paper.made_on),
        Line(Section.STATEMENT, what="Prepared by", text=paper.preparer),
        _approved(paper),
        *(line for statement in paper.statements for line in _account(statement)),
        *(Line(Section.INPUT, what="SHA-256", text=each.sha256, file=each.name) for each in paper.inputs),
    ]
    return (*lines, Line(Section.END, what="Lines before this one", count=len(lines)))


def _approved(paper: Workpaper) -> Line:
    at = paper.approved_at
    return Line(
        Section.STATEMENT,
        what="Approved by",
        date=at and at.date(),
        text=paper.approver,
        why="" if at is None else f"at {at:%Y-%m-%d %H:%M} UTC",
    )


def _account(of: Statement) -> Iterator[Line]:
    lines = _Lines(of)
    balances = of.balances
    yield lines.make(Section.STATEMENT, "Period from", date=of.start)
    yield lines.make(Section.STATEMENT, "Period to", date=of.end)
    yield lines.make(Section.BALANCE, "Bank, opening", date=of.start, amount=balances.bank_opening)
    yield lines.make(Section.BALANCE, "Books, opening", date=of.start, amount=balances.books_opening)
    yield lines.make(Section.BALANCE, "Bank, closing", date=of.end, amount=balances.bank_closing)
    yield lines.make(Section.BALANCE, "Books, closing", date=of.end, amount=balances.books_closing)
    yield lines.make(Section.BALANCE, "Difference", amount=balances.difference)
    yield lines.make(Section.BALANCE, "Explained", amount=of.explained)
    yield lines.make(Section.BALANCE, "Unexplained", amount=of.unexplained)
    yield lines.make(Section.BALANCE, "Carried forward", amount=of.outstanding, count=_count(of.carried))
    for kind, count, bank, books in of.matched:
        yield lines.make(Section.MATCHED, kind, amount=bank, adds=bank - books, count=count)
    yield from lines.records(Section.BROUGHT, of.brought)
    for item in of.items:
        yield lines.item(item)
    yield from lines.records(Section.OPEN, of.carried)


def _count(carried: Carried) -> int:
    return len(carried.bank) + len(carried.books)


@dataclass(frozen=True, slots=True)
class _Lines:
    """Makes the lines of one statement."""

    of: Statement

    def make(
        self,
        section: Section,
        what: str,
        *,
        date: datetime.date | None = None,
        amount: Decimal | None = None,
        adds: Decimal | None = None,
        count: int | None = None,
    ) -> Line:
        of = self.of
        return Line(
            section,
            of.entity,
            of.bank_account,
            of.ledger_account,
            of.currency or "",
            what,
            date,
            amount,
            adds,
            count,
        )

    def item(self, item: Item) -> Line:
        why = item.why if item.material else f"{item.why} (below materiality)"
        return self._record(Section.ITEM, item.group.value.replace("_", " "), item.record, item.amount, why)

    def records(self, section: Section, carried: Carried) -> Iterator[Line]:
        for side, sign, records in (("bank", 1, carried.bank), ("books", -1, carried.books)):
            for record in records:
                yield self._record(section, side, record, sign * (record.amount or Decimal(0)), "")

    def _record(self, section: Section, what: str, record: Record, adds: Decimal, why: str) -> Line:
        of = self.of
        return Line(
            section,
            of.entity,
            of.bank_account,
            of.ledger_account,
            record.currency or "",
            what,
            record.date,
            record.amount,
            adds,
            text=record.text,
            why=why,
            file=record.file or "",
            row=record.row,
            record=record.id,
        )
