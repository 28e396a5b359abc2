"""What a CAMT.053 or CAMT.054 file may do to its reader, one rule a test."""

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.namespaces.bank.camt import read_camt
from offing.namespaces.bank.formats import reader_for
from offing.namespaces.bank.statement import Balance, Statement, StatementFile
from offing.namespaces.tables.source import Conventions, Source, SourceError

ACCOUNT = "<Acct><Id><IBAN>DE02120300000000202051</IBAN></Id><Ccy>EUR</Ccy></Acct>"
DAY = datetime.date(2026, 9, 30)


def balance(code: str, amount: str, day: str = "2026-09-30", side: str = "CRDT", ccy: str = "EUR") -> str:
    return (
        f"<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp>"
        f'<Amt Ccy="{ccy}">{amount}</Amt><CdtDbtInd>{side}</CdtDbtInd><Dt><Dt>{day}</Dt></Dt></Bal>'
    )


def entry(
    amount: str = "5.00",
    side: str = "DBIT",
    more: str = "<Sts>BOOK</Sts>",
    day: str = "<BookgDt><Dt>2026-09-30</Dt></BookgDt>",
    ccy: str = ' Ccy="EUR"',
) -> str:
    return f"<Ntry><Amt{ccy}>{amount}</Amt><CdtDbtInd>{side}</CdtDbtInd>{more}{day}</Ntry>"


BALANCES = balance("OPBD", "20.00", "2026-09-29") + balance("CLBD", "15.00")


def file_of(*parts: str, account: str = ACCOUNT, message: str = "BkToCstmrStmt", tag: str = "Stmt") -> str:
    inside = "\n".join(parts)
    space = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
    return f'<Document xmlns="{space}"><{message}><{tag}>{account}\n{inside}\n</{tag}></{message}></Document>'


def read(text: str | bytes, conventions: Conventions | None = None) -> StatementFile:
    data = text.encode() if isinstance(text, str) else text
    return read_camt(Source("a.xml", data), conventions or Conventions())


def one(text: str | bytes) -> Statement:
    (statement,) = read(text).statements
    return statement


def amounts(text: str) -> list[Decimal]:
    return [each.amount for each in one(text).entries]


def told(text: str) -> list[tuple[str, str, int | None]]:
    return [(each.severity, each.what, each.row) for each in read(text).findings]


def test_a_sound_statement_has_no_findings() -> None:
    done = read(file_of(BALANCES, entry()))
    (statement,) = done.statements
    assert done.findings == ()
    assert (statement.account, statement.currency) == ("DE02120300000000202051", "EUR")
    assert statement.opening == Balance(Decimal("20.00"), datetime.date(2026, 9, 29), 2)
    assert statement.closing == Balance(Decimal("15.00"), DAY, 2)
    assert (statement.entries[0].amount, statement.entries[0].row) == (Decimal("-5.00"), 3)


def test_a_gap_is_told_with_its_amount() -> None:
    text = file_of(BALANCES, entry("4.00"))
    assert one(text).gap == Decimal("-1.00")
    assert [what for _, what, _ in told(text)] == [
        "does not tie: opening and entries make 16.00, the closing balance is 15.00, a gap of -1.00"
    ]


@pytest.mark.parametrize("indicator", ["true", "false", "1"])
def test_a_reversal_is_never_turned_around_again(indicator: str) -> None:
    more = f"<RvslInd>{indicator}</RvslInd><Sts>BOOK</Sts>"
    text = file_of(balance("OPBD", "20.00"), balance("CLBD", "27.00"), entry("7.00", "CRDT", more))
    assert amounts(text) == [Decimal("7.00")]
    assert told(text) == []


def test_an_overdrawn_balance_is_negative() -> None:
    text = file_of(balance("OPBD", "1.00"), balance("CLBD", "4.00", side="DBIT"), entry())
    assert (one(text).closing, told(text)) == (Balance(Decimal("-4.00"), DAY, 3), [])


def test_a_batch_is_one_entry_and_its_details_are_its_text() -> None:
    details = "".join(
        f'<TxDtls><Amt Ccy="EUR">{amount}</Amt><RltdPties><Cdtr><Nm>{name}</Nm></Cdtr></RltdPties>'
        f"<RmtInf><Ustrd>{text}</Ustrd></RmtInf></TxDtls>"
        for amount, name, text in (("3.50", "Fenwick", "INV-1"), ("1.50", "Kestrel", "INV-2"))
    )
    batch = f"<Sts>BOOK</Sts><NtryDtls><Btch><NbOfTxs>2</NbOfTxs></Btch>{details}</NtryDtls>"
    (found,) = one(file_of(BALANCES, entry(more=batch))).entries
    assert (found.amount, found.name) == (Decimal("-5.00"), "")
    assert found.text == "[2 details] 3.50 Fenwick INV-1; 1.50 Kestrel INV-2"
    assert told(file_of(BALANCES, entry(more=batch))) == []


def test_details_that_do_not_make_their_entry_are_told() -> None:
    detail = '<TxDtls><Amt Ccy="EUR">2.00</Amt></TxDtls>'
    batch = f"<Sts>BOOK</Sts><NtryDtls><Btch><NbOfTxs>3</NbOfTxs></Btch>{detail * 2}</NtryDtls>"
    assert told(file_of(BALANCES, entry(more=batch))) == [
        ("info", "is a batch of '3' transactions, of which 2 are in the file", 3),
        ("warning", "its details make -4.00, the entry is -5.00: the entry counts", 3),
    ]


@pytest.mark.parametrize(
    ("side", "reversal", "name"),
    [
        ("CRDT", "false", "Debtor"),
        ("DBIT", "false", "Creditor"),
        ("CRDT", "true", "Creditor"),
        ("DBIT", "true", "Debtor"),
    ],
)
def test_the_other_party_is_the_one_the_money_came_from_or_went_to(
    side: str, reversal: str, name: str
) -> None:
    parties = "<RltdPties><Dbtr><Nm>Debtor</Nm></Dbtr><Cdtr><Pty><Nm>Creditor</Nm></Pty></Cdtr></RltdPties>"
    more = f"<RvslInd>{reversal}</RvslInd><NtryDtls><TxDtls>{parties}</TxDtls></NtryDtls>"
    assert one(file_of(entry("1.00", side, more))).entries[0].name == name


def test_all_that_is_said_of_an_entry_is_its_text() -> None:
    said = (
        "<Refs><EndToEndId>NOTPROVIDED</EndToEndId></Refs><RmtInf><Ustrd> Rent  May </Ustrd>"
        "<Strd><CdtrRefInf><Ref>000000000002016030002820804</Ref></CdtrRefInf></Strd></RmtInf>"
    )
    more = f"<NtryDtls><TxDtls>{said}</TxDtls></NtryDtls><AddtlNtryInf>Transfer</AddtlNtryInf>"
    assert one(file_of(entry(more=more))).entries[0].text == "Rent May 000000000002016030002820804 Transfer"


@pytest.mark.parametrize(
    ("references", "kept"),
    [
        ("<NtryRef>7</NtryRef><AcctSvcrRef>BANK1</AcctSvcrRef>", "BANK1"),
        ("<NtryRef>7</NtryRef>", "7"),
        ("", ""),
    ],
)
def test_the_banks_reference_goes_before_the_entrys_number(references: str, kept: str) -> None:
    assert one(file_of(entry(more=references))).entries[0].id == kept


def test_equal_references_are_both_kept_and_told() -> None:
    same = entry("2.50", more="<Sts>BOOK</Sts><AcctSvcrRef>X</AcctSvcrRef>")
    text = file_of(BALANCES, same, same)
    assert amounts(text) == [Decimal("-2.50"), Decimal("-2.50")]
    assert told(text) == [("warning", "reference 'X' stands already in line 3; both are kept", 4)]


@pytest.mark.parametrize(
    "status",
    ["<Sts>PDNG</Sts>", "<Sts><Cd>PDNG</Cd></Sts>", "<Sts>INFO</Sts>", "<Sts><Cd>FUTR</Cd></Sts>"],
)
def test_what_is_not_booked_counts_in_no_balance(status: str) -> None:
    text = file_of(BALANCES, entry(), entry("99.00", more=status))
    assert [each.pending for each in one(text).entries] == [False, True]
    assert one(text).gap == 0


def test_an_unknown_or_missing_status_is_told_and_taken_as_booked() -> None:
    text = file_of(BALANCES, entry("2.00", more="<Sts>ODD</Sts>"), entry("3.00", more=""))
    assert [each.pending for each in one(text).entries] == [False, False]
    assert [what for _, what, _ in told(text)] == [
        "Sts 'ODD' is taken as booked",
        "Sts '' is taken as booked",
    ]


@pytest.mark.parametrize(
    "written",
    [
        "<Dt>2026-09-30</Dt>",
        "<Dt>2026-09-30+02:00</Dt>",
        "<DtTm>2026-09-30T23:59:59.999-11:00</DtTm>",
        "<DtTm>2026-09-30T00:00:00+14:00</DtTm>",
        "<Dt>2026-09-30Z</Dt>",
    ],
)
def test_the_written_day_stays_whatever_the_zone(written: str) -> None:
    assert one(file_of(entry(day=f"<BookgDt>{written}</BookgDt>"))).entries[0].booked == DAY


def test_booking_and_value_date_are_kept_apart() -> None:
    both = "<BookgDt><Dt>2026-09-30</Dt></BookgDt><ValDt><Dt>2026-10-02</Dt></ValDt>"
    (found,) = one(file_of(entry(day=both))).entries
    assert (found.booked, found.value_date) == (DAY, datetime.date(2026, 10, 2))


def test_a_missing_booking_date_is_told_and_the_value_date_taken() -> None:
    text = file_of(BALANCES, entry(day="<ValDt><Dt>2026-09-30</Dt></ValDt>"))
    assert one(text).entries[0].booked == DAY
    assert told(text) == [("warning", "has no BookgDt: its value date is taken", 3)]


@pytest.mark.parametrize("day", ["2026-02-30", "2026-13-01", "", "tomorrow", "03/04/2026", "0000-00-00"])
def test_an_entry_on_an_impossible_day_is_left_out_and_told(day: str) -> None:
    bad = entry("3.00", day=f"<BookgDt><Dt>{day}</Dt></BookgDt>")
    text = file_of(BALANCES, entry(), bad)
    assert amounts(text) == [Decimal("-5.00")]
    assert [(severity, row) for severity, _, row in told(text)] == [("error", 4)]


@pytest.mark.parametrize("amount", ["", "ten", "-5.00", "1,50", "1e5", "NaN", "9" * 50, "1.2.3", "0x1F", "."])
def test_an_entry_without_an_amount_is_left_out_and_told(amount: str) -> None:
    text = file_of(BALANCES, entry(), entry(amount))
    assert amounts(text) == [Decimal("-5.00")]
    assert [(severity, row) for severity, _, row in told(text)] == [("error", 4)]


@pytest.mark.parametrize("side", ["", "CREDIT", "D"])
def test_an_entry_without_a_direction_is_left_out_and_told(side: str) -> None:
    text = file_of(BALANCES, entry(), entry("3.00", side))
    assert amounts(text) == [Decimal("-5.00")]
    assert "is no amount" in told(text)[0][1]


def test_a_statement_without_entries_is_one() -> None:
    text = file_of(balance("OPBD", "20.00"), balance("CLBD", "20.00"))
    assert (one(text).entries, one(text).gap, told(text)) == ((), Decimal("0.00"), [])


def test_the_close_of_the_statement_before_opens_this_one() -> None:
    text = file_of(balance("PRCD", "20.00"), balance("CLBD", "15.00"), entry())
    assert (one(text).gap, told(text)) == (Decimal(0), [])
    both = file_of(BALANCES, balance("PRCD", "21.00"), entry())
    assert one(both).opening == Balance(Decimal("20.00"), datetime.date(2026, 9, 29), 2)
    assert "yet the statement before it closed with 21.00" in told(both)[0][1]


def test_interim_balances_stand_in_on_a_page() -> None:
    first = file_of(balance("OPBD", "20.00"), balance("ITBD", "15.00"), entry())
    middle = file_of(balance("ITBD", "20.00"), balance("ITBD", "15.00"), entry())
    last = file_of(balance("ITBD", "20.00"), balance("CLBD", "15.00"), entry())
    assert [one(each).gap for each in (first, middle, last)] == [0, 0, 0]
    assert [severity for each in (first, middle, last) for severity, _, _ in told(each)] == ["info"] * 4


def test_a_lone_interim_balance_is_not_guessed_at() -> None:
    statement = one(file_of(balance("ITBD", "20.00"), entry()))
    assert (statement.opening, statement.closing) == (None, None)


def test_available_balances_are_no_booked_ones() -> None:
    text = file_of(BALANCES, balance("CLAV", "99.00"), balance("FWAV", "98.00"), entry())
    assert (one(text).gap, told(text)) == (Decimal(0), [])


def test_missing_balances_are_told() -> None:
    assert told(file_of(entry())) == [
        ("warning", "has no opening balance (OPBD or PRCD)", 1),
        ("warning", "has no closing balance (CLBD)", 1),
    ]


def test_of_several_days_the_first_opens_and_the_last_closes() -> None:
    days = balance("OPBD", "15.00", "2026-09-30") + balance("CLBD", "12.00", "2026-09-30")
    text = file_of(days, balance("OPBD", "20.00", "2026-09-29"), balance("CLBD", "15.00", "2026-09-29"))
    statement = one(text)
    assert statement.opening == Balance(Decimal("20.00"), datetime.date(2026, 9, 29), 3)
    assert statement.closing == Balance(Decimal("12.00"), DAY, 2)


def test_currencies_are_kept_apart_with_their_balances() -> None:
    dollars = balance("OPBD", "1.00", ccy="USD") + balance("CLBD", "8.00", ccy="USD")
    done = read(file_of(BALANCES, dollars, entry("7.00", "CRDT", ccy=' Ccy="USD"'), entry()))
    kept = [(each.currency, [e.amount for e in each.entries], each.gap) for each in done.statements]
    assert kept == [
        ("EUR", [Decimal("-5.00")], Decimal(0)),
        ("USD", [Decimal("7.00")], Decimal(0)),
    ]
    assert [each.what for each in done.findings] == ["has amounts in EUR, USD: they are kept apart"]


def test_an_entry_without_a_currency_has_the_accounts_and_is_told() -> None:
    text = file_of(BALANCES, entry(ccy=""))
    assert (one(text).currency, one(text).entries[0].currency) == ("EUR", "EUR")
    assert told(text) == [("warning", "entries without a currency are taken as EUR", 1)]


def test_several_statements_of_one_account_stay_apart() -> None:
    more = f"</Stmt><Stmt>{ACCOUNT}{balance('OPBD', '15.00')}{balance('CLBD', '14.00')}{entry('1.00')}"
    done = read(file_of(BALANCES, entry(), more))
    assert [[e.amount for e in each.entries] for each in done.statements] == [
        [Decimal("-5.00")],
        [Decimal("-1.00")],
    ]
    assert done.findings == ()


def test_an_account_may_have_a_number_of_its_own_or_be_missing() -> None:
    other = "<Acct><Id><Othr><Id>12345678</Id></Othr></Id></Acct>"
    assert one(file_of(BALANCES, entry(), account=other)).account == "12345678"
    assert one(file_of(BALANCES, entry(), account="")).account == "a"
    assert "has no account" in told(file_of(BALANCES, entry()).replace(ACCOUNT, ""))[0][1]


def test_a_notification_is_not_asked_for_balances() -> None:
    text = file_of(entry("5.00", "CRDT"), message="BkToCstmrDbtCdtNtfctn", tag="Ntfctn")
    assert (amounts(text), one(text).gap) == ([Decimal("5.00")], None)
    assert [severity for severity, _, _ in told(text)] == ["info"]


def test_a_summary_that_counts_more_is_told() -> None:
    totals = (
        "<TxsSummry><TtlNtries><NbOfNtries>2</NbOfNtries></TtlNtries>"
        "<TtlCdtNtries><Sum>1.00</Sum></TtlCdtNtries><TtlDbtNtries><Sum>5.00</Sum></TtlDbtNtries></TxsSummry>"
    )
    assert [what for _, what, _ in told(file_of(BALANCES, totals, entry()))] == [
        "holds 1 entries, yet its summary counts '2'",
        "its credits make 0, yet its summary says 1.00",
    ]


def test_a_page_that_is_not_the_last_is_told() -> None:
    page = "<StmtPgntn><PgNb>1</PgNb><LastPgInd>false</LastPgInd></StmtPgntn>"
    assert "is page 1 and not the last" in told(file_of(page, BALANCES, entry()))[0][1]


def test_a_cut_file_keeps_what_was_whole_and_says_so() -> None:
    whole = file_of(BALANCES, entry(), entry("16.85"))
    cut = whole[: whole.index("16.85") + 4]
    assert amounts(cut) == [Decimal("-5.00")]
    assert [(what, row) for severity, what, row in told(cut) if severity == "error"] == [
        (
            "is no XML from here on (no element found): it is cut off or damaged, so entries may be missing",
            4,
        ),
        ("the file breaks off inside this Ntry, so it is left out", 4),
    ]


def test_a_file_damaged_in_the_middle_is_read_up_to_there() -> None:
    text = file_of(BALANCES, entry(), "<Ntry></Amt>", entry("1.00"))
    assert amounts(text) == [Decimal("-5.00")]
    assert "(mismatched tag)" in told(text)[0][1]


@pytest.mark.parametrize(
    "prefix",
    [
        '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1/p"> %p;]>',
        '<!DOCTYPE a SYSTEM "http://127.0.0.1/a.dtd">',
    ],
)
def test_declarations_are_refused(prefix: str) -> None:
    text = prefix + file_of(BALANCES, entry(more="<AddtlNtryInf>&a;&b;&x;</AddtlNtryInf>"))
    with pytest.raises(SourceError, match=r"a\.xml line 1: declares a DOCTYPE"):
        read(text)


def test_an_entity_that_nothing_declares_ends_the_reading() -> None:
    text = file_of(BALANCES, entry(), entry("1.00", more="<Sts>BOOK</Sts><NtryRef>&x;</NtryRef>"))
    assert amounts(text) == [Decimal("-5.00")]
    assert "(undefined entity)" in told(text)[0][1]


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(SourceError, match="nests more than 64 elements"):
        read(file_of("<a>" * 200 + "</a>" * 200))


def test_elements_without_end_are_refused() -> None:
    with pytest.raises(SourceError, match="holds more than 500000 elements"):
        read(file_of("<a/>" * 500_001))


def test_any_prefix_encoding_and_blank_before_the_head_are_read() -> None:
    text = file_of(BALANCES, entry(more="<Sts>BOOK</Sts><AddtlNtryInf>Müller</AddtlNtryInf>"))
    prefixed = text.replace("</", "</c:").replace("<", "<c:").replace("<c:/c:", "</c:")
    prefixed = prefixed.replace("xmlns=", "xmlns:c=")
    latin = f'<?xml version="1.0" encoding="ISO-8859-15"?>{text}'.encode("iso8859-15")
    files = (text.encode(), prefixed.encode(), latin, text.encode("utf-16"), f"\n\n{text}".encode())
    assert [one(each).entries[0].text for each in files] == ["Müller"] * 5
    assert [one(each).entries[0].row for each in files] == [3, 3, 3, 3, 5]


def test_what_is_no_statement_is_refused() -> None:
    with pytest.raises(SourceError, match="holds BkToCstmrAcctRpt but no Stmt or Ntfctn"):
        read(file_of(entry(), message="BkToCstmrAcctRpt", tag="Rpt"))
    with pytest.raises(SourceError, match=r"a\.xml line 1: is no XML \(no element found\)"):
        read("")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_the_format_is_known_by_its_content(encoding: str) -> None:
    assert reader_for(Source("a.txt", file_of(entry()).encode(encoding))) is read_camt


@given(st.binary(max_size=200), st.integers(0, 900))
def test_no_bytes_raise_anything_but_a_refusal(junk: bytes, at: int) -> None:
    data = file_of(BALANCES, entry(), entry("6.00")).encode()
    for hostile in (junk, data[:at] + junk + data[at:], data[:at] + junk):
        try:
            done = read(hostile)
        except SourceError:
            continue
        assert all(each.amount.is_finite() for s in done.statements for each in s.entries)


@given(st.integers(0, 900))
def test_a_cut_is_never_silent(at: int) -> None:
    whole = file_of(BALANCES, entry(), entry("6.00"))
    at = min(at, len(whole) - 1)
    try:
        done = read(whole[:at])
    except SourceError:
        return
    assert any(each.severity == "error" for each in done.findings)
