"""Opening and closing balance from a running balance, in whichever direction the file is sorted."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from ..tables.source import Findings
from .statement import Balance, Entry

_TOLD = 5
"""Breaks that are told one by one."""


class Step(NamedTuple):
    """One entry with the balance after it."""

    entry: Entry
    balance: Decimal


class Ends(NamedTuple):
    """What an account held before the first and after the last step."""

    opening: Balance
    closing: Balance


def ends(steps: Sequence[Step], findings: Findings) -> Ends | None:
    """Derives both balances; None when there are no steps or the column is no running balance.

    A file sorted newest first runs backwards. Where one direction fits but for a few breaks, each
    break is told: an entry is missing there, or was changed.
    """
    if not steps:
        return None
    forward = list(steps)
    chains = (forward, forward[::-1])
    broken = [_breaks(chain) for chain in chains]
    chain, breaks = min(zip(chains, broken, strict=True), key=lambda pair: len(pair[1]))
    if breaks and len(breaks) * 2 >= len(steps):
        findings.add("warning", "the balance column does not follow the amounts: not used")
        return None
    for before, after in breaks[:_TOLD]:
        gap = after.balance - after.entry.amount - before.balance
        what = f"the balance {after.balance} is off by {gap}: an entry before it is missing or wrong"
        findings.add("error", what, after.entry.row)
    if len(breaks) > _TOLD:
        findings.add("error", f"the running balance breaks in {len(breaks)} places")
    first, last = chain[0], chain[-1]
    opening = first.balance - first.entry.amount
    return Ends(
        Balance(opening, first.entry.booked, first.entry.row, derived=True),
        Balance(last.balance, last.entry.booked, last.entry.row, derived=True),
    )


def _breaks(chain: Sequence[Step]) -> list[tuple[Step, Step]]:
    pairs = pairwise(chain)
    return [(a, b) for a, b in pairs if a.balance + b.entry.amount != b.balance]
