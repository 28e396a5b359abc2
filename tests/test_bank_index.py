"""What INDEX.json says of the samples beside sums and balances: gaps, references, details, reversals."""

import hashlib
import importlib
import json
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from offing.namespaces.bank.formats import read
from offing.namespaces.bank.statement import Statement, StatementFile, total
from offing.namespaces.tables.source import Conventions, read_source

SAMPLES = Path(__file__).parents[2] / "shared" / "data" / "statements"
KINDS = ("ofx/", "csv/", "camt/", "qif/", "mt940/", "bai2/")
ELSEWHERE = {
    *("account", "currency", "n", "sum", "credits", "debits", "opening", "closing", "first", "last", "ties"),
    *("date", "opening_date", "closing_date", "first_value_date", "last_value_date"),
    *("booked", "pending", "n_statements", "n_transactions", "sum_all"),
}
"""Fields that test_bank_samples.py compares."""
HERE = {
    *("gap", "duplicate_fitids", "missing_fitids", "details", "reversals", "entry_currencies"),
    *("gross", "fees", "seq", "opening_kind", "closing_kind"),
}
SAYS_NOTHING = {"statements_note", "other_balances"}
"""A remark, and a field that is empty in all samples."""

Json = Any


def index(*kinds: str) -> list[Json]:
    """The samples of these kinds, else those of banks; one that is skipped where they are not there."""
    if not (SAMPLES / "INDEX.json").exists():
        gone = pytest.mark.skip(reason="the sample files are not at ../shared")
        return [pytest.param({}, marks=gone, id="no samples")]
    files = json.loads((SAMPLES / "INDEX.json").read_text())["files"]
    return [pytest.param(each, id=each["file"]) for each in files if each["file"].startswith(kinds or KINDS)]


def read_sample(sample: Json) -> StatementFile:
    return read(
        read_source(SAMPLES / sample["file"]),
        Conventions(day_first=None if "us_" in sample["file"] else True),
    )


def pairs(sample: Json) -> list[tuple[Statement, Json]]:
    """Our statements with what is expected of each, where both are one to one."""
    wanted = sample["expected"]["statements"]
    ours = read_sample(sample).statements
    return list(zip(ours, wanted, strict=True)) if len(ours) == len(wanted) else []


@pytest.mark.parametrize("sample", index())
def test_every_field_of_the_index_is_compared_by_a_test(sample: Json) -> None:
    expected = sample["expected"]
    fields = {*expected, *(key for each in expected["statements"] for key in each)} - {"statements"}
    assert fields - ELSEWHERE - HERE - SAYS_NOTHING == set()
    assert [each["other_balances"] for each in expected["statements"] if each.get("other_balances")] == []


@pytest.mark.parametrize("sample", index(*KINDS, "ledger/"))
def test_the_file_is_the_one_that_the_index_was_made_of(sample: Json) -> None:
    data = (SAMPLES / sample["file"]).read_bytes()
    assert (len(data), hashlib.sha256(data).hexdigest()) == (sample["bytes"], sample["sha256"])


@pytest.mark.parametrize("sample", index())
def test_a_statement_ties_or_misses_by_the_stated_gap_which_is_told(sample: Json) -> None:
    done = read_sample(sample)
    gaps = [Decimal(each["gap"]) for each in sample["expected"]["statements"] if each.get("gap")]
    found = [each.gap for each in done.statements if each.gap]
    assert {abs(each) for each in found} == {abs(each) for each in gaps if each}
    told = [each.what for each in done.findings if "does not tie" in each.what and each.severity == "error"]
    assert bool(told) == bool(found)


@pytest.mark.parametrize("sample", index())
def test_references_that_are_missing_or_there_twice_are_counted_right(sample: Json) -> None:
    for statement, wanted in pairs(sample):
        ids = Counter(entry.id for entry in statement.entries if entry.id)
        found = (sum(count - 1 for count in ids.values()), sum(not entry.id for entry in statement.entries))
        if "duplicate_fitids" in wanted:
            assert found == (wanted["duplicate_fitids"], wanted["missing_fitids"])


@pytest.mark.parametrize("sample", index())
def test_details_are_no_entries_and_reversals_keep_their_sign(sample: Json) -> None:
    if not sample["file"].startswith("camt/"):
        return
    etree: Json = importlib.import_module("lxml.etree")
    theirs = etree.parse(str(SAMPLES / sample["file"])).xpath(
        "//*[local-name()='Stmt' or local-name()='Ntfctn']"
    )
    for (statement, wanted), element in zip(pairs(sample), theirs, strict=True):
        single = sum(1 for entry in element.iterfind("{*}Ntry") if len(entry.findall(".//{*}TxDtls")) == 1)
        batched = sum(
            int(count) for e in statement.entries for count in re.findall(r"\[(\d+) details\]", e.text)
        )
        assert single + batched == wanted["details"]
        turned = [e for e in element.iterfind("{*}Ntry") if e.findtext("{*}RvslInd") == "true"]
        assert len(turned) == wanted["reversals"]
        assert sorted({entry.currency or "" for entry in statement.entries}) == wanted["entry_currencies"]
        signs = [e.findtext("{*}CdtDbtInd") for e in element.iterfind("{*}Ntry")]
        assert ["CRDT" if entry.amount > 0 else "DBIT" for entry in statement.entries] == signs


@pytest.mark.parametrize("sample", index())
def test_of_gross_fee_and_net_the_net_is_read(sample: Json) -> None:
    for statement, wanted in pairs(sample):
        if "gross" in wanted:
            assert total(statement.entries) == Decimal(wanted["gross"]) + Decimal(wanted["fees"])


@pytest.mark.parametrize("sample", index())
def test_statement_numbers_and_kinds_of_closing_are_those_of_the_file(sample: Json) -> None:
    text = (SAMPLES / sample["file"]).read_text(encoding="latin-1")
    listed = sample["expected"]["statements"]
    stated = Counter(re.findall(r":28C?:(\d+(?:/\d+)?)", text))
    opened, closed = (Counter(re.findall(rf":({tag}[FM]):", text)) for tag in ("60", "62"))
    assert Counter(each["seq"] for each in listed if "seq" in each) <= stated
    assert Counter(each["opening_kind"] for each in listed if "opening_kind" in each) <= opened
    assert Counter(each["closing_kind"] for each in listed if "closing_kind" in each) <= closed
