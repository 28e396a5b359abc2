"""Whether the books have an entry already."""

from collections.abc import Iterator

from ..ledger.accounts import Books, Posting
from ..tool import Record
from .entry import Entry, EntryLine


def already_there(entry: Entry, books: Books) -> Record | None:
    """The first line of an entry with the same accounts and amounts, and the same day or reference.

    None when there is none. Lines belong together by their journal number, where the books have
    none by their day.
    """
    first, *others = [list(_alike(line, books)) for line in entry.lines]
    for posting in first:
        line = posting.line
        same_reference = bool(entry.reference) and entry.reference in f"{line.journal} {line.text}"
        if line.date != entry.date and not same_reference:
            continue
        if all(any(_together(posting, each) for each in found) for found in others):
            return posting.record
    return None


def _alike(line: EntryLine, books: Books) -> Iterator[Posting]:
    for account in books.accounts:
        if (account.name, account.currency) == (line.account, line.currency):
            yield from (each for each in account.postings if each.line.amount == line.amount)


def _together(one: Posting, other: Posting) -> bool:
    if one.line.file != other.line.file or one.line.journal != other.line.journal:
        return False
    return bool(one.line.journal) or one.line.date == other.line.date


def newest(entry: Entry, books: Books) -> list[Posting]:
    """For each line the last one in the entry's file that says the same, none taken twice."""
    found: list[Posting] = []
    taken: set[str] = set()
    for line in entry.lines:
        fits = [
            each
            for each in _alike(line, books)
            if (each.line.file, each.line.date) == (entry.file, entry.date) and each.record.id not in taken
        ]
        if fits:
            last = max(fits, key=lambda each: each.line.row)
            taken.add(last.record.id)
            found.append(last)
    return found
