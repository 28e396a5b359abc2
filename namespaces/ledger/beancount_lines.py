"""A Beancount file as directives and the indented lines below them, comments taken away."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..tables.source import Findings, quote
from ..tables.text import Line

_CODE = re.compile(r'(?:[^";]+|"(?:[^"\\]|\\.)*")*', re.DOTALL)
"""All up to a comment, or up to a quote that is not closed."""
_MAX_SPAN = 64
"""Lines that one text in quotes may run over; an unclosed quote would swallow the file."""
_MAX_TEXT = 20_000
"""Characters of it."""
_MAX_UNCLOSED = 100
"""From so many quotes that are not closed on, none is looked for in later lines."""
_IGNORED = "*:#!&?%"
"""A line that begins with one of these at its margin is a heading or comment."""


@dataclass(slots=True)
class Directive:
    """One directive."""

    row: int
    text: str
    """What stands at the margin, without comment."""
    body: list[Line] = field(default_factory=list[Line])
    """The indented lines below it, without comments and blank lines."""


def directives(lines: Sequence[Line], findings: Findings) -> Iterator[Directive]:
    """The directives of a file, in order; indented lines that belong to none are told."""
    last: Directive | None = None
    for line in _whole(lines, findings):
        if not line.text.strip():
            continue
        if line.text[0] not in " \t":
            if last is not None:
                yield last
            last = Directive(line.number, line.text.strip())
        elif last is not None:
            last.body.append(Line(line.number, line.text.strip()))
        else:
            what = f"{quote(line.text.strip())} belongs to no directive: it is not read"
            findings.add("error", what, line.number)
    if last is not None:
        yield last


def _whole(lines: Sequence[Line], findings: Findings) -> Iterator[Line]:
    """The lines without comments; those that a text in quotes runs over are one."""
    at, unclosed = 0, 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.text[:1] in _IGNORED and line.text:
            continue
        code, closed = _code(line.text)
        if not closed:
            span = _span(lines[at - 1 : at - 1 + _MAX_SPAN]) if unclosed < _MAX_UNCLOSED else None
            if span is None:
                unclosed += 1
                findings.add("error", "a quote is opened and not closed: the line is not read", line.number)
                continue
            code = _code("\n".join(each.text for each in lines[at - 1 : at - 1 + span]))[0]
            at += span - 1
        yield Line(line.number, code)


def _span(lines: Iterable[Line]) -> int | None:
    """How many lines a text in quotes runs over; None when it does not end."""
    text = ""
    for number, line in enumerate(lines, 1):
        text = f"{text}\n{line.text}" if text else line.text
        if len(text) > _MAX_TEXT:
            return None
        if _code(text)[1]:
            return number
    return None


def _code(text: str) -> tuple[str, bool]:
    found = _CODE.match(text)
    code = found[0] if found else ""
    return code, text[len(code) : len(code) + 1] != '"'
