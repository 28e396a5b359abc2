"""Same currency, amount and day, whatever the texts say that does not speak against it."""

from collections.abc import Iterator, Sequence

from ...tool import Record
from ..match import Pool, Proposal, Proposed
from ..rule import AccountRule
from ..similarity import similarity
from .doubt import Doubt
from .pairs import Ranked, best_first, same

_COMPARED = 2500
"""Pairs of texts compared among equal amounts of one day; beyond that texts are put in order only."""


def same_day(pool: Pool, _rule: AccountRule) -> Proposed:
    """Pairs one to one; of several on a day the most alike texts first, what is left over stays."""
    books, doubt = _grouped(pool.books), Doubt(pool)
    return Proposed(
        [
            pair
            for key, bank in _grouped(pool.bank).items()
            if key in books
            for pair in _paired(bank, books[key], doubt)
        ]
    )


def _grouped(records: Sequence[Record]) -> dict[object, list[Record]]:
    found: dict[object, list[Record]] = {}
    for record in records:
        found.setdefault((record.currency, record.amount, record.date), []).append(record)
    return found


def _paired(bank: Sequence[Record], books: Sequence[Record], doubt: Doubt) -> Iterator[Proposal]:
    reason = f"of {len(bank)} at the bank and {len(books)} in the books on this day, the most alike"
    if len(bank) == len(books) == 1:
        reason = "the only ones of this amount and day"
    if len(bank) * len(books) > _COMPARED:
        one, other = sorted(bank, key=_by_text), sorted(books, key=_by_text)
        yield from (same(a, b, reason) for a, b in zip(one, other, strict=False) if doubt.allows(a, b))
        return
    ranked = (Ranked((-similarity(a.text, b.text),), a, b) for a in bank for b in books if doubt.allows(a, b))
    yield from (same(each.bank, each.book, reason) for each in best_first(ranked))


def _by_text(record: Record) -> tuple[str, str]:
    return record.text, record.id
