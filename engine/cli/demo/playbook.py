"""The investigation as a playbook: what models would do over the real tools, one of them for each account.

Each figure of its answer is taken from a tool's result, none is written here.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ...models.scripted import Call
from . import ACCOUNTS, MATERIALITY, TOLERANCE, DemoAccount, DemoMonth
from .entry import entry_for
from .report import Account, Investigation, Posted, Worked, account_report, report, worked_of

if TYPE_CHECKING:
    from ...models.scripted import Playbook, PlaybookFunction

Json = Any
"""JSON of a tool whose shape the playbook knows."""
PREPARER = "offing demo"
_KEPT = re.compile(r'read\(source="([^"]+)"')
"""Where a result that is cut can be read whole."""
_PLACE = re.compile(r"of (\d+)\]$")
_RULE = {"tolerance": TOLERANCE, "materiality": MATERIALITY}


def playbook_of(month: DemoMonth) -> "PlaybookFunction":
    """The playbook that works one month."""

    async def investigate(book: "Playbook", request: str) -> str:
        work = _Work(book, month)
        given = next((each for each in ACCOUNTS if request.startswith(_task(each, month))), None)
        return await work.all() if given is None else account_report(await work.account(given), month)

    return investigate


class _Looked(NamedTuple):
    """What was looked up of one item."""

    record: str
    call: Call


class _Work:
    """One month's investigation."""

    def __init__(self, book: "Playbook", month: DemoMonth) -> None:
        self._book, self._month = book, month
        self._period = {"from": month.start, "to": month.end}

    async def all(self) -> str:
        """Every account, then the statement, the entry, its approval, and the answer."""
        await self._plan(0)
        bank, books = await self._book.calls(
            _invoke("bank", "list_accounts"),
            _invoke("ledger", "list_accounts", limit=100),
            say="First, what there is on either side.",
        )
        if bank.error or books.error:
            return f"I could not read both sides.\n\n{bank.text}\n\n{books.text}"
        await self._plan(1)
        accounts = await self._accounts()
        await self._plan(2)
        statement = await self._statement()
        await self._plan(3)
        proposed = await self._proposed(accounts)
        findings = [*bank.json["findings"], *books.json["findings"]]
        work = Investigation(self._month, tuple(accounts), statement, proposed, findings)
        if proposed is None:
            await self._plan(5)
            return report(work)
        await self._plan(4)
        post = _invoke("entries", "post_entry", entry=proposed["entry"])
        (posted,) = await self._book.calls(post, say=report(work))  # what there is, while it waits
        await self._plan(5)
        return report(
            replace(work, posted=Posted(posted.error, posted.text if posted.error else posted.json))
        )

    async def _plan(self, stage: int) -> None:
        """Shows the task list with one stage active and those before it done."""
        stages = [
            ["See what the bank and the books hold"],
            [f"{each.entity}: {each.title}" for each in ACCOUNTS],
            ["Make the reconciliation statement"],
            ["Propose the entry that is plain"],
            ["Post it, once somebody has approved it"],
        ]
        items: list[Json] = [
            {"title": title, "status": "done" if at < stage else "active" if at == stage else "pending"}
            for at, titles in enumerate(stages)
            for title in titles
        ]
        await self._book.call("tasks", items=items, confidence=0.9)

    async def _accounts(self) -> list[Worked]:
        """Has each account worked by a run of its own, and reads what they came to."""
        strands: list[Json] = [
            {"title": f"{each.entity}, {each.title}", "task": _task(each, self._month)} for each in ACCOUNTS
        ]
        given = Call("delegate", {"strands": strands})
        (result,) = await self._book.calls(given, say="Each account by itself, all at once.")
        kept = _KEPT.search(result.text)
        told = await self._whole(kept[1]) if kept else result.text
        return [worked_of(each, told) for each in ACCOUNTS]

    async def _whole(self, handle: str) -> str:
        """A document that is longer than a result may be."""
        told, total = "", 1
        while len(told) < total:
            part = await self._book.call("read", source=handle, offset=len(told))
            head, _, text = part.text.partition("\n")
            found = _PLACE.search(head)
            if found is None or not text:
                break
            told, total = told + text, int(found[1])
        return told

    async def account(self, account: DemoAccount) -> Account:
        """Reconciles one account and looks into what is open."""
        arguments = {**_pair(account), **self._period, **_RULE}
        (result,) = await self._book.calls(_invoke("matching", "reconcile", **arguments))
        if result.error:
            return Account(account, None, None, {}, result.text)
        done = result.json
        looked = _to_look_up(account, done)
        rest = _calculate(
            "difference - timing",
            {
                "difference": done["balances"]["difference"]["record"],
                "timing": done["timing"]["adds_to_difference"]["record"],
            },
            f"{account.title}: bank less books, once what is under way has arrived",
        )
        remaining, *results = await self._book.calls(
            rest, *(each.call for each in looked), say="Each open item."
        )
        details = {
            each.record: found.json for each, found in zip(looked, results, strict=True) if not found.error
        }
        return Account(account, done, None if remaining.error else remaining.json, details, "")

    async def _statement(self) -> Json:
        accounts: list[Json] = [{**_pair(each), "entity": each.entity} for each in ACCOUNTS]
        given = {"accounts": accounts, **self._period, **_RULE, "preparer": PREPARER}
        (made,) = await self._book.calls(_invoke("matching", "make_statement", **given))
        return None if made.error else made.text

    async def _proposed(self, accounts: Sequence[Worked]) -> Json:
        entry = entry_for(self._month, accounts)
        if entry is None:
            return None
        (proposed,) = await self._book.calls(_invoke("entries", "propose_entry", entry=entry))
        return None if proposed.error else proposed.json


def _task(account: DemoAccount, month: DemoMonth) -> str:
    """What is told to who works one account."""
    what = f"the {account.title} {account.bank} of {account.entity} with {account.ledger!r} in its books"
    return (
        f"Reconcile {what}, {month.start} to {month.end}, tolerance {TOLERANCE}, materiality {MATERIALITY}."
        " Look each open item up. Report the balances, the way from the bank to the books, each item with its"
        " group, and what is open at the end."
    )


def _to_look_up(account: DemoAccount, done: Json) -> list[_Looked]:
    """What only the bank has in full, and whether what it lacks is anywhere on its accounts."""
    looked = [
        _Looked(each["record"], _invoke("bank", "get_transaction", record=each["record"]))
        for each in done["missing_in_books"]["items"]
    ]
    for each in done["missing_at_bank"]["items"]:
        size = each["amount"].lstrip("-")
        call = _invoke("bank", "list_transactions", min_amount=size, max_amount=size)
        looked.append(_Looked(each["record"], call))
    return looked


def _pair(account: DemoAccount) -> dict[str, Json]:
    return {"bank_account": account.bank, "ledger_account": account.ledger}


def _invoke(namespace: str, tool: str, **arguments: Json) -> Call:
    return Call(f"{namespace}__invoke_tool", {"tool": tool, "arguments": arguments})


def _calculate(expression: str, inputs: dict[str, str], label: str) -> Call:
    return Call("calculate", {"expression": expression, "inputs": {**inputs}, "label": label})
