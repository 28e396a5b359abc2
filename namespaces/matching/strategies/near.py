"""Amounts that differ by no more than the tolerance, within the window."""

from decimal import Decimal

from ...tool import Record
from ..evidence import apart, days_between
from ..match import Pool, Proposal, Proposed
from ..rule import AccountRule
from ..similarity import similarity
from .amounts import ByAmount, scaled
from .findings import Findings
from .pairs import Ranked, best_first


def nearly_equal(pool: Pool, rule: AccountRule) -> Proposed:
    """Pairs one to one, the smallest difference first; nothing at all without a tolerance."""
    if not rule.tolerance:
        return Proposed(())
    findings = Findings(rule)
    return Proposed(
        [
            Proposal(
                "near",
                (a,),
                (b,),
                f"the amounts differ by {abs(_amount(a) - _amount(b))}, {apart(days)}",
            )
            for (_, days, _), a, b in best_first(_candidates(pool, rule, findings))
        ],
        findings.told(),
    )


def _candidates(pool: Pool, rule: AccountRule, findings: Findings) -> list[Ranked]:
    books, units = ByAmount(pool.books), scaled([*pool.bank, *pool.books])
    found: list[Ranked] = []
    for a in pool.bank:
        low, high = _amount(a) - rule.tolerance, _amount(a) + rule.tolerance
        around = books.weighed(a, rule.window_days, low, high)
        findings.weighed(a, around)
        for b in around.records:
            gap, days = abs(units(a) - units(b)), abs(days_between(a, b))
            found.append(Ranked((gap, days, -similarity(a.text, b.text)), a, b))
    return found


def _amount(record: Record) -> Decimal:
    return record.amount or Decimal(0)
