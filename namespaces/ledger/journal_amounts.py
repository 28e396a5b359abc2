"""Amounts as hledger and ledger write them: a symbol on either side, a decimal mark by commodity."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from ..tables import numbers
from ..tables.dates import Dates
from ..tables.decided import tell_decided
from ..tables.numbers import Cell, Evidence, Mark, Numbers
from ..tables.source import Conventions, Findings, quote
from .books import Symbol, Weight
from .commodities import Commodities
from .completion import Malformed, checked

_NAME = r'"[^"]*"|[^\s\d.,;:=@{}()\[\]"+*/^&|!<>?~-]+'
_NUMBER = r"[.,]?\d(?:[\d.,']|[ \u00a0\u202f](?=\d))*"
FACTOR = "*"
"""Stands for the symbol of an amount that multiplies another one; no commodity can have it."""
AMOUNT = re.compile(
    rf"(?P<times>\*\s*)?(?P<sign>[+-])?\s*"
    rf"(?:(?P<left>{_NAME})\s*(?P<inner>[+-])?\s*(?P<one>{_NUMBER})"
    rf"|(?P<other>{_NUMBER})\s*(?P<right>{_NAME})?)"
)


class Amount(NamedTuple):
    """An amount as written, before the decimal mark of its commodity is known."""

    row: int
    negative: bool
    symbol: str
    """Empty when it has none."""
    first: bool
    """True when the symbol stands before the number."""
    digits: str
    times: bool = False
    """True when a `*` before it makes it a factor."""


class Scan:
    """Reads a text from its beginning on."""

    def __init__(self, text: str, row: int) -> None:
        self.text, self.row = " ".join(text.split()), row
        self.at = 0

    @property
    def rest(self) -> str:
        """What is not read yet."""
        return self.text[self.at :]

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What stands next, if it is that; blanks before it are skipped."""
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def amount(self) -> Amount:
        """The amount that has to stand next.

        Raises:
            Malformed: something else does.
        """
        found = self.take(AMOUNT)
        if found is None:
            raise Malformed(f"{quote(self.rest)} is no amount that is read (sums are to be written out)")
        signs = [found["sign"], found["inner"]]
        if all(signs):
            raise Malformed(f"{quote(found[0])} has two signs")
        symbol = (found["left"] or found["right"] or "").strip('"')
        digits = found["one"] or found["other"]
        return Amount(self.row, "-" in signs, symbol, bool(found["left"]), digits, bool(found["times"]))


class Amounts:
    """All amounts of a file, so that the decimal mark of each commodity is decided from all of them."""

    def __init__(self, file: str, conventions: Conventions, commodities: Commodities) -> None:
        self._file, self._conventions, self._commodities = file, conventions, commodities
        self._cells: dict[str, list[Cell]] = {}
        self._first: dict[str, bool] = {}
        """For each symbol, where it stands when it is first written."""
        self._said: dict[str, Mark] = {}
        """Marks that a directive gives a commodity."""
        self._all: Mark | None = None
        """The mark that a directive gives all of them."""
        self._numbers: dict[str, Numbers] = {}

    def see(self, amounts: Iterable[Amount | None]) -> None:
        """Notes amounts of the file."""
        for each in amounts:
            if each is not None:
                self._cells.setdefault(each.symbol, []).append(Cell(each.row, each.digits))
                self._first.setdefault(each.symbol, each.first)

    def say(self, example: Amount) -> None:
        """Notes the amount by which a directive shows how its commodity is written."""
        shown = numbers.weigh([Cell(example.row, example.digits)]).proofs
        if len(shown) == 1:
            self._said[example.symbol] = next(iter(shown))
        self._first[example.symbol] = example.first

    def say_all(self, mark: Mark) -> None:
        """Notes the mark that a directive gives the whole file."""
        self._all = mark

    def decide(self, findings: Findings) -> None:
        """Decides the marks: a directive for all, one for the commodity, its own numbers, those of the file.

        Raises:
            SourceError: one commodity has two marks.
            UndecidedError: both readings fit.
        """
        evidence = {symbol: numbers.weigh(cells) for symbol, cells in self._cells.items()}
        shown: set[Mark] = {mark for each in evidence.values() for mark in each.proofs}
        shown |= set(self._said.values())
        for symbol, cells in self._cells.items():
            said: Mark | None = self._all or self._said.get(symbol)
            if said is None and _open(evidence[symbol]) and len(shown) == 1:
                said = next(iter(shown))
            self._numbers[symbol] = (
                numbers.decide(cells, self._file, self._conventions) if said is None else Numbers(said)
            )
        used = next((each for each in self._numbers.values() if each.said), Numbers(None))
        tell_decided(Dates(None), used, self._conventions, findings)

    def read(self, amount: Amount) -> Weight:
        """The amount in its currency.

        Raises:
            Malformed: it does not read under the decimal mark of its commodity.
        """
        mark = self._numbers[amount.symbol]
        value = checked(mark.read(amount.digits), amount.digits, mark.decimal)
        return Weight(-value if amount.negative else value, self.name(amount))

    def name(self, amount: Amount) -> str | None:
        """The currency of an amount."""
        return self._commodities.name(amount.symbol, amount.row)

    def symbols(self) -> tuple[Symbol, ...]:
        """How the file writes its amounts."""
        named: dict[str | None, Symbol] = {}
        for symbol, number in self._numbers.items():
            if symbol == FACTOR:
                continue
            currency = self._commodities.name(symbol, 0)
            style = Symbol(currency, symbol, self._first[symbol], number.decimal or ".")
            named.setdefault(currency, style)
        return tuple(named.values())


def _open(evidence: Evidence) -> bool:
    return not evidence.proofs and evidence.undecided is not None
