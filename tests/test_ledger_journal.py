"""Journals of hledger and ledger: what their directives and postings mean, by hand arithmetic."""

import csv
import datetime
import io
import shutil
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest

from offing.namespaces.ledger.accounts import Books, gather
from offing.namespaces.ledger.books import LedgerFile, Symbol, Weight
from offing.namespaces.ledger.journal import read_hledger, read_ledger
from offing.namespaces.tables.source import Conventions, Source, SourceError, UndecidedError

ALL = """commodity 1.000,00 EUR
commodity "Green Apples"
Y2024
account assets:bank  ; type:C
alias checking = assets:bank:checking

1/5 * (123) Opening | note ; ref: INV-1
    checking             1.000,50 EUR = 1000,50 EUR
    equity

2024-01-06=2024-01-09 exchange
    assets:usd   $110.00
    assets:bank:checking  -100,00 EUR

2024-01-07 priced
    assets:shares    3 "Green Apples" @ $2.333
    assets:usd    $-7.00

2024-01-08 total
    assets:shares    2 "Green Apples" @@ $5.00
    assets:usd

2024-01-09 virtual
    assets:usd   $10.00
    income:x
    (budget:x)   $10
    [budget:a]   $5
    [budget:b]

2024-01-10 assign
    assets:usd   = $200.00
    equity

2024-01-11 multi
    assets:usd   $1
    assets:bank:checking  1,00 EUR  ; date:2024-02-01
    equity

apply account biz
2024-01-12 x
    a:b   $-5
    c
end apply account

comment
2024-01-13 no
   a  1
   b
end comment

~ monthly
   a  1
   b
2024-01-14 assert
    assets:usd   $0.00 = $201.00
    assets:usd   $0.00 =* $201.00
    equity
"""
HELD = {
    "assets:bank:checking": {"EUR": "901.50"},  # 1000.50 - 100 + 1
    "assets:shares": {"Green Apples": "5"},
    "assets:usd": {"$": "201.00"},  # 200 as stated, + 1
    "biz:a:b": {"$": "-5"},
    "biz:c": {"$": "5"},
    "budget:a": {"$": "5"},
    "budget:b": {"$": "-5"},
    "budget:x": {"$": "10"},
    "equity": {"$": "-93.00", "EUR": "-1001.50"},  # 200 less 110 - 7 - 5 + 10 = 108 is 92, and 1
    "income:x": {"$": "-10.00"},
}


def hledger(text: str, conventions: Conventions | None = None, name: str = "a.journal") -> LedgerFile:
    return read_hledger(Source(name, text.encode()), conventions or Conventions())


def ledger(text: str) -> LedgerFile:
    return read_ledger(Source("a.dat", text.encode()), Conventions())


def entry(postings: str, read: str = "hledger", date: str = "2026-09-14") -> LedgerFile:
    text = f"{date} x\n{postings}"
    return hledger(text) if read == "hledger" else ledger(text)


def told(of: Books | LedgerFile, severity: str = "error") -> list[str]:
    return [each.what for each in of.findings if each.severity == severity]


def held(of: LedgerFile) -> dict[str, dict[str | None, Decimal]]:
    sums: dict[str, dict[str | None, Decimal]] = {}
    for line in of.lines:
        own = sums.setdefault(line.account, {})
        own[line.currency] = own.get(line.currency, Decimal(0)) + line.amount
    return sums


def amounts(of: LedgerFile) -> list[str]:
    return [f"{line.account} {line.amount} {line.currency}" for line in of.lines]


def test_a_journal_with_everything_holds_what_it_should() -> None:
    done = hledger(ALL)
    wanted = {name: {code: Decimal(text) for code, text in own.items()} for name, own in HELD.items()}
    assert held(done) == wanted
    assert told(gather([done])) == []


@pytest.mark.skipif(shutil.which("hledger") is None, reason="hledger is not installed")
def test_hledger_holds_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    path.write_text(ALL)
    command = ["hledger", "-f", str(path), "balance", "-N", "--flat", "-O", "csv"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = [row[0] for row in csv.reader(io.StringIO(out))]
    assert names[1:] == sorted(held(hledger(ALL)))


def test_an_entry_has_code_text_tags_and_later_dates() -> None:
    first = hledger(ALL).lines[0]
    assert (first.text, first.date) == ("(123) Opening | note ref: INV-1", datetime.date(2024, 1, 5))
    assert (first.journal, first.row) == ("a.journal:7", 8)
    third = hledger(ALL).lines[2]
    assert third.text == "exchange effective 2024-01-09"


def test_a_line_has_its_own_date_where_its_comment_says_so() -> None:
    done = entry("  a  1 EUR  ; date:10/1\n  b  -1 EUR\n  ; [2026/10/02=2026/10/03]\n")
    assert [str(line.date) for line in done.lines] == ["2026-10-01", "2026-10-02"]


def test_brackets_in_a_comment_that_hold_no_date_are_words() -> None:
    done = entry("  a  1 EUR  ; see [12] and [] and date: soon\n  b\n")
    assert [str(line.date) for line in done.lines] == ["2026-09-14", "2026-09-14"]
    assert told(done) == []


def test_where_lines_come_from_is_said() -> None:
    origins = {line.origin for line in hledger(ALL).lines}
    assert origins == {"written", "inferred", "virtual"}


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        ("$-50.25", "-50.25 $"),
        ("-$50.25", "-50.25 $"),
        ("$ 1,050.25", "1050.25 $"),
        ("50.25 EUR", "50.25 EUR"),
        ("EUR 50.25", "50.25 EUR"),
        ("-50.25EUR", "-50.25 EUR"),
        ("€50.25", "50.25 EUR"),
        ("£50.25", "50.25 GBP"),
        ("US$50.25", "50.25 USD"),
        ('3 "Green Apples"', "3 Green Apples"),
        ("1 000,25 EUR", "1000.25 EUR"),
        ("50.25", "50.25 None"),
    ],
)
def test_symbols_and_signs_stand_on_either_side(written: str, amount: str) -> None:
    assert amounts(entry(f"  a  {written}\n  b\n"))[0] == f"a {amount}"


def test_a_dollar_is_which_the_host_says_and_else_stays_a_symbol() -> None:
    text = "2026-09-14 x\n  a  $1.50\n  b\n"
    assert {line.currency for line in hledger(text, Conventions(currency="CAD")).lines} == {"CAD"}
    for unsaid in (Conventions(), Conventions(currency="EUR")):
        done = hledger(text, unsaid)
        assert {line.currency for line in done.lines} == {"$"}
        (warning,) = told(done, "warning")
        assert "'$' stands for several currencies (USD, CAD" in warning
        assert "currency=" in warning


def test_how_amounts_are_written_is_kept() -> None:
    done = hledger("commodity 1.000,00 EUR\n2026-09-14 x\n  a  €5\n  b  5,00 EUR\n  c  $-7.25 @@ 10,00 EUR\n")
    assert done.symbols == (
        Symbol("EUR", "€", first=True, decimal="."),
        Symbol("$", "$", first=True, decimal="."),
    )


@pytest.mark.parametrize(
    ("above", "amount"),
    [
        ("commodity 1.000,00 EUR", "1234"),
        ("commodity 1,000.00 EUR", "1.234"),
        ("commodity EUR\n  format 1.000,00 EUR", "1234"),
        ("decimal-mark .", "1.234"),
        ("decimal-mark ,", "1234"),
        ("D 1.000,00 EUR", "1234"),
        ("2026-01-01 y\n  a  0,5 EUR\n  b", "1234"),
        ("2026-01-01 y\n  a  0,5 USD\n  b", "1234"),
    ],
)
def test_the_decimal_mark_is_said_or_shown(above: str, amount: str) -> None:
    done = hledger(f"{above}\n2026-09-14 x\n  c  1.234 EUR\n  d\n")
    assert held(done)["c"] == {"EUR": Decimal(amount)}


def test_a_decimal_mark_that_nothing_shows_is_asked_for() -> None:
    text = "2026-09-14 x\n  a  1,234 EUR\n  b\n"
    with pytest.raises(
        UndecidedError, match=r"reads as 1234 with decimal='\.' and as 1\.234 with"
    ) as refused:
        hledger(text)
    assert refused.value.argument == "decimal"
    assert held(hledger(text, Conventions(decimal=".")))["a"] == {"EUR": Decimal(1234)}


def test_a_default_commodity_is_that_of_amounts_alone() -> None:
    assert amounts(hledger("D 1000.00 SEK\n2026-09-14 x\n  a  5\n  b\n"))[0] == "a 5 SEK"
    assert amounts(ledger("D 1000.00 SEK\n2026-09-14 x\n  a  5\n  b\n"))[0] == "a 5 None"


def test_of_a_price_and_a_cost_hledger_counts_the_price_and_ledger_the_cost() -> None:
    # 5 were bought at 100 and are sold at 120.
    sale = "  broker  -5 AAPL {100.00 EUR} [2026-01-01] @ 120.00 EUR\n  cash  600.00 EUR\n"
    assert told(entry(sale)) == []
    assert entry(sale).lines[0].counts == Weight(Decimal("-600.00"), "EUR")
    gain = f"{sale}  gain  -100.00 EUR\n"
    assert told(entry(gain, "ledger")) == []
    assert told(entry(gain)) == ["the entry does not balance: its lines sum to -100.00 EUR"]


def test_rounding_is_by_the_finest_amount_of_the_entry() -> None:
    assert told(entry("  a  3 X @ 3.333 EUR\n  b  -10.00 EUR\n")) == []
    assert told(entry("  a  3 X @ 3.333 EUR\n  b  -9 EUR\n  c  -1.0000 EUR\n")) == [
        "the entry does not balance: its lines sum to -0.0010 EUR"
    ]


@pytest.mark.parametrize(
    ("postings", "what"),
    [
        ("  a  1 EUR\n  b  2 EUR\n", "does not balance: its lines sum to 3 EUR"),
        ("  a  1 EUR\n  b  2 USD\n", "does not balance: its lines sum to 1 EUR, 2 USD"),
        ("  a  1 EUR\n  b\n  c\n", "2 of its amounts are left out"),
        ("  a  (1 + 2) EUR\n  b\n", "is no amount that is read"),
        ("  a  1E9 EUR\n  b\n", "does not belong behind an amount"),
        ("  a  1e1000000000\n  b\n", "does not belong behind an amount"),
        (f"  a  {'9' * 41} EUR\n  b\n", "is no number"),
        (f"  a  {'9' * 21} EUR\n  b\n", "more than 20 digits"),
        ("  a  -$-5\n  b\n", "has two signs"),
        ("  a  *2\n  b\n", "stands for an amount in rules only"),
        ("  a  1 X {2 EUR\n  b\n", "opens a brace"),
        ("  a  1 EUR  ; date:2026-02-30\n  b\n", "'2026-02-30' is no date"),
        ("  (a)\n  b  0 EUR\n", "in parentheses has no amount"),
        ("  a  1 EUR = 5 EUR\n  b\n", "a holds 1 on 2026-09-14, and is stated to hold 5 EUR"),
        ("  a  1 EUR\n  a  1 USD == 1 USD\n  b\n", "a also holds EUR on 2026-09-14"),
    ],
)
def test_what_does_not_add_up_or_read_is_an_error(postings: str, what: str) -> None:
    assert what in " ".join(told(gather([entry(postings)])))


def test_hledger_checks_balances_by_date_and_ledger_as_they_stand() -> None:
    text = "2026-09-15 late\n  a  1 EUR = {} EUR\n  b\n2026-09-14 early\n  a  5 EUR\n  b\n"
    assert told(gather([hledger(text.format(6))])) == []
    assert told(gather([ledger(text.format(1))])) == []
    assert len(told(gather([hledger(text.format(1))]))) == 1


def test_a_rule_adds_its_part_of_each_line_below_it() -> None:
    text = (
        "2026-09-13 before\n  income:x  -7 EUR\n  b\n= /^Income/\n  (tithe)  0.12\n  [x]  $2\n  [y]  $-2\n"
        "2026-09-14 x\n  a  1000.50 EUR\n  income:x\n"
    )
    done = ledger(text)
    added = [each for each in amounts(done) if each.split()[0] in {"tithe", "x", "y"}]
    assert added == ["tithe -120.06 EUR", "x 2 $", "y -2 $"]
    assert {line.origin for line in done.lines[4:]} == {"automated"}
    assert told(gather([done])) == []
    assert [line.account for line in hledger(text).lines] == ["income:x", "b", "a", "income:x"]
    assert "hledger applies a rule only when it is told to (--auto)" in told(hledger(text))[0]


@pytest.mark.parametrize("query", ["/(a+)+$/", "expr account =~ /x/", "/a.*b/", "desc:x", "/./"])
def test_a_rule_that_looks_for_more_than_a_name_is_not_applied(query: str) -> None:
    done = ledger(f"= {query}\n  (t)  1\n2026-09-14 x\n  {'a' * 400}  1 EUR\n  b\n")
    assert told(done) == [
        "the rule looks for more than a part of an account's name: it adds nothing: it is not read"
    ]
    assert len(done.lines) == 2


@pytest.mark.parametrize(
    ("line", "severity", "what"),
    [
        ("alias /a/ = b", "error", "is a pattern, so accounts keep their names"),
        ("bucket a", "warning", "the directive bucket is not applied"),
        ("assert account(a).total == 5", "warning", "the directive assert is not computed"),
        ("i 2026/09/14 09:00:00 work", "warning", "a time clock entry, which is not read"),
        ("some words", "error", "is no directive that is known"),
        ("decimal-mark x", "error", "is no decimal mark"),
        ("end tag", "error", "nothing of it is open"),
        ("apply fixed X 1 EUR", "error", "is not known"),
        ("9/14 no year", "error", "has no year, and no directive Y says it"),
        ("2026-02-30 x", "error", "'2026-02-30' is no date"),
        ("comment", "warning", "does not end: nothing below it is read"),
    ],
)
def test_what_is_not_followed_is_told(line: str, severity: str, what: str) -> None:
    done = ledger(f"2026-09-14 x\n  a  1 EUR\n  b\n\n{line}\n")
    assert what in " ".join(told(done, severity))
    assert len(done.lines) == 2


def test_what_is_included_is_named_unless_it_was_given() -> None:
    text = "include ../../etc/passwd\n!include years/*.journal\n2026-09-14 x\n  a  1 EUR\n  b\n"
    main, year = hledger(text, name="main"), hledger(ALL, name="2024.journal")
    assert [each for each in told(gather([main, year]), "warning") if "include" in each] == [
        "includes '../../etc/passwd', which is not opened: give that file as well"
    ]
    assert len([each for each in told(gather([main]), "warning") if "include" in each]) == 2


def test_names_are_prefixed_and_replaced_as_the_file_says() -> None:
    done = ledger(
        "alias b = bank\naccount assets:Cash Box\n  alias box\napply account firm\napply tag who: me\n"
        "2026-09-14 x\n  b:main  1 EUR\n  c\nend tag\nend apply account\n2026-09-15 y\n  box  1 EUR\n  b:x\n"
    )
    assert [line.account for line in done.lines] == ["firm:b:main", "firm:c", "assets:Cash Box", "bank:x"]
    assert [line.text for line in done.lines] == ["x who: me", "x who: me", "y", "y"]


def test_what_is_indented_below_nothing_is_told() -> None:
    done = hledger("2026-09-14 x\n  a  1 EUR\n  b\n\n  c  5 EUR\n")
    assert told(done) == ["'c  5 EUR' belongs to no entry: it is not read"]


def test_a_file_without_entries_is_refused() -> None:
    with pytest.raises(SourceError, match="holds no entry"):
        hledger("; nothing\n")
