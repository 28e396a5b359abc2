"""The one entry that the demo proposes: what the bank took from and gave to the Ltd, and its books lack."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from . import LTD, DemoMonth
from .report import Account

Json = Any
"""JSON of a tool whose shape the playbook knows."""

_OTHER_SIDE = {"fee": "7900 Bank charges", "interest": "4900 Interest received"}
_COMMISSION = "7910 Card commission"
"""What a market place keeps of what it settles is no charge of the bank."""


def entry_for(month: DemoMonth, accounts: Sequence[Account]) -> Json:
    """The entry, as `propose_entry` takes it; None when nothing is missing."""
    lines = [line for account in accounts if account.of.entity == LTD for line in _lines(account)]
    if not lines:
        return None
    return {
        "file": "ltd_general_ledger.csv",
        "date": month.end,
        "text": f"Bank charges, commission and interest, {month.title}",
        "lines": lines,
    }


def _lines(account: Account) -> Iterator[Json]:
    for group, other in _OTHER_SIDE.items():
        found: Json = account.done and account.done.get(group)
        for item in found["items"] if found else ():
            adds = Decimal(item.get("adds_to_difference", item["amount"]))
            evidence = [item["record"], *item.get("with", [])]
            yield _line(account.of.ledger, adds, evidence)
            yield _line(_COMMISSION if "with" in item else other, -adds, evidence)


def _line(account: str, debit: Decimal, evidence: Sequence[str]) -> Json:
    side = "debit" if debit > 0 else "credit"
    return {"account": account, side: str(abs(debit)), "currency": "GBP", "evidence": list(evidence)}
