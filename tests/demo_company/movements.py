"""What happens on one account in one month, at the bank and in the books, before it is written to any file.

Amounts are whole cents. Ordinary trade is drawn from a seeded generator, one that Python promises to keep
(`Random.random`); what is planted is written out by hand in the file of its entity.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

Day = datetime.date


class AtBank(NamedTuple):
    """One entry of a statement."""

    day: Day
    cents: int
    """Money in is positive."""
    name: str
    text: str


class InBooks(NamedTuple):
    """One line on the bank's account in the books, with the account on its other side."""

    day: Day
    cents: int
    """A debit, money in, is positive."""
    contra: str
    text: str
    reference: str = ""


class Partner(NamedTuple):
    """Whom ordinary trade is with."""

    name: str
    contra: str
    """Account on the other side."""
    low: int
    """Least amount, in whole units of the currency; negative is money out."""
    high: int


@dataclass
class Month:
    """One account in one month, as it is being filled."""

    year: int
    month: int
    seed: str
    bank: list[AtBank] = field(default_factory=list[AtBank])
    books: list[InBooks] = field(default_factory=list[InBooks])

    def __post_init__(self) -> None:
        self._random = Random(f"{self.seed} {self.year}-{self.month}")
        self._sizes: set[int] = set()
        self._invoice = 4000 + 400 * self.month

    def day(self, number: int) -> Day:
        """A day of this month."""
        return Day(self.year, self.month, number)

    def both(
        self, booked: int, cents: int, partner: str, contra: str, *, at_bank: int = 0, ref: str = ""
    ) -> None:
        """One movement on both sides.

        Args:
            booked: Day of the month in the books.
            cents: The amount.
            partner: The other party.
            contra: Account on the other side.
            at_bank: Day of the month at the bank; 0 for the same day.
            ref: Reference on both sides.
        """
        self.on_bank(at_bank or booked, cents, partner.upper(), ref)
        self.in_books(booked, cents, contra, partner, ref)

    def on_bank(self, day: int, cents: int, name: str, text: str = "") -> None:
        """An entry at the bank alone."""
        self.bank.append(AtBank(self.day(day), cents, name, text))

    def in_books(self, day: int, cents: int, contra: str, text: str, ref: str = "") -> None:
        """A line in the books alone."""
        self.books.append(InBooks(self.day(day), cents, contra, text, ref))

    def trade(self, partners: Sequence[Partner], count: int, *, late: int, days: int = 3) -> None:
        """Ordinary movements on both sides.

        Args:
            partners: With whom, in turn.
            count: How many.
            late: Of every so many, one reaches the bank some days after the books. 0: none does.
            days: How late, at most.
        """
        last = 31 if self.month == 10 else 30
        for number in range(count):
            partner = partners[number % len(partners)]
            delay = 1 + self._below(days) if late and number % late == late - 1 else 0
            day = self._workday(1 + self._below(last), last)
            later = self._workday_after(day + delay)
            cents = self._amount(partner)
            ref = f"{'BATCH' if 'takings' in partner.name else 'INV'} {self._next_invoice()}"
            at_bank = later if later <= last else day
            self.both(day, cents, partner.name, partner.contra, at_bank=at_bank, ref=ref)

    def _below(self, limit: int) -> int:
        return int(self._random.random() * limit)

    def _workday(self, number: int, last: int) -> int:
        """The day, or the nearest before it that is no weekend and not after the last one."""
        day = min(number, last)
        while self._weekend(day):
            day -= 1
        return day

    def _workday_after(self, day: int) -> int:
        """The day, or the nearest after it that is no weekend; it may be of the next month."""
        while self._weekend(day):
            day += 1
        return day

    def _weekend(self, day: int) -> bool:
        later = self.day(1) + datetime.timedelta(day - 1)
        return later.weekday() > 4

    def _amount(self, partner: Partner) -> int:
        """An amount that no other of the month's trade is near."""
        while True:
            low, high = 100 * partner.low, 100 * partner.high
            cents = low + self._below(high - low)
            around = range(cents - 10, cents + 11)
            if not self._sizes.intersection(around):
                self._sizes.add(cents)
                return cents

    def _next_invoice(self) -> int:
        self._invoice += 1 + self._below(5)
        return self._invoice


@dataclass(frozen=True)
class Account:
    """One bank account with its account in the books, for two months."""

    number: str
    """As its bank writes it."""
    currency: str
    books: str
    """The account in the books."""
    opening: int
    """What both sides held before September, in cents."""
    september: Month
    october: Month

    @property
    def bank_closing(self) -> int:
        """At the bank at the end of September."""
        return self.opening + sum(each.cents for each in self.september.bank)

    @property
    def books_closing(self) -> int:
        """In the books at the end of September."""
        return self.opening + sum(each.cents for each in self.september.books)


def by_day(entries: Sequence[AtBank]) -> list[AtBank]:
    """A statement's order: days are, within a day as they came."""
    return sorted(entries, key=lambda each: each.day)


def decimal(cents: int, point: str = ".") -> str:
    """An amount with two places."""
    whole, part = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{whole}{point}{part:02}"
