"""What the answer to a skill has to consist of, and what of it an answer lacks.

A skill names the file that says so in its metadata, as `output: references/output.md`. Each heading of
that file below the first level is a section of the answer; `(optional)` at its end says that it may be
left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(\S.*?)[ \t]*#*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_BOLD = re.compile(r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?(\*\*|__)(\S.*?)\1")
_FENCE = re.compile(r"^\s*(```|~~~)")
_OPTIONAL = re.compile(r"\s*\(optional\)$", re.IGNORECASE)
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[a-z][.)])\s+")
_NO_WORD = re.compile(r"[\W_]+")
_LONGEST = 200
"""Characters of a line up to which it can be a heading."""


@dataclass(frozen=True, slots=True)
class Structure:
    """The sections of an answer, in order."""

    sections: tuple[str, ...] = ()
    """Titles that have to be there."""
    optional: tuple[str, ...] = ()

    def missing(self, answer: str) -> tuple[str, ...]:
        """The sections that an answer has no heading for.

        A heading counts at any level, underlined or as a bold beginning of a line, numbered or not,
        whatever its case, and when more stands behind the title: `## 1. Open items (3)` is "Open items".
        """
        there = [_plain(title) for title in _titles(answer)]
        return tuple(
            section
            for section in self.sections
            if not any(title == _plain(section) or title.startswith(f"{_plain(section)} ") for title in there)
        )


def structure_in(text: str) -> Structure:
    """The structure that a Markdown file describes; without sections when it has no headings."""
    required: list[str] = []
    optional: list[str] = []
    for line in _prose(text):
        found = _HEADING.match(line)
        if found is None or len(found[1]) == 1:
            continue
        title = _OPTIONAL.sub("", found[2])
        (required if title == found[2] else optional).append(title)
    return Structure(tuple(dict.fromkeys(required)), tuple(dict.fromkeys(optional)))


def _titles(answer: str) -> Iterator[str]:
    before = ""
    for line in _prose(answer):
        short = line[:_LONGEST]
        heading, bold = _HEADING.match(short), _BOLD.match(short)
        if heading or bold:
            yield heading[2] if heading else bold[2] if bold else ""
        elif _UNDERLINE.match(short):
            yield before
        before = short


def _prose(text: str) -> Iterator[str]:
    """The lines outside of code blocks."""
    fence = ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if found is None:
            if not fence:
                yield line
        elif not fence:
            fence = found[1]
        elif fence == found[1]:
            fence = ""


def _plain(title: str) -> str:
    """A title without case, marks and number: its words."""
    return _NO_WORD.sub(" ", _NUMBER.sub("", title.strip().strip("*_ ").casefold())).strip()
