"""Beancount: what its directives mean, by hand arithmetic."""

import datetime
from decimal import Decimal

import pytest

from offing.namespaces.ledger.accounts import Books, gather
from offing.namespaces.ledger.beancount import read_beancount
from offing.namespaces.ledger.books import LedgerFile, Weight
from offing.namespaces.tables.source import Conventions, Source, SourceError

HEAD = """option "operating_currency" "EUR"
2026-01-01 open Assets:Bank EUR
2026-01-01 open Assets:Cash
2026-01-01 open Assets:Broker
2026-01-01 open Expenses:Food
2026-01-01 open Equity:Opening
"""


def read(text: str, name: str = "a.beancount") -> LedgerFile:
    return read_beancount(Source(name, text.encode()), Conventions())


def books(text: str) -> Books:
    return gather([read(HEAD + text)])


def told(of: Books | LedgerFile, *severities: str) -> list[str]:
    wanted = severities or ("error", "warning")
    return [each.what for each in of.findings if each.severity in wanted]


def amounts(of: LedgerFile) -> list[str]:
    return [f"{line.account} {line.amount} {line.currency}" for line in of.lines]


def test_an_entry_has_payee_text_tags_and_metadata() -> None:
    (line, _) = read(
        'pushtag #trip\n2026-09-14 ! "Shop" "Bread, \\"fresh\\"" #x ^inv-9\n  invoice: "INV 9"\n'
        "  Expenses:Food  1,234.50 EUR ; a comment\n    receipt: 7\n  Assets:Cash\npoptag #trip\n"
    ).lines
    assert line.text == 'Shop Bread, "fresh" #trip #x ^inv-9 invoice: INV 9 receipt: 7'
    assert (line.date, line.amount, line.row) == (datetime.date(2026, 9, 14), Decimal("1234.50"), 4)
    assert line.journal == "a.beancount:2"


def test_what_is_left_out_is_filled_in_for_each_currency() -> None:
    done = read('2026-09-14 * "x"\n  Assets:Cash  440.00 CAD\n  Assets:Bank  -431.92 USD\n  Assets:Cash\n')
    assert amounts(done) == [
        "Assets:Cash 440.00 CAD",
        "Assets:Bank -431.92 USD",
        "Assets:Cash -440.00 CAD",
        "Assets:Cash 431.92 USD",
    ]
    assert [line.origin for line in done.lines] == ["written", "written", "inferred", "inferred"]
    assert told(done, "info") == ["the amount is not written: it is what balances its entry"]


def test_a_lot_counts_as_its_cost_and_its_amount_is_the_quantity() -> None:
    # 30 at 185.40 are 5562.00; with 9.95 of fees 5571.95 are paid.
    done = read(
        '2026-09-14 * "buy"\n  Assets:Broker  30 AAPL {185.40 USD, 2026-09-14, "lot"} @ 190 USD\n'
        "  Expenses:Food  9.95 USD\n  Assets:Cash\n"
    )
    assert amounts(done)[0] == "Assets:Broker 30 AAPL"
    assert done.lines[0].counts == Weight(Decimal("5562.00"), "USD")
    assert amounts(done)[2] == "Assets:Cash -5571.95 USD"


@pytest.mark.parametrize(
    ("price", "paid"),
    [("@ 1.10 USD", "-110.00"), ("@@ 111 USD", "-111"), ("{{112 USD}}", "-112"), ("{1.2 USD}", "-120.0")],
)
def test_a_price_is_of_one_or_of_the_whole(price: str, paid: str) -> None:
    done = read(f'2026-09-14 * "x"\n  Assets:Bank  100 EUR {price}\n  Assets:Cash\n')
    assert amounts(done)[1] == f"Assets:Cash {paid} USD"


def test_a_sale_of_the_whole_price_keeps_its_sign() -> None:
    done = read('2026-09-14 * "x"\n  Assets:Bank  -100 EUR @@ 111.00 USD\n  Assets:Cash  111.00 USD\n')
    assert told(done) == []


def test_rounding_within_half_of_the_last_place_is_no_error() -> None:
    # 3 at 3.333 are 9.999, and 10.00 are paid: 0.001 is less than half a cent.
    done = read('2026-09-14 * "x"\n  Assets:Broker  3 AAPL @ 3.333 USD\n  Assets:Cash  -10.00 USD\n')
    assert told(done) == []
    assert sum(line.counts.amount for line in done.lines) == 0
    off = read('2026-09-14 * "x"\n  Assets:Broker  3 AAPL @ 3.331 USD\n  Assets:Cash  -10.00 USD\n')
    assert told(off) == ["the entry does not balance: its lines sum to -0.007 USD"]


def test_what_is_filled_in_is_rounded_to_the_precision_of_its_entry() -> None:
    done = read(
        '2026-09-14 * "x"\n  Assets:Broker  3 AAPL @ 3.333 USD\n  Expenses:Food  1.00 USD\n  Assets:Cash\n'
    )
    assert amounts(done)[2] == "Assets:Cash -11.00 USD"
    assert sum(line.counts.amount for line in done.lines) == 0


@pytest.mark.parametrize(
    ("postings", "what"),
    [
        ("  Assets:Cash 1 EUR\n  Assets:Bank 2 EUR\n", "does not balance: its lines sum to 3 EUR"),
        ("  Assets:Cash 1 EUR\n  Assets:Bank\n  Expenses:Food\n", "2 of its amounts are left out"),
        ("  Assets:Broker -1 X {}\n  Assets:Bank 2 EUR\n", "cost of a lot to be looked up"),
        ("  Assets:Cash (1+2) EUR\n  Assets:Bank -3 EUR\n", "is no amount with a currency"),
        ("  Assets:Cash 1,5 EUR\n  Assets:Bank -1.5 EUR\n", "'1,5' is no number"),
        ("  Assets:Cash 1e1000000000 EUR\n  Assets:Bank 1 EUR\n", "is no amount with a currency"),
        (f"  Assets:Cash {'9' * 21} EUR\n  Assets:Bank -1 EUR\n", "more than 20 digits"),
        ("  Assets:Cash 1\n  Assets:Bank -1 EUR\n", "lacks its number or its currency"),
        ("  nothing\n  Assets:Bank 0 EUR\n", "is no posting"),
    ],
)
def test_what_does_not_add_up_or_read_is_an_error(postings: str, what: str) -> None:
    assert what in " ".join(told(read(f'2026-09-14 * "x"\n{postings}'), "error"))


def test_a_balance_counts_before_the_day_and_with_the_accounts_below() -> None:
    text = (
        '2026-09-14 * "x"\n  Assets:Bank  10 EUR\n  Equity:Opening\n'
        '2026-09-15 * "y"\n  Assets:Bank:Sub  5 EUR\n  Equity:Opening\n'
        "2026-09-15 balance Assets:Bank  10 EUR\n2026-09-16 balance Assets:Bank  {} EUR\n"
    )
    assert told(gather([read(text.format(15))])) == []
    assert len(told(gather([read(text.format("14.5"))]), "error")) == 1


def test_a_balance_that_does_not_hold_is_told_with_both_amounts() -> None:
    text = '2026-09-14 * "x"\n  Assets:Bank  10.00 EUR\n  Equity:Opening\n2026-09-15 balance Assets:Bank '
    (failed,) = gather([read(text + "10.02 EUR\n")]).findings[1:]
    assert (failed.severity, failed.row) == ("error", 4)
    assert failed.what == (
        "Assets:Bank and those below it holds 10.00 before 2026-09-15, and is stated to hold 10.02 EUR:"
        " lines are missing or wrong"
    )
    # Without a word one unit of the last place is let pass, with ~ what it says.
    assert told(gather([read(text + "10.01 EUR\n")])) == []
    assert told(gather([read(text + "10.02 ~ 0.02 EUR\n")])) == []


def test_padding_makes_the_next_balance_hold_and_no_other() -> None:
    done = books(
        "2026-01-02 pad Assets:Cash Equity:Opening\n"
        '2026-01-03 * "x"\n  Expenses:Food  20 EUR\n  Assets:Cash\n'
        "2026-01-04 balance Assets:Cash  100 EUR\n2026-01-04 balance Assets:Cash  7 USD\n"
        "2026-02-01 balance Assets:Cash  90 EUR\n"
    )
    padding = [
        f"{each.line.date} {each.line.account} {each.line.amount} {each.line.currency}"
        for account in done.accounts
        for each in account.postings
        if each.line.origin == "padding"
    ]
    assert sorted(padding) == [
        "2026-01-02 Assets:Cash 120 EUR",
        "2026-01-02 Assets:Cash 7 USD",
        "2026-01-02 Equity:Opening -120 EUR",
        "2026-01-02 Equity:Opening -7 USD",
    ]
    assert [what[:40] for what in told(done)] == ["Assets:Cash and those below it holds 100"]


def test_a_balance_is_checked_over_all_files() -> None:
    main = read('2026-09-15 balance Assets:Bank  10 EUR\ninclude "2026.beancount"\n', "main.beancount")
    year = read('2026-09-14 * "x"\n  Assets:Bank  10 EUR\n  Equity:Opening\n', "2026.beancount")
    assert told(gather([main, year])) == []
    missing, fails = told(gather([main]))
    assert missing == "includes '2026.beancount', which is not opened: give that file as well"
    assert "lines are missing or wrong" in fails


def test_an_account_may_be_opened_in_any_of_the_files() -> None:
    main = read("2026-01-01 open Assets:Bank\n", "main.beancount")
    year = read('2026-09-14 * "x"\n  Assets:Bank  10 EUR\n  Equity:Opening\n', "2026.beancount")
    assert told(gather([main, year])) == ["posts to Equity:Opening, which no file opens"]


def test_accounts_are_to_be_open_and_to_hold_their_currencies() -> None:
    done = books(
        '2026-09-14 * "x"\n  Assets:Bank  1 USD\n  Assets:Other  -1 USD\n'
        '2025-09-14 * "x"\n  Assets:Cash  1 USD\n  Equity:Opening  -1 USD\n'
        "2026-02-01 close Expenses:Food\n"
        '2026-03-01 * "x"\n  Expenses:Food  1 USD\n  Assets:Cash  -1 USD\n'
    )
    assert told(done) == [
        "posts USD to Assets:Bank, which is opened for others only",
        "posts to Assets:Cash before 2026-01-01, when it is opened",
        "posts to Equity:Opening before 2026-01-01, when it is opened",
        "posts to Expenses:Food after it is closed",
        "posts to Assets:Other, which no file opens",
    ]
    assert done.without_lines == ("Assets:Broker",)


def test_what_is_not_known_is_told_and_the_rest_is_read() -> None:
    done = read(
        '* a heading\n#+STARTUP: x\n; comment\nplugin "auto"\n2026-01-01 custom "budget" 1\n'
        "2026-01-01 price USD 1.1 EUR\nwrong line\n2026-02-30 open Assets:X\n2026-01-01 opn Assets:X\n"
        '2026-01-01 balance Assets:X\n2026-09-14 * "two\nlines"\n  Assets:A  1 EUR\n  Assets:B\n'
    )
    assert told(done) == [
        "uses the plugin '\"auto\"', which is not run: what it would add or change is not here",
        "'wrong line' is no directive of Beancount: it is not read",
        "'2026-02-30' is no date: it is not read",
        "'opn' is no directive of Beancount: it is not read",
        "'Assets:X' is no account with an amount: it is not read",
    ]
    assert [line.text for line in done.lines] == ["two lines", "two lines"]


def test_a_quote_that_is_not_closed_loses_its_own_line_only() -> None:
    done = read('2026-09-13 * "x\n' + "; more\n" * 70 + '2026-09-14 * "y"\n  Assets:A 1 EUR\n  Assets:B\n')
    assert told(done, "error") == ["a quote is opened and not closed: the line is not read"]
    assert len(done.lines) == 2


def test_a_file_without_directives_is_refused() -> None:
    with pytest.raises(SourceError, match="holds no Beancount directive"):
        read("hello\n")
