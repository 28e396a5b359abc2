"""What recurs over several monthly closes: the same kind of item, of the same party, in most of them."""

import calendar
import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, NamedTuple

from ..bank.accounts import Account as BankAccount
from ..errors import NamespaceError
from ..ledger.accounts import Account as LedgerAccount
from ..tool import Record
from .carried import Carried
from .items import Group, Item
from .placing import Period
from .reconciliation import Reconciliation, open_items, reconcile
from .rule import AccountRule
from .similarity import words
from .vocabulary import names

MOST_CLOSES = 24
_STEADY_DAYS = 5
"""Days of the month within which an item comes around one day; 5 are from the 28th to the 2nd."""
_PASSING = (Group.CANCELLED, Group.CLEARED)
"""Groups that leave nothing open, so that nothing is to be done about them."""


_OPEN = frozenset({Group.TIMING, Group.MISSING_IN_BOOKS, Group.MISSING_AT_BANK, Group.FEE, Group.INTEREST})
"""Groups that one thing may be in from close to close: a fee that is entered days later, or not at all."""


class _Key(NamedTuple):
    group: Group | None
    """None for the open ones together."""
    side: Literal["bank", "books"]
    party: frozenset[str]


@dataclass(frozen=True, slots=True)
class Recurring:
    """One kind of item of one party, in several closes."""

    group: Group
    """The first that says more than timing; an item may be in another one in another close."""
    side: Literal["bank", "books"]
    """Where the items are."""
    says: str
    """The words that their texts have in common, in the order of the first."""
    closes: int
    """In how many of the closes there is one."""
    records: tuple[Record, ...]
    """By date; there may be several of one close."""
    later_days: tuple[int, ...]
    """For each that was settled in a later close, the days until then."""
    name: str
    """All of this in one sentence."""

    @property
    def least(self) -> Record:
        """The one of the least amount."""
        return min(self.records, key=_by_amount)

    @property
    def most(self) -> Record:
        """The one of the greatest amount."""
        return max(self.records, key=_by_amount)


def months(start: datetime.date, end: datetime.date) -> tuple[Period, ...]:
    """The whole months from that of one day to that of another.

    Raises:
        NamespaceError: there are fewer than two, or more than 24.
    """
    count = (end.year - start.year) * 12 + end.month - start.month + 1
    if not 2 <= count <= MOST_CLOSES:  # noqa: PLR2004  one alone recurs nowhere
        raise NamespaceError(
            f"from {start} to {end} there are {max(count, 0)} months: give 2 to {MOST_CLOSES}, such as"
            " from the first day of the first to the last day of the last"
        )
    return tuple(_month(start.year * 12 + start.month - 1 + each) for each in range(count))


def _month(number: int) -> Period:
    year, month = divmod(number, 12)
    days = calendar.monthrange(year, month + 1)[1]
    return Period(datetime.date(year, month + 1, 1), datetime.date(year, month + 1, days))


def in_turn(
    bank: BankAccount,
    books: LedgerAccount,
    periods: Sequence[Period],
    rule: AccountRule,
    carried: Carried = Carried(),  # noqa: B008  it is frozen
) -> list[Reconciliation]:
    """Reconciles period after period, each with what the one before left open.

    Raises:
        NamespaceError: as `reconcile` does.
    """
    done: list[Reconciliation] = []
    for period in periods:
        done.append(reconcile(bank, books, period, rule, carried))
        carried = open_items(done[-1])
    return done


def recurring(closes: Sequence[Reconciliation], least: int = 2) -> tuple[Recurring, ...]:
    """What is found in so many closes at least, in the most closes first.

    Args:
        closes: By date, each with what the one before left open.
        least: Closes that make a pattern.
    """
    found: dict[_Key, dict[int, list[Item]]] = {}
    for number, done in enumerate(closes):
        for item in done.items:
            key = _key(item)
            if key.party and item.group not in _PASSING:
                found.setdefault(key, {}).setdefault(number, []).append(item)
    later = _days_until_settled(closes)
    made = [
        _pattern(key, by_close, later, len(closes))
        for key, by_close in found.items()
        if len(by_close) >= least
    ]
    return tuple(sorted(made, key=lambda each: (-each.closes, each.records[0].date, each.name)))


def _key(item: Item) -> _Key:
    text = item.record.text
    party = names(text) or frozenset(word for word in words(text) if not word.isdigit())
    group = None if item.group in _OPEN else item.group
    return _Key(group, "bank" if item.terms[0].sign > 0 else "books", party)


def _days_until_settled(closes: Sequence[Reconciliation]) -> dict[str, int]:
    """For each record that a later close settled, the days until then."""
    days: dict[str, int] = {}
    for done in closes:
        for item in done.of(Group.CLEARED):
            others = [each.date for each in item.match.records if each.date] if item.match else []
            if others and item.record.date:
                days[item.record.id] = max((day - item.record.date).days for day in others)
    return days


def _pattern(key: _Key, by_close: dict[int, list[Item]], later: dict[str, int], of: int) -> Recurring:
    groups = [item.group for items in by_close.values() for item in items]
    group = next((each for each in groups if each is not Group.TIMING), Group.TIMING)
    records = sorted(
        (item.record for items in by_close.values() for item in items),
        key=lambda each: (str(each.date), each.id),
    )
    days = tuple(later[each.id] for each in records if each.id in later)
    told = Recurring(group, key.side, _in_common(records), len(by_close), tuple(records), days, name="")
    return replace(told, name=_named(told, of))


def _in_common(records: Sequence[Record]) -> str:
    """The words that all texts have, in the order of the first; numbers apart, and months by themselves."""
    first, *others = (each.text for each in records)
    common = words(first).intersection(*(words(text) for text in others))
    return " ".join(
        word
        for word in dict.fromkeys(first.split())
        if words(word) <= common and any(letter.isalpha() for letter in word)
    )


def _named(found: Recurring, of: int) -> str:
    what = f"{found.group.value.replace('_', ' ')}: {found.says} {_when(found.records)}"
    count = f"{found.closes} of {of} closes"
    if len(found.records) > found.closes:
        count += f", {len(found.records)} times"
    return f"{what}, {_amounts(found)}, {count}, {_afterwards(found)}"


def _when(records: Sequence[Record]) -> str:
    dates = [each.date for each in records if each.date]
    days = sorted(day.day for day in dates)
    # Counted from the end of the month too: the 30th, the 28th and the 1st are around the same day.
    turned = sorted(day if day > _STEADY_DAYS else day + 31 for day in days)
    if days[-1] - days[0] <= _STEADY_DAYS:
        return f"around the {_ordinal(days[len(days) // 2])}"
    if turned[-1] - turned[0] <= _STEADY_DAYS:
        return "around the end of the month"
    return f"between the {_ordinal(days[0])} and the {_ordinal(days[-1])}"


def _ordinal(day: int) -> str:
    teens = range(11, 14)
    ending = "th" if day in teens else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _amounts(found: Recurring) -> str:
    currency = f" {found.least.currency}" if found.least.currency else ""
    if found.least.amount == found.most.amount:
        return f"{found.least.amount}{currency}"
    return f"{found.least.amount} to {found.most.amount}{currency}"


def _afterwards(found: Recurring) -> str:
    there = "in the books" if found.side == "bank" else "at the bank"
    if not found.later_days:
        return f"never {there} in these closes"
    low, high = min(found.later_days), max(found.later_days)
    days = f"{low}" if low == high else f"{low} to {high}"
    how_many = "" if len(found.later_days) == len(found.records) else f"{len(found.later_days)} of them "
    return f"{how_many}{there} {days} days later"


def _by_amount(record: Record) -> tuple[Decimal, str]:
    return record.amount or Decimal(0), record.id
