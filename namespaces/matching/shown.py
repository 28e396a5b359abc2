"""A reconciliation and its matches as JSON, short enough for a model to read whole."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from ..tool import Record
from .figures import ALWAYS, FOLDED, Figures
from .items import Group, Item
from .match import KINDS, Match
from .reconciliation import Reconciliation
from .recurring import Recurring

_BALANCES = ("difference", "explained", "unexplained", "opening_difference", "opening_explained")
_OPENING_REST = "opening_unexplained"


class Detail(NamedTuple):
    """How much of the items is shown."""

    limit: int
    """Items of each kind."""
    evidence: bool
    immaterial: bool
    """Whether items below materiality are listed one by one."""


def shown_reconciliation(
    done: Reconciliation, figures: Figures, arguments: Mapping[str, JsonValue], detail: Detail
) -> dict[str, JsonValue]:
    """The whole of it: balances, counts and sums by kind, items."""
    named = figures.named
    rest = named.get("unexplained")
    balances: dict[str, JsonValue] = {
        "bank": _maybe(done.closing.bank),
        "books": _maybe(done.closing.books),
        **{name: _maybe(named.get(name)) for name in (*_BALANCES, _OPENING_REST)},
    }
    content: dict[str, JsonValue] = {
        "asked": dict(arguments),
        "currency": done.currency,
        "balances": balances,
        "all_explained": None if rest is None else not rest.amount,
        "matched": {**_kinds(done.matches), **_figure(named["matched"])},
    }
    groups = [group for group in Group if group in ALWAYS or done.of(group)]
    content |= {group.value: _group(done.of(group), group, figures, detail) for group in groups}
    if done.known_before:
        content["carried_forward"] = _carried(done, figures, detail)
    if done.findings:
        content["findings"] = list(done.findings)
    return content


def shown_match(match: Match, *, evidence: bool = True) -> dict[str, JsonValue]:
    """One match: its records on both sides, and what speaks for it."""
    shown: dict[str, JsonValue] = {
        "kind": match.kind,
        "bank": [shown_record(each) for each in match.bank],
        "books": [shown_record(each) for each in match.books],
        "days": match.days,
        "similarity": match.similarity,
        "reason": match.reason,
    }
    if match.difference:
        shown["difference"] = str(match.difference)
    if evidence:
        shown["evidence"] = list(match.evidence)
    if match.alternatives:
        shown["alternatives"] = list(match.alternatives)
    if match.ambiguous:
        shown["ambiguous"] = True
    return shown


def shown_record(record: Record) -> dict[str, JsonValue]:
    """One record, short."""
    return {
        "record": record.id,
        "date": str(record.date),
        "amount": str(record.amount),
        "text": record.text,
    }


def _kinds(matches: Sequence[Match]) -> dict[str, JsonValue]:
    kinds = [each.kind for each in matches]
    return {kind: kinds.count(kind) for kind in KINDS if kind in kinds}


def _group(items: Sequence[Item], group: Group, figures: Figures, detail: Detail) -> JsonValue:
    named = figures.named
    listed = [item for item in items if item.material or detail.immaterial]
    shown: dict[str, JsonValue] = {
        "count": _figure(named[f"{group.value}_count"]),
        "adds_to_difference": _figure(named[group.value]),
        "items": [_item(each, detail) for each in listed[: detail.limit]],
    }
    if len(listed) > detail.limit:
        shown["not_shown"] = len(listed) - detail.limit
    if folded := named.get(f"{group.value}/{FOLDED}"):
        count = named[f"{group.value}/{FOLDED}_count"]
        shown[FOLDED] = {
            "says": f"{count.amount} items below materiality, together {folded.amount}",
            "count": _figure(count),
            "adds_to_difference": _figure(folded),
        }
    return shown


def _item(item: Item, detail: Detail) -> JsonValue:
    shown = {**shown_record(item.record), "why": item.why}
    if len(item.terms) > 1:
        shown["adds_to_difference"] = str(item.amount)
        shown["with"] = [term.record.id for term in item.terms[1:]]
    if not item.material:
        shown["material"] = False
    if item.match and item.match.ambiguous:
        shown["ambiguous"] = True
    if detail.evidence:
        shown |= {"evidence": list(item.evidence), "alternatives": list(item.alternatives)}
    return shown


def _carried(done: Reconciliation, figures: Figures, detail: Detail) -> JsonValue:
    still = [*done.still_open.bank, *done.still_open.books]
    shown: dict[str, JsonValue] = {
        name: _figure(figures.named[name]) for name in ("carried_count", "still_open_count", "still_open")
    }
    shown["still_open_items"] = [shown_record(each) for each in still[: detail.limit]]
    if len(still) > detail.limit:
        shown["not_shown"] = len(still) - detail.limit
    return shown


def _maybe(record: Record | None) -> JsonValue:
    return None if record is None else _figure(record)


def _figure(record: Record) -> dict[str, JsonValue]:
    return {"value": str(record.amount), "record": record.id}


def shown_pattern(pattern: Recurring, figures: Mapping[str, Record]) -> dict[str, JsonValue]:
    """One thing that recurs, with its records.

    Args:
        pattern: What recurs.
        figures: Its number of closes and its sum, by name.
    """
    return {
        "name": pattern.name,
        "kind": pattern.group.value,
        "side": pattern.side,
        "least": _figure(pattern.least),
        "most": _figure(pattern.most),
        **{name: _figure(record) for name, record in figures.items()},
        "records": [shown_record(each) for each in pattern.records],
    }
