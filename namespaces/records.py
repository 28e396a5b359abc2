"""Ids of records, and records that are computed of others or by a tool.

A derivation is JSON and can be replayed: `{"expression": ..., "inputs": ...}` as the resident tool
`calculate` takes it, or `{"tool": ..., "arguments": ...}` for a call that only reads. Long sums are
made of partial sums, each a record of its own, so that no derivation grows without bound.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from pydantic import JsonValue

from .tool import Record

TERMS = 40
"""Most terms of one derivation."""
_MAX_PART = 64
_UNSAFE = re.compile(r"[^A-Za-z0-9._~+-]+")


class Term(NamedTuple):
    """One record of a sum."""

    sign: int
    """1 or -1."""
    record: Record


class Ids:
    """Gives ids that are unique: of equal ones the second ends in `.2`, the third in `.3`."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def give(self, wanted: str) -> str:
        """The id, with a number behind it if it is taken."""
        given = wanted
        while given in self._taken:
            number = self._next.get(wanted, 2)
            self._next[wanted] = number + 1
            given = f"{wanted}.{number}"
        self._taken.add(given)
        return given


def id_part(text: str) -> str:
    """A text as one part of a record id: nothing in it ends the id, a link or a part."""
    return _UNSAFE.sub("-", text).strip("-")[:_MAX_PART] or "-"


def by_tool(name: str, arguments: Mapping[str, JsonValue]) -> str:
    """The derivation of a figure that a call of a reading tool gives."""
    return json.dumps({"tool": name, "arguments": dict(arguments)}, ensure_ascii=False)


def sum_records(name: str, terms: Sequence[Term], currency: str | None, text: str) -> tuple[Record, ...]:
    """The sum of signed records as records: partial sums first, the sum itself last.

    Args:
        name: Id of the sum; partial sums are `name/part-1.1` and so on.
        terms: Records without an amount count 0.
        currency: Of the sum; the terms are all in it.
        text: What the sum is.
    """
    made: list[Record] = []
    level = 1
    while len(terms) > TERMS:
        starts = range(0, len(terms), TERMS)
        parts = [
            _sum(f"{name}/part-{level}.{number}", terms[start : start + TERMS], currency)
            for number, start in enumerate(starts, 1)
        ]
        made += parts
        terms, level = [Term(1, part) for part in parts], level + 1
    return (*made, replace(_sum(name, terms, currency), text=text))


def amount_of(records: Iterable[Record]) -> Decimal:
    """The sum of their amounts; a record without one counts 0."""
    return sum((record.amount or Decimal(0) for record in records), Decimal(0))


def _sum(name: str, terms: Sequence[Term], currency: str | None) -> Record:
    counted = [term for term in terms if term.record.amount is not None]
    zero = Decimal(0)
    amount = sum((sign * (record.amount or zero) for sign, record in counted), zero)
    sides = {
        "plus": [record.id for sign, record in counted if sign > 0],
        "minus": [record.id for sign, record in counted if sign < 0],
    }
    inputs = {side: ids for side, ids in sides.items() if ids}
    written = {"plus": "sum(plus)", "minus": "-sum(minus)"}
    expression = " ".join(written[side] for side in inputs).replace(" -", " - ") or "0"
    derivation = json.dumps({"expression": expression, "inputs": inputs}, ensure_ascii=False)
    return Record(name, amount, currency, text="part of a sum", derivation=derivation)
