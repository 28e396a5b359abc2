"""What a BAI2 file may do to its reader, one rule a test."""

import datetime
from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.namespaces.bank.bai2 import read_bai2
from offing.namespaces.bank.formats import reader_for
from offing.namespaces.bank.statement import Balance, Entry, StatementFile
from offing.namespaces.tables.source import Conventions, Source, SourceError

SUMMARY = "010,10000,,,015,9750,,"
PAID = "16,475,500,Z,B1,C1,paid for paper/"
TAKEN = "16,142,250,,B2,,"
SOUND = """\
01,BANK,ME,260915,0600,1,,,2/
02,ME,BANK,1,260914,,USD,2/
03,12345678,USD,010,10000,,,015,9750,,/
16,475,500,Z,B1,C1,paid for paper/
16,142,250,,B2,,/
88,received, in two
88,lines/
49,20500,6/
98,20500,1,8/
99,20500,1,10/
"""
"""100.00 - 5.00 + 2.50 = 97.50; 10000 + 9750 + 500 + 250 = 20500."""


def account_file(
    details: Sequence[str] = (PAID, TAKEN), summary: str = SUMMARY, currency: str = "USD", day: str = "260914"
) -> str:
    """One account whose control totals are not looked at."""
    lines = ["01,BANK,ME,260915,0600,1,,,2/", f"02,ME,BANK,1,{day},,{currency},2/"]
    lines += [f"03,12345678,,{summary}/", *details, "49,0,0/", "98,0,0,0/", "99,0,0,0/"]
    return "\n".join(lines)


def read(text: str | bytes, conventions: Conventions | None = None) -> StatementFile:
    data = text.encode() if isinstance(text, str) else text
    return read_bai2(Source("a.bai", data), conventions or Conventions())


def entries(text: str) -> tuple[Entry, ...]:
    return tuple(entry for statement in read(text).statements for entry in statement.entries)


def amounts(text: str) -> list[Decimal]:
    return [entry.amount for entry in entries(text)]


def told(text: str, *severities: str) -> list[tuple[str, int | None]]:
    """Findings but those on control totals."""
    wanted = severities or ("warning", "error")
    found = [each for each in read(text).findings if each.severity in wanted]
    return [(each.what, each.row) for each in found if not each.what.startswith("control total")]


def test_a_sound_file_is_read_whole_and_has_no_findings() -> None:
    done = read(SOUND)
    (statement,) = done.statements
    day = datetime.date(2026, 9, 14)
    assert done.findings == ()
    assert (statement.account, statement.currency, statement.gap) == ("12345678", "USD", Decimal("0.00"))
    assert statement.opening == Balance(Decimal("100.00"), day, 3)
    assert statement.closing == Balance(Decimal("97.50"), day, 3)
    assert statement.entries == (
        Entry("B1", day, Decimal("-5.00"), "USD", 4, text="paid for paper C1"),
        Entry("B2", day, Decimal("2.50"), "USD", 5, text="received, in two lines"),
    )


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("49,20500,6/", "49,20501,6/", "control total of the account: a sum of 20501 stated, 20500 there"),
        ("49,20500,6/", "49,20500,7/", "control total of the account: records 7 stated, 6 there"),
        ("98,20500,1,8/", "98,20,1,8/", "control total of the group: a sum of 20 stated, 20500 there"),
        ("98,20500,1,8/", "98,20500,2,8/", "control total of the group: accounts 2 stated, 1 there"),
        ("99,20500,1,10/", "99,20500,3,10/", "control total of the file: groups 3 stated, 1 there"),
        ("99,20500,1,10/", "99,20500,1,11/", "control total of the file: records 11 stated, 10 there"),
    ],
)
def test_a_control_total_that_does_not_match_is_told(old: str, new: str, what: str) -> None:
    assert what in [each.what for each in read(SOUND.replace(old, new)).findings]


@pytest.mark.parametrize("line", range(3))
def test_a_file_without_one_of_its_first_lines_is_refused(line: int) -> None:
    lines = SOUND.splitlines()
    del lines[line]
    with pytest.raises(SourceError, match="has no account"):
        read("\n".join(lines))


@pytest.mark.parametrize("line", range(3, 10))
def test_no_line_can_be_dropped_in_silence(line: int) -> None:
    lines = SOUND.splitlines()
    del lines[line]
    assert any(each.severity == "error" for each in read("\n".join(lines)).findings)


@pytest.mark.parametrize(
    ("code", "amount"),
    [
        ("108", "12.34"),
        ("399", "12.34"),
        ("409", "-12.34"),
        ("699", "-12.34"),
        ("921", "12.34"),
        ("961", "-12.34"),
    ],
)
def test_the_type_code_gives_the_direction(code: str, amount: str) -> None:
    assert amounts(account_file([f"16,{code},1234,,,,/"])) == [Decimal(amount)]


@pytest.mark.parametrize("code", ["", "010", "099", "721", "890", "abc", "1081", "١٠٨"])
def test_an_entry_of_another_type_is_left_out_and_told(code: str) -> None:
    text = account_file([PAID, f"16,{code},1234,,,,/"])
    assert amounts(text) == [Decimal("-5.00")]
    assert (
        "is neither a credit's nor a debit's" in told(text, "error")[0][0],
        told(text, "error")[0][1],
    ) == (
        True,
        5,
    )


def test_a_notice_without_money_is_no_entry() -> None:
    text = account_file([PAID, TAKEN, "16,890,,,,,rates have changed/"])
    assert told(text, "info") == [("is a notice without money, no entry", 6)]
    assert len(entries(text)) == 2


@pytest.mark.parametrize("amount", ["", "12.34", "-500", "ten", "9" * 30, "1,000"])
def test_an_entry_without_an_amount_is_left_out_and_told(amount: str) -> None:
    text = account_file([PAID, f"16,142,{amount},,,,/"])
    left = amounts(text)
    assert left[:1] == [Decimal("-5.00")]
    assert told(text, "error")


@pytest.mark.parametrize(
    ("currency", "amount"), [("USD", "12.34"), ("JPY", "1234"), ("KWD", "1.234"), ("EUR", "12.34")]
)
def test_the_currency_says_where_the_point_is(currency: str, amount: str) -> None:
    text = account_file(["16,142,1234,,,,/"], "015,1234,,", currency)
    (statement,) = read(text).statements
    assert (statement.currency, statement.entries[0].amount) == (currency, Decimal(amount))
    assert statement.closing is not None
    assert str(statement.closing.amount) == amount


def test_a_currency_that_is_not_named_is_told() -> None:
    text = account_file(currency="")
    assert read(text).statements[0].currency == "USD"
    assert told(text, "warning") == [("names no currency: read as USD, as BAI2 has it", 3)]
    assert read(text, Conventions(currency="CAD")).statements[0].currency == "CAD"


@pytest.mark.parametrize(
    ("funds", "value"),
    [
        ("", None),
        ("Z", None),
        ("1", None),
        ("V,260916,", datetime.date(2026, 9, 16)),
        ("V,260916,1200", datetime.date(2026, 9, 16)),
        ("S,100,200,950", None),
        ("D,2,0,500,1,750", None),
        ("D,0", None),
    ],
)
def test_what_follows_the_type_of_funds_is_no_reference(funds: str, value: datetime.date | None) -> None:
    (entry,) = entries(account_file([f"16,142,1250,{funds},B9,,rent, May/"]))
    assert (entry.id, entry.text, entry.value_date) == ("B9", "rent, May", value)
    assert entry.booked == datetime.date(2026, 9, 14)


@pytest.mark.parametrize("funds", ["X", "D,many", "3", "D,-1", "D,9,0", "S,1"])
def test_an_unknown_type_of_funds_is_told(funds: str) -> None:
    text = account_file([PAID, f"16,142,250,{funds}/"])
    assert amounts(text) == [Decimal("-5.00")]
    assert "entry of type '142' is left out" in told(text, "error")[0][0]


def test_impossible_dates_are_told() -> None:
    value = account_file([PAID, "16,142,250,V,260230,,,,/"])
    assert (entries(value)[1].value_date, told(value)) == (None, [("value date '260230' is no date", 5)])
    group = account_file([PAID, "16,142,250,V,260914,,,,/"], day="261301")
    assert [(str(each.booked), each.amount) for each in entries(group)] == [("2026-09-14", Decimal("2.50"))]
    whats = [what for what, _ in told(group, "error")]
    assert "as-of date '261301' is no date" in whats
    assert "entry of type '475' is left out: neither it nor its group has a date" in whats


def test_continuations_split_a_record_anywhere() -> None:
    text = account_file(
        ["88,015,9750,/", "88,,100,250,1,V,260914/", "88,,400,500,1,/", PAID, TAKEN], "010,10000,,"
    )
    (statement,) = read(text).statements
    assert statement.gap == Decimal("0.00")
    assert told(text) == []


def test_totals_of_credits_and_debits_are_compared() -> None:
    right = account_file(summary=f"{SUMMARY},100,250,1,,400,500,1,")
    wrong = account_file(summary=f"{SUMMARY},100,300,1,,400,500,2,")
    assert told(right) == []
    assert told(wrong) == [
        ("states credits of 3.00, the entries make 2.50", 3),
        ("states 2 debits, 1 are there", 3),
    ]


def test_a_gap_and_a_missing_balance_are_told() -> None:
    assert told(account_file(summary="010,10000,,,015,9770,,")) == [
        ("does not tie: opening and entries make 97.50, the closing balance is 97.70, a gap of 0.20", 3)
    ]
    assert told(account_file(summary="010,10000,,")) == [("has no 015: no closing balance", 3)]
    assert told(account_file(summary="010,,,,015,9750,,")) == [("has no 010: no opening balance", 3)]


def test_a_balance_below_zero_has_a_minus() -> None:
    (statement,) = read(account_file(summary="010,+10000,,,015,-9750,,")).statements
    assert statement.closing is not None
    assert statement.closing.amount == Decimal("-97.50")


def test_available_balances_stand_in_for_those_of_the_ledger_and_are_told() -> None:
    text = account_file(summary="040,10000,,,045,9750,,")
    assert read(text).statements[0].gap == Decimal("0.00")
    assert told(text) == [("states no ledger balance: what is available is taken for it", 3)]
    both = account_file(summary=f"{SUMMARY},040,1,,,045,2,,")
    assert (read(both).statements[0].gap, told(both)) == (Decimal("0.00"), [])


def test_a_summary_that_cannot_be_read_is_told() -> None:
    text = account_file(summary="010,10000/,015,9750,,")
    assert "the rest of the account record is left out" in told(text)[0][0]
    twice = account_file(summary=f"{SUMMARY},010,20000,,")
    assert told(twice) == [("states 010 twice, 10000 and 20000: the first counts", 3)]


def test_an_account_twice_in_a_group_is_dated_by_its_value_dates() -> None:
    def of(day: str) -> str:
        return f"03,12345678,,010,0,,,015,500,,\n16,142,500,V,{day},,,,/\n49,1000,3/\n"

    whole = f"01,B,M,260916,0600,1,,,2/\n02,M,B,1,260915,,USD,2/\n{of('260914')}{of('260915')}"
    whole = whole.replace(
        "010,0,,,015,500,,\n16,142,500,V,260915", "010,500,,,015,1000,,\n16,142,500,V,260915"
    )
    done = read(whole)
    assert [[str(e.booked) for e in each.entries] for each in done.statements] == [
        ["2026-09-14"],
        ["2026-09-15"],
    ]
    dates = [each.closing and str(each.closing.date) for each in done.statements]
    assert dates == ["2026-09-14", "2026-09-15"]
    undated = whole.replace("V,260914,,", ",")
    assert "nothing says which day but 2026-09-15" in told(undated, "warning")[0][0]


def test_a_missing_day_between_two_is_told() -> None:
    second = SOUND.replace("260914", "260916").replace("260915", "260917")
    assert told(SOUND + second) == [
        (
            "opens with 100.00, yet the statement before it closes with 97.50:"
            " a statement is missing, or stands there twice",
            13,
        )
    ]


@pytest.mark.parametrize("status", ["2", "4"])
def test_a_group_that_withdraws_or_tests_is_left_out_and_told(status: str) -> None:
    text = SOUND.replace("BANK,1,260914", f"BANK,{status},260914")
    assert read(text).statements == ()
    assert "the group is left out" in told(text, "error")[0][0]


def test_an_interim_group_is_told() -> None:
    text = SOUND.replace("USD,2/\n03", "USD,3/\n03")
    assert told(text) == [("is interim: a later file may have its entries again", 2)]


def test_lines_and_records_out_of_place_are_told() -> None:
    assert told(f"88,x/\n{SOUND}") == [("'88,x/' is left out: it begins no record", 1)]
    assert told(SOUND.replace("49,", "hello\n49,")) == [("'hello' is left out: it begins no record", 8)]
    assert told(SOUND.replace("98,", "16,142,1,,,,/\n98,")) == [
        ("a 16 record stands where none may: it is left out", 9)
    ]


def test_lines_may_be_padded_and_the_last_slash_missing() -> None:
    padded = "\r\n".join(line.removesuffix("/").ljust(80) for line in SOUND.splitlines())
    assert read(padded).findings == ()
    assert read(padded).statements[0].entries == read(SOUND).statements[0].entries


def test_a_cut_file_tells_what_it_lacks() -> None:
    for end in range(SOUND.index("03,") + 4, len(SOUND) - 3):
        assert read(SOUND[:end]).findings, SOUND[:end]


@pytest.mark.parametrize("start", ["", "\ufeff", "\r\n"])
def test_a_bai2_file_is_told_by_its_content(start: str) -> None:
    assert reader_for(Source("a.txt", f"{start}{SOUND}".encode())) is read_bai2


def test_a_file_without_an_account_is_refused() -> None:
    with pytest.raises(SourceError, match=r"a\.bai: has no account: no 03 in a 02 in a 01"):
        read("01,BANK,ME,260915,0600,1,,,2/\n99,0,0,2/")


@given(st.binary(max_size=400), st.integers(0, 300))
def test_no_bytes_raise_anything_but_a_refusal(junk: bytes, at: int) -> None:
    data = SOUND.encode()
    for hostile in (junk, data[:at] + junk + data[at:], data[:at] + junk, data[:at] + data[at + 1 :]):
        try:
            done = read(hostile)
        except SourceError:
            continue
        assert all(each.amount.is_finite() for s in done.statements for each in s.entries)


@given(st.lists(st.sampled_from([*SOUND.splitlines(), "88,D,9,/", "16,", "03", "88", "02,,,,,,", ","])))
def test_no_order_of_records_raises_anything_but_a_refusal(lines: list[str]) -> None:
    try:
        read("\n".join(lines))
    except SourceError:
        return
