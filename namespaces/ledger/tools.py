"""The tools of the ledger namespace."""

import datetime
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Annotated

from pydantic import Field, JsonValue

from ..errors import NamespaceError
from ..functions import tool
from ..records import amount_of, by_tool, id_part
from ..tables.namespace import From, Limit, Offset, To, next_offset
from ..tables.source import shown_findings
from ..tool import Effect, Record, Tool, ToolOutput
from .accounts import Account, Books, Posting

_AccountName = Annotated[str, Field(description="As list_accounts names it, or its code")]
_UNUSED = 50
"""Accounts without lines that are named at once."""


def ledger_tools(contents: Callable[[], Books]) -> tuple[Tool, ...]:
    """The tools over what `contents` gives when they are called; all of them only read."""
    ledger = _LedgerTools(contents)
    make = tool(effect=Effect.READ)
    functions = (ledger.list_accounts, ledger.get_gl_detail, ledger.get_journal, ledger.get_balance)
    return tuple(make(function) for function in functions)


class _LedgerTools:
    def __init__(self, contents: Callable[[], Books]) -> None:
        self._contents = contents

    def list_accounts(
        self,
        *,
        text: Annotated[str, Field(description="Part of the account's name or code")] = "",
        limit: Annotated[int, Field(ge=1, le=100)] = 25,
        offset: Offset = 0,
    ) -> ToolOutput:
        """Lists the accounts of the books: balances, dates, sums, and what is odd in the files."""
        books = self._contents()
        found = [each for each in books.accounts if text.casefold() in each.label.casefold()]
        page = found[offset : offset + limit]
        totals = {account.label: _totals(account) for account in page}
        records = [record for each in totals.values() for record in each.values()]
        content: dict[str, JsonValue] = {
            "total": len(found),
            "accounts": [_account(account, totals[account.label]) for account in page],
            "findings": shown_findings(books.findings),
        }
        sums = _sums(found, text) if text and len(found) > 1 else {}
        if sums:
            content["sums"] = {code: _figure(record) for code, record in sums.items()}
        unused = [name for name in books.without_lines if text.casefold() in name.casefold()]
        if unused:
            content["without_lines"] = [*unused[:_UNUSED]]
        content |= next_offset(offset, len(page), len(found))
        return ToolOutput(content, (*records, *sums.values()))

    def get_gl_detail(
        self,
        *,
        account: _AccountName,
        from_: From = None,
        to: To = None,
        text: Annotated[str, Field(description="Part of text, reference or journal number")] = "",
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> ToolOutput:
        """Lists the lines of one account, oldest first; a debit is positive."""
        of = self._contents().find(account)
        low, high = from_ or datetime.date.min, to or datetime.date.max
        dated = [each for each in of.postings if low <= each.line.date <= high]
        wanted = text.casefold()
        found = [each for each in dated if wanted in f"{each.line.text} {each.line.journal}".casefold()]
        page = found[offset : offset + limit]
        content: dict[str, JsonValue] = {
            "account": of.label,
            "currency": of.currency,
            "total": len(found),
            "sum": str(amount_of(each.record for each in found)),
            "lines": [_line(each) for each in page],
            **next_offset(offset, len(page), len(found)),
        }
        return ToolOutput(content, tuple(each.record for each in page))

    def get_journal(
        self, number: Annotated[str, Field(description="Journal number as get_gl_detail shows it")]
    ) -> ToolOutput:
        """Shows all lines of one journal, over all accounts."""
        found = self._contents().journal(number)
        lines: list[JsonValue] = [{"account": each.line.account, **_line(each)} for each in found]
        sums: dict[str, Decimal] = {}
        for each in found:
            weight = each.line.counts
            code = weight.currency or "no currency"
            sums[code] = sums.get(code, Decimal(0)) + weight.amount
        content: dict[str, JsonValue] = {
            "journal": number,
            "balanced": not any(sums.values()),
            "sums": {code: str(amount) for code, amount in sums.items()},
            "lines": lines,
        }
        return ToolOutput(content, tuple(each.record for each in found))

    def get_balance(
        self,
        account: _AccountName,
        date: Annotated[datetime.date, Field(description="YYYY-MM-DD")],
    ) -> ToolOutput:
        """Tells what an account of the books held at the end of a day; a debit is positive."""
        of = self._contents().find(account)
        record = of.balance_on(date)
        if record is None:
            raise NamespaceError(f"the books of {of.label!r} begin after {date}")
        content: dict[str, JsonValue] = {**_figure(record), "date": str(date), "how": record.text}
        return ToolOutput(content, (record,))


def _totals(account: Account) -> dict[str, Record]:
    """The figures of an account, by what they are; the opening only where the books state it."""
    source = by_tool("ledger__list_accounts", {})
    lines = [each.record for each in account.postings]
    debits = [each for each in lines if each.amount and each.amount > 0]
    credits_ = [each for each in lines if each.amount and each.amount < 0]
    amounts = {
        "lines": (Decimal(len(lines)), None),
        "debits": (amount_of(debits), account.currency),
        "credits": (amount_of(credits_), account.currency),
    }
    made = {
        kind: Record(
            id=f"ledger:total/{id_part(account.label)}/{kind}",
            amount=amount,
            currency=currency,
            text=f"{kind} of {account.label}",
            derivation=source,
        )
        for kind, (amount, currency) in amounts.items()
    }
    last = max((each.line.date for each in account.postings), default=None)
    balance = account.balance_on(last) if last else account.opening
    ends = {"opening": account.opening, "balance": balance}
    return {**made, **{kind: record for kind, record in ends.items() if record is not None}}


def _sums(found: Sequence[Account], text: str) -> dict[str, Record]:
    """What the accounts that a text finds hold together, by currency."""
    held: dict[str | None, Decimal] = {}
    for account in found:
        last = max((each.line.date for each in account.postings), default=None)
        balance = account.balance_on(last) if last else account.opening
        amount = balance.amount if balance is not None else None
        held[account.currency] = held.get(account.currency, Decimal(0)) + (amount or Decimal(0))
    return {
        code or "no currency": Record(
            id=f"ledger:total/{id_part(text)}/sum-{id_part(code or 'none')}",
            amount=amount,
            currency=code,
            text=f"sum of the balances of all accounts with {text!r} in their names",
            derivation=by_tool("ledger__list_accounts", {"text": text}),
        )
        for code, amount in held.items()
    }


def _account(account: Account, totals: dict[str, Record]) -> JsonValue:
    days = [each.line.date for each in account.postings]
    return {
        "account": account.label,
        "currency": account.currency,
        "first": str(min(days)) if days else None,
        "last": str(max(days)) if days else None,
        **{kind: _figure(record) for kind, record in totals.items()},
    }


def _figure(record: Record) -> dict[str, JsonValue]:
    return {"value": str(record.amount), "record": record.id}


def _line(posting: Posting) -> dict[str, JsonValue]:
    line = posting.line
    shown: dict[str, JsonValue] = {
        "record": posting.record.id,
        "date": str(line.date),
        "journal": line.journal,
        "amount": str(line.amount),
        "text": line.text,
    }
    if line.weight is not None:
        shown["counts"] = f"{line.weight.amount} {line.weight.currency or ''}".strip()
    if line.origin != "written":
        shown["origin"] = line.origin
    return shown
