"""The tools of the matching namespace."""

import datetime
from dataclasses import replace
from decimal import Decimal
from typing import Annotated

from pydantic import Field, JsonValue

from ..functions import tool
from ..tables.namespace import Limit, Offset, next_offset
from ..tool import Effect, Record, Tool, ToolOutput
from .accounts import Asked, Compared, Sides
from .figures import figures_of, recurring_figures
from .match import Kind
from .reconciliation import Period, Reconciliation, reconcile
from .recurring import in_turn, months, recurring
from .shown import Detail, shown_match, shown_pattern, shown_reconciliation
from .workpaper.tool import StatementTool, previewing

_SOURCES = frozenset({"bank", "ledger"})
"""What is matched keeps the ids that its own namespace gave it."""
_BankName = Annotated[str, Field(description="As bank__list_accounts names it")]
_LedgerName = Annotated[str, Field(description="As ledger__list_accounts names it")]
_From = Annotated[datetime.date, Field(alias="from", description="First day, YYYY-MM-DD; included")]
_To = Annotated[datetime.date, Field(description="Last day, YYYY-MM-DD; included")]
_Window = Annotated[
    int | None,
    Field(
        ge=0, le=90, description="Days that the two dates of one movement may be apart; else the account's"
    ),
]
_Tolerance = Annotated[
    Decimal | None, Field(ge=0, description="By how much amounts may differ; else the account's")
]
_Materiality = Annotated[
    Decimal | None, Field(ge=0, description="Items of less are summed and not listed; else the account's")
]


def matching_tools(sides: Sides, statements: StatementTool) -> tuple[Tool, ...]:
    """The tools over what was read; all of them only read."""
    matching = _MatchingTools(sides)
    make = tool(effect=Effect.READ, record_namespaces=_SOURCES)
    functions = (matching.reconcile, matching.list_matches, matching.list_recurring)
    statement = make(statements.make_statement)
    previewed = replace(statement, preview=previewing(statement))
    return (*(make(function) for function in functions), previewed)


class _MatchingTools:
    def __init__(self, sides: Sides) -> None:
        self._sides = sides

    def reconcile(  # noqa: PLR0913  each is an argument of the tool
        self,
        *,
        bank_account: _BankName,
        ledger_account: _LedgerName,
        from_: _From,
        to: _To,
        window_days: _Window = None,
        tolerance: _Tolerance = None,
        materiality: _Materiality = None,
        evidence: Annotated[bool, Field(description="Give the evidence for each item")] = False,
        list_immaterial: Annotated[bool, Field(description="List what is below materiality too")] = False,
        limit: Annotated[Limit, Field(description="Items shown of each kind")] = 50,
    ) -> ToolOutput:
        """Reconciles a bank account with its account in the books: what ties, what not, and why."""
        asked = Asked(window_days, tolerance, materiality)
        of = self._sides.compared(bank_account, ledger_account, asked)
        period = Period(from_, to)
        done = self._reconciled(of, period)
        arguments = of.arguments(period)
        figures = figures_of(done, of.bank.label, of.books.label, arguments)
        detail = Detail(limit, evidence, list_immaterial)
        return ToolOutput(shown_reconciliation(done, figures, arguments, detail), figures.records)

    def list_matches(  # noqa: PLR0913  each is an argument of the tool
        self,
        *,
        bank_account: _BankName,
        ledger_account: _LedgerName,
        from_: _From,
        to: _To,
        window_days: _Window = None,
        tolerance: _Tolerance = None,
        kind: Annotated[Kind | None, Field(description="Only matches of this kind")] = None,
        record: Annotated[str | None, Field(description="Only the match that has this record")] = None,
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> ToolOutput:
        """Lists the proposed matches of a period with the evidence for each and its alternatives."""
        of = self._sides.compared(bank_account, ledger_account, Asked(window_days, tolerance))
        period = Period(from_, to)
        done = self._reconciled(of, period)
        found = [
            each
            for each in (*done.matches, *done.from_before, *done.into_next)
            if kind in {None, each.kind} and record in {None, *(one.id for one in each.records)}
        ]
        page = found[offset : offset + limit]
        content: dict[str, JsonValue] = {
            "total": len(found),
            "matches": [shown_match(each) for each in page],
            **next_offset(offset, len(page), len(found)),
        }
        records = [record for each in page for record in each.records]
        return ToolOutput(content, tuple(records))

    def _reconciled(self, of: Compared, period: Period) -> Reconciliation:
        return reconcile(of.bank, of.books, period, of.rule, self._sides.carried(of, period))

    def list_recurring(  # noqa: PLR0913  each is an argument of the tool
        self,
        *,
        bank_account: _BankName,
        ledger_account: _LedgerName,
        from_: _From,
        to: _To,
        window_days: _Window = None,
        tolerance: _Tolerance = None,
        least: Annotated[int, Field(ge=2, le=24, description="Closes that make a pattern")] = 2,
        limit: Limit = 20,
    ) -> ToolOutput:
        """Names what comes again in several monthly closes, such as a fee that is never entered in time."""
        of = self._sides.compared(bank_account, ledger_account, Asked(window_days, tolerance))
        periods = months(from_, to)
        done = in_turn(of.bank, of.books, periods, of.rule, self._sides.carried(of, periods[0]))
        found = recurring(done, least)
        arguments = {**of.arguments(Period(periods[0].start, periods[-1].end)), "least": least}
        content: dict[str, JsonValue] = {"closes": len(done), "total": len(found)}
        shown: list[JsonValue] = []
        records: list[Record] = []
        for number, each in enumerate(found[:limit], 1):
            figures = recurring_figures(each, number, arguments, of.bank.currency)
            shown.append(shown_pattern(each, figures.named))
            records += figures.records
        return ToolOutput({**content, "recurring": shown}, tuple(records))
