"""The tools of the matching namespace over files: what they show, and that each figure has a record."""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from offing.namespaces.bank import Bank
from offing.namespaces.errors import NamespaceError
from offing.namespaces.ledger import Ledger
from offing.namespaces.matching import AccountRule, Matching
from offing.namespaces.tool import ToolOutput
from test_bank_tools import connected

pytestmark = pytest.mark.anyio
Json = Any
BANK = """Account;Date;Text;Amount;Balance;Currency
DE1;2026-07-31;KONTOFUHRUNG ENTGELT;-12.00;988.00;EUR
DE1;2026-08-12;ROUNDING A;-0.01;987.99;EUR
DE1;2026-08-13;ROUNDING B;-0.02;987.97;EUR
DE1;2026-08-20;SETTLEMENT SLIP 40127;700.17;1688.14;EUR
DE1;2026-08-31;KONTOFUHRUNG ENTGELT;-12.00;1676.14;EUR
DE1;2026-10-31;SPAETER;1.00;1677.14;EUR
"""
BOOKS = """Journal,Date,Account code,Account name,Description,Debit,Credit,Currency
0,2026-07-01,1200,Bank,Opening balance,1000.00,,EUR
1,2026-08-03,1200,Bank,Entgelt Juli Kontofuhrung,,12.00,EUR
2,2026-08-19,1200,Bank,Receipt slip 40127 Smith,300.00,,EUR
3,2026-08-19,1200,Bank,Receipt slip 40127 Jones,400.17,,EUR
"""
ACCOUNTS: dict[str, JsonValue] = {"bank_account": "DE1", "ledger_account": "1200"}
AUGUST: dict[str, JsonValue] = {**ACCOUNTS, "from": "2026-08-01", "to": "2026-08-31"}


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Bank, Ledger]:
    (tmp_path / "bank.csv").write_text(BANK)
    (tmp_path / "books.csv").write_text(BOOKS)
    return Bank([tmp_path / "bank.csv"]), Ledger([tmp_path / "books.csv"])


def cited(output: ToolOutput) -> None:
    """Each figure that is shown has a record of that amount."""
    known = {record.id: record for record in output.records}
    assert len(known) == len(output.records)
    written = json.dumps(output.content)
    assert set(re.findall(r'"record": "([^"]+)"', written)) <= set(known)
    for value, record in re.findall(r'{"value": "([^"]+)", "record": "([^"]+)"}', written):
        assert known[record].amount == Decimal(value)


async def test_a_period_is_shown_by_kind_with_what_was_open_before(sides: tuple[Bank, Ledger]) -> None:
    output = (await connected(Matching(*sides)))("reconcile", **AUGUST)
    content: Json = output.content
    cited(output)
    assert {name: each["value"] for name, each in content["balances"].items()} == {
        "bank": "1676.14",
        "books": "1688.17",
        "difference": "-12.03",
        "explained": "-12.03",
        "unexplained": "0.00",
        "opening_difference": "-12.00",
        "opening_explained": "-12.00",
        "opening_unexplained": "0.00",
    }
    assert content["all_explained"] is True
    matched = content["matched"]
    assert {kind: matched[kind] for kind in ("batched", "value")} == {"batched": 1, "value": "1"}
    (cleared,) = content["cleared"]["items"]
    assert (cleared["date"], cleared["amount"]) == ("2026-07-31", "-12.00")
    assert [each["amount"] for each in content["fee"]["items"]] == ["-12.00"]
    assert "reversed" not in content


async def test_what_is_below_materiality_is_folded_and_listed_on_demand(sides: tuple[Bank, Ledger]) -> None:
    invoke = await connected(Matching(*sides, rules={"DE1": AccountRule(materiality=Decimal(1))}))
    folded = invoke("reconcile", **AUGUST)
    content: Json = folded.content
    cited(folded)
    assert content["missing_in_books"]["items"] == []
    assert content["missing_in_books"]["below_materiality"]["says"] == (
        "2 items below materiality, together -0.03"
    )
    listed: Json = invoke("reconcile", **AUGUST, list_immaterial=True).content
    assert [(each["amount"], each["material"]) for each in listed["missing_in_books"]["items"]] == [
        ("-0.01", False),
        ("-0.02", False),
    ]
    shown: Json = invoke("reconcile", **AUGUST, materiality="0").content
    assert [each["amount"] for each in shown["missing_in_books"]["items"]] == ["-0.01", "-0.02"]


async def test_evidence_is_given_on_demand(sides: tuple[Bank, Ledger]) -> None:
    invoke = await connected(Matching(*sides))
    plain: Json = invoke("reconcile", **AUGUST).content
    full: Json = invoke("reconcile", **AUGUST, evidence=True).content
    assert "evidence" not in plain["cleared"]["items"][0]
    assert full["cleared"]["items"][0]["evidence"] == [
        "same amount -12.00",
        "dates 3 days apart",
        "both texts say entgelt, kontofuhrung",
    ]


async def test_a_match_is_found_by_one_of_its_records(sides: tuple[Bank, Ledger]) -> None:
    output = (await connected(Matching(*sides)))(
        "list_matches", **AUGUST, record="ledger:line/2026-08-19/2-1"
    )
    cited(output)
    content: Json = output.content
    (match,) = content["matches"]
    assert [each["amount"] for each in (*match["bank"], *match["books"])] == ["700.17", "300.00", "400.17"]
    assert (match["kind"], match["evidence"][0]) == ("batched", "none of the group is left out")


async def test_what_recurs_is_listed_with_records_to_cite(sides: tuple[Bank, Ledger]) -> None:
    output = (await connected(Matching(*sides)))(
        "list_recurring", **ACCOUNTS, **{"from": "2026-07-01", "to": "2026-08-31"}
    )
    content: Json = output.content
    cited(output)
    (fee,) = content["recurring"]
    assert fee["name"] == (
        "fee: KONTOFUHRUNG ENTGELT around the 31st, -12.00 EUR, 2 of 2 closes, 1 of them in the books 3 days"
        " later"
    )
    assert (fee["in_closes"]["value"], fee["sum"]["value"]) == ("2", "-24.00")
    assert [each["date"] for each in fee["records"]] == ["2026-07-31", "2026-08-31"]


async def test_a_rule_for_an_account_that_is_not_there_does_not_connect(sides: tuple[Bank, Ledger]) -> None:
    with pytest.raises(NamespaceError, match="there is no one account 'DE2'; there are: 'DE1'"):
        await connected(Matching(*sides, rules={"DE2": AccountRule()}))
