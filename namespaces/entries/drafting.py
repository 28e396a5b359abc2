"""The new content of a file of the books, proved by reading it back before it is anything but bytes.

Whatever a writer does wrong, and whatever a text holds that its format reads otherwise, shows here:
the file with the entry has to hold all that it held before, and besides just the entry.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..ledger.accounts import gather
from ..ledger.books import LedgerFile, Line
from ..tables.source import Source, SourceError
from .entry import Entry, EntryLine
from .formats import WRITERS
from .formats.writer import Addition, CannotWriteError
from .shelf import Known, Shelf
from .texts import one_line

_TOLD = 5


@dataclass(frozen=True, slots=True)
class Draft:
    """A file with an entry that reads back as it was meant."""

    text: str
    """The entry as it stands in the file."""
    data: bytes
    """The whole file."""
    findings: tuple[str, ...]
    """What is odd about the file with the entry and was not before."""


def draft(entry: Entry, mark: str, source: Source, shelf: Shelf) -> Draft:
    """Writes a canonical entry into a copy of the file's content.

    Raises:
        CannotWriteError: its format is not written, or the file cannot take the entry.
        SourceError: the file cannot be read.
    """
    known = shelf.known(source)
    before = known.target.read
    writer = WRITERS.get(before.format)
    if writer is None:
        raise CannotWriteError(
            f"{source.file} is a {before.format} file, which only the program that keeps it may write:"
            " enter it there"
        )
    addition = writer(entry, mark, known.target)
    after = _read_back(addition, source, shelf)
    _check(entry, mark, before, after)
    return Draft(addition.text, addition.data, _new_findings(known, after))


def _read_back(addition: Addition, source: Source, shelf: Shelf) -> LedgerFile:
    try:
        return shelf.read(Source(source.file, addition.data))
    except SourceError as error:
        raise CannotWriteError(f"the file could not be read with the entry in it: {error}") from error


def _check(entry: Entry, mark: str, before: LedgerFile, after: LedgerFile) -> None:
    new = Counter(after.lines) - Counter(before.lines)
    if Counter(before.lines) - Counter(after.lines) or before.balances != after.balances:
        raise CannotWriteError(
            "with the entry in it the file would not read as it does now: nothing is written"
        )
    wanted = Counter(_content(line) for line in _as_lines(entry, after.file))
    found = Counter(_content(line) for line in new.elements())
    if wanted != found:
        missing, surplus = [*(wanted - found), "nothing"][0], [*(found - wanted), "nothing"][0]
        raise CannotWriteError(f"the file would not read back as the entry but {surplus} for {missing}")
    _check_texts(entry, [*new.elements()])
    if len({line.journal for line in new}) != 1:
        raise CannotWriteError(f"the lines would not read back as one journal {mark!r}")


def _as_lines(entry: Entry, file: str) -> list[Line]:
    return [
        Line(entry.date, line.account, line.amount, line.currency, file, 0, text=entry.text_of(line))
        for line in entry.lines
    ]


def _content(line: Line) -> str:
    return f"{line.date} {line.account!r} {line.amount.normalize():f} {line.currency}"


def _check_texts(entry: Entry, new: Sequence[Line]) -> None:
    """Each line has to show its own text, or the entry's where the format has no other."""
    for line in entry.lines:
        texts = {entry.text, entry.text_of(line)}
        own = [each for each in new if _is_of(each, line)]
        if not any(text in one_line(each.text) for text in texts for each in own):
            given, read = entry.text_of(line), own[0].text if own else ""
            raise CannotWriteError(f"the text {given!r} would read back as {read!r}: word it otherwise")


def _is_of(read: Line, line: EntryLine) -> bool:
    return (read.account, read.amount) == (line.account, line.amount)


def _new_findings(known: Known, after: LedgerFile) -> tuple[str, ...]:
    new = [each for each in gather([after]).findings if each.what not in known.findings]
    return tuple(f"with the entry, {each.where}: {each.what}" for each in new[:_TOLD])
