"""Real samples as independent readers have them: mt-940, bai2, quiffen, and XPath by lxml."""

import datetime
import importlib
import json
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from offing.namespaces.bank.formats import read
from offing.namespaces.bank.statement import Statement, total
from offing.namespaces.tables.source import Conventions, read_source

SAMPLES = Path(__file__).parents[2] / "shared" / "data" / "statements"
UNREAD = {
    "mt940/ing_nl_structured.940": "mt-940 takes no :28C: of two lines",
}
"""Samples that an independent reader does not read right, with the reason; INDEX.json says the same."""

Json = Any


class Read(NamedTuple):
    """One entry as far as every reader has it."""

    day: datetime.date | None
    amount: Decimal


def samples(kind: str) -> list[Json]:
    """The samples of a format; one that is skipped where they are not there."""
    if not (SAMPLES / "INDEX.json").exists():
        gone = pytest.mark.skip(reason="the sample files are not at ../shared")
        return [pytest.param("", marks=gone, id="no samples")]
    files = [each["file"] for each in json.loads((SAMPLES / "INDEX.json").read_text())["files"]]
    chosen = [file for file in files if file.startswith(kind)]
    marked = {file: [pytest.mark.skip(reason=UNREAD[file])] if file in UNREAD else [] for file in chosen}
    return [pytest.param(file, marks=marked[file], id=file) for file in chosen]


def statements(sample: str) -> tuple[Statement, ...]:
    return read(read_source(SAMPLES / sample), Conventions()).statements


def by_value_date(statement: Statement) -> list[Read]:
    return [Read(entry.value_date, entry.amount) for entry in statement.entries]


@pytest.mark.parametrize("sample", samples("mt940/"))
def test_mt940_reads_the_same_entries_and_balances(sample: str) -> None:
    mt940: Json = importlib.import_module("mt940")
    tags = {61: mt940.tags.StatementASNB()} if "asn" in sample else None
    theirs = list(mt940.parse_statements(str(SAMPLES / sample), tags=tags))
    entries = [[Read(t.data["date"], t.data["amount"].amount) for t in each] for each in theirs]
    ours = statements(sample)
    if len(ours) == 1:
        # Pages of one statement are one for us.
        entries = [[entry for page in entries for entry in page]]
    assert [by_value_date(each) for each in ours] == entries
    balances = [each.data.get("final_opening_balance") for each in theirs]
    assert [each.opening and each.opening.amount for each in ours] == [
        each.amount.amount for each in balances if each is not None
    ]
    closings = [each.data.get("final_closing_balance") for each in theirs]
    assert [each.closing and each.closing.amount for each in ours] == [
        each.amount.amount for each in closings if each is not None
    ]


@pytest.mark.parametrize("sample", samples("mt940/"))
def test_mt940_parses_all_entries_of_a_file_to_the_same_sum(sample: str) -> None:
    mt940: Json = importlib.import_module("mt940")
    tags = {61: mt940.tags.StatementASNB()} if "asn" in sample else None
    theirs = mt940.parse(str(SAMPLES / sample), tags=tags)
    ours = [entry for each in statements(sample) for entry in each.entries]
    made = (len(theirs), sum((t.data["amount"].amount for t in theirs), Decimal(0)))
    assert (len(ours), total(ours)) == made


@pytest.mark.parametrize("sample", samples("bai2/"))
def test_bai2_reads_the_same_entries_unsigned(sample: str) -> None:
    parser: Json = importlib.import_module("bai2.bai2")
    with (SAMPLES / sample).open() as file:
        parsed = parser.parse_from_file(file)
    theirs = [account for group in parsed.children for account in group.children]
    ours = statements(sample)
    assert [each.account for each in ours] == [each.header.customer_account_number for each in theirs]
    cents = [[abs(int(entry.amount * 100)) for entry in each.entries] for each in ours]
    assert cents == [[t.amount for t in each.children] for each in theirs]
    signs = [["credit" if entry.amount > 0 else "debit" for entry in each.entries] for each in ours]
    assert signs == [[t.type_code.transaction.value for t in each.children] for each in theirs]
    references = [[entry.id for entry in each.entries] for each in ours]
    assert references == [[t.bank_reference or "" for t in each.children] for each in theirs]


@pytest.mark.parametrize("sample", samples("qif/"))
def test_quiffen_reads_the_same_entries_told_the_order_of_the_dates(sample: str) -> None:
    quiffen: Json = importlib.import_module("quiffen")
    parsed = quiffen.Qif.parse(SAMPLES / sample, day_first="dmy" in sample)
    bank = quiffen.AccountType.BANK
    theirs = [
        (each.date.date(), each.amount, each.payee or "")
        for account in parsed.accounts.values()
        for each in account.transactions.get(bank, [])
    ]
    (ours,) = statements(sample)
    read_as = [(entry.booked, entry.amount, entry.name) for entry in ours.entries]
    assert read_as == [(day, amount, " ".join(name.split())) for day, amount, name in theirs]


def signed(element: Json) -> Decimal:
    sign = 1 if element.findtext("{*}CdtDbtInd") == "CRDT" else -1
    return sign * Decimal(element.findtext("{*}Amt"))


def camt_statements(sample: str) -> list[Json]:
    etree: Json = importlib.import_module("lxml.etree")
    root = etree.parse(str(SAMPLES / sample))
    return root.xpath("//*[local-name()='Stmt' or local-name()='Ntfctn']")


@pytest.mark.parametrize("sample", samples("camt/"))
def test_lxml_finds_the_same_entries_and_balances(sample: str) -> None:
    theirs = camt_statements(sample)
    ours = statements(sample)
    assert [[(str(e.booked), e.amount, e.currency) for e in each.entries] for each in ours] == [
        [
            (
                entry.xpath("string(*[local-name()='BookgDt']/*)")[:10],
                signed(entry),
                entry.find("{*}Amt").get("Ccy"),
            )
            for entry in each.iterfind("{*}Ntry")
        ]
        for each in theirs
    ]
    for one, other in zip(ours, theirs, strict=True):
        stated = {balance.findtext(".//{*}Cd"): signed(balance) for balance in other.iterfind("{*}Bal")}
        assert (one.closing and one.closing.amount) == stated.get("CLBD")
        assert (one.opening and one.opening.amount) == stated.get("OPBD", stated.get("PRCD"))


@pytest.mark.parametrize("sample", samples("camt/"))
def test_a_reversal_has_the_direction_that_its_entry_says(sample: str) -> None:
    etree: Json = importlib.import_module("lxml.etree")
    root = etree.parse(str(SAMPLES / sample))
    reversed_ = [signed(e) for e in root.iterfind(".//{*}Ntry") if e.findtext("{*}RvslInd") == "true"]
    ours = [entry.amount for each in statements(sample) for entry in each.entries]
    assert [amount for amount in reversed_ if amount not in ours] == []


@pytest.mark.parametrize("sample", samples("ofx/"))
def test_ofxparse_reads_the_same_accounts_and_closing_balances(sample: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ofxparse: Json = importlib.import_module("ofxparse")
        with (SAMPLES / sample).open("rb") as file:
            parsed = ofxparse.OfxParser.parse(file)
    ours = [
        (each.account, each.currency, each.closing and each.closing.amount) for each in statements(sample)
    ]
    assert ours == [
        (each.account_id, each.statement.currency.upper(), each.statement.balance) for each in parsed.accounts
    ]
