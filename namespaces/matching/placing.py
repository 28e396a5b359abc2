"""Where the records of a match lie: before the period, in it, or after it."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ..records import Term
from ..tool import Record
from .carried import Carried
from .match import Match


class Period(NamedTuple):
    """Days from one to another, both included."""

    start: datetime.date
    end: datetime.date

    def __contains__(self, day: object) -> bool:
        return isinstance(day, datetime.date) and self.start <= day <= self.end


@dataclass(frozen=True, slots=True)
class Placing:
    """Says where a record lies. What was carried forward lies before the period."""

    period: Period
    carried: frozenset[str]

    def before(self, record: Record) -> bool:
        """Whether it was there before the period began."""
        return record.id in self.carried or (record.date or datetime.date.min) < self.period.start

    def after(self, record: Record) -> bool:
        """Whether it came after the period."""
        return record.id not in self.carried and (record.date or datetime.date.min) > self.period.end

    def within(self, record: Record) -> bool:
        """Whether it counts in what the period changed."""
        return not self.before(record) and not self.after(record)

    def inside(self, match: Match) -> bool:
        """Whether all of a match lies in the period."""
        return all(self.within(each) for each in match.records)

    def reaches_out(self, match: Match) -> bool:
        """Whether some of a match is still to come at the end of the period, and some is in it."""
        records = match.records
        return any(self.after(each) for each in records) and any(self.within(each) for each in records)

    def clears(self, match: Match) -> bool:
        """Whether a match takes up what was open before the period, with nothing still to come."""
        records = match.records
        if not any(self.before(each) for each in records) or any(self.after(each) for each in records):
            return False
        return any(self.within(each) or each.id in self.carried for each in records)

    def settles(self, match: Match) -> bool:
        """Whether a match that clears leaves nothing of its older records open.

        Two carried records that differ, as an amount entered wrongly and not yet mended, are open still.
        """
        return not match.difference or any(self.within(each) for each in match.records)

    def inner_terms(self, match: Match) -> tuple[Term, ...]:
        """What a match adds in the period to the bank less the books."""
        return tuple(term for term in terms_of_match(match) if self.within(term.record))

    def older_terms(self, match: Match) -> tuple[Term, ...]:
        """What a match had added before the period."""
        return tuple(term for term in terms_of_match(match) if self.before(term.record))


def terms_of_match(match: Match) -> tuple[Term, ...]:
    """What a match adds to the bank's balance less the books': its difference, record by record."""
    return (*(Term(1, each) for each in match.bank), *(Term(-1, each) for each in match.books))


def known_before(carried: Carried, matches: Iterable[Match], placing: Placing) -> Carried:
    """What was carried, and what some matches show to have been open besides."""
    more = [
        term for each in matches for term in placing.older_terms(each) if term.record.id not in carried.ids
    ]
    return Carried(
        (*carried.bank, *(term.record for term in more if term.sign > 0)),
        (*carried.books, *(term.record for term in more if term.sign < 0)),
    )


def still_open(known: Carried, matches: Iterable[Match], placing: Placing) -> Carried:
    """What no match has settled."""
    settled = {each.id for match in matches if placing.settles(match) for each in match.records}
    return Carried(
        tuple(each for each in known.bank if each.id not in settled),
        tuple(each for each in known.books if each.id not in settled),
    )
