"""The figures of an answer: numbers that state something about the data and so need a source.

A figure is an amount with a currency, or written as money is; a count of what the systems hold; and any
other number with a citation right behind it. Dates, ids and numbers that the user gave are none.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, assert_never

from .blanked import without_code, without_names
from .blocks import Blocks
from .citations import Mention, mentions
from .days import Stated, stated_days
from .money import MARK, NAME, THOUSANDS, codes
from .numerals import Numeral, numerals
from .surroundings import Surroundings, Words
from .tables import Tables
from .written import MULTIPLIERS, NUMBER, SPACES, Reading, readings

FigureKind = Literal["money", "count", "share", "plain"]

_COUNTED = (
    r"(?:items?|entry|entries|transactions?|movements?|lines?|records?|payments?|receipts?|deposits?|invoices?"
    r"|bills?|cheques?|checks?|charges?|fees?|match(?:es)?|pairs?|journals?|postings?|duplicates?|differences"
    r"|exceptions?|discrepanc(?:y|ies)|findings|batches|refunds?|transfers?|settlements?|credits|debits|reversals?"
    r"|Buchungen|Posten|Zahlungen|Belege|Umsätze|Rechnungen|écritures|opérations|factures|paiements"
    r"|mouvements|lignes)"
)
_TIMES = "|".join(sorted(map(re.escape, MULTIPLIERS), key=len, reverse=True))
_FIGURE = re.compile(
    rf"(?P<open>\((?:(?P<within>{MARK})[{SPACES}]?)?(?={NUMBER}[^()\n]{{0,12}}\)))?"
    rf"(?P<sign>(?<![\w)\]\0])[-+\u2212\u2013\u00b1][{SPACES}]?)?"
    rf"(?:(?<![A-Za-z])(?P<before>{MARK})[{SPACES}]?(?P<inner>[-+\u2212\u2013])?)?"
    rf"(?<![\d.,])(?P<body>{NUMBER})"
    r"(?P<behind>-(?=[\s\0|)]|\Z))?"
    rf"(?:[{SPACES}]?(?P<times>(?i:{_TIMES}))(?![\w]))?"
    rf"(?:[{SPACES}]?(?P<after>{MARK}|(?i:{NAME}))(?![A-Za-z]))?"
    rf"(?P<share>[{SPACES}]?(?:%|per ?cent\b|Prozent\b))?"
    rf"(?P<close>\))?"
)
_COUNT = re.compile(rf"[{SPACES}](?:[a-z-]+[{SPACES}]){{0,3}}?{_COUNTED}\b")
"""In small letters: 8300 Exchange differences is the name of an account."""
_HELD = r"(?:accounts?|books?|ledgers?|balances?|statements?|lines?|items?|payments?|invoices?|receipts?)\b"
_CURRENCY = re.compile(rf"[{SPACES}](?:{MARK}|(?i:{NAME}))(?![A-Za-z-])(?![{SPACES}](?:{_HELD}))")
"""Behind a number in words, which is an amount then; two euro accounts are none."""
_RATE = re.compile(rf"[{SPACES}]?(?:to the|to one|per|/)\b", re.IGNORECASE)
"""Behind an amount: so much of one currency for one of another is no amount."""
_MINUS = frozenset("-\u2212\u2013")
_CENTS = 2
_FEW = 12
"""Up to so many are counted in words all over a text; it takes a citation to make a figure of them."""


@dataclass(frozen=True, slots=True)
class Found:
    """One figure of an answer."""

    start: int
    end: int
    """Characters of the answer."""
    text: str
    """As the answer has it."""
    kind: FigureKind
    readings: tuple[Reading, ...]
    sign: Literal[-1, 0, 1]
    """0 when none is written."""
    bracketed: bool
    """In brackets, as books write a negative amount."""
    currencies: tuple[str, ...]
    """Codes that it may be in; none when it names no currency."""
    around: Surroundings

    @property
    def needs_source(self) -> bool:
        """Whether it states something about the data also without a citation."""
        match self.kind:
            case "money" | "count":
                return True
            case "share":
                return self.around.compares
            case "plain":
                return self.around.is_stated
            case _:
                assert_never(self.kind)


@dataclass(frozen=True, slots=True)
class Parsed:
    """An answer taken apart."""

    answer: str
    mentions: tuple[Mention, ...]
    days: tuple[Stated, ...]
    numbers: tuple[Found, ...]
    """All numbers but those that name or date something, in the order of the text."""
    blocks: Blocks
    tables: Tables

    def days_within(self, start: int, end: int) -> Sequence[Stated]:
        """The dates that stand whole in a passage."""
        first = bisect_left(self.days, start, key=_start)
        last = bisect_left(self.days, end, key=_start)
        return [day for day in self.days[first:last] if day.end <= end]

    def mentions_within(self, start: int, end: int) -> Sequence[Mention]:
        """The citations that begin in a passage."""
        first = bisect_left(self.mentions, start, key=_start)
        return self.mentions[first : bisect_left(self.mentions, end, key=_start)]

    def next_mention(self, at: int) -> int:
        """Where the next citation begins; the end of the answer when there is none."""
        behind = bisect_left(self.mentions, at, key=_start)
        return self.mentions[behind].start if behind < len(self.mentions) else len(self.answer)

    @property
    def figures(self) -> tuple[Found, ...]:
        """The numbers that need a source or name one."""
        return tuple(found for found in self.numbers if found.around.cited or found.needs_source)


def parse(answer: str) -> Parsed:
    """Finds the citations, the dates and the figures of an answer."""
    cited = mentions(answer)
    text = without_code(answer, ((mention.start, mention.end) for mention in cited))
    days = stated_days(text)
    text = without_names(text, days)
    blocks = Blocks(answer)
    numbers = sorted(_Numbers(answer, text, Words(text, cited, blocks)).all(), key=lambda each: each.start)
    return Parsed(answer, tuple(cited), tuple(days), tuple(numbers), blocks, Tables(answer))


class _Numbers:
    """Reads the numbers of one answer."""

    def __init__(self, answer: str, text: str, words: Words) -> None:
        self._answer, self._text, self._words = answer, text, words

    def all(self) -> Iterator[Found]:
        """Those in digits, and those in words with a currency or a citation right behind."""
        for match in _FIGURE.finditer(self._text):
            yield self._in_digits(match)
        for numeral in numerals(self._text):
            found = self._in_words(numeral)
            if found.needs_source or found.around.cited:
                yield found

    def _in_words(self, numeral: Numeral) -> Found:
        mark = _CURRENCY.match(self._text, numeral.end)
        end = mark.end() if mark else numeral.end
        noun = _COUNT.match(self._text, end) if numeral.value > _FEW and not mark else None
        value = Reading(numeral.value, Decimal(1))
        found = self._made(numeral.start, end, noun.end() if noun else end, (value,))
        return replace(
            found,
            readings=(value.roughly() if found.around.is_rough else value,),
            kind="money" if mark else "count" if noun else "plain",
            currencies=codes(mark[0].strip()) if mark else (),
        )

    def _in_digits(self, match: "re.Match[str]") -> Found:
        parts = match.groupdict()
        marks = [mark for mark in (parts["within"], parts["before"], parts["after"]) if mark]
        bracketed = bool(parts["open"] and parts["close"])
        start = match.start() + (1 if parts["open"] and not bracketed else 0)
        end = match.end() - (1 if parts["close"] and not bracketed else 0)
        times = parts["times"] or ("k" if THOUSANDS & set(marks) else "")
        counted = None if marks or times or not parts["body"].isdigit() else _COUNT.match(self._text, end)
        found = self._made(start, end, counted.end() if counted else end, readings(parts["body"], times))
        if found.around.is_rough or parts["sign"] == "\u00b1":
            found = replace(found, readings=tuple(reading.roughly() for reading in found.readings))
        if marks and _RATE.match(self._text, end):
            return found
        return replace(
            found,
            kind=_kind(parts, counted=counted is not None),
            sign=_sign(f"{parts['sign'] or ''}{parts['inner'] or ''}{parts['behind'] or ''}"),
            bracketed=bracketed,
            currencies=tuple(code for mark in marks for code in codes(mark)),
        )

    def _made(self, start: int, end: int, noun_end: int, values: tuple[Reading, ...]) -> Found:
        return Found(
            start=start,
            end=end,
            text=self._answer[start:end],
            kind="plain",
            readings=values,
            sign=0,
            bracketed=False,
            currencies=(),
            around=self._words.around(start, end, noun_end),
        )


def _start(passage: Mention | Stated) -> int:
    return passage.start


def _kind(parts: dict[str, str | None], *, counted: bool) -> FigureKind:
    body = parts["body"] or ""
    if parts["share"]:
        return "share"
    if parts["before"] or parts["after"] or parts["within"]:
        return "money"
    if counted:
        return "count"
    cents = re.search(r"[.,](\d+)\Z", body)
    as_money = cents is not None and len(cents[1]) == _CENTS
    grouped = re.fullmatch(r"\d{1,3}(?:[,.'\u2019]\d{3})+(?:[.,]\d\d?)?", body) is not None
    return "money" if as_money or grouped or parts["times"] else "plain"


def _sign(written: str) -> Literal[-1, 0, 1]:
    if _MINUS & set(written):
        return -1
    return 1 if "+" in written else 0
