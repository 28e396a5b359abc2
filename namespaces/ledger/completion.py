"""Entries as text files write them, made into lines: amounts that are left out, and whether they balance."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from ..bank.statement import Often
from ..tables.source import Findings, quote
from .books import Line, Origin, Weight

MAX_TEXT = 2000
MAX_ACCOUNT = 500
"""Characters of one account's name: a longer one is no name."""
MAX_DIGITS = 20
"""Digits of one number: no sum of money has half of them, and sums of these are exact."""
_TOLD = 5
"""Currencies of one entry that are told when they do not balance."""
Part = Literal["real", "balanced", "virtual"]
"""What balances with what: all real postings, all in [brackets], and those in (parentheses) with nothing."""


class Malformed(Exception):
    """What is wrong with a directive or line: a reader tells it and reads on. It never leaves one."""


@dataclass(slots=True)
class Posting:
    """One line of an entry, before what it leaves out is filled in."""

    account: str
    row: int
    amount: Weight | None
    """What is moved; None when the file leaves it out."""
    weight: Weight | None = None
    """Its cost or price; None when it counts as its amount."""
    part: Part = "real"
    date: datetime.date | None = None
    """Its own; None when it is that of the entry."""
    text: str = ""
    lot: bool = False
    """True when its cost is that of a lot to be looked up, which is not done."""
    only: str | None = None
    """The currency of an amount that is left out, where the file says that much."""


@dataclass(slots=True)
class Entry:
    """One transaction."""

    date: datetime.date
    row: int
    number: str
    text: str
    postings: list[Posting] = field(default_factory=list[Posting])
    origin: Origin = "written"


@dataclass(frozen=True, slots=True)
class Rules:
    """What the programs do differently."""

    exchange: bool
    """True when two currencies without a price are taken for an exchange of all of the one for the other."""
    loosest: bool
    """Of amounts written with different precision, whether the least precise says what is rounding."""
    rounds: bool
    """True when an amount that is left out is rounded to that precision."""


@dataclass(slots=True)
class Completion:
    """Makes the entries of one file into lines."""

    file: str
    rules: Rules
    findings: Findings
    often: Often

    def lines(self, entry: Entry) -> list[Line]:
        """The lines of one entry; what does not balance or cannot be filled in is told."""
        made: dict[int, list[Line]] = {}  # by id(): two postings that are equal are two lines
        parts: tuple[Part, ...] = ("real", "balanced")
        for part in parts:
            members = [each for each in entry.postings if each.part == part]
            if members:
                made |= self._balanced(entry, members)
        for each in entry.postings:
            if each.part == "virtual":
                made[id(each)] = self._virtual(entry, each)
        return [line for each in entry.postings for line in made.get(id(each), ())]

    def _balanced(self, entry: Entry, members: Sequence[Posting]) -> dict[int, list[Line]]:
        written = [each for each in members if each.amount is not None]
        missing = [each for each in members if each.amount is None]
        made = {id(each): [_line(entry, each, self.file)] for each in written}
        if unknown := next((each for each in members if each.lot), None):
            what = "has the cost of a lot to be looked up ({}): write the cost, as its entry is not checked"
            self.findings.add("error", what, unknown.row)
        elif len(missing) > 1:
            what = f"{len(missing)} of its amounts are left out, where one may be: those lines are not read"
            self.findings.add("error", f"the entry cannot be completed: {what}", entry.row)
        elif missing:
            made[id(missing[0])] = self._inferred(entry, missing[0], written)
        else:
            self._check(entry, [line for lines in made.values() for line in lines], made)
        if missing and unknown:
            self.findings.add("error", "its amount cannot be inferred: the line is not read", missing[0].row)
        return made

    def _inferred(self, entry: Entry, missing: Posting, written: Sequence[Posting]) -> list[Line]:
        left = {code: amount for code, amount in _sums(map(_weight, written)).items() if amount}
        steps = self._steps(written)
        lines: list[Line] = []
        for code, amount in left.items():
            if missing.only in {None, code}:
                lines += self._fill(entry, missing, Weight(-amount, code), steps)
            else:
                self._unbalanced(entry, {code: amount})
        what = "the amount is not written: it is what balances its entry"
        self.often.add("info", what, missing.row)
        return lines

    def _fill(
        self, entry: Entry, missing: Posting, amount: Weight, steps: dict[str | None, Decimal]
    ) -> list[Line]:
        step = steps.get(amount.currency)
        exact, kept = amount.amount, amount.amount
        if self.rules.rounds and step is not None:
            kept = exact.quantize(step)
        if not kept:
            return []
        filled = Posting(missing.account, missing.row, Weight(kept, amount.currency), date=missing.date)
        filled.weight = None if kept == exact else amount
        filled.text = missing.text
        return [_line(entry, filled, self.file, "inferred")]

    def _check(self, entry: Entry, lines: Sequence[Line], made: dict[int, list[Line]]) -> None:
        left = {code: amount for code, amount in _sums(line.counts for line in lines).items() if amount}
        steps = self._steps([each for each in entry.postings if each.amount is not None])
        small = {code: amount for code, amount in left.items() if abs(amount) <= steps.get(code, 0) / 2}
        wrong = {code: amount for code, amount in left.items() if code not in small}
        if len(wrong) == 2 and self._is_exchange(entry, wrong):  # noqa: PLR2004  (one for the other)
            self.often.add("info", "exchanges one currency for another without a price", entry.row)
            _exchange(wrong, made)
        elif wrong:
            self._unbalanced(entry, wrong)
        for code, amount in small.items():
            _round_off(code, amount, made)

    def _is_exchange(self, entry: Entry, wrong: dict[str | None, Decimal]) -> bool:
        one, other = wrong.values()
        plain = all(each.weight is None for each in entry.postings if each.part == "real")
        return self.rules.exchange and plain and (one > 0) != (other > 0)

    def _unbalanced(self, entry: Entry, wrong: dict[str | None, Decimal]) -> None:
        sums = ", ".join(f"{amount} {code or ''}".strip() for code, amount in list(wrong.items())[:_TOLD])
        self.findings.add("error", f"the entry does not balance: its lines sum to {sums}", entry.row)

    def _steps(self, written: Sequence[Posting]) -> dict[str | None, Decimal]:
        """For each currency with decimals in the entry, one unit of the last place that counts."""
        steps: dict[str | None, Decimal] = {}
        pick = max if self.rules.loosest else min
        for each in written:
            step = _step(each.amount)
            if step is not None and each.amount is not None:
                steps[each.amount.currency] = pick(step, steps.get(each.amount.currency, step))
        return steps

    def _virtual(self, entry: Entry, posting: Posting) -> list[Line]:
        if posting.amount is None:
            self.findings.add("error", "a line in parentheses has no amount: it is not read", posting.row)
            return []
        self.often.add("info", "the line is virtual: it is in its account and balances nothing", posting.row)
        posting.weight = Weight(Decimal(0), posting.amount.currency)
        return [_line(entry, posting, self.file, "virtual")]


def checked(value: Decimal | None, written: str, mark: str | None) -> Decimal:
    """A number that was read.

    Raises:
        Malformed: it is None, so it does not read, or has too many digits.
    """
    if value is None:
        said = f" with the decimal mark {mark!r}" if mark else ""
        raise Malformed(f"{quote(written)} is no number{said}")
    if len(value.as_tuple().digits) > MAX_DIGITS:
        raise Malformed(f"{quote(written)} has more than {MAX_DIGITS} digits, which no amount has")
    return value


def tidy(name: str) -> str:
    """An account's name with its blanks joined."""
    return " ".join(name.split())


def _line(entry: Entry, posting: Posting, file: str, origin: Origin = "written") -> Line:
    amount = posting.amount or Weight(Decimal(0), None)
    return Line(
        date=posting.date or entry.date,
        account=posting.account,
        amount=amount.amount,
        currency=amount.currency,
        file=file,
        row=posting.row,
        journal=entry.number,
        text=f"{entry.text} {posting.text}".strip()[:MAX_TEXT],
        weight=posting.weight,
        origin=entry.origin if entry.origin != "written" else origin,
    )


def _weight(posting: Posting) -> Weight:
    return posting.weight or posting.amount or Weight(Decimal(0), None)


def _step(amount: Weight | None) -> Decimal | None:
    if amount is None:
        return None
    exponent = amount.amount.as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= 0:
        return None
    return Decimal(1).scaleb(exponent)


def _sums(weights: Iterable[Weight]) -> dict[str | None, Decimal]:
    sums: dict[str | None, Decimal] = {}
    for amount, currency in weights:
        sums[currency] = sums.get(currency, Decimal(0)) + amount
    return sums


def _exchange(wrong: dict[str | None, Decimal], made: dict[int, list[Line]]) -> None:
    """Lets the lines of the one currency count, all together, as what is given for them."""
    (one, _), (other, amount) = wrong.items()
    first = True
    for key, (line, *_rest) in made.items():
        if line.currency == one:
            made[key] = [replace(line, weight=Weight(-amount if first else Decimal(0), other))]
            first = False


def _round_off(currency: str | None, off: Decimal, made: dict[int, list[Line]]) -> None:
    """Takes a difference within rounding off the last line that has a price, else off the last one."""
    keys = [key for key, (line, *_) in made.items() if line.counts.currency == currency]
    priced = [key for key in keys if made[key][0].weight is not None]
    key = (priced or keys)[-1]
    line = made[key][0]
    made[key] = [replace(line, weight=Weight(line.counts.amount - off, currency))]
