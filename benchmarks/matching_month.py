"""A quarter of a busy account, made up from a seed, with what each line truly is.

Both sides have the same number of lines. Most are one to one, on the same day or some days apart, a third of
them of amounts that come again and again. Among them are batches, splits, mistakes, fees, exchange,
duplicates, and noise: lines that have no other side at all.
"""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random

from offing.namespaces.tool import Record

START, DAYS = datetime.date(2026, 7, 1), 92
SHARES = {
    "batched": 0.02,
    "split": 0.006,
    "reversed": 0.004,
    "transposed": 0.004,
    "net_of_fee": 0.01,
    "exchange": 0.006,
    "cancelled": 0.004,
    "duplicate": 0.006,
    "fee": 0.004,
    "interest": 0.0012,
    "bank only": 0.02,
    "books only": 0.02,
}
"""How many of each are planted, as a share of the lines of a side. What is left is one to one."""
_LARGE = 50_000
"""Cents from which a round amount is a multiple of 50.00, below of 5.00."""
_USUAL = ("9.99", "12.00", "19.99", "25.00", "49.00", "75.00", "99.00", "120.00", "250.00", "1000.00")
_USUAL_SHARE = 1 / 3
_FIRST = ("Amber", "Baltic", "Cedar", "Dover", "Ember", "Fjord", "Glen", "Harbour", "Iris", "Maple", "Nordic")
_LAST = ("Joinery", "Freight", "Foods", "Optics", "Paper", "Steel", "Tools", "Timber", "Travel", "Dental")
_FEES = ("ACCOUNT FEE", "BANK CHARGES", "KONTOFUHRUNG ENTGELT", "FRAIS BANCAIRES", "COMISION MANTENIMIENTO")
_INTEREST = ("INTEREST PAID", "HABENZINSEN", "INTERETS CREDITEURS", "CREDITRENTE", "INTERESES")


@dataclass(frozen=True, slots=True)
class Planted:
    """What some lines truly are."""

    kind: str
    bank: tuple[Record, ...]
    books: tuple[Record, ...]


@dataclass(slots=True)
class Quarter:
    """The lines of both sides, shuffled, and the truth of them."""

    truth: list[Planted] = field(default_factory=list[Planted])

    @property
    def bank(self) -> list[Record]:
        """Lines of the bank, by date."""
        return sorted(
            (one for each in self.truth for one in each.bank), key=lambda one: (str(one.date), one.id)
        )

    @property
    def books(self) -> list[Record]:
        """Lines of the books, by date."""
        return sorted(
            (one for each in self.truth for one in each.books), key=lambda one: (str(one.date), one.id)
        )


def quarter(lines: int, seed: int = 7) -> Quarter:
    """So many lines a side, give or take the last batch."""
    return _Maker(Random(seed)).make(lines)


class _Maker:
    def __init__(self, random: Random) -> None:
        self._random, self._made, self._number = random, Quarter(), 0

    def make(self, lines: int) -> Quarter:
        for kind, share in SHARES.items():
            for _ in range(round(lines * share)):
                getattr(self, f"_{kind.replace(' ', '_')}")()
        sides = [
            sum(len(each.bank) for each in self._made.truth),
            sum(len(each.books) for each in self._made.truth),
        ]
        for _ in range(lines - max(sides)):
            self._one_to_one()
        for _ in range(sides[1] - sides[0]):
            self._bank_only()
        return self._made

    def _add(self, kind: str, bank: list[Record], books: list[Record]) -> None:
        self._made.truth.append(Planted(kind, tuple(bank), tuple(books)))

    def _line(self, side: str, amount: Decimal, day: int, text: str) -> Record:
        self._number += 1
        date = START + datetime.timedelta(min(max(day, 0), DAYS - 1))
        return Record(f"{side}:{self._random.getrandbits(32):08x}-{self._number}", amount, "EUR", date, text)

    def _both(
        self, bank: str, books: str, day: int, text: str, *, at_bank: str = ""
    ) -> tuple[Record, Record]:
        """One movement on both sides, the bank up to four days later."""
        said = (at_bank or text).upper()
        later = day + self._random.choice((0, 0, 0, 1, 1, 2, 3, 4))
        return self._line("bank", Decimal(bank), later, said), self._line("books", Decimal(books), day, text)

    def _day(self) -> int:
        return self._random.randrange(DAYS - 6)

    def _amount(self, low: int = 500, high: int = 2_000_000) -> Decimal:
        """Spread over the orders of magnitude, as amounts are; a quarter of them round."""
        cents = int(low * (high / low) ** self._random.random())
        step = self._random.choice((1, 1, 1, 500 if cents < _LARGE else 5_000))
        return Decimal(max(step, cents // step * step)).scaleb(-2)

    def _party(self) -> str:
        pick = self._random.choice
        return f"{pick(_FIRST)} {pick(_LAST)} {pick(('Ltd', 'GmbH', 'SA', 'BV'))}"

    def _invoice(self) -> str:
        return f"INV {self._random.randrange(100_000, 999_999)}"

    def _sign(self) -> int:
        return self._random.choice((1, -1))

    def _one_to_one(self) -> None:
        random = self._random
        size = Decimal(random.choice(_USUAL)) if random.random() < _USUAL_SHARE else self._amount()
        amount, party, number = size * self._sign(), self._party(), self._invoice()
        shown = random.choice((f"{party} {number}", f"{party} {number}", party, f"{number}", "CARD PAYMENT"))
        bank, book = self._both(str(amount), str(amount), self._day(), f"{party} {number}", at_bank=shown)
        self._add("one to one", [bank], [book])

    def _batched(self) -> None:
        random, day = self._random, self._day()
        slip, party, how = f"SLIP {random.randrange(10_000, 99_999)}", self._party(), random.randrange(3)
        amounts = [self._amount(2_000, 300_000) for _ in range(random.randint(2, 8))]
        said = (f"Receipt {slip}", f"{party} {self._invoice()}", f"Receipt {self._party()}")[how]
        shown = (f"DEPOSIT {slip}", f"{party} REMITTANCE", "CASH AND CHEQUES PAID IN")[how]
        books = [self._line("books", each, day, said) for each in amounts]
        bank = self._line("bank", sum(amounts, Decimal(0)), day + random.randrange(3), shown)
        self._add("batched", [bank], books)

    def _split(self) -> None:
        random, day, party = self._random, self._day(), self._party()
        amounts = [-self._amount(2_000, 300_000) for _ in range(random.randint(2, 4))]
        bank = [self._line("bank", each, day + random.randrange(4), party.upper()) for each in amounts]
        self._add(
            "split", bank, [self._line("books", sum(amounts, Decimal(0)), day, f"{party} {self._invoice()}")]
        )

    def _reversed(self) -> None:
        amount, text = self._amount() * self._sign(), f"{self._party()} {self._invoice()}"
        self._add("reversed", *_lists(self._both(str(amount), str(-amount), self._day(), text)))

    def _transposed(self) -> None:
        amount, text = self._amount(10_000), f"{self._party()} {self._invoice()}"
        digits = list(str(amount).replace(".", ""))
        places = [at for at in range(1, len(digits) - 1) if digits[at] != digits[at + 1]]
        if not places:
            return self._transposed()
        at = self._random.choice(places)
        digits[at], digits[at + 1] = digits[at + 1], digits[at]
        wrong, sign = Decimal("".join(digits)).scaleb(-2), self._sign()
        pair = self._both(str(amount * sign), str(wrong * sign), self._day(), text)
        return self._add("transposed", *_lists(pair))

    def _net_of_fee(self) -> None:
        due = self._amount(20_000)
        fee = (due * self._random.randint(5, 40) / 1000).quantize(Decimal("0.01"))
        number = self._random.randrange(10_000, 99_999)
        bank, book = self._both(
            str(due - fee),
            str(due),
            self._day(),
            f"Card takings {number}",
            at_bank=f"CARD SETTLEMENT {number}",
        )
        self._add("net_of_fee", [bank], [book])

    def _exchange(self) -> None:
        amount, text = self._amount(50_000), f"{self._party()} {self._invoice()}"
        share = Decimal(self._random.choice((-1, 1)) * self._random.randint(1, 30)) / 1000
        paid, sign = (amount * (1 + share)).quantize(Decimal("0.01")), self._sign()
        shown = f"{text} USD {amount} RATE 1.0{self._random.randrange(10, 99)}"
        bank, book = self._both(str(paid * sign), str(amount * sign), self._day(), text, at_bank=shown)
        self._add("exchange", [bank], [book])

    def _cancelled(self) -> None:
        amount, text, day = self._amount(), f"{self._party()} {self._invoice()}", self._day()
        side = self._random.choice(("bank", "books"))
        pair = [
            self._line(side, -amount, day, text),
            self._line(side, amount, day + self._random.randrange(1, 5), f"RETURNED {text}"),
        ]
        self._add("cancelled", pair if side == "bank" else [], pair if side == "books" else [])

    def _duplicate(self) -> None:
        amount, text, day = self._amount() * self._sign(), f"{self._party()} {self._invoice()}", self._day()
        bank, book = self._both(str(amount), str(amount), day, text)
        side = self._random.choice(("bank", "books"))
        again = self._line(
            side, amount, day + self._random.randrange(5), (bank if side == "bank" else book).text
        )
        self._add(
            "duplicate",
            [bank, again] if side == "bank" else [bank],
            [book, again] if side == "books" else [book],
        )

    def _fee(self) -> None:
        self._add(
            "fee",
            [self._line("bank", -self._amount(200, 5_000), self._day(), self._random.choice(_FEES))],
            [],
        )

    def _interest(self) -> None:
        text = self._random.choice(_INTEREST)
        self._add("interest", [self._line("bank", self._amount(200, 20_000), self._day(), text)], [])

    def _bank_only(self) -> None:
        amount, text = self._amount() * self._sign(), f"{self._party()} {self._invoice()}".upper()
        self._add("bank only", [self._line("bank", amount, self._day(), text)], [])

    def _books_only(self) -> None:
        amount, text = self._amount() * self._sign(), f"{self._party()} {self._invoice()}"
        self._add("books only", [], [self._line("books", amount, self._day(), text)])


def _lists(pair: tuple[Record, Record]) -> Iterator[list[Record]]:
    return ([each] for each in pair)
