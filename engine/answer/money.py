"""How people name a currency in running text."""

import re
from collections.abc import Mapping

from ...namespaces.tables.numbers import CURRENCIES

_SYMBOLS: Mapping[str, tuple[str, ...]] = {
    "US$": ("USD",),
    "A$": ("AUD",),
    "C$": ("CAD",),
    "HK$": ("HKD",),
    "NZ$": ("NZD",),
    "S$": ("SGD",),
    "R$": ("BRL",),
    "$": ("USD", "AUD", "CAD", "HKD", "NZD", "SGD", "MXN", "ARS", "CLP", "COP"),
    "€": ("EUR",),
    "£": ("GBP",),
    "¥": ("JPY", "CNY", "CNH"),
    "₹": ("INR",),
    "zł": ("PLN",),
    "Kč": ("CZK",),
    "kr": ("SEK", "NOK", "DKK", "ISK"),
    "Fr.": ("CHF",),
    "SFr.": ("CHF",),
    "TEUR": ("EUR",),
    "T€": ("EUR",),
}
_NAMES: Mapping[str, tuple[str, ...]] = {
    "euro": ("EUR",),
    "euros": ("EUR",),
    "pounds": ("GBP", "EGP"),
    "dollars": _SYMBOLS["$"],
    "francs": ("CHF", "XAF", "XOF"),
    "franken": ("CHF",),
    "yen": ("JPY",),
    "zloty": ("PLN",),
}
THOUSANDS = frozenset({"TEUR", "T€"})
"""Marks that also say that the number counts thousands."""
MARK = "|".join(sorted(map(re.escape, (*_SYMBOLS, *CURRENCIES)), key=len, reverse=True))
"""A symbol or a code, as a pattern."""
NAME = "|".join(_NAMES)
"""A currency's name behind a number, as a pattern for any capitals."""

_NAMED = re.compile(rf"(?<![A-Za-z])(?:{MARK}|(?i:{NAME}))(?![A-Za-z])")


def codes(mark: str) -> tuple[str, ...]:
    """The ISO 4217 codes that a symbol, a code or a name may stand for."""
    return _SYMBOLS.get(mark) or _NAMES.get(mark.casefold()) or (mark,)


def named_in(text: str) -> tuple[str, ...]:
    """The codes that the first symbol, code or name of a text may stand for; none when it has none."""
    found = _NAMED.search(text)
    return codes(found[0]) if found else ()
