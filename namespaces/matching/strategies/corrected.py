"""What the books have otherwise and the entry that mends it: together they are the bank's amount."""

from collections.abc import Iterator, Sequence

from ...records import amount_of
from ...tool import Record
from ..match import Pool, Proposal
from ..vocabulary import exchange_in, fee_in
from .amounts import by_amount
from .pairs import LIKE, likeness


def with_corrections(differing: Sequence[Proposal], pool: Pool) -> Iterator[Proposal]:
    """Matches whose amounts differ, each as a batch with its correction where one entry alone can be it.

    An entry whose own amount is open at the bank corrects nothing.

    Args:
        differing: One record of the bank with one or more of the books.
        pool: What they were found in.
    """
    books, bank = by_amount(pool.books), by_amount(pool.bank)
    taken = {record.id for each in differing for record in each.books}
    for each in differing:
        key = (each.bank[0].currency, amount_of(each.bank) - amount_of(each.books))
        entries = () if key in bank else books.get(key, ())
        found = [entry for entry in entries if entry.id not in taken and _mends(entry, each)]
        if len(found) == 1:
            taken.add(found[0].id)
            reason = f"{each.reason}, and {found[0].id} of {found[0].date} corrects it"
            yield Proposal("batched", each.bank, (*each.books, found[0]), reason, each.evidence)
        else:
            yield each


def _mends(entry: Record, of: Proposal) -> bool:
    """Whether an entry came no earlier than what it corrects and speaks of the same, or names its cause."""
    if any(entry.date is None or each.date is None or entry.date < each.date for each in of.books):
        return False
    if of.kind == "net_of_fee" and fee_in(entry.text):
        return True
    if of.kind == "exchange" and exchange_in(entry.text, entry.currency):
        return True
    return any(likeness(entry.text, each.text) >= LIKE for each in (*of.bank, *of.books))
