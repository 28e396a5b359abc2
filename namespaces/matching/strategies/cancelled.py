"""A record and its reversal on the same side: a payment that came back, an entry that was taken back."""

from collections.abc import Sequence

from ...tool import Record
from ..evidence import apart, days_between
from ..match import Pool, Proposal, Proposed
from ..rule import AccountRule
from ..vocabulary import given_back
from .pairs import LIKE, Ranked, clear_winners, likeness

_SERIES = 100
"""Equal amounts beyond which they are a series, and nothing tells which one was taken back."""


def cancelled(pool: Pool, rule: AccountRule) -> Proposed:
    """Pairs +x with -x of one side where the texts speak of the same, first at the bank."""
    bank = [
        Proposal("cancelled", (each.bank, each.book), (), _reason(each), _evidence(each))
        for each in clear_winners(_candidates(pool.bank, pool.carried, rule))
    ]
    books = [
        Proposal("cancelled", (), (each.bank, each.book), _reason(each), _evidence(each))
        for each in clear_winners(_candidates(pool.books, pool.carried, rule))
    ]
    return Proposed([*bank, *books])


def _candidates(records: Sequence[Record], carried: frozenset[str], rule: AccountRule) -> list[Ranked]:
    """Each positive record with the negative ones that may take it back.

    What the period before left open may be taken back however late.
    """
    negative: dict[object, list[Record]] = {}
    for record in records:
        if record.amount and record.amount < 0:
            negative.setdefault((record.currency, -record.amount), []).append(record)
    found: list[Ranked] = []
    for plus in records:
        others = negative.get((plus.currency, plus.amount), [])
        for minus in others if len(others) <= _SERIES else ():
            days, alike = abs(days_between(plus, minus)), likeness(plus.text, minus.text)
            near = days <= rule.window_days or bool({plus.id, minus.id} & carried)
            if near and alike >= LIKE:
                found.append(Ranked((-_says_so(plus, minus), -alike, days), plus, minus))
    return found


def _says_so(plus: Record, minus: Record) -> bool:
    return bool(given_back(plus.text) or given_back(minus.text))


def _reason(found: Ranked) -> str:
    when = apart(days_between(found.bank, found.book))
    return f"the same amount with either sign and like texts, {when}"


def _evidence(found: Ranked) -> tuple[str, ...]:
    said = given_back(found.bank.text) or given_back(found.book.text)
    return (f"a text says {said}",) if said else ()
