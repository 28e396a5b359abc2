"""Amounts that differ by no more than the tolerance, within the window."""

from collections.abc import Iterator
from decimal import Decimal
from itertools import islice

from ...tool import Record
from ..evidence import apart, days_between
from ..match import Pool, Proposal, Proposed
from ..rule import AccountRule
from ..similarity import similarity
from .amounts import ByAmount, scaled
from .pairs import Ranked, best_first

_CANDIDATES = 50
"""Most records of the books that are weighed for one of the bank."""


def nearly_equal(pool: Pool, rule: AccountRule) -> Proposed:
    """Pairs one to one, the smallest difference first; nothing at all without a tolerance."""
    if not rule.tolerance:
        return Proposed(())
    return Proposed(
        [
            Proposal(
                "near",
                (a,),
                (b,),
                f"the amounts differ by {abs(_amount(a) - _amount(b))}, {apart(days)}",
            )
            for (_, days, _), a, b in best_first(_candidates(pool, rule))
        ]
    )


def _candidates(pool: Pool, rule: AccountRule) -> Iterator[Ranked]:
    books, units = ByAmount(pool.books), scaled([*pool.bank, *pool.books])
    for a in pool.bank:
        low, high = _amount(a) - rule.tolerance, _amount(a) + rule.tolerance
        for b in islice(books.around(a, rule.window_days, low, high), _CANDIDATES):
            gap, days = abs(units(a) - units(b)), abs(days_between(a, b))
            yield Ranked((gap, days, -similarity(a.text, b.text)), a, b)


def _amount(record: Record) -> Decimal:
    return record.amount or Decimal(0)
