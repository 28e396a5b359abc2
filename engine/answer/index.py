"""Looking up by number: which records, or which numbers of a user, a figure may be about."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from ...namespaces.tool import Record
from .figures import Found
from .sources import Sources

_PERCENT = Decimal(100)


class CitedIndex:
    """The records an answer cites, by the amounts they have and the numbers their texts tell."""

    def __init__(self, records: Iterable[Record], sources: Sources) -> None:
        self._told: dict[Decimal, list[Record]] = {}
        sized: list[tuple[Decimal, int, Record]] = []
        for place, record in enumerate(records):
            if record.amount is not None:
                sized.append((abs(record.amount), place, record))
            for number in sources.told(record):
                for reading in number.readings:
                    self._told.setdefault(reading.value, []).append(record)
        sized.sort(key=lambda each: each[:2])
        self._sizes = [size for size, _, _ in sized]
        self._sized = [record for _, _, record in sized]

    def like(self, found: Found) -> Iterator[Record]:
        """The records that may say what the figure says; whether one does is for `Agreement`."""
        for reading in found.readings:
            yield from self._told.get(reading.value, ())
            yield from self._between(reading.value - reading.step, reading.value + reading.step)
            if found.kind == "share":
                low, high = reading.value - reading.step, reading.value + reading.step
                yield from self._between(low / _PERCENT, high / _PERCENT)

    def _between(self, low: Decimal, high: Decimal) -> Sequence[Record]:
        return self._sized[bisect_left(self._sizes, low) : bisect_right(self._sizes, high)]


class NumberIndex:
    """The numbers of some texts, by what they may mean."""

    def __init__(self, numbers: Iterable[Found]) -> None:
        self._by_value: dict[Decimal, list[Found]] = {}
        for number in numbers:
            for reading in number.readings:
                self._by_value.setdefault(reading.value, []).append(number)

    def same(self, found: Found) -> Iterator[Found]:
        """Those that are the same number of the same thing."""
        for reading in found.readings:
            for number in self._by_value.get(reading.value, ()):
                if _same_thing(number, found):
                    yield number


def _same_thing(one: Found, other: Found) -> bool:
    codes = not one.currencies or not other.currencies or bool({*one.currencies} & {*other.currencies})
    return codes and ("count" in {one.kind, other.kind}) <= (one.kind == other.kind)
