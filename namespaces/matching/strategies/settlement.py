"""A settlement of cards: the takings of one day together, less what the acquirer kept."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from ...records import amount_of
from ...tool import Record
from ..match import Pool, Proposal, Proposed
from ..rule import AccountRule
from ..vocabulary import settlement_in
from .corrected import with_corrections


class _Fit(NamedTuple):
    """A settlement of the bank and the takings that it may be of."""

    bank: Record
    takings: tuple[Record, ...]
    kept: Decimal


def settled_takings(pool: Pool, rule: AccountRule) -> Proposed:
    """Matches a settlement with all takings of a day, where it fits no other day and no other settlement."""
    days = _takings(pool.books)
    fits = [
        fit
        for bank in pool.bank
        if (bank.amount or 0) > 0 and settlement_in(bank.text)
        for fit in _fits(bank, days, rule)
    ]
    banks = Counter(fit.bank.id for fit in fits)
    takings = Counter(fit.takings[0].id for fit in fits)
    clear = [fit for fit in fits if banks[fit.bank.id] == takings[fit.takings[0].id] == 1]
    return Proposed(list(with_corrections([_matched(fit) for fit in clear], pool)))


_Takings = dict[tuple[str | None, int], list[Record]]
"""By currency and day."""


def _takings(records: Sequence[Record]) -> _Takings:
    found: _Takings = {}
    for record in records:
        if (record.amount or 0) > 0 and settlement_in(record.text):
            found.setdefault((record.currency, _ordinal(record)), []).append(record)
    return found


def _fits(bank: Record, days: _Takings, rule: AccountRule) -> list[_Fit]:
    found: list[_Fit] = []
    for back in range(rule.window_days + 1):
        takings = days.get((bank.currency, _ordinal(bank) - back), [])
        due = amount_of(takings)
        kept = due - (bank.amount or Decimal(0))
        if len(takings) > 1 and 0 < kept <= due * rule.fee_share:
            found.append(_Fit(bank, tuple(takings), kept))
    return found


def _ordinal(record: Record) -> int:
    return record.date.toordinal() if record.date else 0


def _matched(fit: _Fit) -> Proposal:
    due = amount_of(fit.takings)
    evidence = (
        f"a fee of {fit.kept}, {round(100 * fit.kept / due, 2)} % of {due}",
        f"the bank's text says {settlement_in(fit.bank.text)}",
        "all takings of the day, and no other day fits",
    )
    reason = f"the takings of {fit.takings[0].date} less a fee of {fit.kept}"
    return Proposal("net_of_fee", (fit.bank,), fit.takings, reason, evidence)
