"""Whether a figure says what a record says: size, at its own precision, currency, sign and time."""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from ...namespaces.tool import Record
from .figures import Found, Parsed
from .money import codes, named_in
from .signs import shown, wrong_sign
from .sources import Sources
from .times import wrong_time
from .written import Reading

_PERCENT = Decimal(100)
_SCALES = (
    (
        re.compile(r"['\u2019]000|\b000s|thousand|\bTsd|TEUR|T€|\bk\b|[€£$]k\b", re.IGNORECASE),
        3,
    ),
    (re.compile(r"million|\bMio\b|\bm\b|[€£$]m\b", re.IGNORECASE), 6),
)
_FEW = 3
"""Records whose words are each told; of more, that none of them says so."""


class Agreement:
    """Compares the figures of one answer with records."""

    def __init__(self, parsed: Parsed, sources: Sources) -> None:
        self._parsed, self._sources = parsed, sources

    def disagreement(self, found: Found, cited: Sequence[Record]) -> str:
        """Why a figure does not say what the records right behind it say; empty when it does.

        It agrees with any one of them, with their sum where they are in one currency, with the
        difference of two, or, as a count, with how many there are.
        """
        problems = [self.problem(found, record) for record in cited]
        if not all(problems) or (len(cited) > 1 and self.together(found, cited)) or _counts(found, cited):
            return ""
        if len(cited) == 1:
            return problems[0]
        if len(cited) > _FEW:
            return f"none of the {len(cited)} records behind it says so, nor do they add up to it"
        return f"{'; '.join(problems)}; nor do they add up to it"

    def problem(self, found: Found, record: Record) -> str:
        """Why the figure does not say what the record says; empty when it does."""
        if self._says_in_words(found, record):
            return wrong_time(found, record, self._parsed)
        if record.amount is None:
            return f"{record.id} has no amount, and its text does not say this"
        if not _fits(found, record.amount):
            return f"{record.id} says {shown(record)}{self.hint(found, record.id)}"
        return (
            _wrong_currency(found, record)
            or wrong_sign(found, record, self._parsed)
            or wrong_time(found, record, self._parsed)
            or self._stale(record)
        )

    def may_be(self, found: Found, record: Record) -> bool:
        """Whether the record is of the figure's size, whatever else is wrong."""
        return record.amount is not None and _fits(found, record.amount)

    def together(self, found: Found, cited: Sequence[Record]) -> bool:
        """Whether the records make the figure together: by how many they are, their sum, or a difference."""
        if found.kind == "count" and any(reading.value == len(set(cited)) for reading in found.readings):
            return True
        amounts = [record.amount for record in cited if record.amount is not None]
        currencies = {record.currency for record in cited}
        if len(amounts) != len(cited) or len(currencies) > 1 or _wrong_currency(found, cited[0]):
            return False
        totals = [sum(amounts, Decimal(0))]
        if len(amounts) == 2:  # noqa: PLR2004  a difference is one of two
            totals.append(amounts[0] - amounts[1])
        return any(_fits(found, total) for total in totals)

    def hint(self, found: Found, beside: str = "") -> str:
        """Which other record has that amount, in brackets; empty when none has."""
        code = found.currencies[0] if len(found.currencies) == 1 else None
        amounts = (self._sources.with_amount(reading.value, code) for reading in found.readings)
        meant = next((each for each in amounts if each and each != beside), None)
        return f" ({meant} has that amount)" if meant else ""

    def _says_in_words(self, found: Found, record: Record) -> bool:
        """Whether the record's own text has the number, as a bank's does of a payment in another currency."""
        if found.kind == "plain":
            return re.search(rf"(?<!\d){re.escape(found.text)}(?!\d)", record.text) is not None
        values = {reading.value for reading in found.readings}
        for told in self._sources.told(record):
            if not values & {reading.value for reading in told.readings}:
                continue
            if record.amount is None and not (told.currencies and found.currencies):
                return True
            if {*told.currencies} & {*found.currencies}:
                return True
        return False

    def _stale(self, record: Record) -> str:
        if not self._sources.is_stale(record):
            return ""
        return f"{record.id} is out of date: what it was worked out from has changed since"

    def in_its_column(self, found: Found) -> Found:
        """The figure with the scale and the currency that the head of its column gives it."""
        head = self._parsed.tables.head(found.start)
        if not head:
            return found
        if not found.currencies:
            found = replace(found, currencies=named_in(head))
        places = next((places for pattern, places in _SCALES if pattern.search(head)), 0)
        scaled = (
            Reading(reading.value.scaleb(places), reading.step.scaleb(places)) for reading in found.readings
        )
        return replace(found, readings=(*found.readings, *scaled)) if places else found


def _wrong_currency(found: Found, record: Record) -> str:
    if found.kind == "count" and record.currency is not None:
        return f"{record.id} is an amount, no count"
    if not found.currencies:
        return ""
    if record.currency is not None:
        # Books may have only a symbol that stands for several currencies.
        same = {*codes(record.currency)} & {*found.currencies}
        return "" if same else f"{record.id} is in {record.currency}"
    return f"{record.id} is a number without a currency" if record.derivation else ""


def _counts(found: Found, cited: Sequence[Record]) -> bool:
    """Whether a count is how many movements are cited; a record that is a count itself says its own."""
    movements = all(record.currency is not None for record in cited)
    return found.kind == "count" and movements and found.readings[0].value == len({each.id for each in cited})


def _fits(found: Found, amount: Decimal) -> bool:
    factors = (Decimal(1), _PERCENT) if found.kind == "share" else (Decimal(1),)
    return any(reading.rounds_from(amount * factor) for reading in found.readings for factor in factors)
