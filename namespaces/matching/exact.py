"""Same currency, amount and day."""

from collections.abc import Iterator, Sequence

from ..tool import Record
from .match import Pair, Pool, Rule
from .similarity import similarity

_COMPARED = 2500
"""Pairs of texts compared among equal amounts of one day; beyond that texts are put in order only."""


def same_day(pool: Pool, _rule: Rule) -> list[Pair]:
    """Pairs one to one; of several on a day the most alike texts first, what is left over stays."""
    books = _grouped(pool.books)
    return [
        pair
        for key, bank in _grouped(pool.bank).items()
        if key in books
        for pair in _paired(bank, books[key])
    ]


def _grouped(records: Sequence[Record]) -> dict[object, list[Record]]:
    found: dict[object, list[Record]] = {}
    for record in records:
        found.setdefault((record.currency, record.amount, record.date), []).append(record)
    return found


def _paired(bank: Sequence[Record], books: Sequence[Record]) -> Iterator[Pair]:
    if len(bank) == len(books) == 1:
        yield Pair(bank[0], books[0], "the only ones of this amount and day")
        return
    reason = f"of {len(bank)} at the bank and {len(books)} in the books on this day, the most alike"
    if len(bank) * len(books) > _COMPARED:
        one, other = sorted(bank, key=_by_text), sorted(books, key=_by_text)
        yield from (Pair(a, b, reason) for a, b in zip(one, other, strict=False))
        return
    ranked = sorted((-similarity(a.text, b.text), a.id, b.id, a, b) for a in bank for b in books)
    taken: set[str] = set()
    for _, _, _, a, b in ranked:
        if not {a.id, b.id} & taken:
            taken |= {a.id, b.id}
            yield Pair(a, b, reason)


def _by_text(record: Record) -> tuple[str, str]:
    return record.text, record.id
