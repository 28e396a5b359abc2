"""The tools of the matching namespace."""

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated

from pydantic import Field, JsonValue

from ..bank.accounts import Accounts
from ..functions import tool
from ..ledger.accounts import Books
from ..tables.namespace import Limit, Offset
from ..tool import Effect, Record, Tool, ToolOutput
from .figures import Figures, figures_of
from .match import Kind, Match, Rule
from .reconciliation import Group, Item, Period, Reconciliation, reconcile

_SOURCES = frozenset({"bank", "ledger"})
"""What is matched keeps the ids that its own namespace gave it."""
_BankName = Annotated[str, Field(description="As bank__list_accounts names it")]
_LedgerName = Annotated[str, Field(description="As ledger__list_accounts names it")]
_From = Annotated[datetime.date, Field(alias="from", description="First day, YYYY-MM-DD; included")]
_To = Annotated[datetime.date, Field(description="Last day, YYYY-MM-DD; included")]
_Window = Annotated[
    int, Field(ge=0, le=90, description="Days that the two dates of one movement may be apart")
]
_Tolerance = Annotated[Decimal, Field(ge=0, description="By how much amounts may differ")]


def matching_tools(accounts: Accounts, books: Books) -> tuple[Tool, ...]:
    """The tools over what was read; all of them only read."""
    matching = _MatchingTools(accounts, books)
    make = tool(effect=Effect.READ, record_namespaces=_SOURCES)
    return make(matching.reconcile), make(matching.list_matches)


class _MatchingTools:
    def __init__(self, accounts: Accounts, books: Books) -> None:
        self._accounts, self._books = accounts, books

    def reconcile(  # noqa: PLR0913  each is an argument of the tool
        self,
        *,
        bank_account: _BankName,
        ledger_account: _LedgerName,
        from_: _From,
        to: _To,
        window_days: _Window = 5,
        tolerance: _Tolerance = Decimal(0),
        limit: Annotated[Limit, Field(description="Items shown of each kind")] = 50,
    ) -> ToolOutput:
        """Reconciles a bank account with its account in the books: what ties, what not, and why."""
        bank, books = self._accounts.find(bank_account), self._books.find(ledger_account)
        done = reconcile(bank, books, Period(from_, to), Rule(window_days, tolerance))
        arguments: dict[str, JsonValue] = {
            "bank_account": bank.label,
            "ledger_account": books.label,
            "from": str(from_),
            "to": str(to),
            "window_days": window_days,
            "tolerance": str(tolerance),
        }
        figures = figures_of(done, bank.label, books.label, arguments)
        return ToolOutput(_content(done, figures, arguments, limit), figures.records)

    def list_matches(  # noqa: PLR0913  each is an argument of the tool
        self,
        *,
        bank_account: _BankName,
        ledger_account: _LedgerName,
        from_: _From,
        to: _To,
        window_days: _Window = 5,
        tolerance: _Tolerance = Decimal(0),
        kind: Annotated[Kind | None, Field(description="Only matches of this kind")] = None,
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> ToolOutput:
        """Lists the proposed matches of a period with the evidence for each and its alternatives."""
        bank, books = self._accounts.find(bank_account), self._books.find(ledger_account)
        done = reconcile(bank, books, Period(from_, to), Rule(window_days, tolerance))
        found = [each for each in done.matches if kind is None or each.kind == kind]
        page = found[offset : offset + limit]
        content: dict[str, JsonValue] = {
            "total": len(found),
            "matches": [_match(each) for each in page],
        }
        if offset + len(page) < len(found):
            content["next_offset"] = offset + len(page)
        records = [record for each in page for record in (each.bank, each.book)]
        return ToolOutput(content, tuple(records))


def _content(
    done: Reconciliation, figures: Figures, arguments: dict[str, JsonValue], limit: int
) -> JsonValue:
    named = figures.named
    kinds = [each.kind for each in done.matches]
    ends = {
        "bank": done.bank_balance,
        "books": done.books_balance,
        **{name: named.get(name) for name in ("difference", "explained", "unexplained")},
        "opening_difference": named.get("opening_difference"),
    }
    rest = named.get("unexplained")
    return {
        "asked": arguments,
        "currency": named["explained"].currency,
        "balances": {name: _figure(record) for name, record in ends.items()},
        "all_explained": None if rest is None else not rest.amount,
        "matched": {
            **{kind: kinds.count(kind) for kind in ("exact", "timing", "near")},
            **_figure_of(named["matched"]),
        },
        **{group.value: _group(done.of(group), group, figures, limit) for group in Group},
        "clears_from_before": [_match(each) for each in done.from_before[:limit]],
    }


def _group(items: Sequence[Item], group: Group, figures: Figures, limit: int) -> JsonValue:
    shown: dict[str, JsonValue] = {
        "count": _figure(figures.named[f"{group.value}_count"]),
        "adds_to_difference": _figure(figures.named[group.value]),
        "items": [_item(each) for each in items[:limit]],
    }
    if len(items) > limit:
        shown["not_shown"] = len(items) - limit
    return shown


def _item(item: Item) -> JsonValue:
    record = item.terms[0].record
    return {
        "record": record.id,
        "date": str(record.date),
        "amount": str(record.amount),
        "text": record.text,
        "why": item.why,
    }


def _match(each: Match) -> JsonValue:
    shown: dict[str, JsonValue] = {
        "kind": each.kind,
        "bank": {"record": each.bank.id, "date": str(each.bank.date), "text": each.bank.text},
        "books": {"record": each.book.id, "date": str(each.book.date), "text": each.book.text},
        "amount": str(each.bank.amount),
        "days": each.days,
        "similarity": each.similarity,
        "reason": each.reason,
    }
    if each.difference:
        shown["difference"] = str(each.difference)
    if each.alternatives:
        shown["alternatives"] = list(each.alternatives)
    return shown


def _figure(record: Record | None) -> JsonValue:
    return None if record is None else _figure_of(record)


def _figure_of(record: Record) -> dict[str, JsonValue]:
    return {"value": str(record.amount), "record": record.id}
