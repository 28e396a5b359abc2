"""What a person is shown of a reconciliation, and the same for a program."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from ....namespaces.matching.items import Group, Item, added, terms_of
from ....namespaces.matching.workpaper import Statement
from .result import Result, Worked, how_to_pair

_SHOWN = 12
"""Items shown of each account; the statement has all of them."""
_WIDTH = 44


def as_text(result: Result, files: Iterable[Path], next_command: str) -> Iterator[str]:
    """The result, a few lines an account."""
    period = result.period
    yield f"Reconciled {period.start} to {period.end}"
    for each in result.worked:
        yield ""
        yield from _account(each)
    for unpaired in result.unpaired:
        yield ""
        yield how_to_pair(unpaired)
    if result.notes:
        yield ""
        yield from (f"! {note}" for note in result.notes)
    yield ""
    yield from (f"written: {path}" for path in files)
    yield f"investigate what is left with: {next_command}"


def _account(worked: Worked) -> Iterator[str]:
    of, currency = worked.statement, worked.statement.currency or ""
    ends = of.balances
    yield f"{of.bank_account} against {of.ledger_account} ({worked.pair.how})"
    yield (
        f"  bank {_money(ends.bank_closing)}, books {_money(ends.books_closing)}, difference"
        f" {_money(ends.difference)} {currency}".rstrip()
    )
    matched = ", ".join(f"{each.number} {each.kind.replace('_', ' ')}" for each in of.matched)
    yield f"  matched: {matched or 'nothing'}"
    if of.brought:
        yield f"  open before: {_money(added(of.brought.terms))}"
    yield from _items(of.items)
    yield f"  explained {_money(of.explained)}, unexplained {_money(of.unexplained)}"


def _items(items: Sequence[Item]) -> Iterator[str]:
    material = [item for item in items if item.material]
    shown = material[:_SHOWN]
    for group in Group:
        found = [item for item in items if item.group is group]
        if found:
            words = group.value.replace("_", " ")
            yield f"  {words}: {len(found)}, together {_money(added(terms_of(found)))}"
            for item in (each for each in shown if each.group is group):
                yield f"    {item.record.date} {_money(item.amount):>14}  {_short(item.record.text)}"
    if len(material) > len(shown):
        yield f"    {len(material) - len(shown)} more are in the statement"


def as_json(result: Result, files: Iterable[Path], next_command: str) -> str:
    """The result as one JSON object, amounts as texts."""
    return json.dumps(
        {
            "from": str(result.period.start),
            "to": str(result.period.end),
            "explained": result.explained,
            "accounts": [_json_account(each.statement) for each in result.worked],
            "unpaired": [each.bank.label for each in result.unpaired],
            "notes": list(result.notes),
            "files": [str(path) for path in files],
            "next": next_command,
        },
        ensure_ascii=False,
    )


def _json_account(of: Statement) -> dict[str, object]:
    ends = of.balances
    groups = Counter(item.group.value for item in of.items)
    return {
        "bank_account": of.bank_account,
        "ledger_account": of.ledger_account,
        "currency": of.currency,
        "bank": _text(ends.bank_closing),
        "books": _text(ends.books_closing),
        "difference": _text(ends.difference),
        "explained": _text(of.explained),
        "unexplained": _text(of.unexplained),
        "matched": {each.kind: each.number for each in of.matched},
        "items": dict(groups),
        "carried_forward": len(of.carried.bank) + len(of.carried.books),
    }


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)


def _money(amount: Decimal | None) -> str:
    return "unknown" if amount is None else f"{amount:,}"


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
