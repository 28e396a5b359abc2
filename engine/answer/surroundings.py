"""The words around a number: which records it cites, what it speaks of, and how exact it claims to be."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .blanked import BLANK
from .blocks import Blocks
from .citations import Mention

_REACH = 24
"""Characters before and behind a number that qualify it."""
_ROUGHLY = re.compile(
    r"(?:about|around|roughly|approximately|approx\.?|circa|ca\.?|some|nearly|almost|over|c\.|~|\u2248"
    r"|rund|etwa|environ|ungefähr)\s*[-+\u2212(]?\s*(?:[A-Z]{3}|[€£$])?\s*\Z",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"(?:[\s*_)\]|.,;:=\"'\u2019\u201d{BLANK}]"
    r"|\b(?:CR|DR|at|on|as|of|in|for|per|by|from|to|the|am|im|vom|zum|für|au|le|du|en)\b)*"
)
"""What may stand between a figure and its citation: a date, and what names a document."""
_NEXT = re.compile(r"[\s,;/&+]*(?:and|und|et)?\s*")
"""What may stand between two citations of one figure."""
_NEAR = re.compile(r"(?:(?!\n\s*[\n*|-])[^|\d]){0,60}")
"""What may stand between a figure and the citations that come next, without another number."""
_TRAIL = re.compile(
    r"(?!\s(?:and|but|while|whereas|to|und|et)\b)(?:\s[a-z]+){0,3}?"
    rf"\s(?:at|on|in|as of|for|per|am|im|zum|au|le|en|op)(?:\sthe end of)?\s{BLANK}+"
)
_LED_BY = re.compile(
    r"\b(?:up|down|(?:rose|fell|grew|risen|fallen|dropped|increased|decreased) by)[ ]\Z", re.IGNORECASE
)
_FOLLOWED_BY = re.compile(
    r"[ ](?:\w+[ ])?(?:less|more|higher|lower|fewer|above|below|up|down)\b", re.IGNORECASE
)


_STATED = re.compile(
    r"\b(?:balance|difference|gap|shortfall|surplus|total|sum)(?:[ ](?:is|was|of|=|comes to|came to)|:)[ ]\Z",
    re.IGNORECASE,
)
_STOPS = re.compile(rf"\s*(?:[.;)|{BLANK}](?!\d)|\n|\Z)")
"""Nothing that the number would count stands behind it."""


class Span(NamedTuple):
    """A passage of the answer."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around one number."""

    cited: tuple[str, ...]
    """The records cited right behind it."""
    near: tuple[str, ...]
    """The records cited next, be it right behind it or not, before any other number."""
    context: Span
    """From the citation or the sentence before it up to the next citation, else to its end."""
    trail: Span
    """A date right behind its citation belongs to it: `at 30 June`; empty when there is none."""
    is_rough: bool
    """Whether it is said to be about that much."""
    compares: bool
    """Whether it says how much more or less something is."""
    is_stated: bool
    """Whether it is what a balance, a difference or a total is said to be."""


class Words:
    """Finds what stands around the numbers of one answer."""

    def __init__(self, text: str, cited: Sequence[Mention], blocks: Blocks) -> None:
        """Takes the answer's text with all blanked out that is no figure."""
        self._text, self._cited, self._blocks = text, cited, blocks
        self._starts = [mention.start for mention in cited]

    def around(self, start: int, end: int, noun_end: int) -> Surroundings:
        """What stands around a number; `noun_end` is where the word ends that it counts."""
        sources, near = list(self.behind(noun_end)), list(self._chain(noun_end, _NEAR))
        trail = _TRAIL.match(self._text, sources[-1].end) if sources else None
        before, after = self._text[max(0, start - _REACH) : start], self._text[end : end + _REACH]
        return Surroundings(
            cited=tuple(mention.id for mention in sources),
            near=tuple(mention.id for mention in near),
            context=Span(self._begin(start), (sources or near)[0].start if sources or near else end),
            trail=Span(*trail.span()) if trail else Span(end, end),
            is_rough=_ROUGHLY.search(before) is not None,
            compares=bool(_LED_BY.search(before) or _FOLLOWED_BY.match(after)),
            is_stated=bool(_STATED.search(before) and _STOPS.match(self._text, end)),
        )

    def behind(self, end: int) -> Iterator[Mention]:
        """The records cited right behind a place, one after the other."""
        return self._chain(end, _BETWEEN)

    def _chain(self, end: int, between: "re.Pattern[str]") -> Iterator[Mention]:
        at = bisect_left(self._starts, end)
        while at < len(self._cited) and between.fullmatch(self._text, end, self._cited[at].start):
            yield self._cited[at]
            end, between, at = self._cited[at].end, _NEXT, at + 1

    def _begin(self, start: int) -> int:
        """Where the words begin that speak of the number: a date of the figure before is none of them."""
        at = bisect_left(self._starts, start)
        last = self._cited[at - 1].end if at else 0
        trail = _TRAIL.match(self._text, last) if last else None
        return max(trail.end() if trail else last, self._blocks.sentence(start))
