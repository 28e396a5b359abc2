"""Which of some whole numbers add up to another: exact, bounded, the fewest first.

Meet in the middle: the sums of each half are made once, and each of one half is looked up in the other.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

MOST_WAYS = 20
"""Ways after which no more are looked for: nothing tells so many apart."""

_Indexes = tuple[int, ...]


class Ways(NamedTuple):
    """The sets of indexes that add up, those of the fewest numbers first."""

    found: tuple[_Indexes, ...]
    """At most `MOST_WAYS`."""
    reached: int
    """All sums of up to so many numbers were made; less than asked for when the steps ran out."""
    made: int
    """Sums that were made and looked up for it."""


class _Sum(NamedTuple):
    total: int
    of: _Indexes


def ways_to(target: int, values: Sequence[int], most: int, steps: int) -> Ways:
    """Looks for sums.

    Args:
        target: More than 0.
        values: Each more than 0.
        most: Most numbers of one sum.
        steps: Most sums that are made; where that is not enough, smaller sums are looked through whole.
    """
    middle = len(values) // 2
    left = _Half(values, range(middle), target, steps // 2)
    right = _Half(values, range(middle, len(values)), target, steps // 2)
    reached = min(left.grow(most), right.grow(most), most)
    made = steps - max(0, left.rest) - max(0, right.rest)
    found: list[_Indexes] = []
    for size in range(1, reached + 1):
        for smaller in range(size + 1):
            made += len(left.sums(smaller))
            found += _meet(left.sums(smaller), right.by_total(size - smaller), target)
            if len(found) >= MOST_WAYS:
                return Ways(tuple(found[:MOST_WAYS]), reached, made)
    return Ways(tuple(found), reached, made)


def count_of_sums(numbers: int, most: int) -> int:
    """How many sums of two to `most` of so many numbers there are."""
    return sum(math.comb(numbers, size) for size in range(2, most + 1))


def _meet(left: Sequence[_Sum], right: dict[int, list[_Indexes]], target: int) -> list[_Indexes]:
    found: list[_Indexes] = []
    for total, of in left:
        for others in right.get(target - total, ()):
            found.append((*of, *others))
            if len(found) >= MOST_WAYS:
                return found
    return found


class _Half:
    """The sums of one half of the numbers, by how many numbers they are of."""

    def __init__(self, values: Sequence[int], indexes: range, target: int, steps: int) -> None:
        self._values, self._target = values, target
        self.rest = steps
        self._indexes = sorted(indexes, key=lambda index: (values[index], index))
        self._levels: list[list[_Sum]] = [[_Sum(0, ())]]
        self._places: list[list[int]] = [[-1]]
        self._looked_up: dict[int, dict[int, list[_Indexes]]] = {}

    def grow(self, most: int) -> int:
        """Makes the sums of up to so many numbers; the size up to which they are all there."""
        while len(self._levels) <= most:
            sums, places = self._next()
            if self.rest < 0:
                return len(self._levels) - 1
            self._levels.append(sums)
            self._places.append(places)
        return most

    def sums(self, size: int) -> Sequence[_Sum]:
        return self._levels[size]

    def by_total(self, size: int) -> dict[int, list[_Indexes]]:
        known = self._looked_up.get(size)
        if known is None:
            known = self._looked_up[size] = {}
            for total, of in self._levels[size]:
                known.setdefault(total, []).append(of)
        return known

    def _next(self) -> tuple[list[_Sum], list[int]]:
        """The sums of one number more; smaller values first, so that too large a one ends it."""
        sums: list[_Sum] = []
        places: list[int] = []
        for (total, of), last in zip(self._levels[-1], self._places[-1], strict=True):
            for place in range(last + 1, len(self._indexes)):
                index = self._indexes[place]
                grown = total + self._values[index]
                self.rest -= 1
                if grown > self._target or self.rest < 0:
                    break
                sums.append(_Sum(grown, (*of, index)))
                places.append(place)
        return sums, places
