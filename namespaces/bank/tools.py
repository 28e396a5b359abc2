"""The tools of the bank namespace."""

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from ..errors import NamespaceError
from ..functions import tool
from ..records import amount_of, by_tool, id_part
from ..tables.namespace import From, Limit, Offset, To, next_offset
from ..tables.source import shown_findings
from ..tool import Effect, Record, Tool, ToolOutput
from .accounts import Account, Accounts, Movement

_AccountName = Annotated[str, Field(description="As list_accounts names it, or its last digits")]
_Size = Annotated[Decimal | None, Field(ge=0, description="Without sign")]


def bank_tools(contents: Callable[[], Accounts]) -> tuple[Tool, ...]:
    """The tools over what `contents` gives when they are called; all of them only read."""
    bank = _BankTools(contents)
    make = tool(effect=Effect.READ)
    functions = (bank.list_accounts, bank.list_transactions, bank.get_transaction, bank.get_balance)
    return tuple(make(function) for function in functions)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Which movements a call asks for."""

    start: datetime.date | None
    end: datetime.date | None
    text: str
    smallest: Decimal | None
    largest: Decimal | None
    direction: Literal["in", "out"] | None

    def __call__(self, movement: Movement) -> bool:
        entry = movement.entry
        size = abs(entry.amount)
        return (
            (self.start is None or entry.booked >= self.start)
            and (self.end is None or entry.booked <= self.end)
            and (self.smallest is None or size >= self.smallest)
            and (self.largest is None or size <= self.largest)
            and (self.direction is None or (entry.amount > 0) == (self.direction == "in"))
            and self.text in f"{entry.name} {entry.text} {entry.id}".casefold()
        )


class _BankTools:
    def __init__(self, contents: Callable[[], Accounts]) -> None:
        self._contents = contents

    def list_accounts(self) -> ToolOutput:
        """Lists the bank accounts: currency, balances, dates, sums, and what is odd in the files."""
        read = self._contents()
        accounts = read.accounts
        totals = {account.label: _totals(account) for account in accounts}
        records = [record for account in accounts for record in totals[account.label].values()]
        records += [each.record for account in accounts for each in account.balances]
        listed: list[JsonValue] = [_account(each, totals[each.label]) for each in accounts]
        findings = shown_findings(read.findings)
        return ToolOutput({"accounts": listed, "findings": findings}, tuple(records))

    def list_transactions(  # noqa: PLR0913  each is an argument of the tool
        self,
        *,
        account: Annotated[
            str | None, Field(description="As list_accounts names it; all accounts without it")
        ] = None,
        from_: From = None,
        to: To = None,
        text: Annotated[str, Field(description="Part of name, text or reference")] = "",
        min_amount: _Size = None,
        max_amount: _Size = None,
        direction: Annotated[Literal["in", "out"] | None, Field(description="Money in or money out")] = None,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> ToolOutput:
        """Lists bank transactions by account, dates, text and amount, oldest first."""
        accounts = self._contents()
        chosen = [accounts.find(account)] if account is not None else list(accounts.accounts)
        wanted = _Wanted(from_, to, text.casefold(), min_amount, max_amount, direction)
        found = [(of, each) for of in chosen for each in of.movements if wanted(each)]
        page = found[offset : offset + limit]
        content: dict[str, JsonValue] = {
            "total": len(found),
            "sums": _sums(each.record for _, each in found if not each.entry.pending),
            "transactions": [_movement(of, each, named=len(chosen) > 1) for of, each in page],
            **next_offset(offset, len(page), len(found)),
        }
        return ToolOutput(content, tuple(each.record for _, each in page))

    def get_transaction(
        self, record: Annotated[str, Field(description="Its record id, such as bank:txn/...")]
    ) -> ToolOutput:
        """Shows one bank transaction with all that the file says of it."""
        found = self._contents().movement(record)
        if found is None:
            raise NamespaceError(
                f"there is no transaction {record!r}; list_transactions shows the ids there are"
            )
        account, movement = found
        entry = movement.entry
        content: dict[str, JsonValue] = {
            **_movement(account, movement, named=True),
            "bank_reference": entry.id,
            "file": movement.record.file,
            "row": entry.row,
        }
        return ToolOutput(content, (movement.record,))

    def get_balance(
        self,
        account: _AccountName,
        date: Annotated[datetime.date, Field(description="YYYY-MM-DD")],
    ) -> ToolOutput:
        """Tells what a bank account held at the end of a day."""
        found = self._contents().find(account)
        record = found.balance_on(date)
        if record is None:
            raise NamespaceError(
                f"no file states a dated balance of {found.label!r}, so none can be worked out"
            )
        content: dict[str, JsonValue] = {**_balance(record), "how": record.text}
        return ToolOutput(content, (record,))


def _totals(account: Account) -> dict[str, Record]:
    booked = [each.record for each in account.booked]
    credits_ = [each for each in booked if each.amount and each.amount > 0]
    debits = [each for each in booked if each.amount and each.amount < 0]
    source = by_tool("bank__list_accounts", {})
    amounts = {
        "transactions": (Decimal(len(booked)), None),
        "credits": (amount_of(credits_), account.currency),
        "debits": (amount_of(debits), account.currency),
    }
    return {
        kind: Record(
            id=f"bank:total/{id_part(account.label)}/{kind}",
            amount=amount,
            currency=currency,
            text=f"{kind} of {account.label}, booked",
            derivation=source,
        )
        for kind, (amount, currency) in amounts.items()
    }


def _account(account: Account, totals: dict[str, Record]) -> JsonValue:
    days = [each.entry.booked for each in account.booked]
    pending = len(account.movements) - len(account.booked)
    shown: dict[str, JsonValue] = {
        "account": account.label,
        "currency": account.currency,
        "files": list(account.files),
        "first": str(min(days)) if days else None,
        "last": str(max(days)) if days else None,
        **{kind: {"value": str(each.amount), "record": each.id} for kind, each in totals.items()},
        "balances": [_balance(each.record) for each in account.balances],
        "does_not_tie_by": [str(gap) for gap in account.gaps if gap],
    }
    if pending:
        shown["pending"] = pending
    return shown


def _balance(record: Record) -> dict[str, JsonValue]:
    return {
        "kind": record.id.rpartition("/")[2].partition(".")[0],
        "date": str(record.date) if record.date else None,
        "amount": str(record.amount),
        "currency": record.currency,
        "record": record.id,
    }


def _movement(account: Account, movement: Movement, *, named: bool) -> dict[str, JsonValue]:
    entry = movement.entry
    shown: dict[str, JsonValue] = {
        "record": movement.record.id,
        "date": str(entry.booked),
        "amount": str(entry.amount),
        "currency": entry.currency,
        "name": entry.name,
        "text": entry.text,
    }
    if entry.value_date and entry.value_date != entry.booked:
        shown["value_date"] = str(entry.value_date)
    if entry.pending:
        shown["pending"] = True
    return {"account": account.label, **shown} if named else shown


def _sums(records: Iterable[Record]) -> dict[str, JsonValue]:
    sums: dict[str, Decimal] = {}
    for record in records:
        code = record.currency or "no currency"
        sums[code] = sums.get(code, Decimal(0)) + (record.amount or Decimal(0))
    return {code: str(amount) for code, amount in sums.items()}
