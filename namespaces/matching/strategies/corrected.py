"""A mistake in the books and the entry that mends it: together they are the bank's amount."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from ...tool import Record
from ..match import Pool, Proposal
from .amounts import by_amount
from .pairs import LIKE, likeness


def with_corrections(mistakes: Sequence[Proposal], pool: Pool) -> Iterator[Proposal]:
    """The mistakes, each as a batch with its correction where one entry alone can be it.

    Args:
        mistakes: One record of the bank with one of the books.
        pool: What they were found in.
    """
    books = by_amount(pool.books)
    taken = {record.id for each in mistakes for record in each.books}
    for each in mistakes:
        (bank,), (book,) = each.bank, each.books
        gap = (bank.amount or Decimal(0)) - (book.amount or Decimal(0))
        found = [
            entry
            for entry in books.get((bank.currency, gap), ())
            if entry.id not in taken and _mends(entry, bank, book)
        ]
        if len(found) == 1:
            taken.add(found[0].id)
            reason = f"{each.reason}, and {found[0].id} of {found[0].date} corrects it"
            yield Proposal("batched", each.bank, (book, found[0]), reason, each.evidence)
        else:
            yield each


def _mends(entry: Record, bank: Record, book: Record) -> bool:
    """Whether an entry came after the mistake and speaks of the same."""
    later = entry.date is not None and book.date is not None and entry.date >= book.date
    return later and max(likeness(entry.text, bank.text), likeness(entry.text, book.text)) >= LIKE
