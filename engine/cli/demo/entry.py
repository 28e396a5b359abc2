"""The one entry that the demo proposes: what the bank took from and gave to the Ltd, and its books lack."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from . import LTD, DemoMonth
from .report import Worked

Json = Any
"""JSON of a tool whose shape the playbook knows."""

_OTHER_SIDE = {"fee": "7900 Bank charges", "interest": "4900 Interest received"}
_ITEM = re.compile(
    r"^\| \S+ \| `[^`]*` \| (?P<amount>[-\d,.]+) \w{3}(?P<cited>(?: \[\[[^\]]+\]\])+) \| (?P<group>\w+) \|",
    re.MULTILINE,
)
"""A row of the items of an account, as its report has it."""
_CITED = re.compile(r"\[\[([^\]]+)\]\]")
_COMMISSION = "7910 Card commission"
"""What a market place keeps of what it settles is no charge of the bank."""


def entry_for(month: DemoMonth, accounts: Sequence[Worked]) -> Json:
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


def _lines(account: Worked) -> Iterator[Json]:
    for group, other in _OTHER_SIDE.items():
        for found in [each for each in _ITEM.finditer(account.items) if each["group"].lower() == group]:
            adds, evidence = Decimal(found["amount"].replace(",", "")), _CITED.findall(found["cited"])
            yield _line(account.of.ledger, adds, evidence)
            yield _line(_COMMISSION if len(evidence) > 1 else other, -adds, evidence)


def _line(account: str, debit: Decimal, evidence: Sequence[str]) -> Json:
    side = "debit" if debit > 0 else "credit"
    return {"account": account, side: str(abs(debit)), "currency": "GBP", "evidence": list(evidence)}
