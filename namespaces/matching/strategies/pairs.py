"""What strategies that pair one record with one other have in common."""

from collections.abc import Iterable
from typing import NamedTuple

from ...tool import Record
from ..evidence import days_between
from ..match import Kind, Pool, Proposal
from ..rule import AccountRule
from ..similarity import references
from ..vocabulary import names

LIKE = 60
"""Likeness from which two texts speak of the same, 0 to 100: more than one word of two."""


class Ranked(NamedTuple):
    """Two records that may be the same, and how well they fit: the least rank fits best."""

    rank: tuple[int, ...]
    bank: Record
    book: Record

    @property
    def order(self) -> tuple[tuple[int, ...], str, str]:
        """Total, so that no order of what came in shows."""
        return self.rank, self.bank.id, self.book.id


def same(bank: Record, book: Record, reason: str) -> Proposal:
    """A match of two records of the same amount."""
    kind: Kind = "timing" if days_between(bank, book) else "exact"
    return Proposal(kind, (bank,), (book,), reason)


def best_first(candidates: Iterable[Ranked]) -> list[Ranked]:
    """Each record once at most, the best fits first."""
    taken: set[str] = set()
    chosen: list[Ranked] = []
    for each in sorted(candidates, key=lambda found: found.order):
        if not {each.bank.id, each.book.id} & taken:
            taken |= {each.bank.id, each.book.id}
            chosen.append(each)
    return chosen


def clear_winners(candidates: Iterable[Ranked]) -> list[Ranked]:
    """Those that fit each of their two records better than any other does."""
    by_record: dict[str, list[Ranked]] = {}
    for each in candidates:
        for record in (each.bank, each.book):
            by_record.setdefault(record.id, []).append(each)
    won: dict[str, Ranked] = {}
    for name, found in by_record.items():
        best, *others = sorted(found, key=lambda each: each.order)
        if not others or others[0].rank > best.rank:
            won[name] = best
    chosen = [each for name, each in won.items() if name == each.bank.id and won.get(each.book.id) is each]
    return sorted(chosen, key=lambda each: each.order)


def within(bank: Record, book: Record, pool: Pool, rule: AccountRule) -> bool:
    """Whether the dates allow it: within the window, or any time later for what was carried forward."""
    days = days_between(bank, book)
    if abs(days) <= rule.window_days:
        return True
    return (book.id in pool.carried and days > 0) or (bank.id in pool.carried and days < 0)


def likeness(left: str, right: str) -> int:
    """How much two texts speak of the same party or matter, 0 to 100.

    A shared reference is 100. Where both have references and none in common, they are 0: two invoices.
    """
    known, there = references(left), references(right)
    if known and there:
        return 100 if known & there else 0
    one, other = names(left), names(right)
    least = min(len(one), len(other))
    return 100 * len(one & other) // least if least else 0


def speak_alike(bank: Record, book: Record, rule: AccountRule) -> bool:
    """Whether they are within the window and their texts speak of the same: amounts may then differ."""
    near = abs(days_between(bank, book)) <= rule.window_days
    return near and likeness(bank.text, book.text) >= LIKE


def ranked_alike(bank: Record, book: Record) -> Ranked:
    """How well they fit by their texts, then by their days."""
    return Ranked((-likeness(bank.text, book.text), abs(days_between(bank, book))), bank, book)
