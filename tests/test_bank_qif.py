"""What a QIF file may do to its reader, one rule a test."""

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.namespaces.bank.formats import reader_for
from offing.namespaces.bank.qif import read_qif
from offing.namespaces.bank.statement import Entry, StatementFile
from offing.namespaces.tables.source import Conventions, Source, SourceError

GBP = Conventions(currency="GBP")
ALWAYS = {
    "names no account: it is named by its file",
    "states no balances: nothing shows whether entries are missing",
}


def record(day: str = "14/09/2026", amount: str = "-5.00", more: str = "") -> str:
    return f"D{day}\nT{amount}\n{more}^\n"


def file_of(*records: str) -> str:
    return "!Type:Bank\n" + "".join(records)


def read(text: str | bytes, conventions: Conventions = GBP) -> StatementFile:
    data = text.encode() if isinstance(text, str) else text
    return read_qif(Source("a.qif", data), conventions)


def entries(text: str, conventions: Conventions = GBP) -> tuple[Entry, ...]:
    (statement,) = read(text, conventions).statements
    return statement.entries


def amounts(text: str) -> list[Decimal]:
    return [each.amount for each in entries(text)]


def days(*written: str, day_first: bool | None = None) -> list[str]:
    text = file_of(*(record(each) for each in written))
    return [str(each.booked) for each in entries(text, Conventions(day_first, currency="GBP"))]


def told(text: str) -> list[tuple[str, str, int | None]]:
    """What is told beyond what is told of each such file."""
    found = [(each.severity, each.what, each.row) for each in read(text).findings]
    return [each for each in found if each[1] not in ALWAYS]


def test_a_record_is_read_with_all_its_fields() -> None:
    more = "PKestrel Ltd\nMinvoice 7\nMsecond line\nN1042\nLSupplies\nAHull\nC*\n"
    assert entries(file_of(record(more=more))) == (
        Entry(
            id="",
            booked=datetime.date(2026, 9, 14),
            amount=Decimal("-5.00"),
            currency="GBP",
            row=2,
            name="Kestrel Ltd",
            text="invoice 7 second line number 1042 Supplies Hull",
        ),
    )


def test_what_the_format_lacks_is_told() -> None:
    found = [(each.severity, each.what) for each in read(file_of(record()), Conventions()).findings]
    assert found == [
        ("info", "names no account: it is named by its file"),
        ("warning", "names no currency: its amounts match only others without one"),
        ("warning", "states no balances: nothing shows whether entries are missing"),
    ]
    (statement,) = read(file_of(record()), Conventions()).statements
    assert (statement.account, statement.currency, statement.gap) == ("a", None, None)


def test_one_date_decides_the_order_of_the_whole_file() -> None:
    assert days("3/4/26", "13/4/26") == ["2026-04-03", "2026-04-13"]
    assert days("3/4/26", "4/13/26") == ["2026-03-04", "2026-04-13"]


def test_an_order_that_nothing_decides_is_refused_with_both_readings() -> None:
    with pytest.raises(SourceError, match=r"2026-04-03 with day_first=True and as 2026-03-04 with day_first"):
        days("3/4/26", "5/4/26")
    assert days("3/4/26", "5/4/26", day_first=True) == ["2026-04-03", "2026-04-05"]
    assert days("3/4/26", "5/4/26", day_first=False) == ["2026-03-04", "2026-05-04"]


def test_two_orders_in_a_file_are_refused() -> None:
    with pytest.raises(SourceError, match="has the month first; one file has one order"):
        days("13/4/26", "4/13/26")


def test_an_apostrophe_year_is_past_1999() -> None:
    written = ("13/ 2'05", "13/ 2' 5", "13/2'2005", "13.2'05", "13-2'05")
    assert days(*written) == ["2005-02-13"] * 5
    assert days("13/2/95", "13/2'95") == ["1995-02-13", "2095-02-13"]
    with pytest.raises(SourceError, match="2005-02-01 with day_first=True and as 2005-01-02"):
        days("1/2'05")


def test_dots_have_the_day_first() -> None:
    assert days("03.11.25", "04.11.2025") == ["2025-11-03", "2025-11-04"]


def test_dates_of_splits_and_investments_help_to_decide() -> None:
    split = file_of(record("3/4/26", more="SFood\nD1/13/26\n$-5.00\n"))
    trade = file_of(record("3/4/26")) + "!Type:Invst\nD1/13/26\nNBuy\n^\n"
    assert [str(entries(each)[0].booked) for each in (split, trade)] == ["2026-03-04", "2026-03-04"]


def test_thousands_marks_are_read_by_what_the_file_shows() -> None:
    assert amounts(file_of(record(amount="-1,000.00"), record(amount="2,500"))) == [-1000, 2500]
    assert amounts(file_of(record(amount="-1.000,00"), record(amount="2.500"))) == [-1000, 2500]
    with pytest.raises(SourceError, match=r"reads as 1\.000 with decimal=',' and as 1000|reads as 1000 with"):
        read(file_of(record(amount="1,000")))


def test_splits_are_the_text_of_their_entry() -> None:
    splits = "LFood\nSFood\nEbread\n$-3.00\nSHome\n$-2.00\n"
    text = file_of(record(more=splits))
    assert amounts(text) == [Decimal("-5.00")]
    assert entries(text)[0].text == "Food [Food bread -3.00] [Home -2.00]"
    assert told(text) == []


def test_splits_that_do_not_make_their_entry_are_told() -> None:
    text = file_of(record(more="SFood\n$-3.00\n"))
    assert told(text) == [("warning", "its splits make -3.00, the entry is -5.00: the entry counts", 2)]


def test_a_second_amount_is_compared() -> None:
    assert amounts(file_of("U-5.00\n", record())) == [Decimal("-5.00")]
    assert amounts(file_of("D14/09/2026\nU-7.00\n^\n")) == [Decimal("-7.00")]
    assert told(file_of("U-6.00\n", record())) == [("warning", "T is -5.00, yet U is '-6.00': T counts", 2)]


def test_accounts_are_kept_apart() -> None:
    text = (
        "!Account\nNCurrent\nTBank\n^\n!Type:Bank \n"
        + record()
        + "!Account\nNVisa\nTCCard\n$12.00\n^\n!type:ccard\n"
        + record(amount="-7.00")
    )
    done = read(text)
    kept = [(each.account, [e.amount for e in each.entries]) for each in done.statements]
    assert kept == [("Current", [Decimal("-5.00")]), ("Visa", [Decimal("-7.00")])]
    assert "the balance '12.00' of an account block" in done.findings[0].what


def test_a_list_of_all_accounts_names_none() -> None:
    listed = "!Option:AutoSwitch\n!Account\nNCurrent\n^\nNSavings\n^\n!Clear:AutoSwitch\n"
    assert [each.account for each in read(listed + file_of(record())).statements] == ["a"]


def test_sections_of_two_kinds_without_a_name_are_two_accounts() -> None:
    text = file_of(record()) + "!Type:Cash\n" + record(amount="-1.00")
    assert [each.account for each in read(text).statements] == ["a Bank", "a Cash"]


def test_lists_are_no_entries() -> None:
    text = "!Type:Cat\nNFood\nDgroceries\n^\n!Type:Security\nNX\n^\n" + file_of(record())
    assert amounts(text) == [Decimal("-5.00")]
    assert told(text) == [("info", "its lists (cat, security) hold no entries: not used", None)]


@pytest.mark.parametrize("kind", ["Invst", "Banque"])
def test_a_section_that_is_not_read_is_told(kind: str) -> None:
    text = file_of(record()) + f"!Type:{kind}\n" + record("14/09/2026", "9.00")
    assert amounts(text) == [Decimal("-5.00")]
    assert told(text) == [
        ("error", f"the section !Type:{kind.lower()} is not read: only bank, card and cash ones are", 5)
    ]


def test_an_opening_balance_among_the_entries_is_told() -> None:
    text = file_of(record(amount="100.00", more="POpening Balance\nL[Current]\n"))
    assert amounts(text) == [Decimal("100.00")]
    assert told(text) == [
        ("warning", "the opening balance 100.00 is an entry in this file, so it is in its sum", 2)
    ]


@pytest.mark.parametrize("day", ["30/02/2026", "32/13/2026", "", "tomorrow", "0/0/0"])
def test_an_entry_on_an_impossible_day_is_left_out_and_told(day: str) -> None:
    text = file_of(record(), record(day))
    assert amounts(text) == [Decimal("-5.00")]
    assert [(severity, row) for severity, _, row in told(text)] == [("error", 5)]


@pytest.mark.parametrize("amount", ["", "ten", "=1+1", "1e5", "9" * 10_000, "5-5", "NaN"])
def test_an_entry_without_a_number_is_left_out_and_told(amount: str) -> None:
    text = file_of(record(), record(amount=amount))
    assert amounts(text) == [Decimal("-5.00")]
    assert [(severity, row) for severity, _, row in told(text)] == [("error", 5)]


def test_entries_that_ran_together_are_left_out() -> None:
    text = file_of(record().replace("^\n", ""), record(amount="1.00"))
    assert amounts(text) == []
    assert told(text)[0][1].endswith("so two entries may have run together")


def test_a_last_record_without_its_end_counts_only_when_its_lines_are_whole() -> None:
    whole = file_of(record(), record(amount="-16.85"))
    lacking, cut = whole.removesuffix("^\n"), whole[: whole.index("16.85") + 4]
    assert amounts(lacking) == [Decimal("-5.00"), Decimal("-16.85")]
    assert amounts(cut) == [Decimal("-5.00")]
    assert [severity for text in (lacking, cut) for severity, _, _ in told(text)] == ["error", "error"]
    assert told(whole.removesuffix("\n")) == []


def test_what_stands_outside_of_the_sections_and_fields_is_told() -> None:
    text = "### comment\n\nD1/1/26\nT5.00\n^\n" + file_of(record(more="ßstray\n"))
    assert told(text) == [
        ("error", "a record outside of any section is left out", 3),
        ("error", "a record outside of any section is left out", 4),
        ("warning", "lines that begin with 'ß' are no fields of QIF: not used", 9),
    ]


def test_line_ends_marks_and_legacy_bytes_are_read() -> None:
    text = file_of(record(more="PMüller\n"))
    files = (
        text.replace("\n", "\r\n").encode(),
        text.replace("\n", "\r").encode(),
        text.encode("utf-8-sig"),
        text.encode("cp1252"),
        text.encode("utf-16"),
    )
    assert [read(each).statements[0].entries[0].name for each in files] == ["Müller"] * 5


def test_a_file_without_a_bank_section_is_refused() -> None:
    with pytest.raises(SourceError, match=r"a\.qif: has no section !Type:Bank"):
        read("!Type:Invst\nD1/13/26\n^\n")


@pytest.mark.parametrize(
    "head", ["!Type:Bank\n", "!Account\nNX\n^\n!Type:Bank\n", "# made by\n\n!type:CCard\r\n"]
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_format_is_known_by_its_content(head: str, encoding: str) -> None:
    assert reader_for(Source("a.txt", head.encode(encoding))) is read_qif


@given(st.binary(max_size=200), st.integers(0, 120))
def test_no_bytes_raise_anything_but_a_refusal(junk: bytes, at: int) -> None:
    data = file_of(record(more="SFood\n$-5.00\n"), record("13/9'26", "-6.00")).encode()
    for hostile in (junk, data[:at] + junk + data[at:], data[:at] + junk, b"!Type:Bank\n" + junk):
        try:
            done = read(hostile)
        except SourceError:
            continue
        assert all(each.amount.is_finite() for s in done.statements for each in s.entries)
