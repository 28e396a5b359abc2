"""Real statement files read to the values that were computed by hand, and as ofxparse reads them."""

import importlib
import json
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from offing.namespaces.bank.formats import read
from offing.namespaces.bank.statement import Statement, StatementFile, total
from offing.namespaces.tables.source import Conventions, Source, SourceError, read_source

SAMPLES = Path(__file__).parents[2] / "shared" / "data" / "statements"
LEAVE_THE_ORDER_OPEN = {"csv/opening_closing_in_rows_fr.csv", "csv/paypal_es_gross_fee_net.csv"}
"""Their dates read as day first and as month first, so they are refused until it is said."""

Json = Any


def index(*kinds: str) -> list[Json]:
    """The entries of statement files; one that is skipped where the samples are not there."""
    if not (SAMPLES / "INDEX.json").exists():
        gone = pytest.mark.skip(reason="the sample files are not at ../shared")
        return [pytest.param({}, marks=gone, id="no samples")]
    files = json.loads((SAMPLES / "INDEX.json").read_text())["files"]
    return [pytest.param(each, id=each["file"]) for each in files if each["file"].startswith(kinds)]


def read_sample(sample: Json) -> StatementFile:
    order = True if sample["file"] in LEAVE_THE_ORDER_OPEN else None
    return read(read_source(SAMPLES / sample["file"]), Conventions(day_first=order))


def as_in_index(statement: Statement) -> dict[str, object]:
    amounts = [entry.amount for entry in statement.entries]
    days = sorted(str(entry.booked) for entry in statement.entries)
    return {
        "currency": statement.currency,
        "n": len(amounts),
        "sum": total(statement.entries),
        "credits": sum((each for each in amounts if each > 0), Decimal(0)),
        "debits": sum((each for each in amounts if each < 0), Decimal(0)),
        "opening": statement.opening and statement.opening.amount,
        "closing": statement.closing and statement.closing.amount,
        "first": days[0] if days else None,
        "last": days[-1] if days else None,
        "ties": None if statement.gap is None else not statement.gap,
    }


def expected(given: Json) -> dict[str, object]:
    numbers = ("sum", "credits", "debits", "opening", "closing")
    plain: dict[str, object] = {key: given[key] for key in ("currency", "n", "first", "last", "ties")}
    amounts = {key: None if given[key] is None else Decimal(given[key]) for key in numbers}
    return {**plain, **amounts}


@pytest.mark.parametrize("sample", index("ofx/", "csv/", "camt/", "qif/"))
def test_a_sample_has_the_values_computed_by_hand(sample: Json) -> None:
    statements = read_sample(sample).statements
    wanted = sample["expected"]["statements"]
    assert [as_in_index(each) for each in statements] == [expected(each) for each in wanted]
    named = [(one.account, other["account"]) for one, other in zip(statements, wanted, strict=True)]
    assert [pair for pair in named if pair[1] is not None and pair[0] != pair[1]] == []


@pytest.mark.parametrize("sample", index("ofx/", "csv/", "camt/", "qif/"))
def test_a_sample_that_reads_two_ways_is_refused_with_both(sample: Json) -> None:
    source = read_source(SAMPLES / sample["file"])
    if sample["file"] not in LEAVE_THE_ORDER_OPEN:
        read(source, Conventions())
        return
    with pytest.raises(SourceError, match=r"day_first=True and as .* with day_first=False"):
        read(source, Conventions())


@pytest.mark.parametrize("sample", index("ofx/"))
def test_ofxparse_reads_the_same_entries(sample: Json) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ofxparse: Json = importlib.import_module("ofxparse")
        with (SAMPLES / sample["file"]).open("rb") as file:
            parsed = ofxparse.OfxParser.parse(file)
    ours = read_sample(sample).statements
    theirs = [
        [(each.id, each.date.date(), each.amount) for each in account.statement.transactions]
        for account in parsed.accounts
    ]
    assert [[(e.id, e.booked, e.amount) for e in each.entries] for each in ours] == theirs


@pytest.mark.parametrize("sample", index("ofx/", "csv/", "camt/", "qif/"))
def test_pending_entries_are_told_from_booked_ones(sample: Json) -> None:
    for statement, wanted in zip(
        read_sample(sample).statements, sample["expected"]["statements"], strict=True
    ):
        pending = [entry for entry in statement.entries if entry.pending]
        for kind, entries in (("booked", statement.booked), ("pending", pending)):
            of_kind = wanted.get(kind, {"n": len(entries), "sum": str(total(entries))})
            assert (len(entries), total(entries)) == (of_kind["n"], Decimal(of_kind["sum"]))
        assert bool(pending) == ("pending" in wanted)


def test_entities_are_replaced_once_and_the_legacy_encoding_is_read() -> None:
    if not SAMPLES.exists():
        pytest.skip("the sample files are not at ../shared")
    (rbc,) = read(read_source(SAMPLES / "ofx/rbc_entities_102.qfx"), Conventions()).statements
    (quebec,) = read(read_source(SAMPLES / "ofx/quebec_cp1252_102.qbo"), Conventions()).statements
    assert [entry.name for entry in rbc.entries] == ["000000000000000", "TPAY &lt;DEFTPYMT&gt;"]
    assert "B.C. HYDRO & POWER" in rbc.entries[0].text
    assert quebec.entries[0].name == "Virement Interac à: Yves"


def whole_pages(given: list[Json]) -> list[Json]:
    """MT940 pages of one statement put together, as the reader does it."""
    made: list[Json] = []
    for each in given:
        if each.get("opening_kind") != "60M":
            made.append(dict(each))
            continue
        whole = made[-1]
        for key in ("n", "sum", "credits", "debits"):
            whole[key] = Decimal(str(whole[key])) + Decimal(str(each[key]))
        for key in ("closing", "closing_date", "last_value_date"):
            whole[key] = each[key]
        gap = Decimal(whole["closing"]) - Decimal(whole["opening"]) - whole["sum"]
        whole["gap"], whole["ties"] = gap, not gap
    return made


def as_mt940(statement: Statement) -> dict[str, object]:
    days = sorted(str(entry.value_date) for entry in statement.entries)
    dates = [str(each.date) for each in (statement.opening, statement.closing) if each]
    read = as_in_index(statement) | {"first": days[0] if days else None, "last": days[-1] if days else None}
    return {**read, "account": statement.account, "dates": dates, "gap": statement.gap}


def expected_mt940(given: Json) -> dict[str, object]:
    dates = [given["opening_date"], given["closing_date"]]
    plain = expected({**given, "first": given["first_value_date"], "last": given["last_value_date"]})
    return {**plain, "account": given["account"], "dates": dates, "gap": Decimal(given["gap"])}


@pytest.mark.parametrize("sample", index("mt940/"))
def test_an_mt940_sample_has_the_values_computed_by_hand(sample: Json) -> None:
    statements = read_sample(sample).statements
    wanted = sample["expected"]
    listed = whole_pages(wanted["statements"])
    shown = [each for each in statements if each.entries]
    assert [as_mt940(each) for each in shown] == [expected_mt940(each) for each in listed]
    pages = len(wanted["statements"]) - len(listed)
    assert len(statements) == wanted["n_statements"] - pages
    assert sum(len(each.entries) for each in statements) == wanted["n_transactions"]
    assert sum((total(each.entries) for each in statements), Decimal(0)) == Decimal(wanted["sum_all"])
    assert [each.gap for each in statements if not each.entries] == [0] * (len(statements) - len(shown))


@pytest.mark.parametrize("sample", index("mt940/"))
def test_a_page_read_alone_has_the_values_of_that_page(sample: Json) -> None:
    wanted = sample["expected"]["statements"]
    if len(whole_pages(wanted)) == len(wanted):
        return
    data = (SAMPLES / sample["file"]).read_bytes()
    pages = [b":20:" + page for page in data.split(b":20:")[1:]]
    (found,) = zip(*(read(Source("page.sta", page), Conventions()).statements for page in pages), strict=True)
    assert [as_mt940(each) for each in found] == [expected_mt940(each) for each in wanted]


@pytest.mark.parametrize("sample", index("mt940/", "bai2/"))
def test_a_sample_has_no_errors_but_the_gap_it_has(sample: Json) -> None:
    errors = [each.what for each in read_sample(sample).findings if each.severity == "error"]
    gaps = [each["gap"] for each in sample["expected"]["statements"] if not each["ties"]]
    assert all(any(each.endswith(f"a gap of {gap}") for gap in gaps) for each in errors)
    assert bool(errors) == bool(gaps)


def test_the_page_that_does_not_tie_is_named() -> None:
    path = SAMPLES / "mt940" / "postfinance_two_pages.sta"
    if not path.exists():
        pytest.skip("the sample files are not at ../shared")
    errors = [each for each in read(read_source(path), Conventions()).findings if each.severity == "error"]
    assert [(each.what, each.row) for each in errors] == [
        ("page 999/2 does not tie: its 2 entries make -69.8, a gap of 0.2", 15),
        ("does not tie: opening and entries make 159.4, the closing balance is 159.6, a gap of 0.2", 27),
    ]


@pytest.mark.parametrize("sample", index("bai2/"))
def test_a_bai2_sample_has_the_values_computed_by_hand(sample: Json) -> None:
    def wanted(given: Json) -> dict[str, object]:
        day = given["date"].split()[0]
        return {**expected({**given, "first": day, "last": day}), "account": given["account"]}

    statements = read_sample(sample).statements
    read_as = [{**as_in_index(each), "account": each.account} for each in statements]
    assert read_as == [wanted(each) for each in sample["expected"]["statements"]]


def test_the_same_bookings_are_in_the_mt940_and_the_csv_of_an_account() -> None:
    if not SAMPLES.exists():
        pytest.skip("the sample files are not at ../shared")
    done = [
        read(read_source(SAMPLES / name), Conventions())
        for name in ("mt940/vrbank_pair.mta", "csv/vrbank_pair.csv")
    ]
    booked = [
        sorted(
            (e.booked, e.value_date, e.amount)
            for each in one.statements
            for e in each.entries
            if e.value_date
        )
        for one in done
    ]
    assert booked[0] == booked[1]
    assert len(booked[0]) == 5
