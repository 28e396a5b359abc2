"""The reference investigation as a new user runs it, compared line by line with what is expected of it."""

import csv
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import pytest

Json = Any
OFFING = [sys.executable, "-m", "offing.engine.cli"]
EXPECTED = Path(__file__).parent / "demo_expected"
MONTHS = ["2026-09", "2026-10"]
MATERIALITY = Decimal("1.00")
Rows = list[dict[str, str]]


class Demo(NamedTuple):
    """What the two commands wrote and said."""

    folder: Path
    said: dict[str, str]

    def rows(self, month: str) -> Rows:
        data = (self.folder / f"statement-{month}.csv").read_bytes()
        return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))

    def report(self, month: str) -> str:
        return (self.folder / f"report-{month}.md").read_text()


def offing(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    run = [*OFFING, *arguments]
    return subprocess.run(run, capture_output=True, text=True, timeout=120, check=False, cwd=folder)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo")
    said: dict[str, str] = {}
    for month in MONTHS:
        done = offing(folder, "demo", "--month", month)
        assert (done.returncode, done.stderr) == (0, "")
        said[month] = done.stdout
    return Demo(folder / "offing-demo", said)


def expected(month: str, *kinds: str) -> list[str]:
    """The lines of the expectation; of some kinds alone, with the account as a line before."""
    lines = (EXPECTED / f"{month}.txt").read_text().splitlines()
    return [line for line in lines if not kinds or line.startswith(("account ", *kinds))]


def as_lines(rows: Rows) -> Iterator[str]:
    """A statement as the expectation writes it."""
    accounts = dict.fromkeys((row["Bank account"], row["Ledger account"], row["Currency"]) for row in rows)
    for account in (each for each in accounts if each[0]):
        own = [row for row in rows if (row["Bank account"], row["Ledger account"]) == account[:2]]
        yield f"account {' | '.join(account)}"
        yield from (as_balance(row) for row in of(own, "Balance") if row["What"] != "Carried forward")
        yield from (as_match(row) for row in of(own, "Matched"))
        yield from sorted(as_item("item", row) for row in of(own, "Item"))
        yield from sorted(as_item("open", row) for row in of(own, "Carried forward"))
        yield ""


def of(rows: Rows, section: str) -> Rows:
    return [row for row in rows if row["Section"] == section]


def as_balance(row: dict[str, str]) -> str:
    return f"{row['What'].lower()} {Decimal(row['Amount']):.2f}"


def as_match(row: dict[str, str]) -> str:
    bank, adds = Decimal(row["Amount"]), Decimal(row["Adds to difference"])
    return f"matched {row['What']} {row['Count']} | bank {bank:.2f} | differs {adds:.2f}"


def as_item(kind: str, row: dict[str, str]) -> str:
    amount, adds = Decimal(row["Amount"]), Decimal(row["Adds to difference"])
    place = f"{row['File']}:{row['Row']}"
    return f"{kind} {row['What']} | {row['Date']} | {amount:.2f} | adds {adds:.2f} | {place}"


@pytest.mark.parametrize("month", MONTHS)
def test_the_statement_is_what_was_worked_out_independently_line_by_line(demo: Demo, month: str) -> None:
    assert list(as_lines(demo.rows(month))) == expected(month)


@pytest.mark.parametrize("month", MONTHS)
def test_the_report_has_the_balances_that_were_worked_out_independently(demo: Demo, month: str) -> None:
    names = ("bank, closing ", "books, closing ", "difference ", "unexplained ")
    wanted = [line.rpartition(" ")[2] for line in expected(month, *names) if line.startswith(names)]
    concluded = re.findall(
        r"bank (\S+) \w+ \[\^\d+\], books (\S+) \w+ \[\^\d+\], difference (\S+) \w+ \[\^\d+\], "
        r"unexplained (\S+) \w+ \[\^\d+\]",
        demo.report(month),
    )
    assert [amount.replace(",", "") for each in concluded for amount in each] == wanted


@pytest.mark.parametrize("month", MONTHS)
def test_the_report_lists_every_item_of_the_expectation_above_materiality(demo: Demo, month: str) -> None:
    wanted = [item for line in expected(month, "item ") if (item := told(line))]
    row = re.compile(
        r"^\| (\d{4}-\d\d-\d\d) \| `[^`]*` \| (\S+) \w{3}((?: \[\^\d+\])+) \| ([A-Z][a-z ]+) \|", re.M
    )
    found = [
        (day, amount.replace(",", ""), group.lower())
        for day, amount, _, group in row.findall(demo.report(month))
    ]
    assert sorted(found) == sorted(wanted)


def told(line: str) -> tuple[str, str, str] | None:
    """Day, amount and group of an item as the report has it: of records that differ, by how much."""
    if not line.startswith("item "):
        return None
    kind, day, amount, adds, _ = line.removeprefix("item ").split(" | ")
    own, made = Decimal(amount), Decimal(adds.removeprefix("adds "))
    if abs(made) < MATERIALITY:
        return None
    return day, str(own if abs(own) == abs(made) else made), kind


@pytest.mark.parametrize("month", MONTHS)
def test_every_figure_of_the_report_links_to_a_record(demo: Demo, month: str) -> None:
    report = demo.report(month)
    body, notes = report.split("\n\n[^1]: ")
    assert "not linked" not in report
    assert "NOT A RECORD" not in report
    assert re.findall(r"\d\d (?:GBP|EUR|USD)(?! ?\[\^\d+\])(?![^`\n]*`)", body) == []
    assert set(re.findall(r"\[\^(\d+)\]", body)) == {"1", *re.findall(r"^\[\^(\d+)\]:", notes, re.M)}


@pytest.mark.parametrize("month", MONTHS)
def test_the_workbook_holds_the_same_items_as_the_csv(demo: Demo, month: str) -> None:
    book = openpyxl.load_workbook(demo.folder / f"statement-{month}.xlsx")
    assert book.sheetnames[0] == "Summary"
    assert book.sheetnames[-2:] == ["Open items", "Input files"]
    in_csv = [row for row in demo.rows(month) if row["Record"]]
    for name in book.sheetnames[1:-2]:
        rows: Json = book[name].iter_rows(values_only=True)
        listed = [row for row in rows if row[7] and row[0] != "Date"]
        cells = [
            (row[0].date().isoformat(), row[1], row[2], row[3], row[5], row[6], row[7]) for row in listed
        ]
        own = [row for row in in_csv if row["Bank account"] == name]
        assert cells == [flat(row) for row in own]


def flat(row: dict[str, str]) -> tuple[object, ...]:
    amounts = (float(row["Amount"]), float(row["Adds to difference"]))
    return (row["Date"], *amounts, row["Text"], row["File"], int(row["Row"]), row["Record"])


def key(row: dict[str, str]) -> tuple[str, str]:
    return row["Bank account"], row["Record"]


@pytest.mark.parametrize("month", MONTHS)
def test_each_account_is_worked_by_a_run_of_its_own_which_the_progress_names(demo: Demo, month: str) -> None:
    assert sorted(re.findall(r"^ +(\S.*): done$", demo.said[month], re.M)) == [
        "Harbour & Vale BV, current account",
        "Harbour & Vale BV, dollar account",
        "Harbour & Vale GmbH, giro account",
        "Harbour & Vale Ltd, operating account",
        "Harbour & Vale Ltd, receipts account",
    ]


def test_october_begins_with_what_september_left_open_and_says_what_cleared(demo: Demo) -> None:
    left = {key(row) for row in of(demo.rows("2026-09"), "Carried forward")}
    october = demo.rows("2026-10")
    assert {key(row) for row in of(october, "Brought forward")} == left
    cleared = {key(row) for row in of(october, "Item") if row["What"] == "cleared"}
    still = {key(row) for row in of(october, "Carried forward")} & left
    assert cleared | still == left
    assert cleared & still == set()
    assert "carry forward what is open: offing demo --month 2026-10" in demo.said["2026-09"]


@pytest.mark.parametrize("month", MONTHS)
def test_one_entry_is_proposed_and_nothing_is_posted(demo: Demo, month: str) -> None:
    entries = demo.report(month).partition("## Entries")[2].partition("## Carried forward")[0]
    debits, credits_ = (
        sum(Decimal(amount) for amount in re.findall(pattern, entries))
        for pattern in (r"` \| ([\d.]+) GBP", r"` \|  \| ([\d.]+) GBP")
    )
    # Fee and four commissions: 28.50 + 53.43 + 58.40 + 48.70 + 64.85; interest 41.87. In October
    # 28.50 + 56.33 + 61.30 + 51.60 + 67.75; 44.02.
    total = {"2026-09": Decimal("295.75"), "2026-10": Decimal("309.50")}[month]
    assert (debits, credits_) == (total, total)
    assert "Nothing is posted" in entries


def test_the_entry_is_posted_once_a_person_has_approved_it_and_never_twice(tmp_path: Path) -> None:
    books = tmp_path / "offing-demo" / "books-2026-09" / "ltd_general_ledger.csv"
    run = offing(tmp_path, "demo").stdout.split()[1]
    before = books.read_text()
    again = offing(tmp_path, "resume", run)
    assert (again.returncode, books.read_text()) == (0, before)
    approved = offing(tmp_path, "approve", run, "--by", "E. Farrow")
    assert (approved.returncode, approved.stderr) == (0, "")
    assert books.read_text() == before
    done = offing(tmp_path, "resume", run)
    assert "approved by E. Farrow" in done.stdout
    added = books.read_text().removeprefix(before).splitlines()
    # Twelve lines: a fee, four commissions and the interest, each with its other side.
    assert len(added) == 12
    assert len({line.split(",")[0] for line in added}) == 1
    assert (
        "Posted to `ltd_general_ledger.csv`" in (tmp_path / "offing-demo" / "report-2026-09.md").read_text()
    )
    late = offing(tmp_path, "approve", run)
    assert (late.returncode, late.stderr) == (2, "offing: nothing waits for somebody to approve it\n")
    assert books.read_text().removeprefix(before).splitlines() == added


def test_a_denied_entry_is_not_posted_and_the_report_says_why(tmp_path: Path) -> None:
    books = tmp_path / "offing-demo" / "books-2026-09" / "ltd_general_ledger.csv"
    run = offing(tmp_path, "demo").stdout.split()[1]
    before = books.read_text()
    assert offing(tmp_path, "deny", run, "--reason", "wait for the statement of October").returncode == 0
    assert offing(tmp_path, "resume", run).returncode == 0
    assert books.read_text() == before
    report = (tmp_path / "offing-demo" / "report-2026-09.md").read_text()
    assert "Not posted" in report
    assert "wait for the statement of October" in report


def test_the_statement_names_its_input_files_and_that_nobody_has_approved_it(demo: Demo) -> None:
    rows = demo.rows("2026-10")
    inputs = [row["File"] for row in of(rows, "Input file")]
    assert len(inputs) == 9
    assert inputs[-1] == "statement-2026-09.csv"
    assert [row["Text"] for row in rows if row["What"] in {"Prepared by", "Approved by"}] == [
        "offing demo",
        "",
    ]


def test_october_without_the_statement_of_september_says_what_to_run_first(tmp_path: Path) -> None:
    done = offing(tmp_path, "demo", "--month", "2026-10")
    assert done.returncode == 2
    assert "run `offing demo --month 2026-09 --out offing-demo` first" in done.stderr
