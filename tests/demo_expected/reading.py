"""The demo's files, read by other means than the library's: public libraries where there are some.

Each movement gets the line of its file on which it stands, found in the file's text by its reference.
"""

import csv
import importlib
import io
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl

bai2: Any = importlib.import_module("bai2.bai2")
etree: Any = importlib.import_module("lxml.etree")
mt940: Any = importlib.import_module("mt940")
ofxparse: Any = importlib.import_module("ofxparse")
"""They have no types of their own."""


@dataclass(frozen=True)
class Move:
    """One movement, on either side."""

    day: date
    amount: Decimal
    text: str
    file: str
    row: int


@dataclass(frozen=True)
class Side:
    """One account on one side in one month."""

    opening: Decimal
    closing: Decimal
    moves: tuple[Move, ...]


def _cents(number: object) -> Decimal:
    return Decimal(str(number)).quantize(Decimal("0.01"))


def _row_with(path: Path, mark: str) -> int:
    rows = [number for number, line in enumerate(path.read_text().split("\n"), 1) if mark in line]
    assert len(rows) == 1, (path, mark, rows)
    return rows[0]


def _side(opening: Decimal, moves: Iterable[Move], closing: Decimal) -> Side:
    ordered = tuple(sorted(moves, key=lambda move: move.day))
    assert opening + sum(move.amount for move in ordered) == closing, "the file does not tie"
    return Side(opening, closing, ordered)


def ofx(*paths: Path) -> Side:
    """The movements of several OFX files, each reference once; the last file has the closing balance."""
    moves: dict[str, Move] = {}
    closing = Decimal(0)
    for path in paths:
        with warnings.catch_warnings(), path.open("rb") as opened:
            warnings.simplefilter("ignore")
            statement: Any = ofxparse.OfxParser.parse(opened).account.statement
        closing = _cents(statement.balance)
        for each in statement.transactions:
            text = f"{each.payee} {each.memo}"
            row = _row_with(path, f"<FITID>{each.id}<")
            moves.setdefault(each.id, Move(each.date.date(), _cents(each.amount), text, path.name, row))
    total = sum((move.amount for move in moves.values()), Decimal(0))
    return _side(closing - total, moves.values(), closing)


_CAMT = "{urn:iso:std:iso:20022:tech:xsd:camt.053.001.08}"


def camt(path: Path) -> Side:
    """CAMT.053 by XPath."""
    tree = etree.parse(str(path))
    ends = [_signed(each) for each in tree.iter(f"{_CAMT}Bal")]
    moves: list[Move] = []
    for each in tree.iter(f"{_CAMT}Ntry"):
        texts = [*each.iter(f"{_CAMT}Nm"), *each.iter(f"{_CAMT}Ustrd")]
        text = " ".join(one.text or "" for one in texts)
        day = date.fromisoformat(each.findtext(f"{_CAMT}BookgDt/{_CAMT}Dt") or "")
        moves.append(Move(day, _signed(each), text, path.name, each.sourceline or 0))
    return _side(ends[0], moves, ends[1])


def _signed(element: Any) -> Decimal:  # noqa: ANN401  the library has no types
    sign = 1 if element.findtext(f"{_CAMT}CdtDbtInd") == "CRDT" else -1
    return sign * Decimal(element.findtext(f"{_CAMT}Amt") or "")


def swift(path: Path) -> Side:
    """MT940."""
    found: Any = mt940.parse(path.read_text())
    moves: list[Move] = []
    for each in found:
        data = each.data
        row = _row_with(path, f"//{data['bank_reference']}")
        day = date(data["entry_date"].year, data["entry_date"].month, data["entry_date"].day)
        text = str(data["transaction_details"])
        moves.append(Move(day, _cents(data["amount"].amount), text, path.name, row))
    ends = [
        _cents(found.data[key].amount.amount) for key in ("final_opening_balance", "final_closing_balance")
    ]
    return _side(ends[0], moves, ends[1])


def bai(path: Path) -> Side:
    """BAI2, a group for each day."""
    groups: Any = bai2.parse_from_string(path.read_text()).children
    moves: list[Move] = []
    for group in groups:
        day = group.header.as_of_date
        for each in group.children[0].children:
            sign = 1 if int(each.type_code.code) < 400 else -1
            row = _row_with(path, f",{each.bank_reference},")
            text = str(each.text).rstrip("/")
            moves.append(Move(day, sign * Decimal(each.amount) / 100, text, path.name, row))
    ends = [
        next(one.amount for one in group.children[0].header.summary_items if one.type_code.code == code)
        for group, code in ((groups[0], "010"), (groups[-1], "015"))
    ]
    return _side(Decimal(ends[0]) / 100, moves, Decimal(ends[1]) / 100)


def delimited(path: Path) -> Side:
    """The CSV of the receipts account, whose header is on its third line."""
    moves: list[Move] = []
    balances: list[Decimal] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if number <= 3:
            continue
        day, text, out, into, balance, _ = next(csv.reader([line]))
        amount = Decimal(into) if into else -Decimal(out)
        moves.append(Move(datetime.strptime(day, "%d %b %Y").date(), amount, text, path.name, number))  # noqa: DTZ007
        balances.append(Decimal(balance))
    return _side(balances[0] - moves[0].amount, moves, balances[-1])


def general_ledger(path: Path, code: str) -> Side:
    """One account of the CSV."""
    moves: list[Move] = []
    opening = Decimal(0)
    for number, cells in enumerate(csv.DictReader(io.StringIO(path.read_text())), 2):
        if cells["Account code"] != code:
            continue
        amount = Decimal(cells["Debit"] or 0) - Decimal(cells["Credit"] or 0)
        if cells["Description"] == "Opening balance":
            opening = amount
            continue
        day = datetime.strptime(cells["Date"], "%d/%m/%Y").date()  # noqa: DTZ007
        text = f"{cells['Description']} {cells['Reference']}".strip()
        moves.append(Move(day, amount, text, path.name, number))
    return _books(opening, moves)


def workbook(path: Path, code: str) -> Side:
    """One account of the XLSX, whose header is in its third row."""
    sheet = openpyxl.load_workbook(path, data_only=True).worksheets[0]
    moves: list[Move] = []
    opening = Decimal(0)
    rows: Any = sheet.iter_rows(min_row=4, values_only=True)
    for number, (_, day, account, _, text, debit, credit, _) in enumerate(rows, 4):
        if str(account) != code:
            continue
        amount = _cents(debit or 0) - _cents(credit or 0)
        if text == "Opening balance":
            opening = amount
        else:
            moves.append(Move(day.date(), amount, text, path.name, number))
    return _books(opening, moves)


_HEAD = re.compile(r'(\d{4}-\d\d-\d\d) \* "([^"]*)"(?: "([^"]*)")?')
_LEG = re.compile(r"  (\S+)  (-?\d+\.\d\d) EUR")


def beancount(path: Path, account: str) -> Side:
    """One account of the Beancount file; what is asserted at its end has to hold."""
    moves: list[Move] = []
    opening, asserted = Decimal(0), None
    for number, day, text, leg in _legs(path):
        if leg[0] != account:
            continue
        if text == "Opening balance":
            opening = leg[1]
        else:
            moves.append(Move(day, leg[1], text, path.name, number))
    for line in path.read_text().splitlines():
        if f"balance {account}  " in line:
            asserted = Decimal(line.split()[-2])
    side = _books(opening, moves)
    assert side.closing == asserted
    return side


def _legs(path: Path) -> Iterator[tuple[int, date, str, tuple[str, Decimal]]]:
    day, text = date.min, ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if head := _HEAD.fullmatch(line):
            day, text = date.fromisoformat(head[1]), " ".join(filter(None, head.groups()[1:]))
        elif leg := _LEG.fullmatch(line):
            yield number, day, text, (leg[1], Decimal(leg[2]))


def _books(opening: Decimal, moves: list[Move]) -> Side:
    return _side(opening, moves, opening + sum((move.amount for move in moves), Decimal(0)))


def last_day(month: int) -> date:
    """Of a month of 2026."""
    return date(2026, month + 1, 1) - timedelta(1)
