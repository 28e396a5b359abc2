"""The demo's files: made by a seeded script, read without a doubt, with each kind of difference planted."""

import io
import zipfile
from decimal import Decimal
from pathlib import Path

import pytest

from demo_company.make import FOLDER, files
from offing.engine.cli.demo import ACCOUNTS, MONTHS, DemoMonth
from offing.engine.cli.demo.report import GROUPS
from offing.namespaces.bank import Bank
from offing.namespaces.ledger import Ledger
from offing.namespaces.matching.items import Group
from offing.namespaces.matching.match import KINDS

EXPECTED = Path(__file__).parent / "demo_expected"
MONTHLY = pytest.mark.parametrize("month", MONTHS.values(), ids=list(MONTHS))


def parts(data: bytes) -> dict[str, bytes]:
    """The files in a ZIP: how they are packed is up to the release of the packer."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_script_writes_the_bundled_files_byte_for_byte() -> None:
    made = dict(files())
    bundled = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in FOLDER.glob("*/*")}
    assert set(made) == set(bundled)
    sheets = {name for name in made if name.endswith(".xlsx")}
    assert {name: parts(made[name]) for name in sheets} == {name: parts(bundled[name]) for name in sheets}
    assert [name for name in set(made) - sheets if made[name] != bundled[name]] == []


def test_they_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.glob("*/*")) < 300_000


@MONTHLY
def test_each_account_has_sixty_movements_and_more_and_ties_in_itself(month: DemoMonth) -> None:
    accounts = Bank(month.bank).contents()
    named = {each.label: each for each in accounts.accounts}
    assert set(named) == {each.bank for each in ACCOUNTS}
    assert [label for label, each in named.items() if not 60 <= len(each.movements) <= 150] == []
    assert [label for label, each in named.items() if any(each.gaps)] == []


@MONTHLY
def test_they_are_read_without_a_warning_and_what_two_files_share_counts_once(month: DemoMonth) -> None:
    found = [*Bank(month.bank).contents().findings, *Ledger(month.ledger).contents().findings]
    assert [each for each in found if each.severity != "info"] == []
    again = [(each.file, each.what) for each in found if each.file.endswith(".ofx")]
    assert [file for file, _ in again] == (["ltd_operating_late.ofx"] if month.before is None else [])
    assert [what for _, what in again if not what.startswith("13 entries")] == []


def test_the_first_month_begins_with_nothing_open() -> None:
    lines = (EXPECTED / "2026-09.txt").read_text().splitlines()
    opening = [Decimal(line.split()[-1]) for line in lines if ", opening" in line]
    assert opening[::2] == opening[1::2]


def test_each_kind_of_match_and_each_kind_of_difference_is_planted() -> None:
    lines = [line for path in EXPECTED.glob("*.txt") for line in path.read_text().splitlines()]
    matched = {line.split()[1] for line in lines if line.startswith("matched ")}
    items = {line.partition(" | ")[0].removeprefix("item ") for line in lines if line.startswith("item ")}
    assert matched == set(KINDS)
    assert items == {group.value.replace("_", " ") for group in Group}
    assert set(GROUPS) == {group.value for group in Group}
