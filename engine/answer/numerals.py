"""Numbers in English words: one, forty-two, twelve thousand five hundred."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_VALUES = {
    **{word: value for value, word in enumerate(_UNITS)},
    **{word: 20 + 10 * place for place, word in enumerate(_TENS)},
}
_WORD = "|".join(sorted((*_VALUES, *_SCALES), key=len, reverse=True))
_NUMERAL = re.compile(
    rf"\b(?:{'|'.join(sorted(_VALUES, key=len, reverse=True))})"
    rf"(?:(?:[ -]|[ ]and[ ])(?:{_WORD})){{0,12}}\b",
    re.IGNORECASE,
)


class Numeral(NamedTuple):
    """A number in words, and where it stands."""

    start: int
    end: int
    value: Decimal


def numerals(text: str) -> Iterator[Numeral]:
    """Every number that a text has in words."""
    for match in _NUMERAL.finditer(text):
        words = re.split(r"[ -]", match[0].casefold())
        yield Numeral(*match.span(), Decimal(_value(word for word in words if word != "and")))


def _value(words: Iterator[str]) -> int:
    """Of words in their order; `hundred` multiplies what stands before it since the last thousand."""
    whole, part = 0, 0
    for word in words:
        scale = _SCALES.get(word)
        if scale is None:
            part += _VALUES[word]
        elif scale == _SCALES["hundred"]:
            part *= scale
        else:
            whole, part = whole + part * scale, 0
    return whole + part
