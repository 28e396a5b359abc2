"""IIF: what its rows mean, by hand arithmetic."""

import datetime
from decimal import Decimal

import pytest

from offing.namespaces.ledger.books import LedgerFile, Line
from offing.namespaces.ledger.iif import read_iif
from offing.namespaces.tables.source import Conventions, Source, SourceError, UndecidedError

HEAD = "!TRNS\tTRNSTYPE\tDATE\tACCNT\tNAME\tAMOUNT\tDOCNUM\tMEMO\n!SPL\tDATE\tACCNT\tAMOUNT\tMEMO\n!ENDTRNS\n"
ENTRY = (
    'TRNS\tCHECK\t09/14/2026\tBank:Checking\tLandlord\t-1,200.50\t101\t"Rent, ""old"" flat"\n'
    "SPL\t09/14/2026\tRent\t1,200.50\t\nENDTRNS\n"
)


def read(text: str, conventions: Conventions | None = None) -> LedgerFile:
    return read_iif(Source("a.iif", text.encode()), conventions or Conventions())


def errors(of: LedgerFile) -> list[tuple[int | None, str]]:
    return [(each.row, each.what) for each in of.findings if each.severity == "error"]


def test_both_rows_are_lines_of_one_entry_each_by_its_own_columns() -> None:
    day = datetime.date(2026, 9, 14)
    done = read(HEAD + ENTRY, Conventions(currency="USD"))
    first = 'Landlord Rent, "old" flat 101'
    assert done.lines == (
        Line(day, "Bank:Checking", Decimal("-1200.50"), "USD", "a.iif", 4, "a.iif:4", first),
        Line(day, "Rent", Decimal("1200.50"), "USD", "a.iif", 5, "a.iif:4", ""),
    )
    assert done.findings == ()


def test_accounts_are_kept_and_other_lists_are_told() -> None:
    lists = "!ACCNT\tNAME\tACCNTTYPE\nACCNT\tBank:Checking\tBANK\n!CUST\tNAME\nCUST\tA\nCUST\tB\n"
    done = read(lists + HEAD + ENTRY, Conventions(currency="USD"))
    assert done.accounts == ("Bank:Checking",)
    assert [each.what for each in done.findings] == ["rows of the list CUST hold no entries: not used"]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (
            "TRNS\t\t09/14/2026\tA\t\t1\nSPL\t09/14/2026\tB\t-2\nENDTRNS\n",
            [(4, "the entry does not balance: its lines sum to -1")],
        ),
        (
            "TRNS\t\t09/14/2026\tA\t\t1\nSPL\t09/14/2026\tB\t-1\n",
            [(4, "the entry has no ENDTRNS before the end of the file: lines of it may be missing")],
        ),
        (
            f"TRNS\t\t09/14/2026\tA\t\t0\n{ENTRY}",
            [(4, "the entry has no ENDTRNS before line 5: lines of it may be missing")],
        ),
        (
            f"{ENTRY}SPL\t09/14/2026\tB\t-1\nENDTRNS\n",
            [(7, "a row SPL belongs to no TRNS: it is not read"), (8, "ENDTRNS ends nothing")],
        ),
        (
            "TRNS\t\t09/14/2026\tA\t\tx\nSPL\t09/31/2026\tB\t0\nSPL\t\t\t0\nENDTRNS\n",
            [
                (4, "is left out: 'x' is no amount"),
                (5, "is left out: '09/31/2026' is no date"),
                (6, "is left out: names no account"),
            ],
        ),
        (
            f"TRNS\t\t09/14/2026\t{'A' * 501}\t\t0\nENDTRNS\nWHAT\tx\n",
            [
                (6, "'WHAT\\tx' is no row of a kind that was named"),
                (4, f"is left out: {('A' * 60)!r}... (501 characters) is no account"),
            ],
        ),
    ],
)
def test_what_is_not_whole_or_does_not_balance_is_told(rows: str, found: list[tuple[int, str]]) -> None:
    assert errors(read(HEAD + rows)) == found


def test_a_row_before_its_columns_are_named_is_told() -> None:
    done = read("TRNS\t09/14/2026\tA\t1\n" + HEAD + ENTRY)
    what = "a row TRNS without a row !TRNS above it that names ACCNT, AMOUNT: it is not read"
    assert errors(done) == [(1, what)]


def test_dates_and_amounts_that_read_two_ways_are_asked_for() -> None:
    rows = "TRNS\t\t03/04/2026\tA\t\t1.50\nSPL\t03/04/2026\tB\t-1.50\nENDTRNS\n"
    with pytest.raises(UndecidedError, match="day_first="):
        read(HEAD + rows)
    assert read(HEAD + rows, Conventions(day_first=True)).lines[0].date == datetime.date(2026, 4, 3)
    rows = "TRNS\t\t09/14/2026\tA\t\t1,500\nSPL\t\tB\t-1,500\nENDTRNS\n"
    with pytest.raises(UndecidedError, match="decimal="):
        read(HEAD + rows)


def test_lists_alone_are_refused() -> None:
    with pytest.raises(SourceError, match="has no transaction"):
        read("!ACCNT\tNAME\nACCNT\tA\n")
