"""`offing reconcile`, as a person uses it over their own files: no model, and each message leads on."""

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from offing.engine.cli.demo import OCTOBER, SEPTEMBER, DemoMonth
from offing.engine.cli.main import main

ODD = "Kiedy;Kwota;Saldo po;Opis\n2026-09-14;-900,00;100,00;Czynsz\n2026-09-30;1200,50;1300,50;Najem\n"
"""A CSV of a bank whose words nobody knows."""
BOOKS = """Date,Account,Description,Debit,Credit,Currency
2026-09-01,1200 Bank,Opening balance,1000.00,,EUR
2026-09-14,1200 Bank,Rent,,900.00,EUR
2026-09-14,7000 Rent,Rent,900.00,,EUR
2026-09-29,1200 Bank,Let out,1200.50,,EUR
2026-09-29,4000 Income,Let out,,1200.50,EUR
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bank.csv").write_text(ODD)
    (tmp_path / "gl.csv").write_text(BOOKS)
    return tmp_path


class Command:
    """Runs the command in this process and keeps what it said."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *arguments: str) -> int:
        try:
            code = main(["reconcile", *arguments])
        except SystemExit as end:  # as argparse ends
            code = int(str(end.code))
        self.out, self.err = self._capsys.readouterr()
        return code


@pytest.fixture
def reconcile(capsys: pytest.CaptureFixture[str], folder: Path) -> Command:
    return Command(capsys)


FILES = ("--bank", "bank.csv", "--ledger", "gl.csv")
COLUMNS = ("--column", "date=Kiedy", "--column", "amount=Kwota", "--column", "balance=Saldo po")
TOLD = (*COLUMNS, "--currency", "EUR")


def of(month: DemoMonth) -> Sequence[str]:
    return ("--bank", *map(str, month.bank), "--ledger", *map(str, month.ledger), "--tolerance", "0.05")


def test_five_accounts_of_three_companies_pair_themselves_and_are_explained(reconcile: Command) -> None:
    assert reconcile(*of(SEPTEMBER)) == 0
    assert reconcile.out.startswith("Reconciled 2026-09-01 to 2026-09-30\n")
    heads = [line for line in reconcile.out.splitlines() if " against " in line]
    assert heads == [
        "NL68HVBK0417164300 against 1100 Current account EUR (60 of its 64 amounts are in that account)",
        "7702215580 against 1110 Dollar account 7702215580 (its number is in the name)",
        "DE03900500150048812077 against Assets:Bank:Weserkontor-48812077 (its number is in the name)",
        "55120944 against 1200 Operating account 55120944 (its number is in the name)",
        "55120952 against 1210 Receipts account 55120952 (its number is in the name)",
    ]
    assert reconcile.out.count("unexplained 0.00") == 5
    assert Path("offing-statement/statement-2026-09.xlsx").exists()


def test_the_last_line_is_the_command_that_investigates_what_is_left(reconcile: Command) -> None:
    reconcile(*FILES, *TOLD, "--period", "2026-09", "--company", "Own Ltd")
    last = reconcile.out.splitlines()[-1].partition("with: ")[2]
    assert shlex.split(last) == [
        *("offing", "run", "Why do bank and books differ at 2026-09-30?"),
        *("--bank", "bank.csv", "--ledger", "gl.csv", "--period", "2026-09", "--company", "Own Ltd"),
        *("--currency", "EUR", *COLUMNS),
    ]


def test_open_items_of_one_month_are_carried_into_the_next(reconcile: Command) -> None:
    reconcile(*of(SEPTEMBER), "--out", "out")
    assert reconcile(*of(OCTOBER)) == 3
    assert "give the statement of the period before with --carried" in reconcile.out
    assert reconcile(*of(OCTOBER), "--carried", "out/statement-2026-09.csv", "--json") == 0
    told = json.loads(reconcile.out)
    assert (told["from"], told["to"], told["explained"], told["unpaired"]) == (
        *("2026-10-01", "2026-10-31"),
        True,
        [],
    )
    assert [each["items"]["cleared"] for each in told["accounts"]] == [3, 3, 3, 5, 3]
    assert [each["unexplained"] for each in told["accounts"]] == ["0.00"] * 5


def test_open_items_of_another_month_are_told_and_left(reconcile: Command) -> None:
    reconcile(*of(SEPTEMBER), "--out", "out")
    reconcile(*of(SEPTEMBER), "--carried", "out/statement-2026-09.csv")
    assert "are of 2026-09-30, and the period begins after 2026-08-31: they are not carried" in reconcile.out


def test_a_csv_that_no_profile_knows_is_read_once_its_columns_are_named(reconcile: Command) -> None:
    assert reconcile(*FILES) == 2
    assert "say by name which is which: --column date='Kiedy' --column amount=" in reconcile.err
    assert reconcile(*FILES, *TOLD) == 0
    assert "bank against 1200 Bank (2 of its 2 amounts are in that account)" in reconcile.out
    # 100.00 + 900.00 at the start on both sides, 1,300.50 at the end.
    assert "bank 1,300.50, books 1,300.50, difference 0.00 EUR" in reconcile.out
    assert "matched: 1 exact, 1 timing" in reconcile.out


def test_what_was_said_is_kept_for_the_next_files_of_that_layout_and_told(
    reconcile: Command, folder: Path
) -> None:
    assert reconcile(*FILES, *TOLD) == 0
    layout = "table files with Kiedy, Kwota, Saldo po, Opis"
    assert f"! bank.csv: how it was read is kept for {layout}" in reconcile.out
    (folder / "bank.csv").rename(folder / "later.csv")
    assert reconcile("--bank", "later.csv", "--ledger", "gl.csv") == 0
    assert "later against 1200 Bank (2 of its 2 amounts are in that account)" in reconcile.out
    columns = "date = 'Kiedy', amount = 'Kwota', balance = 'Saldo po'"
    assert f"! later.csv: read with the columns {columns}, as decided for {layout} on " in reconcile.out
    assert "is kept for" not in reconcile.out


def test_dates_that_read_two_ways_lead_to_the_option(reconcile: Command, folder: Path) -> None:
    (folder / "bank.csv").write_text("Date,Description,Amount\n03/04/2026,Rent,-900.00\n")
    assert reconcile(*FILES) == 2
    assert (
        "bank.csv line 2: '03/04/2026': reads as 2026-04-03 with --day-first and as 2026-03-04"
        in reconcile.err
    )
    assert "say which with --day-first or --no-day-first" in reconcile.err


def test_amounts_that_read_two_ways_lead_to_the_option(reconcile: Command, folder: Path) -> None:
    (folder / "bank.csv").write_text("Date,Description,Amount\n2026-04-03,Rent,1.234\n")
    assert reconcile(*FILES) == 2
    assert "say which with --decimal . or --decimal ," in reconcile.err


def test_an_account_without_a_plain_pair_is_told_with_what_to_give(reconcile: Command, folder: Path) -> None:
    strange = BOOKS.replace(",900.00,EUR", ",900.10,EUR").replace("1200.50,,", "1200.60,,")
    (folder / "gl.csv").write_text(strange.replace("1200 Bank", "1200 Till"))
    assert reconcile(*FILES, *TOLD) == 2
    assert "give --pair 'bank'='1200 Till'; it may also be '4000 Income', '7000 Rent'" in reconcile.err
    assert reconcile(*FILES, *TOLD, "--pair", "bank=1200") == 0
    assert "bank against 1200 Till (as --pair says)" in reconcile.out


CARD = """Date,Description,Amount,Currency
2026-09-03,Office,88.10,EUR
2026-09-14,Payment,-500.00,EUR
2026-09-20,Hosting,310.00,EUR
2026-09-28,Taxi,23.40,EUR
"""
CARD_BOOKS = """Date,Account,Debit,Credit,Currency
2026-09-03,2100 Card,,88.10,EUR
2026-09-14,2100 Card,500.00,,EUR
2026-09-14,1200 Bank,,500.00,EUR
2026-09-20,2100 Card,,310.00,EUR
"""


@pytest.mark.parametrize("pair", [[], ["--pair", "card=2100"]])
def test_a_card_whose_charges_are_positive_leads_to_the_option_that_turns_it(
    reconcile: Command, folder: Path, pair: list[str]
) -> None:
    (folder / "card.csv").write_text(CARD)
    (folder / "gl.csv").write_text(CARD_BOOKS)
    files = ("--bank", "card.csv", "--ledger", "gl.csv")
    reconcile(*files, *pair)
    hint = "Its amounts are in '2100 Card' with the other sign: if its file has money out as positive, say so"
    assert f"{hint} with --column debit=NAME" in reconcile.out + reconcile.err
    reconcile(*files, *pair, "--column", "debit=Amount")
    assert "matched: 3 exact\n  missing in books: 1, together -23.40" in reconcile.out
    assert hint not in reconcile.out


@pytest.mark.parametrize(
    ("bank", "books", "told"),
    [
        ("", ",EUR", "bank names no currency, and no account of the books that is left is without one: they"),
        (",EUR", "", "bank is in EUR, and the books name no currency; say it with --currency"),
        (",EUR", ",USD", "bank is in EUR, and no account of the books that is left is: USD"),
    ],
)
def test_sides_in_different_currencies_say_which_and_what_to_give(
    reconcile: Command, folder: Path, bank: str, books: str, told: str
) -> None:
    for name, code, text in (("bank", bank, "x"), ("gl", books, "1200 Bank")):
        head = f"Date,{'Text' if name == 'bank' else 'Account'},Amount{',Currency' if code else ''}"
        (folder / f"{name}.csv").write_text(f"{head}\n2026-09-14,{text},5.00{code}\n")
    assert reconcile(*FILES) == 2
    assert told in reconcile.err


def test_an_account_whose_name_has_a_dash_in_front_can_be_given_as_it_is_told(
    reconcile: Command, folder: Path
) -> None:
    (folder / "bank.csv").write_text("Account,Date,Text,Amount,Currency\n-11009,2026-09-02,x,17.35,EUR\n")
    assert reconcile(*FILES) == 2
    assert "give --pair='-11009'='1200 Bank'" in reconcile.err
    assert reconcile(*FILES, "--pair=-11009=1200 Bank") == 3
    assert "-11009 against 1200 Bank (as --pair says)" in reconcile.out


def test_what_lies_outside_of_the_days_that_were_chosen_and_what_is_pending_is_told(
    reconcile: Command, folder: Path
) -> None:
    (folder / "bank.csv").write_text(
        "Date,Text,Amount,Currency,Status\n2026-09-14,Rent,-900.00,EUR,Booked\n"
        "2026-09-15,Fee,-1.00,EUR,Booked\n2026-09-16,Shop,-2.00,EUR,Pending\n"
    )
    reconcile(*FILES)
    assert "! bank: 1 of its entries are only pending at the bank, so they are not counted" in reconcile.out
    outside = "0 of the bank's entries and 1 of the books' lie outside of these days"
    assert f"! bank: {outside}: --period FROM..TO takes them in" in reconcile.out
    reconcile(*FILES, "--period", "2026-09")
    assert "outside of these days" not in reconcile.out


def test_one_account_without_a_pair_leaves_the_others_and_is_told(reconcile: Command, folder: Path) -> None:
    (folder / "till.csv").write_text("Date;Text;Amount\n2026-09-02;Sale;17.35\n")
    assert reconcile(*FILES, *TOLD, "--bank", "till.csv") == 3
    assert "bank against 1200 Bank" in reconcile.out
    assert "till has no plain account in the books: give --pair 'till'=" in reconcile.out


def test_a_file_that_cannot_be_read_stops_it_even_beside_good_ones(reconcile: Command, folder: Path) -> None:
    (folder / "bad.csv").write_text("nothing here\n")
    assert reconcile(*FILES, *TOLD, "--bank", "bad.csv") == 2
    assert reconcile.err.startswith("offing: bad.csv line 1: ")
    assert not Path("offing-statement").exists()


def test_a_bank_file_without_balances_is_matched_and_nothing_is_proved(reconcile: Command) -> None:
    assert reconcile(*FILES, *COLUMNS[:4], "--currency", "EUR") == 3
    assert "unexplained unknown" in reconcile.out
    assert "! bank: no file states a dated balance, so the difference is not known" in reconcile.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--period", "September"], "--period 'September' is no period: give a month (2026-09) or days from"),
        (["--period", "2026-13"], "--period '2026-13' is no period"),
        (["--period", "2026-09-30..2026-09-01"], "is no period"),
        (["--pair", "1200"], "--pair '1200' is no pair: give BANK=LEDGER, such as 55120944=1200"),
        (["--pair", "till=1200"], "--pair 'till=1200': there is no one account 'till'; there are: 'bank'"),
        (["--pair", "bank=1200", "--pair", "bank=4000"], "--pair names 'bank' 2 times"),
        (["--tolerance", "much"], "--tolerance 'much' is no number: give a number with a decimal point"),
        (["--tolerance", "-1"], "--tolerance '-1' cannot be"),
        (["--window-days", "2.5"], "--window-days '2.5' cannot be: give a whole number, such as 5"),
        (["--column", "date"], "--column 'date' is no column: give ROLE=NAME, such as date=Kiedy"),
        (["--carried", "gl.csv"], "gl.csv line 1: 'Date,Account,"),
        (["--carried", "nowhere.csv"], "there is no such file"),
        (["--out", "gl.csv"], "cannot write to 'gl.csv'"),
        (["--frobnicate"], "unrecognized arguments: --frobnicate"),
    ],
)
def test_wrong_usage_names_the_value_and_ends_with_2(
    reconcile: Command, arguments: list[str], told: str
) -> None:
    assert reconcile(*FILES, *TOLD, *arguments) == 2
    assert told in reconcile.err


def test_it_works_in_a_process_of_its_own_and_loads_no_library_of_a_provider(folder: Path) -> None:
    arguments = ["reconcile", *FILES, *TOLD]
    code = (
        "import sys; from offing.engine.cli.main import main; "
        f"code = main({arguments!r}); "
        "print(code, [name for name in ('anthropic', 'litellm', 'httpx', 'openai') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-1] == "0 []"
