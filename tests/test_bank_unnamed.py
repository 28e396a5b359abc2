"""Files that name no account: each is one of its own, and two that look like one are told."""

from pathlib import Path

import pytest

from offing.namespaces.bank import Bank
from offing.namespaces.bank.accounts import Accounts

HEAD = "Date,Text,Amount,Currency\n"
WEEK = """2026-09-03,Rent,-700.00,EUR
2026-09-10,Client,900.00,EUR
2026-09-12,Cash,-10.00,EUR
"""
NEXT = "2026-09-15,Fee,-50.00,EUR\n"


def bank(folder: Path, **files: str) -> Accounts:
    paths = [folder / f"{name}.csv" for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(HEAD + text)
    return Bank(paths).contents()


def told(done: Accounts) -> list[tuple[str, str]]:
    return [(each.file, each.what) for each in done.findings if each.severity != "info"]


def test_a_file_without_an_account_exported_again_with_one_more_week_is_told(tmp_path: Path) -> None:
    done = bank(tmp_path, august=WEEK, september=WEEK + NEXT)
    assert [(each.label, len(each.movements)) for each in done.accounts] == [("august", 3), ("september", 4)]
    what = (
        "names no account, and neither does august.csv: 3 entries of 2026-09-03 to 2026-09-12 are in both. If"
        " both are one account, these count twice: give one of the files"
    )
    assert told(done) == [("september.csv", what)]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (WEEK, WEEK.replace("-09-", "-10-")),
        (WEEK, WEEK.replace("EUR", "USD")),
        (WEEK, WEEK.splitlines(keepends=True)[2] + NEXT),
        (WEEK, WEEK.splitlines(keepends=True)[2] + WEEK.replace("0.00", "1.00")),
    ],
    ids=["other days", "other currency", "one equal entry", "mostly others"],
)
def test_files_with_little_in_common_are_two_accounts_and_nothing_is_told(
    tmp_path: Path, one: str, two: str
) -> None:
    assert told(bank(tmp_path, a=one, b=two)) == []


def test_two_files_of_one_name_are_two_accounts(tmp_path: Path) -> None:
    for name in ("north", "south"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "export.csv").write_text(
            HEAD + WEEK.replace("0.00", f"{len(name)}.5{name[0] == 'n':d}")
        )
    done = Bank([tmp_path / "north" / "export.csv", tmp_path / "south" / "export.csv"]).contents()
    assert [each.label for each in done.accounts] == ["north/export", "south/export"]
    assert {each.record.file for each in done.accounts[0].movements} == {"north/export.csv"}
