"""What speaks for a match and what else would have fitted, in plain statements."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from ..records import amount_of
from ..tool import Record
from .rule import AccountRule
from .similarity import references, shared_share, words

SHOWN_ALTERNATIVES = 5
_SHOWN_WORDS = 4


class Compared(NamedTuple):
    """Two sides of a match beside each other."""

    days: int
    similarity: int
    evidence: tuple[str, ...]


class Sides(Protocol):
    """What alternatives are looked for in."""

    @property
    def bank(self) -> Sequence[Record]:
        """Of the bank."""
        ...

    @property
    def books(self) -> Sequence[Record]:
        """Of the books."""
        ...


def compared(bank: Sequence[Record], books: Sequence[Record]) -> Compared:
    """Compares amounts, dates, references and texts; of one side alone, its records with each other."""
    if not bank or not books:
        return _one_side(bank or books)
    days = farthest(bank, books)
    one, other = _words(bank), _words(books)
    common = _references(bank) & _references(books)
    evidence = [_of_amounts(bank, books), f"dates {apart(days)}" if days else "same day"]
    evidence += [f"same reference {each}" for each in sorted(common)[:_SHOWN_WORDS]]
    shared = sorted(each for each in one & other if each not in common and not each.isdigit())
    if shared:
        evidence.append(f"both texts say {', '.join(shared[:_SHOWN_WORDS])}")
    elif not common:
        evidence.append("the texts have nothing in common")
    return Compared(days, shared_share(one, other), tuple(evidence))


def days_between(bank: Record, book: Record) -> int:
    """Days from the books' date to the bank's; both have a date."""
    return 0 if bank.date is None or book.date is None else (bank.date - book.date).days


def apart(days: int) -> str:
    """`1 day apart`, `3 days apart`, `on the same day`; whoever was first."""
    if not days:
        return "on the same day"
    return f"{abs(days)} {'day' if abs(days) == 1 else 'days'} apart"


def farthest(bank: Sequence[Record], books: Sequence[Record]) -> int:
    """Days between the two that are farthest apart, as `days_between` counts them."""
    return max((days_between(a, b) for a in bank for b in books), key=lambda days: (abs(days), days))


def _one_side(records: Sequence[Record]) -> Compared:
    first, *others = records
    common = references(first.text).intersection(*(references(each.text) for each in others))
    evidence = [f"{' and '.join(str(each.amount) for each in records)} add up to {amount_of(records)}"]
    evidence += [f"same reference {each}" for each in sorted(common)[:_SHOWN_WORDS]]
    return Compared(0, shared_share(words(first.text), _words(others)), tuple(evidence))


def _of_amounts(bank: Sequence[Record], books: Sequence[Record]) -> str:
    one, other = amount_of(bank), amount_of(books)
    if one != other:
        return f"{one} at the bank, {other} in the books"
    many = max(len(bank), len(books))
    return f"{many} records add up to {one}" if many > 1 else f"same amount {one}"


def _words(records: Iterable[Record]) -> frozenset[str]:
    return frozenset[str]().union(*(words(each.text) for each in records))


def _references(records: Iterable[Record]) -> frozenset[str]:
    return frozenset[str]().union(*(references(each.text) for each in records))


_Dated = dict[object, list[tuple[int, str]]]
"""Days, as ordinals, and ids by currency and amount."""


class Alternatives:
    """Finds records of equal amount, without looking at every record for every match."""

    def __init__(self, pool: Sides, rule: AccountRule) -> None:
        self._window = rule.window_days
        self._bank, self._books = _dated(pool.bank), _dated(pool.books)

    def of(self, bank: Sequence[Record], books: Sequence[Record]) -> tuple[str, ...]:
        """Ids of others that would have fitted a match of one with one; none for other matches."""
        if len(bank) != 1 or len(books) != 1:
            return ()
        found = [*self._like(bank[0], self._books), *self._like(books[0], self._bank)]
        own = {bank[0].id, books[0].id}
        return tuple(each for each in found if each not in own)[:SHOWN_ALTERNATIVES]

    def _like(self, record: Record, side: _Dated) -> list[str]:
        dated = side.get((record.currency, record.amount), [])
        if len(dated) <= 1:
            return [each for _, each in dated]
        day = _ordinal(record)
        low = bisect_left(dated, day - self._window, key=_day)
        high = bisect_right(dated, day + self._window, key=_day)
        return [each for _, each in dated[low : min(high, low + SHOWN_ALTERNATIVES + 1)]]


def _dated(side: Sequence[Record]) -> _Dated:
    found: _Dated = {}
    for record in side:
        found.setdefault((record.currency, record.amount), []).append((_ordinal(record), record.id))
    for dated in found.values():
        dated.sort()
    return found


def _ordinal(record: Record) -> int:
    return record.date.toordinal() if record.date else 0


def _day(dated: tuple[int, str]) -> int:
    return dated[0]
