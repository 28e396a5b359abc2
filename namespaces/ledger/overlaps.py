"""Lines that two files of the books have, since one was exported again: they are counted once.

Two files are of the same books where they hold mostly the same lines on the days that both cover. Within
one file nothing is ever a repetition, and a few equal lines of two files are none: two companies may pay
the same fee on a day. What only one of the files has is counted, and told.
"""

import datetime
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..tables.source import Finding
from .books import Format, LedgerFile, Line

_LEAST = 3
"""Equal lines from which two files may be of the same books."""

_NUMBERED: frozenset[Format] = frozenset({"csv", "xlsx", "sql"})
"""Formats whose journals have a number that the books gave them; in others it may be a place in the file."""

_Key = tuple[datetime.date, str, object, str | None, str, str]


class Once(NamedTuple):
    """The lines of all files without repetitions."""

    lines: dict[str, list[Line]]
    """By file."""
    findings: list[Finding]


class _Part(NamedTuple):
    file: str
    counts: Counter[_Key]
    first: datetime.date
    last: datetime.date


def once(files: Sequence[LedgerFile]) -> Once:
    """Each line once; of equal ones the first file's."""
    done = Once({each.file: list(each.lines) for each in files}, [])
    parts: list[_Part] = []
    for each in files:
        if not each.lines:
            continue
        part = _part(each)
        gone: Counter[_Key] = Counter()
        for earlier in parts:
            repeated = _repeated(earlier, part)
            gone |= repeated
            done.findings.extend(_told(earlier, part, repeated))
        if gone:
            done.lines[each.file] = list(_without(each, gone))
        parts.append(part)
    return done


def _part(file: LedgerFile) -> _Part:
    days = [line.date for line in file.lines]
    return _Part(file.file, Counter(_keys(file)), min(days), max(days))


def _keys(file: LedgerFile) -> Iterator[_Key]:
    numbered = file.format in _NUMBERED
    for line in file.lines:
        text = " ".join(line.text.split()).casefold()
        yield line.date, line.account, line.amount, line.currency, text, line.journal if numbered else ""


def _repeated(earlier: _Part, part: _Part) -> Counter[_Key]:
    if earlier.last < part.first or part.last < earlier.first:
        return Counter()
    shared = earlier.counts & part.counts
    fewest = min(_within(earlier, part).total(), _within(part, earlier).total())
    same = shared.total() >= min(_LEAST, fewest) > 1 and 2 * shared.total() >= fewest
    return shared if same else Counter()


def _within(part: _Part, other: _Part) -> Counter[_Key]:
    """What it has on the days that another one covers."""
    first, last = other.first, other.last
    return Counter({key: number for key, number in part.counts.items() if first <= key[0] <= last})


def _told(earlier: _Part, part: _Part, repeated: Counter[_Key]) -> Iterator[Finding]:
    if not repeated:
        return
    first, last = max(earlier.first, part.first), min(earlier.last, part.last)
    days = f"{first}" if first == last else f"{first} to {last}"
    what = f"{repeated.total()} lines of {days} are in {earlier.file} as well: counted once"
    yield Finding(what, part.file, None, "info")
    sides = ((earlier.file, _within(earlier, part)), (part.file, _within(part, earlier)))
    left = [(file, (counts - repeated).total()) for file, counts in sides]
    if any(number for _, number in left):
        named = ", ".join(f"{number} lines only in {file}" for file, number in left if number)
        what = f"covers {days} as {earlier.file} does, and differs: {named}. All of these are counted"
        yield Finding(what, part.file, None, "warning")


def _without(file: LedgerFile, gone: Counter[_Key]) -> Iterator[Line]:
    left = gone.copy()
    for line, key in zip(file.lines, _keys(file), strict=True):
        if left[key]:
            left[key] -= 1
        else:
            yield line
