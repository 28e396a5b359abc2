"""Amounts that differ by a share: a fee that was kept, another rate of exchange."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import NamedTuple

from ...tool import Record
from ..match import Noted, Pool, Proposal, Proposed
from ..rule import AccountRule
from ..similarity import references
from ..vocabulary import exchange_in, fee_in, settlement_in
from .amounts import ByAmount
from .corrected import with_corrections
from .findings import Findings
from .pairs import Ranked, clear_winners, ranked_alike, speak_alike


def net_of_fee(pool: Pool, rule: AccountRule) -> Proposed:
    """Pairs what came in less a fee with what was due, and what went out with a fee with what was paid.

    Less money of the same party is no fee yet: a text has to speak of one or of a settlement, or both
    have to share a reference.
    """

    def fits(bank: Record, book: Record) -> bool:
        kept = _amount(book) - _amount(bank)
        if not rule.tolerance < kept <= abs(_amount(book)) * rule.fee_share:
            return False
        return says_so(bank) or bool(_amount(bank) > 0 and references(bank.text) & references(book.text))

    def says_so(bank: Record) -> bool:
        settled = _amount(bank) > 0 and settlement_in(bank.text)
        return bool(settled or fee_in(bank.text))

    bank = [each for each in pool.bank if says_so(each) or (_amount(each) > 0 and references(each.text))]
    found = _clear(((bank, pool.books),), rule, rule.fee_share, fits)
    return Proposed(list(with_corrections([_less_fee(each) for each in found.pairs], pool)), found.cut)


def at_another_rate(pool: Pool, rule: AccountRule) -> Proposed:
    """Pairs what differs by exchange, where a text names another currency or a rate, or the rule says so."""

    def fits(bank: Record, book: Record) -> bool:
        return abs(_amount(bank) - _amount(book)) <= abs(_amount(book)) * rule.exchange_share

    bank, books = _naming(pool.bank, rule), _naming(pool.books, rule)
    named = {each.id for each in bank}
    others = [each for each in pool.bank if each.id not in named]
    found = _clear(((bank, pool.books), (others, books)), rule, rule.exchange_share, fits)
    proposals = [_exchanged(each, rule) for each in found.pairs]
    return Proposed(list(with_corrections(proposals, pool)), found.cut)


def _naming(records: Sequence[Record], rule: AccountRule) -> Sequence[Record]:
    """Those that may be of another currency, by their texts or because the rule says it of all."""
    return [each for each in records if rule.foreign or exchange_in(each.text, each.currency)]


class _Clear(NamedTuple):
    """What fits better than anything else, and where there was too much to say so."""

    pairs: Sequence[Ranked]
    cut: Sequence[Noted]


_Sides = tuple[Sequence[Record], Sequence[Record]]
"""Records of the bank, and those of the books that each is compared with."""


def _clear(
    sides: Sequence[_Sides], rule: AccountRule, share: Decimal, fits: Callable[[Record, Record], bool]
) -> _Clear:
    """Of amounts of the same sign that differ by a share, what fits better than anything else."""
    findings, candidates = Findings(rule), list[Ranked]()
    for bank, books in sides if share else ():
        known = ByAmount(books)
        for a in bank:
            around = known.weighed(a, rule.window_days, *_range(_amount(a), share))
            findings.weighed(a, around)
            candidates += (
                ranked_alike(a, b)
                for b in around.records
                if a.amount != b.amount and fits(a, b) and (speak_alike(a, b, rule) or _both_settle(a, b))
            )
    return _Clear(clear_winners(candidates), findings.told())


def _both_settle(bank: Record, book: Record) -> bool:
    """Whether both texts speak of takings that somebody collected, and no reference tells them apart."""
    said = settlement_in(bank.text) and settlement_in(book.text)
    return bool(said) and not (references(bank.text) and references(book.text))


def _range(amount: Decimal, share: Decimal) -> tuple[Decimal, Decimal]:
    """The least and the most that differ from an amount by no more than a share."""
    near, far = amount * (1 - share), amount / (1 - share)
    return min(near, far), max(near, far)


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
