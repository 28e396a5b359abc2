"""What was carried forward, with the one record of its amount that came later than the window."""

from collections.abc import Iterator
from typing import NamedTuple

from ...tool import Record
from ..evidence import apart, days_between
from ..match import Pool, Proposal, Proposed
from ..rule import AccountRule
from ..similarity import references
from .pairs import Ranked, clear_winners, likeness, same, within


class _Key(NamedTuple):
    currency: str | None
    amount: object


def outstanding(pool: Pool, rule: AccountRule) -> Proposed:
    """Pairs an open item with what fits it better than anything else; references may not speak against it."""
    if not pool.carried:
        return Proposed(())
    return Proposed([_matched(each) for each in clear_winners(_candidates(pool, rule))])


def _candidates(pool: Pool, rule: AccountRule) -> Iterator[Ranked]:
    books: dict[_Key, list[Record]] = {}
    for record in pool.books:
        books.setdefault(_Key(record.currency, record.amount), []).append(record)
    for a in pool.bank:
        for b in books.get(_Key(a.currency, a.amount), []):
            one, other = references(a.text), references(b.text)
            apart = bool(one) and bool(other) and not one & other
            if {a.id, b.id} & pool.carried and within(a, b, pool, rule) and not apart:
                yield Ranked((-likeness(a.text, b.text),), a, b)


def _matched(found: Ranked) -> Proposal:
    when = apart(days_between(found.bank, found.book))
    return same(found.bank, found.book, f"carried forward, and nothing fits it better; {when}")
