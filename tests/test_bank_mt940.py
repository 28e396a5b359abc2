"""What an MT940 file may do to its reader, one rule a test."""

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.namespaces.bank.formats import reader_for
from offing.namespaces.bank.mt940 import read_mt940
from offing.namespaces.bank.statement import Balance, Entry, StatementFile
from offing.namespaces.tables.source import Conventions, Source, SourceError

HEAD = ":20:REF1\n:25:12345678\n:28C:7/1\n"
OPENING = ":60F:C260913EUR100,00\n"
CLOSING = ":62F:C260914EUR95,00\n"
PAID = ":61:2609140914D5,00NTRFINV-7//B1\nsupplement\n:86:paid for paper\n"


def message(*lines: str, opening: str = OPENING, closing: str = CLOSING, head: str = HEAD) -> str:
    return f"{head}{opening}{''.join(lines)}{closing}-\n"


def movement(
    mark: str = "D", amount: str = "5,00", days: str = "2609140914", rest: str = "NTRFNONREF"
) -> str:
    return f":61:{days}{mark}{amount}{rest}\n"


def read(text: str | bytes) -> StatementFile:
    data = text.encode() if isinstance(text, str) else text
    return read_mt940(Source("a.sta", data), Conventions())


def only(text: str) -> Entry:
    (statement,) = read(text).statements
    (entry,) = statement.entries
    return entry


def amounts(text: str) -> list[Decimal]:
    return [each.amount for statement in read(text).statements for each in statement.entries]


def told(text: str, *severities: str) -> list[tuple[str, int | None]]:
    wanted = severities or ("warning", "error")
    return [(each.what, each.row) for each in read(text).findings if each.severity in wanted]


def test_a_sound_statement_is_read_whole_and_has_no_findings() -> None:
    done = read(message(PAID))
    (statement,) = done.statements
    assert done.findings == ()
    assert (statement.account, statement.currency, statement.gap) == ("12345678", "EUR", Decimal("0.00"))
    assert statement.opening == Balance(Decimal("100.00"), datetime.date(2026, 9, 13), 4)
    assert statement.closing == Balance(Decimal("95.00"), datetime.date(2026, 9, 14), 8)
    assert statement.entries == (
        Entry(
            id="B1",
            booked=datetime.date(2026, 9, 14),
            amount=Decimal("-5.00"),
            currency="EUR",
            row=5,
            value_date=datetime.date(2026, 9, 14),
            text="paid for paper supplement INV-7",
        ),
    )


@pytest.mark.parametrize(
    ("mark", "amount"),
    [
        ("C", "5"),
        ("D", "-5"),
        ("RC", "-5"),
        ("RD", "5"),
        ("CR", "5"),
        ("DR", "-5"),
        ("RCR", "-5"),
        ("RDR", "5"),
    ],
)
def test_a_mark_is_a_direction_with_an_optional_funds_code(mark: str, amount: str) -> None:
    text = message(movement(mark))
    assert amounts(text) == [Decimal(f"{amount}.00")]
    assert [what for what, _ in told(text) if "funds" in what] == []


def test_a_funds_code_of_another_currency_is_told() -> None:
    text = message(movement("DN"))
    assert told(text) == [("funds code N is not that of EUR, in which it is read", 5)]


@pytest.mark.parametrize(
    ("written", "amount"), [("0,", "0"), ("79,7", "79.7"), ("5", "5"), ("5.00", "5.00"), ("1,234", "1.234")]
)
def test_a_comma_is_the_decimal_mark_whatever_follows_it(written: str, amount: str) -> None:
    assert amounts(message(movement("C", written))) == [Decimal(amount)]


@pytest.mark.parametrize("written", ["", "1.234", "1.234,56", "-5,00", "5,0000", "9" * 40, "1e3", "٣,00"])
def test_an_entry_without_an_amount_is_left_out_and_told(written: str) -> None:
    text = message(PAID, movement("D", written))
    assert amounts(text) == [Decimal("-5.00")]
    assert [row for what, row in told(text, "error") if "is left out" in what] == [8]


def test_a_zero_has_no_sign() -> None:
    text = message(movement("D", "0,00"), closing=":62F:D260914EUR0,00\n", opening=":60F:D260914EUR0,00\n")
    (statement,) = read(text).statements
    assert [str(each.amount) for each in (statement.opening, *statement.entries) if each] == ["0.00", "0.00"]


def test_a_debit_balance_is_negative() -> None:
    text = message(PAID, opening=":60F:D260913EUR90,00\n", closing=":62F:D260914EUR95,00\n")
    (statement,) = read(text).statements
    assert statement.opening is not None
    assert (statement.opening.amount, statement.gap) == (Decimal("-90.00"), Decimal("0.00"))


@pytest.mark.parametrize(
    ("days", "closing", "booked", "value"),
    [
        ("2601020102", "260105", "2026-01-02", "2026-01-02"),
        ("2601021231", "260105", "2025-12-31", "2026-01-02"),
        ("2512310102", "260105", "2026-01-02", "2025-12-31"),
        ("2402290229", "240229", "2024-02-29", "2024-02-29"),
        ("9912310103", "000105", "2000-01-03", "1999-12-31"),
    ],
)
def test_an_entry_date_is_in_the_year_that_fits_value_date_and_statement(
    days: str, closing: str, booked: str, value: str
) -> None:
    opening = ":60F:C991201EUR0,00\n" if closing == "000105" else ":60F:C231201EUR0,00\n"
    entry = only(message(movement(days=days), opening=opening, closing=f":62F:C{closing}EUR5,00\n"))
    assert (str(entry.booked), str(entry.value_date)) == (booked, value)


def test_a_missing_entry_date_is_told_and_the_value_date_taken() -> None:
    text = message(movement(days="260914"))
    assert only(text).booked == datetime.date(2026, 9, 14)
    assert told(text, "info") == [("has no entry date: the value date counts", 5)]


def test_what_every_entry_has_is_told_once() -> None:
    text = message(*(movement(days="260914") for _ in range(300)))
    assert told(text, "info") == [("has no entry date: the value date counts (300 times, first here)", 5)]


def test_an_entry_is_never_booked_after_the_balance_that_counts_it() -> None:
    text = message(movement(days="2609160916"))
    entry = only(text)
    assert (entry.booked, entry.value_date) == (datetime.date(2026, 9, 14), datetime.date(2026, 9, 16))
    what = "is dated after the closing balance that counts it: booked on the day of that"
    assert told(text, "info") == [(what, 5)]


def test_an_entry_before_the_statement_is_told() -> None:
    assert told(message(movement(days="2609010901"))) == [
        ("is dated 2026-09-01, before the opening balance of 2026-09-13", 5)
    ]
    valued = message(movement(days="260901"))
    assert (only(valued).booked, told(valued)) == (datetime.date(2026, 9, 14), [])


def test_a_value_date_far_from_the_entry_date_is_told() -> None:
    text = message(movement(days="2603140914"))
    assert only(text).booked == datetime.date(2026, 9, 14)
    assert told(text)[0] == ("is valued 184 days from the day it is booked on: one may be wrong", 5)


def test_a_file_that_ends_in_the_head_of_a_message_is_told() -> None:
    text = message(PAID) + "{1:F01BANK}{2:I9"
    assert told(text) == [("ends in the head of a message: it is cut off", 10)]


def test_impossible_dates_are_told_and_without_any_the_entry_is_left_out() -> None:
    both, entry_only, value_only = (
        message(movement(days=days)) for days in ("2602300230", "2609141340", "2602300914")
    )
    assert amounts(both) == []
    assert "'260230' is no date" in told(both, "error")[0][0]
    assert (only(entry_only).booked, told(entry_only)[0][1]) == (datetime.date(2026, 9, 14), 5)
    assert only(value_only).value_date is None
    assert told(value_only) == [("value date '260230' is no date: it has none", 5)]


def test_a_balance_on_an_impossible_day_keeps_its_amount_and_is_told() -> None:
    text = message(PAID, closing=":62F:C260931EUR95,00\n")
    (statement,) = read(text).statements
    assert statement.closing == Balance(Decimal("95.00"), None, 8)
    assert told(text, "error") == [(":62F: '260931' is no date", 8)]


def test_a_missing_balance_is_told() -> None:
    assert told(message(PAID, closing="")) == [("has no :62F:, no closing balance", 1)]
    assert told(message(PAID, opening="")) == [("has no :60F:, no opening balance", 1)]


def test_a_balance_that_is_none_is_told() -> None:
    text = message(PAID, closing=":62F:X260914EUR95,00\n")
    assert told(text)[0] == (":62F: 'X260914EUR95,00' is no balance; it would be C260930EUR12,34", 8)


def test_a_gap_is_told() -> None:
    text = message(PAID, closing=":62F:C260914EUR95,20\n")
    assert told(text) == [
        (
            "does not tie: opening and entries make 95.00, the closing balance is 95.20, a gap of 0.20",
            8,
        )
    ]


def test_pages_become_one_statement() -> None:
    first = message(PAID, closing=":62M:C260914EUR95,00\n")
    second = message(
        movement("C", "1,00"),
        opening=":60M:C260914EUR95,00\n",
        closing=":62F:C260914EUR96,00\n",
        head=HEAD.replace("7/1", "7/2"),
    )
    done = read(first + second)
    (statement,) = done.statements
    assert [each.amount for each in statement.entries] == [Decimal("-5.00"), Decimal("1.00")]
    assert (statement.gap, done.findings) == (Decimal("0.00"), ())


def test_pages_whose_balances_do_not_meet_are_told() -> None:
    first = message(PAID, closing=":62M:C260914EUR95,00\n")
    second = message(opening=":60M:C260914EUR94,00\n", closing=":62F:C260914EUR94,00\n")
    assert told(first + second)[0] == (
        "page 7/1 opens with 94.00, yet the page before closes with 95.00: a page is missing",
        13,
    )


def test_a_page_alone_is_told() -> None:
    last = message(PAID, opening=":60M:C260914EUR100,00\n")
    first = message(PAID, closing=":62M:C260914EUR95,00\n")
    assert told(last) == [("begins with :60M:, so the pages before it are missing", 1)]
    assert told(first) == [("ends with :62M:, so the pages after it are missing", 1)]


def test_pages_of_other_accounts_may_stand_between() -> None:
    first = message(PAID, closing=":62M:C260914EUR95,00\n")
    second = message(opening=":60M:C260914EUR95,00\n")
    other = first.replace("12345678", "99999999") + second.replace("12345678", "99999999")
    pages = first + other.split("-\n")[0] + "-\n" + second + other.split("-\n", 1)[1]
    done = read(pages)
    assert [(each.account, len(each.entries)) for each in done.statements] == [
        ("12345678", 1),
        ("99999999", 1),
    ]
    assert done.findings == ()


def test_a_missing_statement_between_two_is_told() -> None:
    later = message(opening=":60F:C260916EUR80,00\n", closing=":62F:C260917EUR80,00\n")
    what = "opens with 80.00, yet the statement before it closes with 95.00"
    for order in (message(PAID) + later, later + message(PAID)):
        assert [each for each, _ in told(order)] == [f"{what}: a statement is missing, or stands there twice"]


def test_statements_need_no_end_mark_and_may_lack_a_number() -> None:
    text = message(PAID) + message(opening=":60F:C260914EUR95,00\n")
    assert len(read(text.replace("-\n", "")).statements) == 2
    assert len(read(text.replace("-\n", "").replace(":20:REF1\n", "")).statements) == 2


def test_envelopes_and_control_bytes_are_no_content() -> None:
    text = f"\x01{{1:F01BANK}}{{2:I940BANKN}}{{4:\n{message(PAID)[:-2]}-}}{{5:}}\n\x03"
    assert read(text.replace("\n", "\r\n")).findings == ()
    assert amounts(text) == [Decimal("-5.00")]
    same_line = text.replace("{4:\n", "{4:").replace("paid", "pa\x01id")
    assert only(same_line).text == "paid for paper supplement INV-7"


def test_lines_that_belong_to_no_tag_are_told() -> None:
    assert told(f"Hello, World!\n{message(PAID)}") == [
        ("'Hello, World!' is left out: it belongs to no tag", 1)
    ]
    assert told(f"BANKNL2A\n940\n{message(PAID)}", "info") == [
        ("'BANKNL2A' is left out: it belongs to no tag", 1),
        ("'940' is left out: it belongs to no tag", 2),
    ]


def test_a_lone_hyphen_within_a_text_ends_nothing() -> None:
    text = message(":61:2609140914D5,00NTRFNONREF\n:86:/EREF/A\n-\nB//REMI/USTD//rent/\n")
    assert only(text).text == "rent EREF A-B"


def test_a_line_of_text_that_only_looks_like_a_tag_is_text() -> None:
    assert only(message(f"{PAID}:12:30 in the afternoon\n")).text == (
        "paid for paper :12:30 in the afternoon supplement INV-7"
    )


def test_numbered_parts_give_name_and_text_without_breaks() -> None:
    text = message(
        ":61:2609140914D5,00NDDTNONREF\n:86:105?00DIRECT DEBIT?10931?20EREF+77?21SVWZ+Invoice of Sep\n"
        "?22tember?30BANKDEFF?31DE02120300000000202051?32Kestrel Paper a?33nd Co?34992?60 final\n"
    )
    entry = only(text)
    assert entry.name == "Kestrel Paper and Co"
    assert entry.text == "DIRECT DEBIT EREF+77 SVWZ+Invoice of September final DE02120300000000202051"


def test_coded_parts_give_name_and_text() -> None:
    cntp = "/EREF/E-1//CNTP/NL53INGB0000017399/INGBNL2\nA/Fenwick///REMI/USTD//rent May/\n"
    named = "/TRTP/SEPA/IBAN/NL53INGB0000017399/BIC/INGBNL2A/NAME/Fenwick/REMI/rent May/EREF/E-1\n"
    entries = [only(message(f"{movement()}:86:{said}")) for said in (cntp, named)]
    assert [each.name for each in entries] == ["Fenwick", "Fenwick"]
    assert [each.text.startswith("rent May") and "EREF E-1" in each.text for each in entries] == [True, True]


def test_a_full_line_goes_on_without_a_blank() -> None:
    long = "x" * 64
    assert only(message(f"{movement()}:86:{long}\nyz\nshort\n")).text == f"{long}yz short"


def test_a_wrapped_entry_is_put_together() -> None:
    entry = only(message(":61:2609140914D5,00NTRFEREF//0000\n007\n/TRCD/00100/\n"))
    assert (entry.id, entry.text) == ("0000007", "TRCD 00100")
    assert amounts(message(":61:2609140914D5,\n00NTRFNONREF\n")) == [Decimal("-5.00")]


def test_control_totals_that_do_not_match_are_told() -> None:
    right, wrong = (f":86:/SUM/{count}/0/5,00/0,00/\n" for count in (1, 2))
    assert told(message(PAID, closing=CLOSING + right)) == []
    assert told(message(PAID, closing=CLOSING + wrong)) == [
        ("7/1: control total: 2 debits of 5.00 are stated, 1 of 5.00 are there", 9)
    ]
    assert told(message(PAID, closing=f"{CLOSING}:90C:1EUR3,00\n")) == [
        ("7/1: control total: 1 credits of 3.00 are stated, 0 of 0 are there", 9)
    ]


def test_a_text_of_the_whole_statement_belongs_to_no_entry() -> None:
    text = message(PAID, closing=f"{CLOSING}:86:new terms apply\n")
    assert only(text).text == "paid for paper supplement INV-7"
    assert told(text, "info") == [("says of no entry: 'new terms apply'", 9)]


def test_an_account_that_is_not_named_has_the_name_of_the_file() -> None:
    text = message(PAID).replace(":25:12345678\n", "")
    assert read(text).statements[0].account == "a"
    assert told(text, "error")[0][0] == "has no :25:: the account is named by its file"


def test_a_statement_without_a_number_is_told() -> None:
    assert told(message(PAID).replace(":28C:7/1\n", "")) == [("has no :28C:, so no statement number", 1)]


def test_two_currencies_in_one_statement_are_told() -> None:
    text = message(PAID, closing=":62F:C260914USD95,00\n")
    assert told(text, "error")[0] == ("opens in EUR and closes in USD: read as EUR", 1)


def test_a_cut_file_tells_what_it_lacks() -> None:
    whole = message(PAID, movement("C", "1,00"), closing=":62F:C260914EUR96,00\n")
    for end in range(len(HEAD) + 24, whole.index("96,00") + 1):
        assert told(whole[:end]), whole[:end]


@pytest.mark.parametrize("tag", [":25:", ":60F:", ":61:", ":62F:"])
def test_no_tag_that_counts_can_be_dropped_in_silence(tag: str) -> None:
    lines = message(PAID).splitlines()
    kept = [line for line in lines if not line.startswith(tag)]
    assert told("\n".join(kept), "error")


@pytest.mark.parametrize(
    "start", ["", "\ufeff", "\x01\r\n", "{1:F01B}{2:I940B}{4:\r\n", "ABNANL2A\r\n940\r\n"]
)
def test_an_mt940_file_is_told_by_its_content(start: str) -> None:
    assert reader_for(Source("a.txt", f"{start}{message(PAID)}".encode())) is read_mt940


def test_a_file_without_a_statement_is_refused() -> None:
    with pytest.raises(SourceError, match=r"a\.sta: has no :60F:, :61: or :62F:"):
        read(HEAD)


@given(st.binary(max_size=400), st.integers(0, 400))
def test_no_bytes_raise_anything_but_a_refusal(junk: bytes, at: int) -> None:
    data = message(PAID, movement("RD")).encode()
    for hostile in (junk, data[:at] + junk + data[at:], data[:at] + junk, data[:at] + data[at + 1 :]):
        try:
            done = read(hostile)
        except SourceError:
            continue
        assert all(each.amount.is_finite() for s in done.statements for each in s.entries)


@given(st.text(alphabet="0123456789:,/CDRN?-{}\n6162806FM", max_size=200), st.integers(0, 200))
def test_no_text_of_its_own_marks_raises_anything_but_a_refusal(junk: str, at: int) -> None:
    text = message(PAID)
    for hostile in (HEAD + OPENING + junk, text[:at] + junk + text[at:]):
        try:
            read(hostile)
        except SourceError:
            continue
