"""The reconciliation statement as files: the same bytes each time, read back as it was, never a formula."""

import csv
import dataclasses
import datetime
import io
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.namespaces.matching.carried import Carried
from offing.namespaces.matching.items import Group, Item
from offing.namespaces.matching.workpaper import (
    InputFile,
    OpenItems,
    Statement,
    Workpaper,
    carried_to,
    read_open_items,
    write_csv,
    write_xlsx,
)
from offing.namespaces.matching.workpaper.statement import Ends, Matched
from offing.namespaces.records import Term
from offing.namespaces.tables.source import Source, SourceError
from offing.namespaces.tool import Record

Json = Any
DAY = datetime.date(2026, 9, 30)
FEE = Record("bank:txn/2026-09-30/F1", Decimal("-28.50"), "GBP", DAY, "ACCOUNT FEE", "bank.ofx", 33)
CHEQUE = Record("ledger:line/2026-09-28/7", Decimal("-1420.00"), "GBP", DAY, "CHQ 002218", "gl.csv", 9)
BAD = '=HYPERLINK("http://x","y")'


def paper(*, text: str = "ACCOUNT FEE", carried: Carried | None = None) -> Workpaper:
    """Bank 100.00 + 1,391.50 = books 100.00: a fee of 28.50 and a cheque of 1,420.00 between them."""
    fee = dataclasses.replace(FEE, text=text)
    statement = Statement(
        entity="Harbour & Vale Ltd",
        bank_account="55120944",
        ledger_account="1200 Bank",
        currency="GBP",
        start=datetime.date(2026, 9, 1),
        end=DAY,
        balances=Ends(Decimal("50.00"), Decimal("50.00"), Decimal("1491.50"), Decimal("100.00")),
        matched=(Matched("exact", 3, Decimal("12.00"), Decimal("12.00")),),
        brought=Carried(),
        items=(
            Item(Group.TIMING, "it may still come", (Term(-1, CHEQUE),)),
            Item(Group.FEE, "-28.50 at the bank", (Term(1, fee),), material=False),
        ),
        carried=Carried((fee,), (CHEQUE,)) if carried is None else carried,
    )
    inputs = (InputFile("bank.ofx", "ab" * 32),)
    return Workpaper((statement,), inputs, datetime.date(2026, 10, 2), preparer="E. Farrow")


def rows(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def source(data: bytes) -> Source:
    return Source("statement-2026-09.csv", data)


def test_what_is_explained_and_what_is_left_follow_from_the_items() -> None:
    (statement,) = paper().statements
    assert statement.balances.difference == Decimal("1391.50")  # 1491.50 - 100.00
    assert statement.explained == Decimal("1391.50")  # 1420.00 - 28.50
    assert statement.unexplained == 0
    assert statement.outstanding == Decimal("1391.50")


def test_without_a_stated_balance_nothing_is_known_to_be_left() -> None:
    (statement,) = paper().statements
    unstated = dataclasses.replace(statement, balances=statement.balances._replace(bank_closing=None))
    assert unstated.unexplained is None


def test_the_csv_has_a_line_for_each_fact() -> None:
    told = [(row[0], row[5], row[6], row[7], row[8], row[9]) for row in rows(write_csv(paper()))[1:]]
    assert told == [
        ("Statement", "Made on", "2026-10-02", "", "", ""),
        ("Statement", "Prepared by", "", "", "", ""),
        ("Statement", "Approved by", "", "", "", ""),
        ("Statement", "Period from", "2026-09-01", "", "", ""),
        ("Statement", "Period to", "2026-09-30", "", "", ""),
        ("Balance", "Bank, opening", "2026-09-01", "50.00", "", ""),
        ("Balance", "Books, opening", "2026-09-01", "50.00", "", ""),
        ("Balance", "Bank, closing", "2026-09-30", "1491.50", "", ""),
        ("Balance", "Books, closing", "2026-09-30", "100.00", "", ""),
        ("Balance", "Difference", "", "1391.50", "", ""),
        ("Balance", "Explained", "", "1391.50", "", ""),
        ("Balance", "Unexplained", "", "0.00", "", ""),
        ("Balance", "Carried forward", "", "1391.50", "", "2"),
        ("Matched", "exact", "", "12.00", "0.00", "3"),
        ("Item", "timing", "2026-09-30", "-1420.00", "1420.00", ""),
        ("Item", "fee", "2026-09-30", "-28.50", "-28.50", ""),
        ("Carried forward", "bank", "2026-09-30", "-28.50", "-28.50", ""),
        ("Carried forward", "books", "2026-09-30", "-1420.00", "1420.00", ""),
        ("Input file", "SHA-256", "", "", "", ""),
        ("End", "Lines before this one", "", "", "", "19"),
    ]


def test_the_same_workpaper_gives_the_same_bytes() -> None:
    assert write_csv(paper()) == write_csv(paper())
    assert write_xlsx(paper()) == write_xlsx(paper())


def test_items_below_materiality_are_marked() -> None:
    assert [row[11] for row in rows(write_csv(paper())) if row[0] == "Item"] == [
        "it may still come",
        "'-28.50 at the bank (below materiality)",
    ]


@pytest.mark.parametrize("text", [BAD, "+1", "-1", "@SUM(A1)", "\t=1", "'quoted"])
def test_no_text_becomes_a_formula(text: str) -> None:
    written = next(
        row[10] for row in rows(write_csv(paper(text=text))) if row[0] == "Item" and row[5] == "fee"
    )
    assert written == f"'{text}"
    book = openpyxl.load_workbook(io.BytesIO(write_xlsx(paper(text=text))))
    cells: list[Json] = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert [cell.data_type for cell in cells if cell.value == text] == ["s", "s", "s"]


def test_every_check_of_the_workbook_comes_to_nothing() -> None:
    book = openpyxl.load_workbook(io.BytesIO(write_xlsx(paper())))
    summary: Json = book["Summary"]
    at = next(row[0].row for row in summary.iter_rows() if row[1].value == "55120944")
    assert summary[f"L{at}"].value == f"=ROUND(G{at}-H{at}-J{at}-K{at},4)"
    left = [summary[f"{column}{at}"].value for column in "GHJK"]
    assert left == [1491.5, 100, 1391.5, 0]
    sheet: Json = book["55120944"]
    totals = [row for row in sheet.iter_rows() if row[0].value == "Together"]
    assert [row[2].value for row in totals] == [1420, -28.5, 1391.5]
    assert [worked_out(sheet, row[4].value) for row in totals] == [0, 0, 0]


def worked_out(sheet: Json, formula: str) -> float:
    """What a formula such as =ROUND(SUM(C3:C4)-C5,4) comes to."""
    found = re.fullmatch(r"=ROUND\(SUM\((\w+):(\w+)\)-(\w+),4\)", formula)
    assert found
    above = [cell.value for (cell,) in sheet[f"{found[1]}:{found[2]}"]]
    return sum(above) - sheet[found[3]].value


def test_numbers_are_numbers_and_dates_are_dates() -> None:
    book = openpyxl.load_workbook(io.BytesIO(write_xlsx(paper())))
    sheet: Json = book["Open items"]
    fee = list(sheet[4])
    assert [cell.data_type for cell in fee] == [*"sssss", "d", "n", "n", "s", "s", "n", "s"]
    assert (fee[5].number_format, fee[6].number_format) == ("yyyy-mm-dd", "#,##0.00;[Red]-#,##0.00")


def test_two_accounts_whose_names_a_sheet_cannot_tell_apart_get_sheets_of_their_own() -> None:
    (one,) = paper().statements
    long = "DE03 9005 0015 0048 8120 77 / main account / EUR"
    names = [f"{long} 1", f"{long} 2", "a/b", "A:B", "Summary"]
    statements = tuple(dataclasses.replace(one, bank_account=name) for name in names)
    book = openpyxl.load_workbook(io.BytesIO(write_xlsx(dataclasses.replace(paper(), statements=statements))))
    assert len(set(book.sheetnames)) == len(names) + 3
    assert all(len(name) <= 31 for name in book.sheetnames)


def test_open_items_are_carried_only_to_the_period_that_follows() -> None:
    items = read_open_items(source(write_csv(paper())))
    october = datetime.date(2026, 10, 1)
    own = Carried((FEE,), (CHEQUE,))
    assert carried_to(items, "55120944", "1200 Bank", october) == own
    assert carried_to(items, "55120944", "1200 Bank", datetime.date(2026, 10, 2)) == Carried()
    assert carried_to(items, "55120952", "1210 Till", october) == Carried()


def test_an_account_named_after_its_file_is_known_by_its_account_in_the_books() -> None:
    items = read_open_items(source(write_csv(paper())))
    own = carried_to(items, "statement-october", "1200 Bank", datetime.date(2026, 10, 1))
    assert own == Carried((FEE,), (CHEQUE,))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
RECORDS = st.builds(
    Record,
    id=TEXTS.filter(bool),
    amount=st.none()
    | st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-(10**12), max_value=10**12),
    currency=st.none() | st.sampled_from(["GBP", "EUR"]),
    date=st.none() | st.dates(),
    text=TEXTS,
    file=st.none() | TEXTS.filter(bool),
    row=st.none() | st.integers(0, 10**8),
)


@given(st.lists(RECORDS, max_size=4), st.lists(RECORDS, max_size=4))
def test_what_was_written_is_read_back_exactly(bank: list[Record], books: list[Record]) -> None:
    carried = Carried(tuple(bank), tuple(books))
    read = read_open_items(source(write_csv(paper(carried=carried))))
    assert read == (OpenItems("55120944", "1200 Bank", DAY, carried),)


Change = Callable[[list[list[str]]], object]


def edited(change: Change) -> bytes:
    table = rows(write_csv(paper()))
    change(table)
    written = io.StringIO(newline="")
    csv.writer(written).writerows(table)
    return written.getvalue().encode()


def put(section: str, what: str, column: int, value: str) -> Change:
    def change(table: list[list[str]]) -> None:
        next(row for row in table if (row[0], row[5]) == (section, what))[column] = value

    return change


DAMAGED: list[tuple[Change, str]] = [
    (put("Carried forward", "bank", 7, "28,50"), "line 18: '28,50': Amount is no amount"),
    (
        put("Carried forward", "bank", 7, "-28.51"),
        "line 14: '1391.50': Amount is stated, the open items make",
    ),
    (put("Carried forward", "bank", 6, "30.09.26"), "line 18: '30.09.26': Date is no date"),
    (put("Carried forward", "bank", 6, "03/04/2026"), "line 18: '03/04/2026': Date is no date"),
    (put("Carried forward", "bank", 13, "x"), "line 18: 'x': Row is no whole number"),
    (put("Carried forward", "bank", 14, ""), "line 18: '': Record is no record id"),
    (
        put("Carried forward", "bank", 5, "till"),
        "line 18: 'till': What is no side; it would be bank or books",
    ),
    (put("Statement", "Period to", 6, "soon"), "line 6: 'soon': Date is no date"),
    (put("Item", "fee", 0, "Thing"), "line 17: 'Thing': Section is no section of a statement"),
    (put("End", "Lines before this one", 9, "7"), "line 21: '7': lines are stated and 19 are there"),
    (lambda table: table.pop(), "does not end with the line End: it is cut"),
    (lambda table: table.pop(17), "line 20: '19': lines are stated and 18 are there"),
    (lambda table: table[3].pop(), "line 4: "),
    (lambda table: table[0].reverse(), "line 1: 'Record,Row,"),
]


@pytest.mark.parametrize(("change", "told"), DAMAGED)
def test_a_damaged_statement_is_refused_with_line_and_value(change: Change, told: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_open_items(source(edited(change)))
    assert str(refused.value).startswith("statement-2026-09.csv")
    assert told in str(refused.value)
    assert "as it was written" in str(refused.value)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"PK\x03\x04", b"Section\n", b'Section,"Enti'])
def test_what_is_no_statement_is_refused(data: bytes) -> None:
    with pytest.raises(SourceError, match="as it was written"):
        read_open_items(source(data))
