"""How accounts are paired and the period is chosen: only where it is plain."""

import datetime
from pathlib import Path

import pytest

from offing.engine.cli.reconcile.pairing import Pairing, pair_accounts
from offing.engine.cli.reconcile.period import Covered, last_full_month, period_of
from offing.engine.errors import ConfigurationError
from offing.namespaces.bank import Bank
from offing.namespaces.ledger import Ledger


def day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


def paired(folder: Path, bank: dict[str, str], books: str, *said: str) -> Pairing:
    """Bank accounts as `name: amounts`, books as `account: amounts` a line; all in EUR, a day apart."""
    files: list[Path] = []
    for name, amounts in bank.items():
        path = folder / f"{name}.csv"
        rows = [f"2026-09-{number + 1:02},x,{amount},EUR" for number, amount in enumerate(amounts.split())]
        path.write_text("\n".join(["Date,Text,Amount,Currency", *rows]))
        files.append(path)
    lines = ["Date,Account,Text,Amount,Currency"]
    for each in books.splitlines():
        account, _, amounts = each.partition(":")
        lines += [f"2026-09-{n + 1:02},{account},x,{amount},EUR" for n, amount in enumerate(amounts.split())]
    (folder / "gl.csv").write_text("\n".join(lines))
    return pair_accounts(Bank(files).contents(), Ledger([folder / "gl.csv"]).contents(), said)


def names(pairing: Pairing) -> dict[str, str]:
    return {pair.bank.label: pair.books.label for pair in pairing.pairs}


def test_a_number_in_the_name_goes_before_what_is_on_the_accounts(tmp_path: Path) -> None:
    found = paired(
        tmp_path, {"acc 55120944": "1.50 2.50 3.50"}, "1200 Bank 0944: 9.75\n1210 Till: 1.50 2.50 3.50"
    )
    assert names(found) == {"acc 55120944": "1200 Bank 0944"}


def test_a_number_in_two_names_decides_nothing(tmp_path: Path) -> None:
    books = "1200 Bank 0944: 1.50 2.50 3.50\n1201 Old bank 0944: 8.75"
    found = paired(tmp_path, {"acc 55120944": "1.50 2.50 3.50"}, books)
    assert [pair.how for pair in found.pairs] == ["3 of its 3 amounts are in that account"]


def test_by_far_the_most_equal_amounts_decide_and_their_sign_counts(tmp_path: Path) -> None:
    books = "1200 Bank: 1.50 -2.50 3.50\n2000 Creditors: -1.50 2.50 -3.50"
    assert names(paired(tmp_path, {"one": "1.50 -2.50 3.50 4.50"}, books)) == {"one": "1200 Bank"}


def test_the_only_account_that_is_called_a_bank_is_taken_where_amounts_decide_nothing(tmp_path: Path) -> None:
    books = "1000 Bank: 1.50 9.75\n4000 Sales: -1.50\n7900 Bank charges: 8.25"
    (found,) = paired(tmp_path, {"one": "1.50 2.50 3.50"}, books).pairs
    assert (found.books.label, found.how) == ("1000 Bank", "the only one that is called a bank account")


def test_two_that_fit_alike_are_left_to_the_user_with_both_named(tmp_path: Path) -> None:
    books = "1200 Bank: 1.50 2.50 3.50\n1210 Till: 1.50 2.50"
    found = paired(tmp_path, {"one": "1.50 2.50 3.50"}, books)
    assert found.pairs == ()
    assert [[each.label for each in left.candidates] for left in found.unpaired] == [
        ["1200 Bank", "1210 Till"]
    ]


def test_what_was_said_leaves_the_rest_to_be_paired_without_it(tmp_path: Path) -> None:
    books = "1200 Bank: 1.50 2.50 3.50\n1210 Till: 1.50 2.50 3.50"
    bank = {"one": "1.50 2.50 3.50", "two": "3.50 2.50 1.50"}
    assert paired(tmp_path, bank, books).pairs == ()
    assert names(paired(tmp_path, bank, books, "two=1200")) == {"one": "1210 Till", "two": "1200 Bank"}


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("2026-09", "2026-09-01", "2026-09-30"),
        ("2028-02", "2028-02-01", "2028-02-29"),
        ("2026-09-07..2026-09-13", "2026-09-07", "2026-09-13"),
    ],
)
def test_a_period_is_a_month_or_days(asked: str, start: str, end: str) -> None:
    assert period_of(asked) == (day(start), day(end))


@pytest.mark.parametrize(
    ("bank", "books", "start", "end"),
    [
        (("2026-07-01", "2026-09-30"), ("2026-01-01", "2026-12-31"), "2026-09-01", "2026-09-30"),
        (("2026-07-01", "2026-09-28"), ("2026-01-01", "2026-12-31"), "2026-09-01", "2026-09-30"),
        (("2026-07-01", "2026-09-20"), ("2026-01-01", "2026-12-31"), "2026-08-01", "2026-08-31"),
        (("2026-07-01", "2026-09-30"), ("2026-01-01", "2026-08-15"), "2026-07-01", "2026-07-31"),
        (("2026-09-03", "2026-09-20"), ("2026-09-05", "2026-09-25"), "2026-09-05", "2026-09-20"),
        (("2026-09-03", "2026-09-20"), ("2026-09-05", "2026-09-12"), "2026-09-05", "2026-09-20"),
        (("2026-09-03", "2026-09-30"), ("2026-08-31", "2026-09-14"), "2026-09-01", "2026-09-30"),
        (("2026-09-01", "2026-10-31"), ("2026-09-05", "2026-09-14"), "2026-09-05", "2026-09-14"),
    ],
)
def test_the_last_full_month_is_one_that_both_sides_have_to_its_end(
    bank: tuple[str, str], books: tuple[str, str], start: str, end: str
) -> None:
    found = last_full_month(Covered(*map(day, bank)), Covered(*map(day, books)))
    assert found == (day(start), day(end))


def test_sides_without_a_day_in_common_are_refused_with_what_they_cover() -> None:
    bank, books = Covered(day("2026-07-01"), day("2026-07-31")), Covered(day("2026-09-01"), day("2026-09-30"))
    with pytest.raises(
        ConfigurationError, match=r"2026-07-31 and the books' of 2026-09-01 .* no day is in both"
    ):
        last_full_month(bank, books)
