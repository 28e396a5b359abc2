"""The records an answer may rest on: what it cites, what those were made of, and what they are today."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import cast

from ...namespaces.tool import Record
from ..resident.calculate import CalculationError, Quantity, Value, evaluate
from ..scrub import json_object
from .figures import Found, parse

_DEPTH = 20
"""Calculations over calculations that are followed."""


class Sources:
    """The session's records, as an answer is checked against them."""

    def __init__(self, records: Mapping[str, Record]) -> None:
        self.records = records
        self._stale: dict[str, bool] = {}
        self._told: dict[str, Sequence[Found]] = {}
        self._by_amount: dict[Decimal, list[str]] | None = None

    def get(self, identity: str) -> Record | None:
        """The record of that id; None when there is none."""
        return self.records.get(identity)

    def behind(self, cited: Sequence[str]) -> dict[str, Record]:
        """The cited records and, of those that are calculated, what they were calculated from."""
        found: dict[str, Record] = {}
        waiting = list(dict.fromkeys(cited))
        while waiting:
            record = self.records.get(waiting.pop())
            if record is not None and record.id not in found:
                found[record.id] = record
                waiting += _inputs(record)
        return found

    def told(self, record: Record) -> Sequence[Found]:
        """The numbers in the record's own text, such as an amount in another currency."""
        if record.id not in self._told:
            self._told[record.id] = parse(record.text).numbers
        return self._told[record.id]

    def is_stale(self, record: Record, depth: int = _DEPTH) -> bool:
        """Whether a calculated record, or one it was calculated from, comes to something else today.

        Each step is worked out over the amounts that its inputs have now; what no expression was
        worked out by, such as the figure of a tool, cannot be replayed and is taken as it is.
        """
        if record.id not in self._stale:
            self._stale[record.id] = False  # a circle ends here
            inputs = (self.records.get(each) for each in _inputs(record)) if depth else ()
            self._stale[record.id] = self._has_changed(record) or any(
                self.is_stale(each, depth - 1) for each in inputs if each is not None
            )
        return self._stale[record.id]

    def with_amount(self, amount: Decimal, currency: str | None) -> str | None:
        """The newest record of that amount; None when there is none."""
        if self._by_amount is None:
            self._by_amount = {}
            for record in self.records.values():
                if record.amount is not None:
                    self._by_amount.setdefault(abs(record.amount), []).append(record.id)
        fitting = (
            each
            for each in reversed(self._by_amount.get(abs(amount), []))
            if currency is None or self.records[each].currency == currency
        )
        return next(fitting, None)

    def _has_changed(self, record: Record) -> bool:
        told = json_object(record.derivation or "") or {}
        expression, inputs = told.get("expression"), told.get("inputs")
        if not isinstance(expression, str) or not isinstance(inputs, dict):
            return False
        names: dict[str, Value] = {}
        for name, given in inputs.items():
            ids = [given] if isinstance(given, str) else [str(each) for each in cast("list[object]", given)]
            values = [quantity for each in ids if (quantity := self._now(each)) is not None]
            if len(values) != len(ids):
                return False
            names[name] = values[0] if isinstance(given, str) else tuple(values)
        try:
            return evaluate(expression, names).value != record.amount
        except CalculationError:
            return False

    def _now(self, identity: str) -> Quantity | None:
        record = self.records.get(identity)
        return None if record is None or record.amount is None else Quantity(record.amount, record.currency)


def _inputs(record: Record) -> Iterator[str]:
    told = json_object(record.derivation or "") or {}
    inputs = told.get("inputs")
    if isinstance(inputs, dict):
        for given in inputs.values():
            yield from ([given] if isinstance(given, str) else map(str, cast("list[object]", given)))
