"""Reports of the books that put the lines of each account under a heading."""

from decimal import Decimal

from offing.namespaces.ledger.accounts import Books, gather
from offing.namespaces.ledger.general_ledger import read_general_ledger
from offing.namespaces.tables.source import Conventions, Source

QUICKBOOKS_ONLINE = """Acme Inc
General Ledger
"September 1-30, 2026"

,Date,Transaction Type,Num,Name,Memo/Description,Split,Amount,Balance
Bank,,,,,,,,
Checking,,,,,,,,
,Beginning Balance,,,,,,,"1,000.00"
,09/05/2026,Deposit,,ACME,Invoice 3,Sales,"1,500.00","2,500.00"
,09/20/2026,Check,1001,Landlord,Rent,Rent,-700.00,"1,800.00"
Total for Checking,,,,,,,$800.00,
Savings,,,,,,,,
,09/21/2026,Deposit,,Bank,Interest,Interest,5.00,5.00
Total for Savings,,,,,,,$5.00,
Total for Bank with sub-accounts,,,,,,,$805.00,
Rent,,,,,,,,
,09/20/2026,Check,1001,Landlord,Rent,Checking,700.00,700.00
Total for Rent,,,,,,,$700.00,

"Accrual Basis Tuesday, October 6, 2026"
"""
XERO = """Account Transactions
Demo Company (UK)
Date,Source,Description,Reference,Debit,Credit,Running Balance
Business Bank Account,,,,,,
Opening Balance,,,,1000.00,,1000.00
5 Sep 2026,Receive Money,ACME,INV-3,1500.00,,2500.00
20 Sep 2026,Spend Money,Landlord,,,700.00,1800.00
Total Business Bank Account,,,,1500.00,700.00,800.00
Closing Balance,,,,1800.00,,1800.00
Sales,,,,,,
5 Sep 2026,Receive Money,ACME,INV-3,,1500.00,-1500.00
Total Sales,,,,,1500.00,-1500.00
"""
QUICKBOOKS_DESKTOP = """,Type,Date,Num,Name,Memo,Split,Debit,Credit,Balance
1000 Checking,,,,,,,,,"1,000.00"
,Deposit,09/13/2026,,ACME,Invoice 3,4000,"1,500.00",,"2,500.00"
Total 1000 Checking,,,,,,,"1,500.00",0.00,"2,500.00"
4000 Sales,,,,,,,,,0.00
,Deposit,09/13/2026,,ACME,Invoice 3,1000,,"1,500.00","-1,500.00"
Total 4000 Sales,,,,,,,0.00,"1,500.00","-1,500.00"
"""
WITHOUT_TOTALS = """Date,Description,Debit,Credit
1200 Bank,,,
2026-09-05,ACME,1500.00,
4000 Sales,,,
2026-09-05,ACME,,1500.00
"""


def books(text: str) -> Books:
    return gather([read_general_ledger(Source("gl.csv", text.encode()), Conventions())])


def held(done: Books) -> dict[str, tuple[list[str], str | None]]:
    """The amounts of each account, and the balance it is stated to begin with."""
    return {
        each.label: (
            [str(posting.line.amount) for posting in each.postings],
            None if each.opening is None else str(each.opening.amount),
        )
        for each in done.accounts
    }


def told(done: Books) -> list[tuple[str, int | None]]:
    return [(each.what, each.row) for each in done.findings if each.severity != "info"]


def test_lines_belong_to_the_heading_above_them_and_headings_within_one_are_below_it() -> None:
    done = books(QUICKBOOKS_ONLINE)
    assert held(done) == {
        "Bank:Checking": (["1500.00", "-700.00"], "1000.00"),
        "Bank:Savings": (["5.00"], None),
        "Rent": (["700.00"], None),
    }
    assert told(done) == []
    assert done.find("Checking").postings[0].line.text == "Invoice 3"


def test_a_closing_balance_below_the_total_is_that_accounts_and_is_checked() -> None:
    assert held(books(XERO)) == {
        "Business Bank Account": (["1500.00", "-700.00"], "1000.00"),
        "Sales": (["-1500.00"], None),
    }
    assert told(books(XERO)) == []
    wrong = books(
        XERO.replace("Closing Balance,,,,1800.00", "Closing Balance,,,,1900.00").replace(
            ",1800.00\nS", ",1900.00\nS"
        )
    )
    assert told(wrong) == [
        ("Business Bank Account does not tie: its lines make 1800.00, stated is 1900.00", 9)
    ]


def test_a_heading_may_state_what_its_account_begins_with() -> None:
    assert held(books(QUICKBOOKS_DESKTOP)) == {
        "1000 Checking": (["1500.00"], "1000.00"),
        "4000 Sales": (["-1500.00"], "0.00"),
    }
    assert told(books(QUICKBOOKS_DESKTOP)) == []


def test_without_totals_each_heading_ends_the_one_before() -> None:
    assert held(books(WITHOUT_TOTALS)) == {
        "1200 Bank": (["1500.00"], None),
        "4000 Sales": (["-1500.00"], None),
    }


def test_a_total_that_its_lines_do_not_make_is_told_with_both() -> None:
    done = books(QUICKBOOKS_ONLINE.replace("$805.00", "$806.00").replace("$700.00", "$690.00"))
    assert told(done) == [
        ("the total of 'Bank' is 806.00, its lines make 805.00", 15),
        ("the total of 'Rent' is 690.00, its lines make 700.00", 18),
    ]


def test_no_line_of_a_report_is_counted_for_the_file() -> None:
    every = sum((each.line.amount for of in books(XERO).accounts for each in of.postings), Decimal(0))
    assert every == Decimal("-700.00")  # the report shows no account for the rent
    assert "gl" not in {each.label for each in books(XERO).accounts}
