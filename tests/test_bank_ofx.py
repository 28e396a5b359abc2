"""What an OFX file may do to its reader, one rule a test."""

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.namespaces.bank.ofx import read_ofx
from offing.namespaces.bank.statement import Balance, StatementFile
from offing.namespaces.tables.source import Conventions, Source, SourceError

HEAD = "OFXHEADER:100\nDATA:OFXSGML\nENCODING:USASCII\nCHARSET:1252\n\n<OFX>"
ACCOUNT = "<STMTRS><CURDEF>GBP<BANKACCTFROM><ACCTID>12345678</BANKACCTFROM>"
LEDGER = "<LEDGERBAL><BALAMT>10.00<DTASOF>20260930</LEDGERBAL>"
TAIL = "</STMTRS></OFX>"


def entry(amount: str = "-5.00", day: str = "20260914", fitid: str = "1", more: str = "") -> str:
    return f"<STMTTRN><TRNTYPE>OTHER<DTPOSTED>{day}<TRNAMT>{amount}<FITID>{fitid}{more}</STMTTRN>"


def statement_of(*entries: str, ledger: str = LEDGER) -> str:
    lines = "\n".join(entries)
    return f"{HEAD}{ACCOUNT}<BANKTRANLIST>\n{lines}\n</BANKTRANLIST>{ledger}{TAIL}"


def read(text: str | bytes, conventions: Conventions | None = None) -> StatementFile:
    data = text.encode() if isinstance(text, str) else text
    return read_ofx(Source("a.ofx", data), conventions or Conventions())


def amounts(text: str, conventions: Conventions | None = None) -> list[Decimal]:
    (statement,) = read(text, conventions).statements
    return [each.amount for each in statement.entries]


def told(text: str) -> list[tuple[str, str, int | None]]:
    return [(each.severity, each.what, each.row) for each in read(text).findings]


def test_a_sound_statement_has_no_findings() -> None:
    done = read(statement_of(entry()))
    assert done.findings == ()
    assert done.statements[0].closing == Balance(Decimal("10.00"), datetime.date(2026, 9, 30), 8)


def test_the_written_day_stays_whatever_the_zone() -> None:
    days = ("20260930235959[-8:PST]", "20260930000000.000[+12:NZ]", "20260930", "2026-09-30")
    (statement,) = read(statement_of(*(entry(day=day) for day in days))).statements
    assert {each.booked for each in statement.entries} == {datetime.date(2026, 9, 30)}


def test_a_decimal_comma_is_read_as_one() -> None:
    assert amounts(statement_of(entry("-1234,56"), ledger="")) == [Decimal("-1234.56")]
    assert amounts(statement_of(entry("-1.234,56"), ledger="")) == [Decimal("-1234.56")]


def test_a_thousands_mark_is_told_when_nothing_else_shows_what_it_is() -> None:
    text = statement_of(entry("1,234", more="<TRNTYPE>"), ledger="")
    assert amounts(text) == [Decimal("1.234")]
    assert any("is read with the decimal mark ','" in what for _, what, _ in told(text))
    assert amounts(text, Conventions(decimal=".")) == [Decimal(1234)]


def test_both_decimal_marks_in_a_file_are_refused() -> None:
    with pytest.raises(SourceError, match=r"decimal point, yet '-5,50' in line 8"):
        read(statement_of(entry("-5.50"), entry("-5,50")))


def test_equal_fitids_are_both_kept_and_told() -> None:
    text = statement_of(entry(), entry("-6.00"))
    assert amounts(text) == [Decimal("-5.00"), Decimal("-6.00")]
    assert told(text) == [
        ("warning", "FITID '1' stands already in line 7; both are kept", 8),
    ]


@pytest.mark.parametrize("day", ["20260230", "20261301", "00000000", "", "tomorrow", "03/04/2026"])
def test_an_entry_on_an_impossible_day_is_left_out_and_told(day: str) -> None:
    text = statement_of(entry(), entry(day=day, fitid="2"))
    assert amounts(text) == [Decimal("-5.00")]
    assert [(severity, row) for severity, _, row in told(text)] == [("error", 8)]


@pytest.mark.parametrize("amount", ["", "ten", "=1+1", "1e5", "9" * 10_000, "5-5", "NaN", "0x1F"])
def test_an_entry_without_a_number_is_left_out_and_told(amount: str) -> None:
    text = statement_of(entry(), entry(amount, fitid="2"))
    assert amounts(text) == [Decimal("-5.00")]
    assert [(severity, row) for severity, _, row in told(text)] == [("error", 8)]


def test_a_cut_file_loses_its_last_entry_and_says_so() -> None:
    whole = statement_of(entry(), entry("-16.85", fitid="2"))
    cut = whole[: whole.index("16.85") + 4]
    (statement,) = read(cut).statements
    assert [each.id for each in statement.entries] == ["1"]
    assert [each.what for each in read(cut).findings if each.severity == "error"] == [
        "the file ends inside this STMTTRN, so it is left out",
        "ends before </OFX>: it is cut off, so entries may be missing",
    ]


def test_entries_that_ran_together_are_left_out() -> None:
    run = "<STMTTRN><DTPOSTED>20260914<TRNAMT>1.00<FITID>1<DTPOSTED>20260915<TRNAMT>2.00<FITID>2"
    text = statement_of(f"{run}</STMTTRN>")
    assert amounts(text) == []
    assert "run together" in told(text)[0][1]


def test_the_account_of_the_other_party_is_not_the_statements() -> None:
    other = "<BANKACCTTO><ACCTID>99999999</BANKACCTTO><PAYEE><NAME>Fenwick<CITY>Hull</PAYEE>"
    (statement,) = read(statement_of(entry(more=other))).statements
    assert (statement.account, statement.entries[0].name) == ("12345678", "Fenwick")


def test_entries_in_another_currency_are_kept_apart() -> None:
    foreign = "<CURRENCY><CURRATE>1.1<CURSYM>EUR</CURRENCY>"
    done = read(statement_of(entry(), entry("-7.00", fitid="2", more=foreign)))
    kept = [(each.currency, [e.amount for e in each.entries]) for each in done.statements]
    assert kept == [("GBP", [Decimal("-5.00")]), ("EUR", [Decimal("-7.00")])]
    assert done.findings[0].severity == "warning"


def test_an_opening_balance_that_does_not_tie_is_told() -> None:
    opening = "<BALLIST><BAL><NAME>Opening balance<VALUE>20.00<DTASOF>20260831</BAL></BALLIST>"
    (statement,) = read(statement_of(entry(), ledger=LEDGER + opening)).statements
    assert statement.gap == Decimal("-5.00")
    assert "a gap of -5.00" in told(statement_of(entry(), ledger=LEDGER + opening))[0][1]


def test_a_missing_balance_is_told() -> None:
    assert told(statement_of(entry(), ledger="")) == [("warning", "has no LEDGERBAL: no closing balance", 6)]


def test_types_that_contradict_the_sign_are_told() -> None:
    text = statement_of(entry("5.00").replace("OTHER", "DEBIT"))
    assert "contradicts their sign" in told(text)[0][1]


def test_an_investment_statement_is_told_and_lends_nothing_to_another() -> None:
    invested = f"<INVSTMTRS><CURDEF>USD<INVTRANLIST><INVBANKTRAN>{entry('99.00')}</INVSTMTRS>"
    text = statement_of(entry()).replace("</OFX>", f"{invested}</OFX>")
    assert amounts(text) == [Decimal("-5.00")]
    assert "investment statement is not read" in told(text)[0][1]


def test_a_declared_entity_is_never_expanded() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    text = bomb + statement_of(entry(more="<MEMO>&b; &amp;amp; &#65;"))
    (statement,) = read(text).statements
    assert statement.entries[0].text == "&b; &amp; A"


def test_text_in_cdata_and_with_a_lone_bracket_is_kept() -> None:
    text = statement_of(entry(more="<NAME><![CDATA[ Fish & <Chips> ]]><MEMO>3 < 4 > 2"))
    (statement,) = read(text).statements
    assert (statement.entries[0].name, statement.entries[0].text) == (
        "Fish & <Chips>",
        "3 < 4 > 2",
    )


def test_utf8_wins_over_a_header_that_denies_it() -> None:
    (utf8,) = read(statement_of(entry(more="<NAME>Müller"))).statements
    (latin,) = read(statement_of(entry(more="<NAME>Müller")).encode("cp1252")).statements
    assert utf8.entries[0].name == latin.entries[0].name == "Müller"


def test_many_unclosed_tags_take_no_time() -> None:
    done = read(statement_of(*("<!<![CDATA" * 20_000, entry())))
    assert [each.amount for each in done.statements[0].entries] == [Decimal("-5.00")]


def test_a_file_without_a_statement_is_refused() -> None:
    with pytest.raises(SourceError, match=r"a\.ofx: has no STMTRS or CCSTMTRS"):
        read(f"{HEAD}</OFX>")


@given(st.binary(max_size=400), st.integers(0, 400))
def test_no_bytes_raise_anything_but_a_refusal(junk: bytes, at: int) -> None:
    data = statement_of(entry(), entry("-6.00", fitid="2")).encode()
    for hostile in (junk, data[:at] + junk + data[at:], data[:at] + junk):
        try:
            done = read(hostile)
        except SourceError:
            continue
        assert all(each.amount.is_finite() for s in done.statements for each in s.entries)
