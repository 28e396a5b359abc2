"""Works out what the demo has to find, from its files alone, and writes it down as plain text.

    cd tests && python -m demo_expected.work_out

It shares no code with the library, nor with what made the files. What it writes is committed; the tests
compare the demo with it line by line.
"""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from demo_expected.finding import Findings, Found, Open, find
from demo_expected.reading import (
    Move,
    Side,
    bai,
    beancount,
    camt,
    delimited,
    general_ledger,
    last_day,
    ofx,
    swift,
    workbook,
)

FILES = Path(__file__).parents[2] / "engine" / "cli" / "demo" / "files"
HERE = Path(__file__).parent
MONTHS = (9, 10)
_KINDS = (
    *("exact", "timing", "near", "batched", "split", "cancelled"),
    *("reversed", "transposed", "net_of_fee", "exchange"),
)


class Account(NamedTuple):
    """One account as both sides have it in one month."""

    bank_name: str
    books_name: str
    currency: str
    bank: Side
    books: Side


def accounts(month: int) -> list[Account]:
    """The five accounts in one month."""
    folder = FILES / f"2026-{month:02}"
    ledger, sheet = folder / "ltd_general_ledger.csv", folder / "bv_general_ledger.xlsx"
    giro = "Assets:Bank:Weserkontor-48812077"
    return [
        Account(
            *("55120944", "1200 Operating account 55120944", "GBP"),
            ofx(*sorted(folder.glob("ltd_operating*.ofx"))),
            general_ledger(ledger, "1200"),
        ),
        Account(
            *("55120952", "1210 Receipts account 55120952", "GBP"),
            delimited(folder / "ltd_receipts.csv"),
            general_ledger(ledger, "1210"),
        ),
        Account(
            *("DE03900500150048812077", giro, "EUR"),
            camt(folder / "gmbh_giro.xml"),
            beancount(folder / "gmbh.beancount", giro),
        ),
        Account(
            *("NL68HVBK0417164300", "1100 Current account EUR", "EUR"),
            swift(folder / "bv_current.sta"),
            workbook(sheet, "1100"),
        ),
        Account(
            *("7702215580", "1110 Dollar account 7702215580", "USD"),
            bai(folder / "bv_dollar.bai"),
            workbook(sheet, "1110"),
        ),
    ]


def expectation() -> dict[int, str]:
    """What each month has to come to, as text; a month begins with what the one before left open."""
    before: dict[str, Open] = {}
    told: dict[int, str] = {}
    for month in MONTHS:
        lines: list[str] = []
        for each in accounts(month):
            findings = find(each.bank, each.books, before.get(each.bank_name, Open()), last_day(month))
            lines += _account(each, findings)
            before[each.bank_name] = findings.carried
        told[month] = "\n".join(lines) + "\n"
    return told


def _account(of: Account, findings: Findings) -> Iterator[str]:
    yield f"account {of.bank_name} | {of.books_name} | {of.currency}"
    difference = of.bank.closing - of.books.closing
    for name, amount in (
        ("bank, opening", of.bank.opening),
        ("books, opening", of.books.opening),
        ("bank, closing", of.bank.closing),
        ("books, closing", of.books.closing),
        ("difference", difference),
        ("explained", difference),
        ("unexplained", Decimal(0)),
    ):
        yield f"{name} {amount:.2f}"
    opening = of.bank.opening - of.books.opening
    assert opening + sum((item.adds for item in findings.items), Decimal(0)) == difference
    carried = findings.carried
    yield from _matched(findings)
    yield from sorted(_item(item) for item in findings.items)
    yield from sorted(_open("bank", move, 1) for move in carried.bank)
    yield from sorted(_open("books", move, -1) for move in carried.books)
    yield ""


def _matched(findings: Findings) -> Iterator[str]:
    for kind in _KINDS:
        found = [each for each in findings.matched if each.kind == kind]
        if found:
            bank = sum((move.amount for each in found for move in each.bank), Decimal(0))
            books = sum((move.amount for each in found for move in each.books), Decimal(0))
            yield f"matched {kind} {len(found)} | bank {bank:.2f} | differs {bank - books:.2f}"


def _item(item: Found) -> str:
    move = item.moves[0]
    return f"item {item.kind} | {move.day} | {move.amount:.2f} | adds {item.adds:.2f} | {_place(move)}"


def _open(side: str, move: Move, sign: int) -> str:
    return f"open {side} | {move.day} | {move.amount:.2f} | adds {sign * move.amount:.2f} | {_place(move)}"


def _place(move: Move) -> str:
    return f"{move.file}:{move.row}"


if __name__ == "__main__":
    for month, text in expectation().items():
        (HERE / f"2026-{month:02}.txt").write_text(text)
