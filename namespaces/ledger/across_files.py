"""What only all files together show: which ones are missing, and which accounts none of them opens."""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from ..tables.source import Finding, quote
from .books import LedgerFile, Line

_TOLD = 50
_MAX_PATTERN = 200


def not_given(files: Sequence[LedgerFile]) -> list[Finding]:
    """Files that are included and were not given; they are known by their names without folders."""
    given = {each.file.rpartition("/")[2] for each in files}
    missing = [
        Finding(
            f"includes {quote(include.name)}, which is not opened: give that file as well",
            each.file,
            include.row,
        )
        for each in files
        for include in each.includes
        if not _is_given(include.name, given)
    ]
    return missing[:_TOLD]


def not_opened(files: Sequence[LedgerFile]) -> list[Finding]:
    """Accounts of Beancount that have lines and that no file opens, where any opens accounts at all."""
    books = [each for each in files if each.format == "beancount"]
    opened = {name for each in books for name in each.accounts}
    if not opened or not_given(books):
        return []
    first: dict[str, Line] = {}
    for line in _lines(books):
        if line.account not in opened:
            first.setdefault(line.account, line)
    told = list(first.values())[:_TOLD]
    return [Finding(f"posts to {each.account}, which no file opens", each.file, each.row) for each in told]


def _is_given(name: str, given: set[str]) -> bool:
    last = re.split(r"[/\\]", name)[-1]
    if last in given:
        return True
    return len(last) <= _MAX_PATTERN and "*" in last and any(fnmatchcase(each, last) for each in given)


def _lines(files: Sequence[LedgerFile]) -> Iterator[Line]:
    for each in files:
        yield from each.lines
