"""Real books read to the values that were computed by hand and by the programs that write them."""

import json
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from offing.namespaces.ledger.accounts import Books, gather
from offing.namespaces.ledger.books import LedgerFile, Line
from offing.namespaces.ledger.formats import read
from offing.namespaces.tables.source import Conventions, read_source

SAMPLES = Path(__file__).parents[2] / "shared" / "data" / "statements"
Json = Any

pytestmark = pytest.mark.skipif(
    not (SAMPLES / "INDEX.json").exists(), reason="the sample files are not at ../shared"
)


def expected(name: str) -> Json:
    files = json.loads((SAMPLES / "INDEX.json").read_text())["files"]
    (found,) = (each["expected"] for each in files if each["file"] == f"ledger/{name}")
    return found


def sample(name: str, currency: str | None = None) -> LedgerFile:
    return read(read_source(SAMPLES / "ledger" / name), Conventions(currency=currency))


def lines_of(books: Books) -> list[Line]:
    return [posting.line for account in books.accounts for posting in account.postings]


def balances(lines: Iterable[Line]) -> dict[str, dict[str | None, Decimal]]:
    """What each account holds, each currency apart; the ones that hold nothing left out."""
    held: dict[str, dict[str | None, Decimal]] = {}
    for line in lines:
        own = held.setdefault(line.account, {})
        own[line.currency] = own.get(line.currency, Decimal(0)) + line.amount
    return {name: {code: each for code, each in own.items() if each} for name, own in held.items()}


def written(text: str) -> dict[str, Decimal]:
    """`-1017.67 USD, 200.00 CAD` by currency."""
    pairs = (part.split() for part in text.split(","))
    return {code: Decimal(amount) for amount, code in pairs}


def dollars(text: str) -> Decimal:
    return Decimal(text.replace("$", "").replace(" ", ""))


def days(lines: Iterable[Line]) -> tuple[str, str]:
    dates = sorted(str(line.date) for line in lines)
    return dates[0], dates[-1]


def errors(books: Books) -> list[str]:
    return [each.what for each in books.findings if each.severity == "error"]


def test_beancount_without_its_padding() -> None:
    wanted = expected("beancount_basic_two_ccy.beancount")
    done = sample("beancount_basic_two_ccy.beancount")
    assert {
        "transactions_written": len({line.journal for line in done.lines}),
        "accounts_opened": len(done.accounts),
        "balance_assertions": len(done.assertions),
        "pads": len(done.paddings),
        "first": days(done.lines)[0],
        "last": days(done.lines)[1],
        "currencies": {line.currency for line in done.lines},
    } == {
        **{key: wanted[key] for key in ("transactions_written", "accounts_opened", "balance_assertions")},
        **{key: wanted[key] for key in ("pads", "first", "last")},
        "currencies": set(wanted["currencies"]),
    }
    held = balances(done.lines)
    for name, text in wanted["balances_without_padding"].items():
        assert held[name] == written(text)


def test_beancount_with_its_padding() -> None:
    wanted = expected("beancount_basic_two_ccy.beancount")
    books = gather([sample("beancount_basic_two_ccy.beancount")])
    lines = lines_of(books)
    assert len({line.journal for line in lines}) == wanted["transactions_with_padding"]
    assert days(lines) == (wanted["first_with_padding"], wanted["last"])
    assert len(errors(books)) == wanted["errors"]
    held = balances(lines)
    for name, text in wanted["balances_with_padding"].items():
        assert held[name] == written(text)


def test_hledger() -> None:
    wanted = expected("hledger_quickstart.journal")
    done = sample("hledger_quickstart.journal", "USD")
    assert done.format == "hledger"
    assert done.currency == "USD"
    assert len({line.journal for line in done.lines}) == wanted["transactions"]
    assert days(done.lines) == (wanted["first"], wanted["last"])
    assert balances(done.lines) == {name: {"USD": dollars(text)} for name, text in wanted["balances"].items()}
    assert errors(gather([done])) == []


def test_ledger_with_the_virtual_lines_of_its_rule() -> None:
    wanted = expected("ledger_cli_automated_txn.dat")
    done = sample("ledger_cli_automated_txn.dat")
    assert done.format == "ledger"
    assert len({line.journal for line in done.lines}) == wanted["transactions"]
    assert days(done.lines) == (wanted["first"], wanted["last"])
    for name, text in wanted["balances"].items():
        account = name.partition(" (")[0]
        below = [
            line for line in done.lines if line.account == account or line.account.startswith(f"{account}:")
        ]
        assert sum(line.amount for line in below) == dollars(text)
    real = [line for line in done.lines if line.origin != "automated"]
    assert sum(line.amount for line in real) == 0
    assert balances(done.lines)["Assets:Savings"] == {}
    assert errors(gather([done])) == []


def test_iif() -> None:
    wanted = expected("stripe_to_quickbooks.iif")
    done = sample("stripe_to_quickbooks.iif")
    assert done.format == "iif"
    assert (len({line.journal for line in done.lines}), len(done.lines)) == (
        wanted["transactions"],
        wanted["lines"],
    )
    assert days(done.lines) == (wanted["first"], wanted["last"])
    assert len(errors(gather([done]))) == wanted["unbalanced"]
    assert balances(done.lines) == {name: {None: Decimal(text)} for name, text in wanted["balances"].items()}


def test_gnucash() -> None:
    wanted = expected("gnucash_uk_vat.gnucash")
    done = sample("gnucash_uk_vat.gnucash")
    assert done.format == "gnucash"
    assert (len({line.journal for line in done.lines}), len(done.lines)) == (
        wanted["transactions"],
        wanted["splits"],
    )
    assert days(done.lines) == (wanted["first"], wanted["last"])
    assert done.currency == wanted["currency"]
    root = 1
    assert len(done.accounts) + root == wanted["accounts"]
    assert len(errors(gather([done]))) == wanted["unbalanced"]
    held = {name: own for name, own in balances(done.lines).items() if own}
    assert held == {name: {"GBP": Decimal(text)} for name, text in wanted["balances"].items()}


def test_csv_with_lone_carriage_returns() -> None:
    wanted = expected("xero_journal_cr_only.csv")
    done = sample("xero_journal_cr_only.csv")
    assert (done.format, len(done.lines)) == ("csv", wanted["lines"])
    assert len(errors(gather([done]))) == wanted["unbalanced"]
    assert balances(done.lines) == {name: {None: Decimal(text)} for name, text in wanted["balances"].items()}
