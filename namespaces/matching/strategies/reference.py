"""Same amount and the same reference within the window, where only one pair has it."""

from collections.abc import Sequence
from decimal import Decimal

from ...tool import Record
from ..match import Pool, Proposal, Proposed
from ..rule import AccountRule
from ..similarity import references
from .pairs import same, within

_Key = tuple[str | None, Decimal | None, str]


def by_reference(pool: Pool, rule: AccountRule) -> Proposed:
    """Pairs records that share a number such as a cheque's or an invoice's.

    It goes before dates: a cheque is presented when it is, and the one of the same amount that was
    written the day before is another one. A reference that several records of a side have says nothing.
    """
    bank, books = _unique(pool.bank), _unique(pool.books)
    found: list[Proposal] = []
    taken: set[str] = set()
    for key in sorted(bank.keys() & books.keys(), key=str):
        one, other = bank[key], books[key]
        if within(one, other, pool, rule) and not {one.id, other.id} & taken:
            taken |= {one.id, other.id}
            found.append(same(one, other, f"both have the reference {key[2]}"))
    return Proposed(found)


def _unique(records: Sequence[Record]) -> dict[_Key, Record]:
    found: dict[_Key, list[Record]] = {}
    for record in records:
        for reference in references(record.text):
            found.setdefault((record.currency, record.amount, reference), []).append(record)
    return {key: each[0] for key, each in found.items() if len(each) == 1}
