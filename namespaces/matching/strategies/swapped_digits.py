"""Two neighbouring digits swapped in the books: 1,254.00 entered as 1,524.00."""

from collections.abc import Iterator

from ...tool import Record
from ..match import Pool, Proposal, Proposed
from ..rule import AccountRule
from .amounts import scaled
from .corrected import with_corrections
from .pairs import clear_winners, ranked_alike, speak_alike


def with_swapped_digits(pool: Pool, rule: AccountRule) -> Proposed:
    """Pairs what speaks of the same matter; the difference of such amounts is divisible by 9."""
    units = scaled([*pool.bank, *pool.books])
    books: dict[tuple[str | None, int], list[Record]] = {}
    for record in pool.books:
        books.setdefault((record.currency, units(record)), []).append(record)
    found = [
        ranked_alike(a, b)
        for a in pool.bank
        for amount in swaps(units(a))
        for b in books.get((a.currency, amount), [])
        if speak_alike(a, b, rule)
    ]
    mistakes = [_matched(a, b) for _, a, b in clear_winners(found)]
    return Proposed(list(with_corrections(mistakes, pool)))


def swaps(amount: int) -> Iterator[int]:
    """All that come of swapping two neighbouring digits, each once, with the sign and the digits it had."""
    sign, digits = (-1 if amount < 0 else 1), str(abs(amount))
    for at in range(len(digits) - 1):
        one, other = digits[at], digits[at + 1]
        if one != other and not (at == 0 and other == "0"):
            yield sign * int(digits[:at] + other + one + digits[at + 2 :])


def _matched(bank: Record, book: Record) -> Proposal:
    gap = (bank.amount or 0) - (book.amount or 0)
    evidence = (f"the amounts differ by {gap}, which two neighbouring digits swapped make",)
    return Proposal("transposed", (bank,), (book,), "two digits of the amount are swapped", evidence)
