"""How alike two texts of a bank and of the books are."""

import re
from collections.abc import Collection
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")
_LEAST_REFERENCE = 4
"""Digits from which a number in a text is taken for a reference: 4471 is one, 12 is none."""
_DATE = re.compile(r"(?:19|20)\d\d(?:[01]\d[0-3]\d)?")
"""A year or a day: many texts have it."""


def similarity(left: str, right: str) -> int:
    """The share of the shorter text's words that the other has, 0 to 100; 0 without words."""
    return shared_share(words(left), words(right))


def shared_share(left: Collection[str], right: frozenset[str]) -> int:
    """The share of the smaller set that the other has, 0 to 100; 0 when one is empty."""
    least = min(len(left), len(right))
    return 100 * len(right.intersection(left)) // least if least else 0


@lru_cache(maxsize=65536)
def words(text: str) -> frozenset[str]:
    """The words and numbers of a text; numbers without zeros in front, as banks pad them."""
    found = (word.lstrip("0") or "0" for word in _WORD.findall(text.casefold()))
    return frozenset(word for word in found if len(word) > 1 or word.isdigit())


@lru_cache(maxsize=65536)
def references(text: str) -> frozenset[str]:
    """The words that look like references: with at least four digits, and no year or day."""
    return frozenset(
        word
        for word in words(text)
        if sum(letter.isdigit() for letter in word) >= _LEAST_REFERENCE and not _DATE.fullmatch(word)
    )
