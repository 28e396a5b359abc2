"""What a CSV statement may do to its reader, one rule a test."""

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.namespaces.bank.delimited import read_delimited
from offing.namespaces.bank.statement import Statement, StatementFile
from offing.namespaces.tables.source import Conventions, Source, SourceError


def read(text: str | bytes, conventions: Conventions | None = None) -> StatementFile:
    data = text.encode() if isinstance(text, str) else text
    return read_delimited(Source("a.csv", data), conventions or Conventions())


def only(text: str | bytes, conventions: Conventions | None = None) -> Statement:
    (statement,) = read(text, conventions).statements
    return statement


def amounts(text: str | bytes, conventions: Conventions | None = None) -> list[Decimal]:
    return [each.amount for each in only(text, conventions).entries]


def days(text: str, conventions: Conventions | None = None) -> list[str]:
    return [str(each.booked) for each in only(text, conventions).entries]


def errors(text: str) -> list[tuple[int | None, str]]:
    return [(each.row, each.what) for each in read(text).findings if each.severity == "error"]


def column(*cells: str, name: str = "Amount") -> str:
    rows = "".join(f"2026-09-14;{cell};x\n" for cell in cells)
    return f"Date;{name};Text\n{rows}"


def dated(*cells: str) -> str:
    return "Date;Amount\n" + "".join(f"{cell};1.50\n" for cell in cells)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1.234,56", "1234.56"),
        ("1,234.56", "1234.56"),
        ("1'234.56", "1234.56"),
        ("1\u2019234.56", "1234.56"),
        ("1 234,56", "1234.56"),
        ("1\u202f234,56", "1234.56"),
        ("12,34,567.89", "1234567.89"),
        ("(125.00)", "-125.00"),
        ("125.00-", "-125.00"),
        ("\u2212125.00", "-125.00"),
        ("£1,234.56", "1234.56"),
        ("-£5.00", "-5.00"),
        ("£-5.00", "-5.00"),
        ("4.093,32 €", "4093.32"),
        ("EUR 12,00", "12.00"),
        ("12.50 DR", "-12.50"),
        ("12.50 CR", "12.50"),
        ("12,50 S", "-12.50"),
        (".50", "0.50"),
        ("+30000,77", "30000.77"),
    ],
)
def test_an_amount_is_read_as_people_write_it(written: str, value: str) -> None:
    assert amounts(column(written)) == [Decimal(value)]


@pytest.mark.parametrize(
    "written", ["1,23.45", "1.2.3", "12-5", "=SUM(A1)", "1e9", "--5", "(5", "٣", "9" * 50, "1,2345.6"]
)
def test_what_is_no_amount_is_left_out_and_told(written: str) -> None:
    text = column("1.50", written)
    assert amounts(text) == [Decimal("1.50")]
    assert [row for row, _ in errors(text)] == [3]


def test_one_number_decides_the_mark_of_the_whole_column() -> None:
    assert amounts(column("1,234", "5.50")) == [Decimal(1234), Decimal("5.50")]
    assert amounts(column("1,234", "5,50")) == [Decimal("1.234"), Decimal("5.50")]


def test_a_mark_that_nothing_decides_is_refused_with_both_readings() -> None:
    with pytest.raises(SourceError) as refused:
        read(column("1,234", "12"))
    assert str(refused.value) == (
        "a.csv line 2: '1,234': reads as 1234 with decimal='.' and as 1.234 with decimal=',', and no"
        " other number of the file decides it; say which with decimal="
    )
    assert amounts(column("1,234"), Conventions(decimal=",")) == [Decimal("1.234")]
    assert amounts(column("1,234"), Conventions(decimal=".")) == [Decimal(1234)]


def test_what_is_said_gives_way_to_what_the_file_shows() -> None:
    assert amounts(column("1,50"), Conventions(decimal=".")) == [Decimal("1.50")]
    assert days(dated("31/12/2026"), Conventions(day_first=False)) == ["2026-12-31"]


def test_two_marks_in_a_file_are_refused_with_both_lines() -> None:
    with pytest.raises(SourceError, match=r"line 2: '1\.50': has a decimal point, yet '1,50' in line 3"):
        read(column("1.50", "1,50"))


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2026-09-03", "2026-09-03"),
        ("2026/9/3", "2026-09-03"),
        ("20260903", "2026-09-03"),
        ("2026-09-03T23:59:59+14:00", "2026-09-03"),
        ("2026-09-03 11:05", "2026-09-03"),
        ("03.04.26", "2026-04-03"),
        ("3-Sep-26", "2026-09-03"),
        ("03 septembre 2026", "2026-09-03"),
        ("3. März 2026", "2026-03-03"),
        ("12 ago 2026", "2026-08-12"),
        ("Sep 3, 2026", "2026-09-03"),
        ("23-Jan-69", "1969-01-23"),
        ("31/12/2026", "2026-12-31"),
        ("12/31/2026", "2026-12-31"),
    ],
)
def test_a_date_is_read_as_people_write_it(written: str, day: str) -> None:
    quoted = f'"{written}"'
    assert days(dated(quoted)) == [day]


def test_one_date_decides_the_order_of_the_whole_column() -> None:
    assert days(dated("03/04/2026", "31/04/2026", "31/12/2026")) == ["2026-04-03", "2026-12-31"]
    assert errors(dated("31/12/2026", "31/04/2026")) == [(3, "is left out: '31/04/2026' is no date")]


def test_an_order_that_nothing_decides_is_refused_with_both_readings() -> None:
    with pytest.raises(SourceError) as refused:
        read(dated("03/04/2026", "05/04/2026"))
    assert str(refused.value) == (
        "a.csv line 2: '03/04/2026': reads as 2026-04-03 with day_first=True and as 2026-03-04 with"
        " day_first=False, and no other date of the file decides it; say which with day_first="
    )
    assert days(dated("03/04/2026"), Conventions(day_first=True)) == ["2026-04-03"]
    assert days(dated("03/04/2026"), Conventions(day_first=False)) == ["2026-03-04"]


def test_a_day_that_reads_the_same_both_ways_needs_no_decision() -> None:
    assert days(dated("04/04/2026")) == ["2026-04-04"]


def test_two_orders_in_a_file_are_refused_with_both_lines() -> None:
    with pytest.raises(SourceError, match=r"day first, yet '12/31/2026' in line 3 has the month first"):
        read(dated("31/12/2026", "12/31/2026"))


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_delimiter_line_end_and_encoding_are_found(delimiter: str, end: str, encoding: str) -> None:
    rows = ["Bank of Somewhere", "", "Datum;Text;Betrag", "14.09.2026;Müller;-12.50"]
    data = end.join(rows).replace(";", delimiter).encode(encoding)
    (entry,) = only(data).entries
    assert (entry.text, entry.amount, entry.row) == ("Müller", Decimal("-12.50"), 4)


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("Date;Description;Debit;Credit", "2026-09-14;x;12.50;"),
        ("Date;Description;Debit;Credit", "2026-09-14;x;-12.50;0.00"),
        ("Buchungstag;Verwendungszweck;Soll;Haben", "2026-09-14;x;12.50;"),
        ("Datum;Omschrijving;Af Bij;Bedrag (EUR)", "20260914;x;Af;12.50"),
        ("Date;Libellé;Débit;Crédit", "2026-09-14;x;-12.50;"),
        ("Fecha;Concepto;Importe", "2026-09-14;x;-12.50"),
        ("Date;Description;Type;Amount", "2026-09-14;x;DEBIT;12.50"),
        ("Date;Description;Type;Amount", "2026-09-14;x;Transfer;-12.50"),
        ("Date;Gross;Fee;Net", "2026-09-14;-12.00;-0.50;-12.50"),
    ],
)
def test_columns_are_known_by_their_words_in_five_languages(header: str, cells: str) -> None:
    assert amounts(f"{header}\n{cells}\n") == [Decimal("-12.50")]


def test_a_negative_debit_among_positive_ones_is_money_back() -> None:
    text = "Date;Debit;Credit\n2026-09-14;10.00;\n2026-09-14;-10.00;\n"
    assert amounts(text) == [Decimal("-10.00"), Decimal("10.00")]


def test_a_sign_that_contradicts_its_flag_is_left_out_and_told() -> None:
    text = "Date;Amount;Credit/Debit\n2026-09-14;1.50;C\n2026-09-14;-2.50;C\n2026-09-14;3.50;?\n"
    assert amounts(text) == [Decimal("1.50")]
    assert [row for row, _ in errors(text)] == [3, 4]


def test_a_word_of_two_meanings_is_settled_by_its_column() -> None:
    dutch = only("Datum;Valuta;Bedrag\n2026-09-14;EUR;1.50\n")
    german = only("Datum;Valuta;Betrag (€)\n2026-09-14;2026-09-15;1.50\n")
    assert (dutch.currency, dutch.entries[0].value_date) == ("EUR", None)
    assert (german.currency, german.entries[0].value_date) == ("EUR", datetime.date(2026, 9, 15))


def test_accounts_and_currencies_are_kept_apart() -> None:
    text = (
        "Account;Date;Amount;Currency\nA;2026-09-14;1.50;EUR\nA;2026-09-14;2.50;USD\nB;2026-09-14;3.50;EUR\n"
    )
    kept = [(each.account, each.currency, len(each.entries)) for each in read(text).statements]
    assert kept == [("A", "EUR", 1), ("A", "USD", 1), ("B", "EUR", 1)]


def test_a_currency_that_no_file_names_can_be_said() -> None:
    assert only(column("1.50")).currency is None
    assert only(column("1.50"), Conventions(currency="GBP")).currency == "GBP"


def test_a_running_balance_gives_both_ends_in_either_direction() -> None:
    rows = ["2026-09-01;10.00;110.00", "2026-09-02;-30.00;80.00", "2026-09-03;5.00;85.00"]
    for order in (rows, rows[::-1]):
        statement = only("\n".join(["Date;Amount;Balance", *order]))
        assert statement.opening is not None
        assert statement.closing is not None
        ends = (statement.opening.amount, statement.closing.amount, statement.gap)
        assert ends == (Decimal("100.00"), Decimal("85.00"), Decimal("0.00"))


def test_a_break_in_the_running_balance_is_told_at_its_line() -> None:
    text = (
        "Date;Amount;Balance\n2026-09-01;10.00;110.00\n2026-09-02;-30.00;80.00\n"
        "2026-09-03;5.00;95.00\n2026-09-04;1.00;96.00\n2026-09-05;1.00;97.00\n"
    )
    assert errors(text)[0] == (
        4,
        "the balance 95.00 is off by 10.00: an entry before it is missing or wrong",
    )
    assert errors(text)[1][1].endswith("a gap of 10.00")


def test_a_row_with_a_missing_cell_is_read_only_if_one_reading_fits() -> None:
    fits = "Date;Payee;Text;Amount;Currency\n2026-09-01;a;b;1.50;EUR\n2026-09-02;b;2.50;EUR\n"
    assert amounts(fits) == [Decimal("1.50"), Decimal("2.50")]
    assert [each.severity for each in read(fits).findings] == ["warning"]
    open_ = "Date;Debit;Credit\n2026-09-01;1.50;\n2026-09-02;2.50\n"
    assert amounts(open_) == [Decimal("-1.50")]
    assert errors(open_) == [
        (
            3,
            "is left out: 2 cells where the header has 3: the amount may be -2.50 or 2.50;"
            " add the missing quotes",
        )
    ]


def test_a_delimiter_inside_a_text_does_not_move_the_amount() -> None:
    text = "Date,Text,Amount,Balance\n2026-09-01,ACME,1.50,101.50\n2026-09-02,ACME, 12,-5.00,96.50\n"
    assert amounts(text) == [Decimal("1.50"), Decimal("-5.00")]


def test_an_amount_split_at_its_thousands_mark_is_not_guessed() -> None:
    text = "Date,Text,Amount,Balance\n2026-09-01,ACME,1.50,101.50\n2026-09-02,ACME,1,234.56,96.50\n"
    assert amounts(text) == [Decimal("1.50")]
    assert [row for row, _ in errors(text)] == [3]


def test_quotes_that_are_not_closed_swallow_no_lines() -> None:
    text = 'Date;Text;Amount\n2026-09-01;"open;1.50\n2026-09-02;x;2.50\n2026-09-03;"y";3.50\n'
    assert amounts(text) == [Decimal("1.50"), Decimal("2.50"), Decimal("3.50")]


def test_a_quoted_text_may_run_over_lines() -> None:
    text = 'Date;Text;Amount\n2026-09-01;"one\ntwo; three";1.50\n2026-09-02;x;2.50\n'
    (first, second) = only(text).entries
    assert (first.text, first.amount, first.row) == ("one two; three", Decimal("1.50"), 2)
    assert (second.amount, second.row) == (Decimal("2.50"), 4)


def test_balances_in_rows_are_no_entries() -> None:
    text = (
        "Date;Text;Amount\n;Opening balance;100.00\n2026-09-01;x;1.50\n;Total;1.50\n;Closing balance;101.50\n"
    )
    statement = only(text)
    assert [each.amount for each in statement.entries] == [Decimal("1.50")]
    assert statement.gap == Decimal("0.00")


def test_a_company_called_total_is_no_total() -> None:
    assert amounts("Date;Text;Amount\n2026-09-01;Total Energies;-1.50\n") == [Decimal("-1.50")]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no header among the first"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "holds NUL bytes"),
        (b"Date;Amount\n", "has no rows below its header"),
        (b"2026-09-14;1.50;x\n", "no line names the columns, which begin with 1 = '2026-09-14', 2 = '1.50'"),
        (b"Date;Amount\nx;y\n", "no row below the header could be read"),
        (b"Date;Amount\n2026-09-14;" + b"9" * 1_000_000, "is no row of a table"),
        (b"PK\x03\x04 no workbook", "is a damaged workbook"),
        (
            b"\xef\xbb\xbf <HTML><table><tr><td>Date;Amount",
            "is a web page or XML, which some banks name .xls",
        ),
        (b'<?xml version="1.0"?><Workbook>', "is a web page or XML, which some banks name .xls"),
        (b"Date;Amount\n2026-09-14;5%\n", "no row below the header could be read"),
    ],
)
def test_what_is_no_statement_is_refused_with_the_reason(data: bytes, why: str) -> None:
    with pytest.raises(SourceError, match=why):
        read(data)


@given(st.binary(max_size=300), st.integers(0, 200))
def test_no_bytes_raise_anything_but_a_refusal(junk: bytes, at: int) -> None:
    data = column("1.50", "-2.50", "1.234,56").encode()
    for hostile in (junk, data[:at] + junk + data[at:], b"Date;Amount\n" + junk):
        try:
            done = read(hostile)
        except SourceError:
            continue
        assert all(each.amount.is_finite() for s in done.statements for each in s.entries)


@given(st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1), st.sampled_from(".,"))
def test_amounts_written_with_thousands_marks_are_read_back(values: list[Decimal], decimal: str) -> None:
    written = [f"{value:,.2f}" for value in values]
    if decimal == ",":
        written = [each.translate(str.maketrans(",.", ".,")) for each in written]
    assert amounts(column(*written)) == values
