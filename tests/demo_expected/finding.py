"""What is to be found on one account in one month, worked out by brute force over a few dozen movements.

The rules are those a bookkeeper would give, each written as plainly as it can be; nothing is taken from the
library, and how long it takes does not matter.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import combinations

from demo_expected.reading import Move, Side

WINDOW = 5
TOLERANCE = Decimal("0.05")
FEE_SHARE = Decimal("0.05")


@dataclass(frozen=True)
class Found:
    """Something that is said of one or several movements."""

    kind: str
    bank: tuple[Move, ...]
    books: tuple[Move, ...]

    @property
    def adds(self) -> Decimal:
        """To the bank's balance less the books'."""
        return total(self.bank) - total(self.books)

    @property
    def moves(self) -> tuple[Move, ...]:
        """Of both sides."""
        return self.bank + self.books


@dataclass
class Open:
    """What is open at the end of a month."""

    bank: list[Move] = field(default_factory=list[Move])
    books: list[Move] = field(default_factory=list[Move])


@dataclass
class Findings:
    """All that is found on one account in one month."""

    matched: list[Found] = field(default_factory=list[Found])
    items: list[Found] = field(default_factory=list[Found])
    carried: Open = field(default_factory=Open)


def total(moves: Iterable[Move]) -> Decimal:
    """The sum of their amounts."""
    return sum((move.amount for move in moves), Decimal(0))


class Desk:
    """Takes the movements of both sides away as they are explained."""

    def __init__(self, bank: Side, books: Side, before: Open) -> None:
        self.old = {*before.bank, *before.books}
        self.bank = [*before.bank, *bank.moves]
        self.books = [*before.books, *books.moves]
        self.matched: list[Found] = []

    def take(self, kind: str, bank: Iterable[Move], books: Iterable[Move]) -> None:
        """Says what these are, and takes them away."""
        found = Found(kind, tuple(bank), tuple(books))
        self.matched.append(found)
        for move in found.bank:
            self.bank.remove(move)
        for move in found.books:
            self.books.remove(move)

    def near(self, one: Move, other: Move) -> bool:
        """Within the window; what was open before may be settled however late."""
        return abs((one.day - other.day).days) <= WINDOW or bool({one, other} & self.old)

    def one_to_one(self, kind: str, same: Callable[[Move, Move], bool]) -> None:
        """Pairs movements of both sides, those whose days are nearest first."""
        pairs = [(a, b) for a in self.bank for b in self.books if same(a, b) and self.near(a, b)]
        pairs.sort(
            key=lambda pair: (abs((pair[0].day - pair[1].day).days), -len(words(pair[0]) & words(pair[1])))
        )
        for bank, books in pairs:
            if bank in self.bank and books in self.books:
                self.take(kind, [bank], [books])


def words(move: Move) -> set[str]:
    """The words of a text, and its numbers without zeros in front."""
    return {word.lstrip("0") for word in re.findall(r"\w+", move.text.casefold())}


def numbers(move: Move) -> set[str]:
    """The long numbers of a text."""
    return set(re.findall(r"\d{4,}", move.text))


def find(bank: Side, books: Side, before: Open, last: date) -> Findings:
    """What a month comes to, given what the month before left open."""
    desk = Desk(bank, books, before)
    desk.one_to_one("exact", lambda a, b: a.amount == b.amount and a.day == b.day)
    desk.one_to_one("timing", lambda a, b: a.amount == b.amount)
    _sums(desk, "batched")
    _sums(desk, "split")
    _cancelled(desk)
    desk.one_to_one("reversed", lambda a, b: a.amount == -b.amount and bool(words(a) & words(b)))
    desk.one_to_one("transposed", _transposed)
    desk.one_to_one("near", lambda a, b: 0 < abs(a.amount - b.amount) <= TOLERANCE)
    desk.one_to_one("exchange", _exchange)
    desk.one_to_one("net_of_fee", _net)
    return _told(desk, before, last)


def _sums(desk: Desk, kind: str) -> None:
    """One of a side for several of the other, of which each has a long number of the one, or all one day."""
    ones, others = (desk.bank, desk.books) if kind == "batched" else (desk.books, desk.bank)
    for one in list(ones):
        fits = [each for each in others if each.amount * one.amount > 0 and desk.near(one, each)]
        for size in range(2, min(len(fits), 8) + 1):
            found = [some for some in combinations(fits, size) if total(some) == one.amount]
            if found:
                assert len(found) == 1, "which ones is not plain"
                desk.take(kind, *([one], found[0]) if kind == "batched" else (found[0], [one]))
                break


def _cancelled(desk: Desk) -> None:
    for one, other in _opposite(desk, list(desk.bank)):
        if one in desk.bank and other in desk.bank:
            desk.take("cancelled", [one, other], [])
    for one, other in _opposite(desk, list(desk.books)):
        if one in desk.books and other in desk.books:
            desk.take("cancelled", [], [one, other])


def _opposite(desk: Desk, moves: list[Move]) -> Iterator[tuple[Move, Move]]:
    for one, other in combinations(moves, 2):
        if one.amount == -other.amount and desk.near(one, other) and words(one) & words(other):
            yield one, other


def _transposed(bank: Move, books: Move) -> bool:
    one, other = f"{bank.amount:.2f}", f"{books.amount:.2f}"
    swaps = {one[:at] + one[at + 1] + one[at] + one[at + 2 :] for at in range(len(one) - 1) if one != other}
    return other in swaps


def _exchange(bank: Move, books: Move) -> bool:
    foreign = bool(re.search(r"\b(CHF|EUR|USD) [\d.,]+", books.text))
    return foreign and bool(numbers(bank) & numbers(books))


def _net(bank: Move, books: Move) -> bool:
    kept = books.amount - bank.amount
    return 0 < kept <= FEE_SHARE * books.amount and bool(numbers(bank) & numbers(books))


_DIFFERENT = {"near": "amount differs", "net_of_fee": "fee"}
_SAME = {"exact", "timing", "batched", "split"}
_FEES = re.compile(r"CHARGES|FEES?\b|ENTGELT|KOSTEN")


def _told(desk: Desk, before: Open, last: date) -> Findings:
    old = {*before.bank, *before.books}
    findings = Findings(matched=desk.matched)
    settled: set[Move] = set()
    for found in desk.matched:
        new = [move for move in found.moves if move not in old]
        if new or not found.adds:
            settled.update(old & set(found.moves))
        if found.kind not in _SAME and new:
            findings.items.append(Found(_DIFFERENT.get(found.kind, found.kind), found.bank, found.books))
    findings.items += _cleared(before, settled)
    findings.items += [_alone_at_bank(move, desk) for move in desk.bank if move not in old]
    findings.items += [_alone_in_books(move, desk, last) for move in desk.books if move not in old]
    findings.carried.bank += [move for move in before.bank if move not in settled]
    findings.carried.books += [move for move in before.books if move not in settled]
    for item in findings.items:
        if item.kind not in {"cancelled", "cleared"}:
            findings.carried.bank += item.bank
            findings.carried.books += item.books
    return findings


def _cleared(before: Open, settled: set[Move]) -> Iterator[Found]:
    """What was open and is not any more: it takes away what it added before."""
    for side in ("bank", "books"):
        for move in getattr(before, side):
            if move in settled:
                yield Found("cleared", *(((), (move,)) if side == "bank" else ((move,), ())))


def _alone_at_bank(move: Move, desk: Desk) -> Found:
    if _twin(move, [each for found in desk.matched for each in found.bank]):
        kind = "duplicate"
    elif "INTEREST" in move.text:
        kind = "interest"
    elif _FEES.search(move.text) and move.amount < 0:
        kind = "fee"
    else:
        kind = "missing in books"
    return Found(kind, (move,), ())


def _alone_in_books(move: Move, desk: Desk, last: date) -> Found:
    if _twin(move, [each for found in desk.matched for each in found.books]):
        kind = "duplicate"
    elif (last - move.day).days < WINDOW:
        kind = "timing"
    else:
        kind = "missing at bank"
    return Found(kind, (), (move,))


def _twin(move: Move, others: Iterable[Move]) -> bool:
    """Whether another one has the same amount, nearly the same day, and the same text."""
    near = [each for each in others if abs((each.day - move.day).days) <= WINDOW]
    return any(each.amount == move.amount and words(each) == words(move) for each in near)
