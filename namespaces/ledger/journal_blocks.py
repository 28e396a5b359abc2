"""A plain text journal as blocks: a line at the margin with the indented lines below it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..tables.source import Findings, quote
from ..tables.text import Line

_COMMENTS = ";#*%|"
"""A line that begins with one of these at its margin is a comment."""
_BLOCK = re.compile(r"[!@]?(comment|test)\b")
_BLOCK_END = re.compile(r"[!@]?end\s+(comment|test)\b")


@dataclass(slots=True)
class Block:
    """A transaction, a rule or a directive."""

    row: int
    text: str
    body: list[Line] = field(default_factory=list[Line])
    """The indented lines, comments of their own among them."""


def blocks(lines: Iterable[Line], findings: Findings) -> Iterator[Block]:
    """The blocks of a file, in order; indented lines that belong to none are told."""
    last: Block | None = None
    for line in _read(lines, findings):
        text = line.text.strip()
        if text and line.text[0] in " \t":
            if last is not None:
                last.body.append(Line(line.number, text))
            elif text[0] not in _COMMENTS:
                findings.add("error", f"{quote(text)} belongs to no entry: it is not read", line.number)
            continue
        if last is not None:
            yield last
        last = None
        if text and text[0] not in _COMMENTS:
            last = Block(line.number, text)
    if last is not None:
        yield last


def _read(lines: Iterable[Line], findings: Findings) -> Iterator[Line]:
    """The lines outside of blocks that are comments; one that does not end is told."""
    skipped: Line | None = None
    for line in lines:
        if skipped is not None:
            skipped = None if _BLOCK_END.match(line.text) else skipped
        elif _BLOCK.match(line.text):
            skipped = line
        else:
            yield line
    if skipped is not None:
        what = "the comment that begins here does not end: nothing below it is read"
        findings.add("warning", what, skipped.number)
