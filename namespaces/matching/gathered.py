"""The records that take part in a reconciliation: the period, some days around it, what was carried."""

import datetime
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import NamedTuple

from ..records import amount_of
from ..tool import Record
from .carried import Carried
from .placing import Period

Between = Callable[[datetime.date | None, datetime.date | None], list[Record]]
"""Records of one side from one day to another."""


class Gathered(NamedTuple):
    """What is matched, each record once."""

    bank: tuple[Record, ...]
    books: tuple[Record, ...]
    carried: Carried
    """As far as it could be used."""
    findings: tuple[str, ...]


class Sources(NamedTuple):
    """Where the records of both sides come from."""

    bank: Between
    books: Between
    opening: Decimal | None
    """Bank less books before the period; None when one of the balances is not known."""
    currency: str | None


def gather(sources: Sources, period: Period, window_days: int, carried: Carried) -> Gathered:
    """Takes the records of both sides together, without counting what was carried twice.

    Where what was carried explains the opening difference to the cent, all else before the period is
    settled and takes no part: it could only be taken for what it is not.
    """
    findings: list[str] = []
    bank = _Side(sources.bank, carried.bank, period, sources.currency, findings)
    books = _Side(sources.books, carried.books, period, sources.currency, findings)
    used = Carried(bank.carried, books.carried)
    settled = bool(used) and sources.opening == amount_of(used.bank) - amount_of(used.books)
    around = datetime.timedelta(window_days)
    start = period.start if settled else period.start - around
    return Gathered(
        bank.records(start, period.end + around),
        books.records(start, period.end + around),
        used,
        tuple(findings),
    )


class _Side:
    def __init__(
        self,
        between: Between,
        carried: Sequence[Record],
        period: Period,
        currency: str | None,
        findings: list[str],
    ) -> None:
        self._between = between
        known = {each.id: each for each in between(None, None)} if carried else {}
        self.carried = tuple(
            known.get(each.id, each)
            for each in {each.id: each for each in carried}.values()
            if _usable(each, known.get(each.id), period, currency, findings)
        )

    def records(self, start: datetime.date, end: datetime.date) -> tuple[Record, ...]:
        """Those of some days, and what was carried."""
        return tuple({each.id: each for each in (*self._between(start, end), *self.carried)}.values())


def _usable(
    record: Record, known: Record | None, period: Period, currency: str | None, findings: list[str]
) -> bool:
    """Whether a carried record can take part; what speaks against it is a finding."""
    dates = (record.date, known.date if known else None)
    if any(day is not None and day >= period.start for day in dates):
        what = "so it is no open item from before the period: it is taken as the files have it"
        findings.append(f"{record.id} was carried forward and is of {(known or record).date}, {what}")
        return False
    if record.currency != currency or record.amount is None:
        findings.append(
            f"{record.id} was carried forward with {record.amount} {record.currency or 'in no currency'},"
            f" and the account is in {currency or 'no stated currency'}: it is left out"
        )
        return False
    if known is not None and known.amount != record.amount:
        findings.append(
            f"{record.id} was carried forward with {record.amount}, and the files now have {known.amount}:"
            " the files count"
        )
    return True
