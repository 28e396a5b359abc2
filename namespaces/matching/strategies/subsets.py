"""Some records of one side that add up to one of the other, found by a bounded search.

With enough records to choose from, something adds up to everything. So a sum counts only where hardly
any would be expected by chance: among records that share a party or a reference with the one, or among
few. Where several sums fit and no text tells them apart, all is left open and told.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...tool import Record
from ..evidence import SHOWN_ALTERNATIVES, days_between
from ..match import Pool, Proposal, Proposed, without
from ..rule import AccountRule, SubsetBounds
from ..similarity import references, similarity
from ..vocabulary import names
from .findings import Findings
from .sides import Neighbours, Turn, turns
from .subset_sum import Ways, count_of_sums, ways_to

_LEAST = 2
"""Records of the smallest sum."""
_FEW = 12
"""Records among which a sum is told even where chance may have made it."""
_MOST_AROUND = 1000
"""Records within the window beyond which no sum is looked for: it would show nothing."""
_LIKE = 20
"""Among records that speak of the same: a sum has to be so many times rarer than by chance."""
_ANY = 1000
"""The same among records whose texts have nothing to do with the one."""


class _Scope(NamedTuple):
    """The records among which a sum is looked for."""

    records: Sequence[Record]
    rarer: int
    says: str


class _Sum(NamedTuple):
    """Records that add up to one of the other side."""

    one: Record
    records: tuple[Record, ...]
    ways: tuple[tuple[Record, ...], ...]
    """The other sums that fit as well."""
    scope: _Scope

    @property
    def equals_only(self) -> bool:
        """Whether the ways differ only in which of equal amounts they take."""
        amounts = Counter(each.amount for each in self.records)
        return all(Counter(each.amount for each in way) == amounts for way in self.ways)


def adding_up_alike(pool: Pool, rule: AccountRule) -> Proposed:
    """Matches one record with some of the other side that speak of the same party or reference."""
    return _both_ways(pool, rule, _Search.alike)


def adding_up(pool: Pool, rule: AccountRule) -> Proposed:
    """Matches one record with some of the other side, whatever their texts say."""
    return _both_ways(pool, rule, _Search.any)


def _both_ways(pool: Pool, rule: AccountRule, search: Callable[["_Search"], list[Proposal]]) -> Proposed:
    """First one of the bank with several of the books, then the other way round."""
    findings = Findings(rule)
    batched, _ = turns(pool, rule)
    found = search(_Search(batched, rule.subset, findings))
    _, split = turns(without(pool, found), rule)
    found = [*found, *search(_Search(split, rule.subset, findings))]
    return Proposed(found, findings.told())


class _Search:
    def __init__(self, turn: Turn, bounds: SubsetBounds, findings: Findings) -> None:
        self._turn, self._bounds, self._findings = turn, bounds, findings
        self._neighbours = Neighbours(turn)
        self._rest = bounds.all_steps

    def alike(self) -> list[Proposal]:
        """Sums of records that share something with the one; of rivals the better sum."""
        return self._chosen(self._alike, rivals=True)

    def any(self) -> list[Proposal]:
        """Sums of whatever is there; where two want the same record, neither is taken."""
        return self._chosen(self._any, rivals=False)

    def _chosen(self, search: Callable[[Record], _Sum | None], *, rivals: bool) -> list[Proposal]:
        """The best of what is found for each record.

        Args:
            search: Finds the sum for one record.
            rivals: Whether a record may be taken that another sum wants as well.
        """
        sums = [found for one in self._turn.ones if (found := search(one))]
        taken: set[str] = set()
        wanted = Counter(record.id for each in sums for record in each.records)
        proposals: list[Proposal] = []
        for each in sorted(sums, key=_order):
            ids = {each.one.id, *(record.id for record in each.records)}
            rivalled = any(wanted[record.id] > 1 for record in each.records)
            if rivalled and not rivals:
                self._findings.wanted_twice(each.one, each.records)
            elif not ids & taken:
                taken |= ids
                proposals.append(self._proposal(each))
        return proposals

    def _alike(self, one: Record) -> _Sum | None:
        shared = [each for each in self._neighbours.saying(one) if _speaks_of(one, each)]
        return self._in(one, _Scope(shared, _LIKE, "of the same party or reference"))

    def _any(self, one: Record) -> _Sum | None:
        around: list[Record] = []
        for days, says in ((0, "of the same day"), (self._turn.window.days, "of the window")):
            candidates = self._neighbours.count(one, days)
            if candidates > _MOST_AROUND:
                self._findings.crowded(one, candidates)
                return None
            smaller = self._neighbours.count_of_smaller(one, days)
            if smaller > self._bounds.candidates and not self._may_show(one, smaller):
                self._findings.crowded(one, smaller)
                return None
            around = self._neighbours.of(one, days)
            found = self._in(one, _Scope(around, _ANY, says))
            if found:
                return found
        self._tell_of_chance(one, around)
        return None

    def _tell_of_chance(self, one: Record, around: Sequence[Record]) -> None:
        """Tells of the one sum that there is among few records, though chance may have made it."""
        if not _LEAST <= len(around) <= _FEW:
            return
        sizes = [abs(self._turn.units(each)) for each in around]
        ways = self._ways(one, sizes, len(around)).found
        if len(ways) == 1:
            self._findings.by_chance(one, [around[index] for index in sorted(ways[0])], len(around))

    def _may_show(self, one: Record, smaller: int) -> bool:
        """Whether a sum of two among so many could be rarer than by chance, were no amount round."""
        return count_of_sums(smaller, _LEAST) * _ANY <= abs(self._turn.units(one))

    def _ways(self, one: Record, sizes: Sequence[int], most: int) -> Ways:
        """The sums, as long as there are steps left for all."""
        steps = min(self._rest, self._bounds.steps)
        if not steps:
            self._findings.spent(one)
            return Ways((), most, 0)
        ways = ways_to(abs(self._turn.units(one)), sizes, most, steps)
        self._rest = max(0, self._rest - ways.made)
        return ways

    def _in(self, one: Record, scope: _Scope) -> _Sum | None:
        candidates = len(scope.records)
        most = self._most(one, scope)
        if most < _LEAST:
            if candidates > self._bounds.candidates:
                self._findings.crowded(one, candidates)
            return None
        tried = scope.records[: self._bounds.candidates]
        sizes = [abs(self._turn.units(each)) for each in tried]
        ways = self._ways(one, sizes, most)
        self._findings.bounded(one, candidates=candidates, tried=len(tried), most=most, reached=ways.reached)
        sums = sorted((tuple(tried[index] for index in way) for way in ways.found), key=_nearest(one))
        return self._shown(_Sum(one, sums[0], tuple(sums[1:]), scope)) if sums else None

    def _shown(self, found: _Sum) -> _Sum | None:
        """The sum, if it shows more than chance would and no other one is as good."""
        scope, units = found.scope, self._turn.units
        step = math.gcd(*map(units, found.records))
        choices = count_of_sums(len(scope.records), len(found.records))
        if choices * step * scope.rarer > abs(units(found.one)):
            return None
        if scope.rarer < _ANY:
            return found
        if not found.equals_only:
            self._findings.ambiguous(found.one, [found.records, *found.ways])
        return found if found.equals_only and len(scope.records) <= self._bounds.candidates else None

    def _most(self, one: Record, scope: _Scope) -> int:
        """The most records of a sum that would still be rarer than by chance."""
        step = math.gcd(*map(self._turn.units, scope.records)) or 1
        room = abs(self._turn.units(one)) // (step * scope.rarer)
        numbers = len(scope.records)
        sizes = range(_LEAST, min(self._bounds.records, numbers) + 1)
        return max((size for size in sizes if count_of_sums(numbers, size) <= room), default=1)

    def _proposal(self, found: _Sum) -> Proposal:
        number, many, says = len(found.records), len(found.scope.records), found.scope.says
        evidence = f"{len(found.ways) + 1} ways, this one of the fewest records and the nearest days"
        if not found.ways:
            evidence = f"the only way among {many} records {says}"
        elif found.equals_only:
            evidence = f"{len(found.ways) + 1} ways, which differ only in which of equal amounts they take"
        others = {record.id: None for way in found.ways for record in way if record not in found.records}
        reason = f"{number} of {many} records {says} add up to {found.one.amount}"
        made = self._turn.proposal(found.one, found.records, reason, [evidence])
        return made._replace(alternatives=tuple(others)[:SHOWN_ALTERNATIVES], ambiguous=not found.equals_only)


def _speaks_of(one: Record, other: Record) -> bool:
    """Whether the texts share a reference, or the one that says less says nothing else."""
    if references(one.text) & references(other.text):
        return True
    left, right = names(one.text), names(other.text)
    return bool(left & right) and (left <= right or right <= left)


def _order(found: _Sum) -> tuple[int, int, str]:
    return len(found.ways), len(found.records), found.one.id


def _nearest(one: Record) -> Callable[[Sequence[Record]], tuple[int, int, int, list[str]]]:
    """Fewest records first, then the nearest days, then the texts most like that of the one."""

    def rank(records: Sequence[Record]) -> tuple[int, int, int, list[str]]:
        days = sum(abs(days_between(one, each)) for each in records)
        alike = sum(similarity(one.text, each.text) for each in records)
        return len(records), days, -alike, sorted(each.id for each in records)

    return rank
