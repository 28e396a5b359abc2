"""Amounts as people write them, and which mark of a column is the decimal one."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal, NamedTuple

from .source import Conventions, SourceError, UndecidedError, quote

Mark = Literal[".", ","]

MAX_AMOUNT = 40
"""Characters in one amount: a longer text is no sum of money."""
_CODES = """
AED ARS AUD BGN BHD BRL CAD CHF CLP CNH CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR
ISK JOD JPY KES KRW KWD MAD MXN MYR NGN NOK NZD OMR PEN PHP PKR PLN QAR RON RSD SAR SEK
SGD THB TND TRY TWD UAH USD UYU VND XAF XOF ZAR
"""
CURRENCIES = frozenset(_CODES.split())
"""Codes that are taken for a currency where they stand alone; a currency column may hold any."""
_SYMBOLS = {"€": "EUR", "£": "GBP"}
"""Symbols that stand for one currency; $ and ¥ stand for several, so they say nothing."""

_UNIFY = str.maketrans(
    {
        "\u2212": "-",
        "\u2013": "-",
        "\u2019": "'",
        "\u00b4": "'",
        "\u00a0": " ",
        "\u202f": " ",
        "\u2009": " ",
    }
)
_WRITTEN = re.compile(
    r"(?P<open>\()?\s*(?P<lead>[A-Z]{3}|[^\w\s.,()'+%-])?\s*(?P<sign>[+-])?\s*"
    r"(?P<inner>[A-Z]{3}|[^\w\s.,()'+%-])?\s*"
    r"(?P<body>[.,]?[0-9][0-9.,' ]*?)\s*(?P<after>[+-])?\s*"
    r"(?P<trail>[A-Z]{3}|[^\w\s.,()'+%-])?\s*(?P<side>CR|DR|C|D|H|S)?\s*(?P<close>\))?"
)
_GROUP = 3
_BARE = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,2}")
"""The most usual way to write an amount, which reads one way only."""


class Exact(str):
    """A number that its file holds as a number, as `Decimal` reads it: it says nothing of marks."""

    __slots__ = ()


class Written(NamedTuple):
    """An amount taken apart, before its decimal mark is known."""

    body: str
    """Digits and marks between them, without sign and currency."""
    negative: bool
    side: Literal["credit", "debit"] | None
    """What a suffix such as CR or S says; None when there is none."""
    currency: str | None


class Cell(NamedTuple):
    """One text of a column, with where it stands."""

    row: int
    """Line in the file, counted from 1."""
    text: str


class Evidence(NamedTuple):
    """What the numbers of a file show of its decimal mark."""

    proofs: dict[Mark, Cell]
    """For each mark that must be the decimal one somewhere, the first place."""
    undecided: Cell | None
    """The first number that reads both ways; None when there is none."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """How the numbers of one file are written."""

    decimal: Mark | None
    """None when nothing in the file needs it: whole numbers only."""
    said: bool = False
    """True when the file leaves it open and a person said it."""

    def read(self, text: str) -> Decimal | None:
        """The signed number; a debit suffix makes it negative. None when it is no number."""
        if isinstance(text, Exact) or (self.decimal == "." and _BARE.fullmatch(text)):
            return Decimal(text)
        written = take_apart(text)
        if written is None:
            return None
        plain = _plain(written.body, self.decimal)
        if plain is None:
            return None
        value = Decimal(plain)
        return -value if written.negative or written.side == "debit" else value


@lru_cache(maxsize=4096)
def take_apart(text: str) -> Written | None:
    """Splits an amount into its digits, sign and currency; None when it is no amount."""
    if len(text) > MAX_AMOUNT:
        return None
    found = _WRITTEN.fullmatch(text.translate(_UNIFY).strip())
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    signs = [found["sign"], found["after"]]
    if all(signs):
        return None
    side = None if found["side"] is None else _side(found["side"])
    named = [mark for mark in (found["lead"], found["inner"], found["trail"]) if mark]
    if len(named) > 1:
        return None
    currency = _currency(named[0]) if named else None
    return Written(found["body"], "-" in signs or bool(found["open"]), side, currency)


def decide(cells: Iterable[Cell], file: str, conventions: Conventions) -> Numbers:
    """Decides the decimal mark from all numbers of a file at once.

    Raises:
        SourceError: two marks are used as the decimal one, or not the one that was said firmly.
        UndecidedError: both readings fit.
    """
    evidence = weigh(cells)
    if len(evidence.proofs) > 1:
        raise _two_marks(file, evidence.proofs)
    if evidence.proofs:
        mark, cell = next(iter(evidence.proofs.items()))
        if "decimal" in conventions.firm and conventions.decimal not in {None, mark}:
            what = f"has the decimal mark {mark!r}, so decimal={conventions.decimal!r} cannot be"
            raise SourceError(file, what, row=cell.row, value=cell.text)
        return Numbers(mark)
    if evidence.undecided is not None and conventions.decimal is None:
        raise _two_readings(file, evidence.undecided)
    return Numbers(conventions.decimal, said=evidence.undecided is not None)


def weigh(cells: Iterable[Cell]) -> Evidence:
    """Looks at all numbers of a file for what shows its decimal mark."""
    proofs: dict[Mark, Cell] = {}
    undecided: Cell | None = None
    for cell in cells:
        if _BARE.fullmatch(cell.text) and not isinstance(cell.text, Exact):
            proofs.setdefault(".", cell)
            continue
        written = None if isinstance(cell.text, Exact) else take_apart(cell.text)
        if written is None:
            continue
        readings = _readings(written.body)
        if len(readings) == 1:
            proofs.setdefault(next(iter(readings)), cell)
        elif readings and undecided is None:
            undecided = cell
    return Evidence(proofs, undecided)


def is_currency(text: str) -> bool:
    """True for a code that is known to be a currency's."""
    return text in CURRENCIES


def currency_in(text: str) -> str | None:
    """The one currency that a text such as `Betrag (€)` or `Amount in GBP` names, else None."""
    if _BARE.fullmatch(text):
        return None
    named = {word for word in re.findall(r"[A-Z]{3}(?![A-Za-z])", text) if word in CURRENCIES}
    named |= {code for symbol, code in _SYMBOLS.items() if symbol in text}
    return named.pop() if len(named) == 1 else None


def _side(suffix: str) -> Literal["credit", "debit"]:
    return "credit" if suffix in {"CR", "C", "H"} else "debit"


def _currency(mark: str) -> str | None:
    return _SYMBOLS.get(mark, mark if mark in CURRENCIES else None)


def _readings(body: str) -> dict[Mark, str]:
    """What the number is with either mark as the decimal one; empty without marks."""
    if "." not in body and "," not in body:
        return {}
    marks: tuple[Mark, ...] = (".", ",")
    read = {mark: _plain(body, mark) for mark in marks}
    return {mark: read[mark] or "" for mark in marks if read[mark] is not None}


def _plain(body: str, decimal: Mark | None) -> str | None:
    """The digits as `Decimal` reads them; None when the marks stand where no number has them."""
    whole, fraction = body, ""
    if decimal is not None and decimal in body:
        whole, _, fraction = body.rpartition(decimal)
    if fraction and not fraction.isdigit():
        return None
    grouped = re.fullmatch(r"([0-9]{1,3})(?:([.,' ])[0-9]{2,3}(?:\2[0-9]{2,3})*)?|[0-9]*", whole)
    if grouped is None or (grouped[2] and not _groups_fit(whole, grouped[2], decimal)):
        return None
    digits = re.sub(r"[.,' ]", "", whole)
    return f"{digits or '0'}.{fraction or '0'}" if fraction else digits or None


def _groups_fit(whole: str, mark: str, decimal: Mark | None) -> bool:
    """Groups of three, or the Indian 1,23,456; and no mark that is the decimal one."""
    groups = whole.split(mark)[1:]
    inner = {len(group) for group in groups[:-1]}
    fits = mark != decimal and not whole.startswith("0")
    return fits and len(groups[-1]) == _GROUP and inner in (set[int](), {_GROUP}, {_GROUP - 1})


def _two_marks(file: str, proofs: dict[Mark, Cell]) -> SourceError:
    point, comma = proofs["."], proofs[","]
    return SourceError(
        file,
        f"has a decimal point, yet {quote(comma.text)} in line {comma.row} has a decimal comma; one"
        " file has one mark: correct the line that is wrong, or export the file again",
        row=point.row,
        value=point.text,
    )


def _two_readings(file: str, cell: Cell) -> UndecidedError:
    written = take_apart(cell.text)
    readings = _readings(written.body if written else "")
    (mark, one), (other, another) = readings.items()
    return UndecidedError(
        file,
        f"reads as {one} with decimal={mark!r} and as {another} with decimal={other!r}, and no"
        " other number of the file decides it; say which with decimal=",
        argument="decimal",
        row=cell.row,
        value=cell.text,
    )
