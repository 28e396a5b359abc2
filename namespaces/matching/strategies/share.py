"""Amounts that differ by a share: a fee that was kept, another rate of exchange."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import islice

from ...tool import Record
from ..match import Pool, Proposal, Proposed
from ..rule import AccountRule
from ..similarity import references
from ..vocabulary import exchange_in, fee_in, settlement_in
from .amounts import ByAmount
from .pairs import Ranked, clear_winners, ranked_alike, speak_alike

_CANDIDATES = 50
"""Most records of the books that are weighed for one of the bank, the earliest days first."""


def net_of_fee(pool: Pool, rule: AccountRule) -> Proposed:
    """Pairs what came in less a fee with what was due, and what went out with a fee with what was paid.

    Less money of the same party is no fee yet: a text has to speak of one or of a settlement, or both
    have to share a reference.
    """

    def fits(bank: Record, book: Record) -> bool:
        kept = _amount(book) - _amount(bank)
        if not rule.tolerance < kept <= abs(_amount(book)) * rule.fee_share:
            return False
        if _amount(bank) < 0:
            return fee_in(bank.text) is not None
        return bool(
            settlement_in(bank.text) or fee_in(bank.text) or references(bank.text) & references(book.text)
        )

    return Proposed([_less_fee(each) for each in _clear(pool, rule, rule.fee_share, fits)])


def at_another_rate(pool: Pool, rule: AccountRule) -> Proposed:
    """Pairs what differs by exchange, where a text names another currency or a rate, or the rule says so."""

    def fits(bank: Record, book: Record) -> bool:
        gap = abs(_amount(bank) - _amount(book))
        return bool(rule.foreign or _named(bank, book)) and gap <= abs(_amount(book)) * rule.exchange_share

    return Proposed([_exchanged(each, rule) for each in _clear(pool, rule, rule.exchange_share, fits)])


def _clear(
    pool: Pool, rule: AccountRule, share: Decimal, fits: Callable[[Record, Record], bool]
) -> list[Ranked]:
    """What fits better than anything else, among amounts of the same sign that differ by a share."""
    if not share:
        return []
    return clear_winners(
        ranked_alike(a, b)
        for a, b in _around(pool, rule.window_days, share)
        if a.amount != b.amount and fits(a, b) and (speak_alike(a, b, rule) or _both_settle(a, b))
    )


def _both_settle(bank: Record, book: Record) -> bool:
    """Whether both texts speak of takings that somebody collected, and no reference tells them apart."""
    said = settlement_in(bank.text) and settlement_in(book.text)
    return bool(said) and not (references(bank.text) and references(book.text))


def _around(pool: Pool, days: int, share: Decimal) -> Iterator[tuple[Record, Record]]:
    books = ByAmount(pool.books)
    for a in pool.bank:
        size = abs(_amount(a))
        least, most = size * (1 - share), size / (1 - share)
        low, high = (least, most) if _amount(a) > 0 else (-most, -least)
        yield from ((a, b) for b in islice(books.around(a, days, low, high), _CANDIDATES))


def _less_fee(found: Ranked) -> Proposal:
    _, bank, book = found
    kept = _amount(book) - _amount(bank)
    share = round(100 * kept / abs(_amount(book)), 2)
    evidence = [f"a fee of {kept}, {share} % of {abs(_amount(book))}"]
    if said := settlement_in(bank.text) or fee_in(bank.text):
        evidence.append(f"the bank's text says {said}")
    return Proposal("net_of_fee", (bank,), (book,), f"the amount less a fee of {kept}", tuple(evidence))


def _exchanged(found: Ranked, rule: AccountRule) -> Proposal:
    _, bank, book = found
    gap = _amount(bank) - _amount(book)
    share = round(100 * abs(gap) / abs(_amount(book)), 2)
    said = _named(bank, book)
    why = f"a text names {said}" if said else "the account takes payments in other currencies"
    evidence = (why, f"a difference of {gap}, {share} %; up to {100 * rule.exchange_share} % is looked at")
    return Proposal("exchange", (bank,), (book,), f"the amounts differ by {gap} of exchange", evidence)


def _named(bank: Record, book: Record) -> str | None:
    return exchange_in(bank.text, bank.currency) or exchange_in(book.text, book.currency)


def _amount(record: Record) -> Decimal:
    return record.amount or Decimal(0)
