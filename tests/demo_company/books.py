"""The books of the three entities: a general ledger as CSV, a Beancount file, a workbook."""

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from openpyxl import Workbook

from demo_company.movements import Day, InBooks, decimal


class Posted(NamedTuple):
    """A line on a bank account, with that account."""

    account: str
    currency: str
    line: InBooks


class Opened(NamedTuple):
    """What an account held before the month."""

    account: str
    currency: str
    cents: int


def general_ledger(prefix: str, first: Day, opened: Sequence[Opened], posted: Sequence[Posted]) -> str:
    """CSV with a line for each side of each journal."""
    lines = ["Journal,Date,Account code,Account name,Description,Reference,Debit,Credit,Currency"]
    for each in opened:
        lines.append(
            f",{first:%d/%m/%Y},{_coded(each.account)},Opening balance,,{_debit(each.cents)},{each.currency}"
        )
    for number, each in _numbered(prefix, posted):
        line = each.line
        head, tail = f"{number},{line.day:%d/%m/%Y}", f"{_quoted(line.text)},{line.reference}"
        lines.append(f"{head},{_coded(each.account)},{tail},{_debit(line.cents)},{each.currency}")
        lines.append(f"{head},{_coded(line.contra)},{tail},{_debit(-line.cents)},{each.currency}")
    return "\n".join(lines) + "\n"


def beancount(title: str, first: Day, opened: Sequence[Opened], posted: Sequence[Posted]) -> str:
    """A Beancount file that closes with a balance assertion."""
    eve = first - timedelta(1)
    names = {each.account for each in posted} | {each.line.contra for each in posted}
    lines = [f'option "title" "{title}"', 'option "operating_currency" "EUR"', ""]
    lines += [f"{eve} open {name}" for name in sorted(names | {"Equity:Opening-Balances"})]
    for each in opened:
        lines += [
            "",
            f'{eve} * "Opening balance"',
            _leg(each.account, each.cents),
            "  Equity:Opening-Balances",
        ]
    for _, each in _numbered("", posted):
        line = each.line
        payee = f'"{line.text}" "{line.reference}"' if line.reference else f'"{line.text}"'
        lines += ["", f"{line.day} * {payee}", _leg(each.account, line.cents), f"  {line.contra}"]
    after = (first + timedelta(31)).replace(day=1)
    for each in opened:
        closing = each.cents + sum(one.line.cents for one in posted if one.account == each.account)
        lines += ["", f"{after} balance {each.account}  {decimal(closing)} EUR"]
    return "\n".join(lines) + "\n"


def workbook(
    title: str, prefix: str, first: Day, opened: Sequence[Opened], posted: Sequence[Posted]
) -> bytes:
    """XLSX with real dates and numbers, under two lines of title."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "General ledger"
    sheet.append([title])
    sheet.append([])
    sheet.append(
        ["Journal", "Date", "Account code", "Account name", "Description", "Debit", "Credit", "Currency"]
    )
    for each in opened:
        code, _, name = each.account.partition(" ")
        sheet.append([None, first, code, name, "Opening balance", *_pair(each.cents), each.currency])
    for number, each in _numbered(prefix, posted):
        line = each.line
        text = f"{line.text} {line.reference}".strip()
        for account, cents in ((each.account, line.cents), (line.contra, -line.cents)):
            code, _, name = account.partition(" ")
            sheet.append([number, line.day, code, name, text, *_pair(cents), each.currency])
    for row in sheet.iter_rows(min_row=4):
        row[1].number_format = "yyyy-mm-dd"
        row[5].number_format = row[6].number_format = "#,##0.00"
    for column, width in zip("ABCDEFGH", (9, 12, 13, 28, 46, 13, 13, 10), strict=True):
        sheet.column_dimensions[column].width = width
    return _settled(book)


def _settled(book: Workbook) -> bytes:
    """The workbook with no clock in it, so that it is the same bytes each time."""
    book.properties.created = book.properties.modified = datetime(2026, 11, 2)  # noqa: DTZ001
    written, settled = io.BytesIO(), io.BytesIO()
    book.save(written)
    with zipfile.ZipFile(written) as old, zipfile.ZipFile(settled, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "docProps/core.xml":
                part = _without_clock(part)
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 0
            new.writestr(entry, part, zipfile.ZIP_DEFLATED, 9)
    return settled.getvalue()


def _without_clock(core: bytes) -> bytes:
    return re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>2026-11-02T00:00:00Z", core)


def _numbered(prefix: str, posted: Sequence[Posted]) -> Iterator[tuple[str, Posted]]:
    ordered = sorted(posted, key=lambda each: each.line.day)
    for number, each in enumerate(ordered, 1):
        yield f"{prefix}{each.line.day.month:02}{number:03}", each


def _coded(account: str) -> str:
    code, _, name = account.partition(" ")
    return f"{code},{name}"


def _quoted(text: str) -> str:
    return f'"{text}"' if "," in text else text


def _debit(cents: int) -> str:
    return f"{decimal(cents)}," if cents >= 0 else f",{decimal(-cents)}"


def _pair(cents: int) -> tuple[float | None, float | None]:
    return (cents / 100, None) if cents >= 0 else (None, -cents / 100)


def _leg(account: str, cents: int) -> str:
    return f"  {account}  {decimal(cents)} EUR"
