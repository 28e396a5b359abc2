"""The tool that makes the reconciliation statement of several accounts."""

import asyncio
import datetime
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ...errors import NamespaceError
from ...tool import Arguments, Attachment, Record, Tool, ToolContext, ToolOutput
from ..accounts import Asked, Sides
from ..figures import figures_of
from ..reconciliation import Period, reconcile
from .flat import write_csv
from .sheets import write_xlsx
from .statement import InputFile, Statement, Workpaper, statement_of

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_MOST = 200


class StatedAccount(BaseModel):
    """One account of a statement."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bank_account: Annotated[str, Field(description="As bank__list_accounts names it")]
    ledger_account: Annotated[str, Field(description="As ledger__list_accounts names it")]
    entity: Annotated[str, Field(max_length=200, description="Whose account it is")] = ""


@dataclass(frozen=True, slots=True)
class StatementTool:
    """Reconciles the accounts and writes what came of it."""

    sides: Sides
    inputs: Callable[[], Sequence[Path]]
    """The files that both sides were read from."""
    today: Callable[[], datetime.date]
    """The day that the statement is dated with."""

    def make_statement(  # noqa: PLR0913  each is an argument of the tool
        self,
        *,
        accounts: Annotated[list[StatedAccount], Field(min_length=1, max_length=_MOST)],
        from_: Annotated[datetime.date, Field(alias="from", description="First day, YYYY-MM-DD; included")],
        to: Annotated[datetime.date, Field(description="Last day, YYYY-MM-DD; included")],
        preparer: Annotated[str, Field(max_length=200, description="Who prepares it")] = "",
        tolerance: Annotated[
            Decimal | None, Field(ge=0, description="By how much amounts may differ; else the accounts'")
        ] = None,
        materiality: Annotated[
            Decimal | None, Field(ge=0, description="Items of less are marked; else the accounts'")
        ] = None,
        context: ToolContext,
    ) -> ToolOutput:
        """Makes the reconciliation statement of several accounts, as XLSX and CSV.

        Where a person has to approve the call, the statement says who did.
        """
        period, asked = Period(from_, to), Asked(None, tolerance, materiality)
        made = [self._account(each, period, asked) for each in accounts]
        _refuse_twice([statement.bank_account for statement, _ in made])
        paper = Workpaper(
            statements=tuple(statement for statement, _ in made),
            inputs=tuple(input_file(path) for path in self.inputs()),
            made_on=self.today(),
            preparer=preparer,
            approver=context.approval.who if context.approval else "",
            approved_at=context.approval.at if context.approval else None,
        )
        stem = f"statement-{stem_of(period)}"
        files = (
            Attachment(f"{stem}.xlsx", write_xlsx(paper), _XLSX),
            Attachment(f"{stem}.csv", write_csv(paper), "text/csv"),
        )
        shown: list[JsonValue] = [_shown(statement, figures) for statement, figures in made]
        records = {record.id: record for _, figures in made for record in figures}
        content: dict[str, JsonValue] = {
            "accounts": shown,
            "inputs": [{"file": each.name, "sha256": each.sha256} for each in paper.inputs],
            "approved_by": paper.approver or None,
        }
        return ToolOutput(content, tuple(records.values()), attachments=files)

    def _account(self, of: StatedAccount, period: Period, asked: Asked) -> tuple[Statement, Sequence[Record]]:
        compared = self.sides.compared(of.bank_account, of.ledger_account, asked)
        bank, books = compared.bank, compared.books
        done = reconcile(bank, books, period, compared.rule, self.sides.carried(compared, period))
        statement = statement_of(done, of.entity, bank.label, books.label)
        named = figures_of(done, bank.label, books.label, compared.arguments(period)).named
        return statement, [named[each] for each in ("difference", "unexplained") if each in named]


def previewing(tool: Tool) -> Callable[[Arguments, ToolContext], Awaitable[str]]:
    """What whoever is to approve a statement is shown: what each account comes to."""

    async def preview(arguments: Arguments, context: ToolContext) -> str:
        made = await asyncio.to_thread(tool.call, arguments, context)
        content = made.content if isinstance(made, ToolOutput) else None
        if not isinstance(content, dict):
            return str(content)
        accounts = cast("list[dict[str, Any]]", content["accounts"])
        return "\n".join(["The reconciliation statement:", *map(_previewed, accounts)])

    return preview


def _previewed(account: Mapping[str, Any]) -> str:
    sums = [
        f"{name} {account[name]['value'] if name in account else 'not known'}"
        for name in ("difference", "unexplained")
    ]
    counts = f"{account['items']} items, {account['carried_forward']} carried forward"
    names = f"{account['bank_account']}, in the books {account['ledger_account']}"
    return f"- {names}:\n  {', '.join(sums)}; {counts}"


def _refuse_twice(accounts: Sequence[str]) -> None:
    for account, times in Counter(accounts).items():
        if times > 1:
            raise NamespaceError(f"{account!r} is there {times} times: a statement has each account once")


def input_file(path: Path) -> InputFile:
    """The file with the hash of its bytes.

    Raises:
        NamespaceError: it cannot be read.
    """
    try:
        with path.open("rb") as opened:
            return InputFile(path.name, hashlib.file_digest(opened, "sha256").hexdigest())
    except OSError as error:
        raise NamespaceError(f"{path.name} cannot be read: {error.strerror}") from error


def stem_of(period: Period) -> str:
    """The period in a file's name: the month where it is a whole one."""
    after = period.end + datetime.timedelta(1)
    whole = period.start.day == after.day == 1 and (after - period.start).days <= 31  # noqa: PLR2004
    return f"{period.start:%Y-%m}" if whole else f"{period.start}..{period.end}"


def _shown(of: Statement, figures: Iterable[Record]) -> JsonValue:
    named: dict[str, JsonValue] = {
        each.id.rpartition("/")[2]: {"value": str(each.amount), "record": each.id} for each in figures
    }
    return {
        "bank_account": of.bank_account,
        "ledger_account": of.ledger_account,
        **named,
        "items": len(of.items),
        "carried_forward": len(of.carried.bank) + len(of.carried.books),
    }
