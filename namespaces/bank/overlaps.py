"""Entries that several files of an account have: which of them are counted.

Two files that cover the same days hold the same entries of those days, so equal ones are one entry told
twice, whatever words each uses. Within one file nothing is ever a repetition. Where two files of the
same days differ, what one lacks is counted and told. A notification is compared with the statements:
its entries stand there too.
"""

import datetime
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..tables.source import Finding, quote
from .statement import Balance, Entry, Statement, closing_day

_NAMED = 5
"""Entries that a finding names of each file."""

Key = Callable[[Entry], object]


class Days(NamedTuple):
    """The days from one to another, both included."""

    start: datetime.date
    end: datetime.date

    def common(self, other: "Days") -> "Days | None":
        """The days that both have; None when there are none."""
        both = Days(max(self.start, other.start), min(self.end, other.end))
        return both if both.start <= both.end else None

    def __str__(self) -> str:
        return f"{self.start}" if self.start == self.end else f"{self.start} to {self.end}"


class Ends(NamedTuple):
    """What an account held before a file's entries and after them; None when it does not say."""

    opening: Balance | None
    closing: Balance | None


@dataclass(frozen=True, slots=True)
class Part:
    """What one file has of an account: its statements, or its notifications."""

    file: str
    format: str
    notice: bool
    statements: tuple[Statement, ...]
    """By the day they close."""
    entries: tuple[tuple[Statement, Entry], ...]
    """In the order of the file."""
    days: Days
    """That it covers: as it says, and at least from its first entry to its last."""

    @property
    def ends(self) -> "Ends":
        """Its first opening and its last closing balance."""
        return Ends(self.statements[0].opening, self.statements[-1].closing)

    def within(self, days: Days) -> list[int]:
        """Indexes of the booked entries of those days."""
        start, end = days
        found = enumerate(entry for _, entry in self.entries)
        return [at for at, entry in found if start <= entry.booked <= end and not entry.pending]


class Compared(NamedTuple):
    """Two files over the days that both cover."""

    repeated: list[int]
    """Indexes in the later file of what the earlier one has too."""
    missing: list[int]
    """Indexes in the earlier file of what the later one lacks."""
    added: list[int]
    """Indexes in the later file of what the earlier one lacks."""


def parts_of(statements: Iterable[Statement], formats: dict[str, str]) -> list[Part]:
    """The statements of one account by file, notifications after all statements."""
    groups: dict[tuple[bool, str], list[Statement]] = {}
    for each in statements:
        groups.setdefault((each.notice, each.file), []).append(each)
    made: list[Part] = []
    for (notice, file), of in sorted(groups.items(), key=lambda item: item[0][0]):
        entries = tuple((each, entry) for each in of for entry in each.entries)
        days = [entry.booked for _, entry in entries]
        days += [day for each in of if each.start and each.end for day in (each.start, each.end)]
        if entries:
            covered = Days(min(days), max(days))
            by_day = tuple(sorted(of, key=closing_day))
            made.append(Part(file, formats.get(file, ""), notice, by_day, entries, covered))
    return made


def once(parts: Sequence[Part], findings: list[Finding]) -> Iterator[tuple[Statement, Entry]]:
    """Each entry once, with what was left out, or may be wrong, told."""
    for index, part in enumerate(parts):
        gone: set[int] = set()
        for earlier in parts[:index]:
            gone |= _repeated(earlier, part, findings)
        if part.notice and len(gone) < len(part.entries):
            gone |= _not_in_statements(
                [each for each in parts[:index] if not each.notice], part, gone, findings
            )
        yield from (each for at, each in enumerate(part.entries) if at not in gone)


def follows(later: Part, earlier: Part) -> bool:
    """True when one file goes on where the other closed, so that both have no entry in common.

    Entries that are dated before their statement may make the days overlap all the same.
    """
    opening, closing = later.ends.opening, earlier.ends.closing
    if opening is None or closing is None or opening.date is None or closing.date is None:
        return False
    goes_on = closing.date <= opening.date and closing.amount == opening.amount
    return goes_on and _held(earlier.ends) != _held(later.ends)


def _held(ends: Ends) -> object:
    """What tells one statement of a day from another: without the words and lines of each format."""
    opening, closing = ends
    return opening and opening.amount, closing and (closing.amount, closing.date)


def _repeated(earlier: Part, part: Part, findings: list[Finding]) -> set[int]:
    days = earlier.days.common(part.days)
    if days is None or follows(part, earlier) or follows(earlier, part):
        return set()
    if part.notice:
        found = _noticed(earlier, part, days)
    else:
        compared = compare(earlier, part, days)
        found = compared.repeated
        _tell_difference(earlier, part, days, compared, findings)
    if found:
        what = f"{len(found)} entries of {days} are in {earlier.file} as well: counted once"
        findings.append(Finding(what, part.file, None, "info"))
    return set(found)


def compare(earlier: Part, part: Part, days: Days) -> Compared:
    """What two files of an account have in common on the days that both cover."""
    trusted = earlier.format == part.format
    strictly = _matched(
        earlier, part, earlier.within(days), part.within(days), _reference if trusted else words_of
    )
    missing, added = strictly.missing, strictly.added
    if not missing or not added:
        return strictly
    # References may be new in each download, and another format has other words: it is the same import
    # only if all that is left agrees.
    left = [*(earlier.entries[at][1] for at in missing), *(part.entries[at][1] for at in added)]
    renumbered = trusted and all(entry.id for entry in left)
    loosely = _matched(earlier, part, missing, added, words_of if renumbered else _day_and_amount)
    if loosely.missing or loosely.added:
        return strictly
    return Compared(sorted([*strictly.repeated, *loosely.repeated]), [], [])


def _matched(earlier: Part, part: Part, ours: Iterable[int], theirs: Iterable[int], key: Key) -> Compared:
    """Pairs equal entries one by one, in the order of the files."""
    left: dict[object, deque[int]] = {}
    for at in ours:
        left.setdefault(key(earlier.entries[at][1]), deque()).append(at)
    repeated: list[int] = []
    added: list[int] = []
    for at in theirs:
        equal = left.get(key(part.entries[at][1]))
        if equal:
            equal.popleft()
            repeated.append(at)
        else:
            added.append(at)
    return Compared(repeated, sorted(at for ats in left.values() for at in ats), added)


def _noticed(statement: Part, notice: Part, days: Days) -> list[int]:
    """Indexes of the notified entries that a statement has: by reference, else by day and amount.

    Of two notifications only references are compared: equal entries without one are two.
    """
    ours, theirs = statement.within(days), notice.within(days)
    found = _matched(statement, notice, ours, theirs, _reference_alone)
    if statement.notice:
        return [at for at in found.repeated if notice.entries[at][1].id]
    rest = _matched(statement, notice, found.missing, found.added, _day_and_amount)
    return [*found.repeated, *rest.repeated]


def _not_in_statements(
    statements: Sequence[Part], notice: Part, gone: set[int], findings: list[Finding]
) -> set[int]:
    """What was notified for days that a statement covers and is not in it, where that one ties without it."""
    lost: set[int] = set()
    doubtful: set[int] = set()
    for part in statements:
        days = part.days.common(notice.days)
        ties = all(of.gap == 0 for of in part.statements)
        (lost if ties else doubtful).update(notice.within(days) if days is not None else ())
    lost -= gone
    _tell_notified(notice, lost, "and that ties without it: not counted", findings)
    _tell_notified(notice, doubtful - gone - lost, "counted all the same", findings)
    return lost


def _tell_notified(notice: Part, indexes: set[int], what: str, findings: list[Finding]) -> None:
    if not indexes:
        return
    left = [notice.entries[at][1] for at in sorted(indexes)]
    says = f"{_listed(left)}: notified, yet not in the statement of these days, {what}"
    findings.append(Finding(says, notice.file, left[0].row, "error"))


def _reference(entry: Entry) -> object:
    return (entry.id, entry.booked, entry.amount) if entry.id else words_of(entry)


def _reference_alone(entry: Entry) -> object:
    return (entry.id, entry.amount) if entry.id else words_of(entry)


def words_of(entry: Entry) -> Hashable:
    """What two exports of one account say of an entry in the same words."""
    said = " ".join(f"{entry.name} {entry.text}".split()).casefold()
    return entry.booked, entry.amount, said


def _day_and_amount(entry: Entry) -> object:
    return entry.booked, entry.amount


def _tell_difference(
    earlier: Part, part: Part, days: Days, compared: Compared, findings: list[Finding]
) -> None:
    """Tells what two files of the same days differ in, unless one was made before its last day ended."""
    missing = [earlier.entries[at][1] for at in compared.missing]
    added = [part.entries[at][1] for at in compared.added]
    if not missing and not added:
        return
    longer, shorter = (added, missing) if part.days.end >= earlier.days.end else (missing, added)
    went_on = not shorter and all(entry.booked == days.end for entry in longer)
    if went_on or (days.start == days.end and not compared.repeated):
        return
    sides = ((earlier.file, missing), (part.file, added))
    named = "; ".join(f"only in {file}: {_listed(left)}" for file, left in sides if left)
    what = f"covers {days} as {earlier.file} does, and differs: {named}. All of these are counted"
    row = next((entry.row for entry in added), None)
    findings.append(Finding(what, part.file, row, "error" if compared.repeated else "warning"))


def _listed(entries: Sequence[Entry]) -> str:
    more = f" and {len(entries) - _NAMED} more" if len(entries) > _NAMED else ""
    return ", ".join(map(_shown, entries[:_NAMED])) + more


def _shown(entry: Entry) -> str:
    said = " ".join(f"{entry.name} {entry.text}".split()) or entry.id
    return f"{entry.booked} {entry.amount} {quote(said)} (line {entry.row})"
