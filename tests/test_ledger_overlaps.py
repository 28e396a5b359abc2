"""Exports of the same books that cover the same days: each line counts once, and what differs is told."""

from pathlib import Path

import pytest

from offing.namespaces.ledger import Ledger
from offing.namespaces.ledger.accounts import Books

HEAD = "Journal,Date,Account,Amount,Text\n"
WEEK = """1,2026-09-03,1010 Bank,-700.00,Rent
1,2026-09-03,6000 Rent,700.00,Rent
2,2026-09-10,1010 Bank,900.00,Client
2,2026-09-10,4000 Sales,-900.00,Client
"""
NEXT = """3,2026-09-15,1010 Bank,-50.00,Fee
3,2026-09-15,6000 Rent,50.00,Fee
"""


def books(folder: Path, **files: str) -> Books:
    paths = [folder / f"{name}.csv" for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(HEAD + text)
    return Ledger(paths).contents()


def held(done: Books) -> dict[str, list[str]]:
    return {each.label: [str(one.line.amount) for one in each.postings] for each in done.accounts}


def told(done: Books) -> list[tuple[str, str, str]]:
    return [(each.severity, each.file, each.what) for each in done.findings if "currency" not in each.what]


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_a_file_exported_again_with_one_more_week_counts_as_one(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    one, two = names
    done = books(tmp_path, **{one: WEEK, two: WEEK + NEXT})
    assert held(done) == {
        "1010 Bank": ["-700.00", "900.00", "-50.00"],
        "6000 Rent": ["700.00", "50.00"],
        "4000 Sales": ["-900.00"],
    }
    what = "4 lines of 2026-09-03 to 2026-09-10 are in a.csv as well: counted once"
    assert told(done) == [("info", "b.csv", what)]


def test_a_line_that_was_changed_between_two_exports_is_counted_and_told(tmp_path: Path) -> None:
    done = books(tmp_path, a=WEEK + NEXT, b=WEEK.replace("900.00,", "901.00,") + NEXT)
    what = (
        "covers 2026-09-03 to 2026-09-15 as a.csv does, and differs: 2 lines only in a.csv, 2 lines only in"
        " b.csv. All of these are counted"
    )
    assert ("warning", "b.csv", what) in told(done)
    assert held(done)["1010 Bank"] == ["-700.00", "900.00", "901.00", "-50.00"]


def test_equal_lines_within_one_file_stay_two_and_a_few_of_two_files_too(tmp_path: Path) -> None:
    assert held(books(tmp_path, a=WEEK + WEEK))["6000 Rent"] == ["700.00", "700.00"]
    other = "".join(f"{n},2026-09-{n:02},1010 Bank,{n}.00,x\n" for n in range(3, 11))
    assert held(books(tmp_path, a=WEEK, b=WEEK.splitlines(keepends=True)[1] + other))["6000 Rent"] == [
        *("700.00", "700.00")
    ]


def test_lines_that_are_equal_but_for_their_journals_are_two_companies_rent(tmp_path: Path) -> None:
    other = "".join(f"9{line}" for line in WEEK.splitlines(keepends=True))
    assert held(books(tmp_path, a=WEEK, b=other))["6000 Rent"] == ["700.00", "700.00"]


def test_a_copy_of_a_journal_counts_once_though_its_entries_stand_on_other_lines(tmp_path: Path) -> None:
    entry = '2026-09-{0} * "Shop"\n  Expenses:Food  {0}.00 EUR\n  Assets:Cash\n'
    days = [entry.format(day) for day in (10, 11, 12)]
    (tmp_path / "a.beancount").write_text("".join(days))
    (tmp_path / "b.beancount").write_text("; exported again\n" + "".join(days) + entry.format(13))
    done = Ledger([tmp_path / "a.beancount", tmp_path / "b.beancount"]).contents()
    assert held(done)["Expenses:Food"] == ["10.00", "11.00", "12.00", "13.00"]


def test_two_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for name, text in (("aug", WEEK.replace("-09-", "-08-")), ("sep", WEEK)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "gl.csv").write_text(HEAD + text)
    done = Ledger([tmp_path / "aug" / "gl.csv", tmp_path / "sep" / "gl.csv"]).contents()
    assert [each.name for each in done.files] == ["aug/gl.csv", "sep/gl.csv"]
    assert [one.record.file for one in done.find("6000").postings] == ["aug/gl.csv", "sep/gl.csv"]
