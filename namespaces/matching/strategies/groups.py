"""Whole groups: all that is left of one day, one batch, one party adds up to one record of the other side.

There is nothing to choose in a group, so that its sum seldom fits by chance.
"""

import datetime
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...tool import Record
from ..evidence import SHOWN_ALTERNATIVES
from ..match import Pool, Proposal, Proposed, without
from ..rule import AccountRule
from ..similarity import references
from ..vocabulary import names
from .sides import Neighbours, Turn, turns

_BY_CHANCE = 100
"""A group of which the other text says nothing has to be so much rarer than a sum that fits by chance."""
_ALL_THERE_IS = 4
"""The same, where nothing else of the window is left: there is no other choice."""


class _Group(NamedTuple):
    """Records of one side that have something in common."""

    records: tuple[Record, ...]
    words: frozenset[str]
    """The reference or the names that all of them have; empty where it is the day alone."""
    what: str

    @property
    def ids(self) -> list[str]:
        """Of the records."""
        return [each.id for each in self.records]

    @property
    def said(self) -> str:
        """The words, as they are shown."""
        return " ".join(sorted(self.words))


def in_named_groups(pool: Pool, rule: AccountRule) -> Proposed:
    """Matches one record with a group that has a word or a reference of its text in common."""
    return _both_ways(pool, rule, named=True)


def in_groups(pool: Pool, rule: AccountRule) -> Proposed:
    """Matches one record with any group whose sum would hardly be its amount by chance."""
    return _both_ways(pool, rule, named=False)


def _both_ways(pool: Pool, rule: AccountRule, *, named: bool) -> Proposed:
    """First one of the bank with several of the books, then the other way round."""
    batched, _ = turns(pool, rule)
    found = _matched(batched, named=named)
    _, split = turns(without(pool, found), rule)
    return Proposed([*found, *_matched(split, named=named)])


def _matched(turn: Turn, *, named: bool) -> list[Proposal]:
    groups = list(_groups(turn.many))
    by_sum: defaultdict[object, list[_Group]] = defaultdict(list)
    for group in groups:
        by_sum[group.records[0].currency, sum(map(turn.units, group.records))].append(group)
    chances = _Chances(turn, groups)
    fits = [
        _Fit(_rank(one, group), one, group)
        for one in filter(_adds, turn.ones)
        for group in _distinct(by_sum.get((one.currency, turn.units(one)), []), one)
        if all(turn.near(one, each) for each in group.records)
        and (_named(one, group) or not (named or _has_both_signs(group.records)))
        and chances.show(one, group)
    ]
    taken: set[str] = set()
    found: list[Proposal] = []
    for fit in sorted(fits, key=lambda fit: fit.order):
        ids = {fit.one.id, *fit.group.ids}
        if not ids & taken:
            taken |= ids
            found.append(_proposal(turn, fit, [each for each in fits if each.one is fit.one]))
    return found


class _Fit(NamedTuple):
    """A group that adds up to one record of the other side."""

    rank: tuple[int, int]
    one: Record
    group: _Group

    @property
    def order(self) -> tuple[tuple[int, int], str, list[str]]:
        """Total, the best first."""
        return self.rank, self.one.id, self.group.ids


def _groups(records: Sequence[Record]) -> Iterator[_Group]:
    """Of one currency, two records at least; of both signs only where they have a word in common."""
    known: defaultdict[_Key, list[Record]] = defaultdict(list)
    for record in filter(_adds, records):
        side = (record.currency, (record.amount or 0) > 0)
        party = names(record.text)
        either = (record.currency, None)
        known[_Key(side, record.date, frozenset(), "all of the day")].append(record)
        for words in {party, *(frozenset((word,)) for word in party)} - {frozenset()}:
            known[_Key(side, record.date, words, "all of the day that say")].append(record)
            known[_Key(either, record.date, words, "all of the day that say")].append(record)
        for reference in references(record.text):
            words = frozenset((reference,))
            known[_Key(side, None, words, "all with the reference")].append(record)
            known[_Key(either, None, words, "all with the reference")].append(record)
    for key, found in known.items():
        if len(found) > 1 and (key.side[1] is not None or _has_both_signs(found)):
            yield _Group(tuple(found), key.words, key.what)


def _has_both_signs(records: Sequence[Record]) -> bool:
    return len({(each.amount or 0) > 0 for each in records}) > 1


def _adds(record: Record) -> bool:
    """An amount of 0 is in any sum and in none."""
    return bool(record.amount)


class _Key(NamedTuple):
    """What the records of a group have in common."""

    side: tuple[str | None, bool | None]
    """Currency, and whether the amounts are more than 0; None where they are of both signs."""
    date: datetime.date | None
    words: frozenset[str]
    what: str


def _distinct(groups: Sequence[_Group], one: Record) -> list[_Group]:
    """Of groups with the same records the one that the other side's text speaks of most."""
    best: dict[tuple[str, ...], _Group] = {}
    for group in sorted(groups, key=lambda each: (_rank(one, each), each.what, each.said)):
        best.setdefault(tuple(each.id for each in group.records), group)
    return list(best.values())


def _rank(one: Record, group: _Group) -> tuple[int, int]:
    """0 is best: the text of the one has what the group has in common; then the farthest day."""
    days = max(abs((one.date - each.date).days) for each in group.records if one.date and each.date)
    return 2 - _named(one, group) - bool(group.words), days


def _named(one: Record, group: _Group) -> bool:
    return bool(group.words) and group.words <= names(one.text) | references(one.text)


class _Chances:
    """How likely a group would fit by chance: the more groups there are around, the rounder the amounts."""

    def __init__(self, turn: Turn, groups: Iterable[_Group]) -> None:
        self._turn, self._neighbours = turn, Neighbours(turn)
        self._by_day: Counter[object] = Counter()
        for records in {each.records for each in groups}:
            self._by_day[_side_and_day(records[0])] += 1

    def show(self, one: Record, group: _Group) -> bool:
        """Whether the group shows more than chance would."""
        turn, day = self._turn, one.date or datetime.date.min
        around = range(day.toordinal() - turn.window.days, day.toordinal() + turn.window.days + 1)
        side = (one.currency, turn.units(one) > 0)
        choices = max(1, sum(self._by_day[(*side, each)] for each in around))
        step = math.gcd(*map(turn.units, group.records))
        alone = {each.id for each in self._neighbours.of(one, turn.window.days)} <= {
            each.id for each in group.records
        }
        rarer = _ALL_THERE_IS if alone or _named(one, group) else _BY_CHANCE
        return choices * step * rarer <= abs(turn.units(one)) or group.words == _said(one)


def _said(one: Record) -> frozenset[str]:
    """All that the text of one says: its reference where it has one, else its names."""
    return references(one.text) or names(one.text)


def _side_and_day(record: Record) -> tuple[str | None, bool, int]:
    return record.currency, (record.amount or 0) > 0, (record.date or datetime.date.min).toordinal()


def _proposal(turn: Turn, fit: _Fit, fits: Sequence[_Fit]) -> Proposal:
    """The match, with the other groups that would have fitted the same record as alternatives."""
    one, group = fit.one, fit.group
    evidence = ["none of the group is left out"]
    if _named(one, group):
        evidence.append(f"both sides say {group.said}")
    rivals = [
        each for each in fits if each.rank[0] == fit.rank[0] and not set(each.group.ids) & set(group.ids)
    ]
    if rivals:
        evidence.append(f"{len(rivals) + 1} groups fit, this one is the nearest")
    others = tuple(each for rival in rivals for each in rival.group.ids)[:SHOWN_ALTERNATIVES]
    what = f"{group.what} {group.said}".strip()
    reason = f"{what}, {len(group.records)} records, add up to {one.amount}"
    made = turn.proposal(one, group.records, reason, evidence)
    return made._replace(alternatives=others, ambiguous=bool(rivals))
