"""The same amount with the other sign: a payment that was entered as a receipt."""

from decimal import Decimal

from ...tool import Record
from ..match import Pool, Proposal, Proposed
from ..rule import AccountRule
from ..vocabulary import given_back
from .corrected import with_corrections
from .pairs import clear_winners, ranked_alike, speak_alike

_SERIES = 100
"""Equal amounts beyond which they are a series, and nothing tells which one was entered wrongly."""


def with_wrong_sign(pool: Pool, rule: AccountRule) -> Proposed:
    """Pairs what speaks of the same matter; where a text says that money went back, it is no mistake."""
    books: dict[object, list[Record]] = {}
    for record in pool.books:
        books.setdefault((record.currency, record.amount), []).append(record)
    found = [
        ranked_alike(a, b)
        for a in pool.bank
        for b in _few(books.get((a.currency, -(a.amount or Decimal(0))), []))
        if a.amount and speak_alike(a, b, rule) and not _back(a, b)
    ]
    reason = "the same amount and matter, with the other sign in the books"
    mistakes = [Proposal("reversed", (a,), (b,), reason) for _, a, b in clear_winners(found)]
    return Proposed(list(with_corrections(mistakes, pool)))


def _few(records: list[Record]) -> list[Record]:
    return records if len(records) <= _SERIES else []


def _back(bank: Record, book: Record) -> bool:
    return bool(given_back(bank.text) or given_back(book.text))
