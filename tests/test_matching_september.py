"""The September of the scenarios: reconciled to figures that were worked out by hand.

By hand:

    bank     48,215.60 + 58,521.92 - 64,550.80                      = 42,186.72
    books    48,215.60 + 61,558.45 - 66,328.55                      = 43,445.50
    difference                                                      = -1,258.78
    not in the books: interest 41.87, fee -28.50                    =     13.37
    not at the bank: cheques -1,420.00 and -386.25, paid in 2,760.00 =    953.75
                     a refund                                       =    318.40
    13.37 - 953.75 - 318.40                                         = -1,258.78
    both corrected: 42,186.72 + 953.75 = 43,445.50 + 13.37 - 318.40 = 43,140.47
"""

import datetime
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from offing.engine.cli.scenarios.september import GENERAL_LEDGER, STATEMENT
from offing.engine.resident.calculate import Quantity, evaluate
from offing.namespaces.bank import Bank
from offing.namespaces.errors import NamespaceError
from offing.namespaces.ledger import Ledger
from offing.namespaces.matching import Matching
from offing.namespaces.tool import Record
from test_bank_tools import connected

Json = Any
SEPTEMBER = {
    "bank_account": "55120944",
    "ledger_account": "1200",
    "from": "2026-09-01",
    "to": "2026-09-30",
}
PREFIX = "matching:55120944/1200-Bank-current-account/2026-09-01..2026-09-30.w5"


def demo() -> tuple[Bank, Ledger, Matching]:
    bank, ledger = Bank([STATEMENT]), Ledger([GENERAL_LEDGER])
    return bank, ledger, Matching(bank, ledger)


def replayed(record: Record, known: dict[str, Record]) -> Decimal:
    """A derived record worked out again from its derivation."""
    derivation = json.loads(record.derivation or "")
    inputs = {
        name: tuple(Quantity(known[each].amount or Decimal(0), known[each].currency) for each in ids)
        for name, ids in derivation["inputs"].items()
    }
    return evaluate(derivation["expression"], inputs).value


@pytest.mark.anyio
async def test_the_demo_files_are_sound() -> None:
    bank, ledger, _ = demo()
    (account,) = bank.contents().accounts
    assert bank.contents().findings == ledger.contents().findings == ()
    assert (len(account.movements), account.gaps) == (31, (Decimal("0.00"),))
    day = datetime.date(2026, 9, 30)
    books = ledger.contents().find("1200").balance_on(day)
    assert books is not None
    assert books.amount == Decimal("43445.50")


@pytest.mark.anyio
async def test_september_reconciles_to_the_figures_worked_out_by_hand() -> None:
    output = (await connected(demo()[2]))("reconcile", **SEPTEMBER)
    content: Json = output.content
    values = {name: each["value"] for name, each in content["balances"].items()}
    assert values == {
        "bank": "42186.72",
        "books": "43445.50",
        "difference": "-1258.78",
        "explained": "-1258.78",
        "unexplained": "0.00",
        "opening_difference": "0.00",
        "opening_explained": "0",
        "opening_unexplained": "0",
    }
    assert content["all_explained"] is True
    assert content["matched"] == {
        "exact": 25,
        "timing": 4,
        "value": "29",
        "record": f"{PREFIX}/matched",
    }
    items = {
        group: [each["amount"] for each in content[group]["items"]]
        for group in ("timing", "missing_in_books", "missing_at_bank", "fee", "interest", "amount_differs")
    }
    assert items == {
        "timing": ["-1420.00", "-386.25", "2760.00"],
        "missing_in_books": [],
        "missing_at_bank": ["318.40"],
        "fee": ["-28.50"],
        "interest": ["41.87"],
        "amount_differs": [],
    }
    totals = {group: content[group]["adds_to_difference"]["value"] for group in items}
    assert totals == {
        "timing": "-953.75",
        "missing_in_books": "0",
        "missing_at_bank": "-318.40",
        "fee": "-28.50",
        "interest": "41.87",
        "amount_differs": "0",
    }


@pytest.mark.anyio
async def test_every_figure_is_a_record_and_every_sum_can_be_replayed() -> None:
    output = (await connected(demo()[2]))("reconcile", **SEPTEMBER)
    known = {record.id: record for record in output.records}
    assert len(known) == len(output.records)
    cited = set(re.findall(r'"record": "([^"]+)"', json.dumps(output.content)))
    assert cited <= set(known)
    sums = [each for each in known.values() if "expression" in (each.derivation or "")]
    assert {each.id.rpartition("/")[2] for each in sums} >= {"difference", "unexplained", "timing"}
    assert [each.id for each in sums if replayed(each, known) != each.amount] == []


@pytest.mark.anyio
async def test_a_cheque_that_clears_after_the_period_is_timing_and_named() -> None:
    output = (await connected(demo()[2]))("reconcile", **{**SEPTEMBER, "to": "2026-09-03"})
    content: Json = output.content
    assert content["all_explained"] is True
    assert [(each["amount"], each["why"]) for each in content["timing"]["items"]] == [
        ("-264.00", "at the bank on 2026-09-04, after the period (bank:txn/2026-09-04/HV26090006)")
    ]


@pytest.mark.anyio
async def test_what_was_open_before_the_period_is_told_as_such() -> None:
    output = (await connected(demo()[2]))("reconcile", **{**SEPTEMBER, "from": "2026-09-04"})
    content: Json = output.content
    values = {name: each["value"] for name, each in content["balances"].items()}
    assert (values["opening_difference"], values["unexplained"]) == ("264.00", "0.00")
    (cleared,) = content["cleared"]["items"]
    assert (cleared["amount"], cleared["date"], cleared["why"]) == (
        "-264.00",
        "2026-09-01",
        "settled by bank:txn/2026-09-04/HV26090006 of 2026-09-04",
    )


@pytest.mark.anyio
async def test_matches_show_their_evidence() -> None:
    output = (await connected(demo()[2]))("list_matches", kind="timing", **SEPTEMBER)
    content: Json = output.content
    assert content["total"] == 4
    assert content["matches"][0] == {
        "kind": "timing",
        "bank": [
            {
                "record": "bank:txn/2026-09-04/HV26090006",
                "date": "2026-09-04",
                "amount": "-264.00",
                "text": "CHEQUE 001874",
            }
        ],
        "books": [
            {
                "record": "ledger:line/2026-09-01/5103-2",
                "date": "2026-09-01",
                "amount": "-264.00",
                "text": "Cheque to T. Fenwick Glazing CHQ 001874",
            }
        ],
        "days": 3,
        "similarity": 100,
        "reason": "both have the reference 1874",
        "evidence": [
            "same amount -264.00",
            "dates 3 days apart",
            "same reference 1874",
            "both texts say cheque",
        ],
    }


@pytest.mark.anyio
async def test_another_rule_gives_other_records() -> None:
    invoke = await connected(demo()[2])
    wide = invoke("reconcile", **SEPTEMBER, window_days=30, tolerance="0.05")
    assert {each.id for each in wide.records if each.id.startswith(f"{PREFIX}/")} == set()


@pytest.mark.anyio
async def test_accounts_in_two_currencies_are_refused(tmp_path: Path) -> None:
    euro = tmp_path / "gl.csv"
    euro.write_text(GENERAL_LEDGER.read_text().replace(",GBP", ",EUR"))
    invoke = await connected(Matching(Bank([STATEMENT]), Ledger([euro])))
    with pytest.raises(NamespaceError, match=r"is in GBP and .* in EUR: currencies never mix"):
        invoke("reconcile", **SEPTEMBER)
