"""Which records of the bank and of the books are the same movement.

Pure: no clock, no files, and the order of what comes in changes nothing. Strategies run one after
the other, each over what the former left; a record is in one match at most. Currencies never mix:
a record without a currency matches only others without one.
"""

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple, get_args

from ..records import amount_of
from ..tool import Record
from .evidence import Alternatives, compared
from .rule import AccountRule

Kind = Literal[
    "exact",
    "timing",
    "near",
    "batched",
    "split",
    "cancelled",
    "reversed",
    "transposed",
    "net_of_fee",
    "exchange",
]
"""What makes the records of a match the same movement.

"exact": same amount and day. "timing": same amount, other day. "near": within the tolerance.
"batched": one of the bank, several in the books. "split": several of the bank, one in the books.
"cancelled": a record and its reversal, both on one side; the other side of the match is empty.
"reversed": the books have it with the wrong sign. "transposed": two neighbouring digits are swapped.
"net_of_fee": the bank kept a fee. "exchange": the rate of exchange was another one.
"""
_MOST_DIGITS = 16
"""Digits before the point of the largest amount that is matched; no account has more."""
_TOLD = 10
"""Findings of one kind that are told one by one."""
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Match:
    """One proposed match, many to many, with its evidence."""

    kind: Kind
    bank: tuple[Record, ...]
    """By date; empty only where two records of the books cancel each other."""
    books: tuple[Record, ...]
    days: int
    """Days from the books' date to the bank's, of the two farthest apart; negative when the bank was
    first, 0 for records of one side."""
    difference: Decimal
    """The bank's sum less the books'."""
    similarity: int
    """How alike the texts are, 0 to 100."""
    reason: str
    """Why these and no others."""
    evidence: tuple[str, ...]
    """Each a plain statement about the records: amounts, dates, references, texts."""
    alternatives: tuple[str, ...]
    """Ids of other records that would have fitted one of the sides; a few of them."""
    ambiguous: bool = False
    """True when another choice would have been as good: the records are to be looked at."""

    @property
    def records(self) -> tuple[Record, ...]:
        """Of both sides, the bank's first."""
        return self.bank + self.books


@dataclass(frozen=True, slots=True)
class Outcome:
    """Every record that came in, once."""

    matches: tuple[Match, ...]
    """By the first date of the books, then by id."""
    bank_only: tuple[Record, ...]
    """At the bank and not in the books."""
    books_only: tuple[Record, ...]
    """In the books and not at the bank."""
    findings: tuple[str, ...] = ()
    """Where a search reached its bound, and what was left open because nothing told the ways apart."""

    @property
    def difference(self) -> Decimal:
        """The bank's sum less the books': what is unmatched and what matched otherwise. One currency."""
        matched = sum((match.difference for match in self.matches), Decimal(0))
        return amount_of(self.bank_only) - amount_of(self.books_only) + matched


class Proposal(NamedTuple):
    """Records that one strategy takes for the same movement."""

    kind: Kind
    bank: tuple[Record, ...]
    books: tuple[Record, ...]
    reason: str
    evidence: tuple[str, ...] = ()
    """What the strategy alone knows; amounts, dates and texts are added to it."""
    alternatives: tuple[str, ...] = ()
    """Other choices that the strategy weighed; equal amounts are added to one to one matches."""
    ambiguous: bool = False


class Noted(NamedTuple):
    """What a strategy has to say of a record that stays open."""

    record: str
    """Its id: what is said of it first is told, the rest is not."""
    kind: str
    """What it is, of several: "searches were cut short"."""
    says: str


class Proposed(NamedTuple):
    """What one strategy makes of a pool."""

    proposals: Sequence[Proposal]
    findings: Sequence[Noted] = ()


class Pool(NamedTuple):
    """The records that are not matched yet, each with an amount and a date, by id."""

    bank: tuple[Record, ...]
    books: tuple[Record, ...]
    carried: frozenset[str] = frozenset()
    """Ids of those that the period before left open: however late, the other side may come."""


Strategy = Callable[[Pool, AccountRule], Proposed]
"""Proposes matches from a pool. It names each record once at most and depends on no order."""


def match(
    bank: Sequence[Record],
    books: Sequence[Record],
    rule: AccountRule,
    strategies: Sequence[Strategy],
    carried: frozenset[str] = frozenset(),
) -> Outcome:
    """Matches what is the same movement.

    Args:
        bank: Records of the bank account.
        books: Lines of its account in the books.
        rule: How far apart they may be.
        strategies: In the order of how much they show.
        carried: Ids of records that are known to be open for longer.

    Raises:
        ValueError: two records have the same id.
    """
    given = [record.id for record in (*bank, *books)]
    if len(set(given)) != len(given):
        raise ValueError("two records have the same id: each is to be given once")
    pool = whole = Pool(_usable(bank), _usable(books), carried)
    proposals: list[Proposal] = []
    findings: list[Noted] = []
    for strategy in strategies:
        found = strategy(pool, rule)
        proposals += found.proposals
        findings += found.findings
        pool = without(pool, found.proposals)
    alternatives = Alternatives(whole, rule)
    matches = [_match(each, alternatives) for each in proposals]
    matched = {record.id for each in matches for record in each.records}
    return Outcome(
        tuple(sorted(matches, key=_by_books)),
        tuple(sorted((each for each in bank if each.id not in matched), key=by_date)),
        tuple(sorted((each for each in books if each.id not in matched), key=by_date)),
        _told(each for each in findings if each.record not in matched),
    )


def by_date(record: Record) -> tuple[datetime.date, str]:
    """The order in which records are shown."""
    return record.date or datetime.date.min, record.id


def _told(findings: Iterable[Noted]) -> tuple[str, ...]:
    """One sentence a record, the first few of each kind, then how many more there are."""
    kinds: dict[str, list[str]] = {}
    told: set[str] = set()
    for each in findings:
        if each.record not in told:
            told.add(each.record)
            kinds.setdefault(each.kind, []).append(each.says)
    return tuple(sentence for kind, says in kinds.items() for sentence in _first(kind, says))


def _first(kind: str, says: list[str]) -> list[str]:
    more = len(says) - _TOLD
    return says if more <= 0 else [*says[:_TOLD], f"{more} more {kind}"]


def _match(proposal: Proposal, alternatives: Alternatives) -> Match:
    bank, books = tuple(sorted(proposal.bank, key=by_date)), tuple(sorted(proposal.books, key=by_date))
    seen = compared(bank, books)
    return Match(
        proposal.kind,
        bank,
        books,
        seen.days,
        amount_of(bank) - amount_of(books),
        seen.similarity,
        proposal.reason,
        (*proposal.evidence, *seen.evidence),
        proposal.alternatives or alternatives.of(bank, books),
        proposal.ambiguous,
    )


def _usable(records: Sequence[Record]) -> tuple[Record, ...]:
    known = [each for each in records if each.date is not None and _is_sum(each.amount)]
    return tuple(sorted(known, key=lambda each: each.id))


def _is_sum(amount: Decimal | None) -> bool:
    """Whether an amount can be added up without losing a digit."""
    return amount is not None and amount.is_finite() and amount.adjusted() < _MOST_DIGITS


def without(pool: Pool, proposals: Sequence[Proposal]) -> Pool:
    """What is left of a pool."""
    taken = {record.id for each in proposals for record in (*each.bank, *each.books)}
    if not taken:
        return pool
    return Pool(
        tuple(each for each in pool.bank if each.id not in taken),
        tuple(each for each in pool.books if each.id not in taken),
        pool.carried,
    )


def _by_books(found: Match) -> tuple[datetime.date, str]:
    return by_date((found.books or found.bank)[0])
