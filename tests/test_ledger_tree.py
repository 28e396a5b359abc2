"""Accounts that are a tree, in several currencies: how they are found, summed and shown."""

from pathlib import Path
from typing import Any

import pytest

from offing.namespaces.errors import NamespaceError
from offing.namespaces.ledger import Ledger
from test_bank_tools import connected

Json = Any
BOOKS = """2026-01-01 open Assets:Bank:Checking
2026-01-01 open Assets:Bank:Savings
2026-01-01 open Assets:Cash
2026-01-01 open Equity:Open
2026-01-01 open Assets:Bank:Unused
2026-09-14 * "Shop" "x"
  Assets:Bank:Checking   100.00 EUR
  Assets:Bank:Checking   5.00 USD
  Equity:Open
2026-09-15 * "Save"
  Assets:Bank:Savings   40.00 EUR
  Assets:Bank:Checking
2026-09-16 * "Shares"
  Assets:Cash   2 ACME {10.00 EUR}
  Assets:Bank:Savings   -20.00 EUR
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    path = tmp_path / "a.beancount"
    path.write_text(BOOKS)
    return Ledger([path])


def test_an_account_is_found_by_its_whole_name_or_by_its_end(ledger: Ledger) -> None:
    books = ledger.contents()
    for label in ("Assets:Bank:Savings", "bank:savings", "savings"):
        assert books.find(label).label == "Assets:Bank:Savings"
    assert books.find("Checking USD").label == "Assets:Bank:Checking USD"
    with pytest.raises(NamespaceError, match="'Assets:Bank:Checking EUR', 'Assets:Bank:Checking USD'"):
        books.find("Checking")


@pytest.mark.anyio
async def test_a_part_of_the_tree_is_summed_each_currency_apart(ledger: Ledger) -> None:
    invoke = await connected(ledger)
    listed: Json = invoke("list_accounts", text="assets:bank").content
    assert [each["account"] for each in listed["accounts"]] == [
        *("Assets:Bank:Checking EUR", "Assets:Bank:Checking USD", "Assets:Bank:Savings"),
    ]
    assert listed["sums"] == {
        "EUR": {"value": "80.00", "record": "ledger:total/assets-bank/sum-EUR"},
        "USD": {"value": "5.00", "record": "ledger:total/assets-bank/sum-USD"},
    }
    assert listed["without_lines"] == ["Assets:Bank:Unused"]


@pytest.mark.anyio
async def test_a_journal_is_balanced_by_what_its_lines_count(ledger: Ledger) -> None:
    invoke = await connected(ledger)
    journal: Json = invoke("get_journal", number="a.beancount:13").content
    assert (journal["balanced"], journal["sums"]) == (True, {"EUR": "0.00"})
    (shares, _) = journal["lines"]
    assert (shares["amount"], shares["counts"]) == ("2", "20.00 EUR")
    saved: Json = invoke("get_journal", number="a.beancount:10").content
    filled = saved["lines"][1]
    assert (filled["amount"], filled["origin"]) == ("-40.00", "inferred")
