"""Files that name no account: which of them look like one that was exported twice.

Each is an account of its own, named by its file, so that two accounts never become one by mistake. Then
an overlap of two exports of one account is counted twice, and nothing but equal entries shows it.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import combinations

from ..tables.source import Finding
from .overlaps import Days, words_of
from .statement import Statement

_LEAST = 3
"""Equal entries from which two files may be of one account: two accounts of a bank may share a fee."""
_MANY = 20
"""Files that have an entry; one in more of them says nothing."""


def exported_twice(statements: Iterable[Statement]) -> Iterator[Finding]:
    """Tells of each two files without an account that hold mostly the same on the days that both have."""
    unnamed = [each for each in statements if not each.named and each.booked]
    if len({each.file for each in unnamed}) > 1:
        entries = [Counter(map(words_of, each.booked)) for each in unnamed]
        for (at, other), shared in sorted(_shared(entries).items()):
            yield from _compared(unnamed[at], unnamed[other], shared)


def _compared(one: Statement, two: Statement, shared: int) -> Iterator[Finding]:
    days = _days(one).common(_days(two))
    if days is None or one.file == two.file or one.currency != two.currency:
        return
    fewest = min(_within(one, days), _within(two, days))
    if shared >= min(_LEAST, fewest) > 1 and 2 * shared >= fewest:
        what = f"names no account, and neither does {one.file}: {shared} entries of {days} are in both"
        yield Finding(f"{what}. If both are one account, these count twice: give one of the files", two.file)


def _days(statement: Statement) -> Days:
    booked = [entry.booked for entry in statement.booked]
    return Days(min(booked), max(booked))


def _within(statement: Statement, days: Days) -> int:
    return sum(1 for entry in statement.booked if days.start <= entry.booked <= days.end)


def _shared(entries: Sequence[Counter[Hashable]]) -> Counter[tuple[int, int]]:
    """How many entries each two have in common, by their places."""
    holders: dict[Hashable, list[int]] = {}
    for at, counts in enumerate(entries):
        for key in counts:
            holders.setdefault(key, []).append(at)
    shared: Counter[tuple[int, int]] = Counter()
    for key, places in holders.items():
        for one, two in combinations(places, 2) if len(places) <= _MANY else ():
            shared[one, two] += min(entries[one][key], entries[two][key])
    return shared
