"""The books: exports of many packages, their journals and balances, and the tools over them."""

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.namespaces.errors import NamespaceError
from offing.namespaces.ledger import Ledger
from offing.namespaces.ledger.accounts import Books, gather
from offing.namespaces.ledger.books import LedgerFile
from offing.namespaces.ledger.general_ledger import read_general_ledger
from offing.namespaces.tables.source import Conventions, Source, SourceError, read_source
from test_bank_tools import connected, tools_of

SAMPLES = Path(__file__).parents[2] / "shared" / "data" / "statements"
Json = Any
GL = """Journal,Date,Account code,Account name,Description,Reference,Debit,Credit,Currency
,01/09/2026,1200,Bank,Opening balance,,100.00,,GBP
7,14/09/2026,1200,Bank,Sale,INV 9,25.00,,GBP
7,14/09/2026,4000,Sales,Sale,INV 9,,25.00,GBP
8,30/09/2026,5000,Rent,Rent,,40.00,,GBP
8,30/09/2026,1200,Bank,Rent,,,40.00,GBP
,30/09/2026,1200,Bank,Closing balance,,85.00,,GBP
"""


def read(text: str | bytes, conventions: Conventions | None = None) -> LedgerFile:
    data = text.encode() if isinstance(text, str) else text
    return read_general_ledger(Source("gl.csv", data), conventions or Conventions())


def books(text: str) -> Books:
    return gather([read(text)])


def test_the_cr_only_sample_has_the_values_computed_by_hand() -> None:
    path = SAMPLES / "ledger" / "xero_journal_cr_only.csv"
    if not path.exists():
        pytest.skip("the sample files are not at ../shared")
    index = json.loads((SAMPLES / "INDEX.json").read_text())["files"]
    (wanted,) = (each["expected"] for each in index if each["file"].endswith(path.name))
    done = gather([read_general_ledger(read_source(path), Conventions())])
    lines = [each.line for account in done.accounts for each in account.postings]
    journals: dict[str, Decimal] = {}
    for line in lines:
        journals[line.journal] = journals.get(line.journal, Decimal(0)) + line.amount
    last = datetime.date.max
    balances = {each.label: each.balance_on(last) for each in done.accounts}
    assert {
        "lines": len(lines),
        "journals": len(journals),
        "unbalanced": sum(1 for each in done.findings if "does not balance" in each.what),
        "first": str(min(line.date for line in lines)),
        "last": str(max(line.date for line in lines)),
        "balances": {name: str(each.amount) for name, each in balances.items() if each},
        "per_journal": {number: str(amount) for number, amount in journals.items()},
    } == wanted


@pytest.mark.parametrize(
    ("header", "row", "amount"),
    [
        ("Date,Account,Debit,Credit", "2026-09-14,Bank,12.50,", "12.50"),
        ("Date,Account,Debit,Credit", "2026-09-14,Bank,,12.50", "-12.50"),
        ("Date,Account,Amount", "2026-09-14,Bank,-12.50", "-12.50"),
        ("Date,Account,Amount", "2026-09-14,Bank,12.50 CR", "-12.50"),
        ("Date,Account,Amount,Dr/Cr", "2026-09-14,Bank,12.50,DR", "12.50"),
        ("Belegdatum;Konto;Soll;Haben", "14.09.2026;1200;12,50;", "12.50"),
        ("EcritureDate;CompteNum;EcritureLib;Debit;Credit", "20260914;512;x;;12,50", "-12.50"),
    ],
)
def test_a_debit_is_positive_however_the_file_has_it(header: str, row: str, amount: str) -> None:
    (line,) = read(f"{header}\n{row}\n").lines
    assert (line.amount, line.date) == (Decimal(amount), datetime.date(2026, 9, 14))


def test_balances_in_rows_are_no_lines_and_are_checked() -> None:
    done = books(GL)
    assert done.findings == ()
    bank = done.find("1200")
    assert [str(each.line.amount) for each in bank.postings] == ["25.00", "-40.00"]
    off = books(GL.replace(",85.00,", ",86.00,"))
    assert [each.what for each in off.findings] == [
        "1200 Bank does not tie: its lines make 85.00, stated is 86.00"
    ]


def test_a_journal_that_does_not_balance_is_told() -> None:
    done = books(GL.replace(",,25.00,", ",,24.00,"))
    (finding,) = done.findings
    assert (finding.what, finding.row, finding.severity) == (
        "journal 7 does not balance: its lines sum to 1.00",
        3,
        "error",
    )


def test_one_account_alone_is_not_expected_to_balance() -> None:
    assert books("Journal,Date,Account,Amount\n1,2026-09-14,Bank,5\n").findings[0].severity == "info"


def test_a_row_that_cannot_be_read_is_told() -> None:
    done = read(GL + "9,31/09/2026,1200,Bank,Rent,,,1.00,GBP\n")
    assert [(each.row, each.what) for each in done.findings] == [(8, "is left out: '31/09/2026' is no date")]


def test_a_row_that_leaves_its_account_out_is_told_and_counted_for_no_other() -> None:
    done = books("Date,Account,Amount\n2026-09-14,Bank,5.00\n2026-09-14,,-5.00\n")
    assert [each.label for each in done.accounts] == ["Bank"]
    what = "is left out: names no account; fill it in, also where it is that of the row above"
    assert [(each.what, each.row) for each in done.findings if each.severity == "error"] == [(what, 3)]


def test_an_order_that_nothing_decides_is_refused() -> None:
    text = "Date,Account,Amount\n03/04/2026,Bank,1.50\n"
    with pytest.raises(SourceError, match="day_first="):
        read(text)
    assert read(text, Conventions(day_first=True)).lines[0].date == datetime.date(2026, 4, 3)


@given(st.binary(max_size=300), st.integers(0, 300))
def test_no_bytes_raise_anything_but_a_refusal(junk: bytes, at: int) -> None:
    data = GL.encode()
    for hostile in (junk, data[:at] + junk + data[at:]):
        try:
            done = read(hostile)
        except SourceError:
            continue
        assert all(line.amount.is_finite() for line in done.lines)


@pytest.mark.anyio
async def test_the_tools_show_accounts_lines_journals_and_balances(tmp_path: Path) -> None:
    path = tmp_path / "gl.csv"
    path.write_text(GL)
    ledger = Ledger([path])
    names = ["list_accounts", "get_gl_detail", "get_journal", "get_balance", "read_as"]
    assert [tool.name for tool in await tools_of(ledger)] == names
    invoke = await connected(ledger)

    listed: Json = invoke("list_accounts", text="bank").content
    assert listed["accounts"] == [
        {
            "account": "1200 Bank",
            "currency": "GBP",
            "first": "2026-09-14",
            "last": "2026-09-30",
            "lines": {"value": "2", "record": "ledger:total/1200-Bank/lines"},
            "debits": {"value": "25.00", "record": "ledger:total/1200-Bank/debits"},
            "credits": {"value": "-40.00", "record": "ledger:total/1200-Bank/credits"},
            "opening": {"value": "100.00", "record": "ledger:balance/1200-Bank/2026-09-01/opening"},
            "balance": {"value": "85.00", "record": "ledger:balance/1200-Bank/2026-09-30/computed"},
        }
    ]
    detail: Json = invoke("get_gl_detail", account="1200", **{"from": "2026-09-15"}).content
    assert detail["lines"] == [
        {
            "record": "ledger:line/2026-09-30/8-2",
            "date": "2026-09-30",
            "journal": "8",
            "amount": "-40.00",
            "text": "Rent",
        }
    ]
    journal: Json = invoke("get_journal", number="7").content
    assert (journal["balanced"], [each["account"] for each in journal["lines"]]) == (
        True,
        ["1200 Bank", "4000 Sales"],
    )
    days = {"2026-08-31": "100.00", "2026-09-14": "125.00", "2026-12-31": "85.00"}
    for day, amount in days.items():
        (record,) = invoke("get_balance", account="1200", date=day).records
        assert str(record.amount) == amount


@pytest.mark.anyio
async def test_a_wrong_name_is_answered_with_the_right_ones(tmp_path: Path) -> None:
    path = tmp_path / "gl.csv"
    path.write_text(GL)
    invoke = await connected(Ledger([path]))
    with pytest.raises(NamespaceError, match="no one account '12'; there are: '1200 Bank', '4000"):
        invoke("get_gl_detail", account="12")
    with pytest.raises(NamespaceError, match="no journal '99'"):
        invoke("get_journal", number="99")
    with pytest.raises(NamespaceError, match="begin after 2026-08-01"):
        invoke("get_balance", account="1200", date="2026-08-01")
