"""The September investigation as a playbook: what a model would do, over the real tools.

Each figure of its answer is taken from a tool's result, none is written here.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ...models.scripted import Call

if TYPE_CHECKING:
    from ...models.scripted import Playbook

Json = Any
"""JSON of a tool whose shape the playbook knows."""

_PERIOD = {"from": "2026-09-01", "to": "2026-09-30"}
_BOOKS_ACCOUNT = "1200"
_TASKS = (
    "See what the bank and the books hold",
    "Reconcile the operating account for September",
    "Look into each item that is open",
    "Check the arithmetic and answer",
)


async def reconcile_september(book: "Playbook", request: str) -> str:
    """Reconciles the operating account of the demo and explains each difference."""
    await _plan(book, 0, 0.6)
    bank, books = await book.calls(
        _invoke("bank", "list_accounts"),
        _invoke("ledger", "list_accounts"),
        say="First, what there is on either side.",
    )
    if bank.error or books.error:
        return f"I could not read both sides.\n\n{bank.text}\n\n{books.text}"
    accounts = _pair(bank.json, books.json)
    await _plan(book, 1, 0.7)
    await book.call("matching__get_tool_schema", tool="reconcile")
    result = await book.call("matching__invoke_tool", tool="reconcile", arguments={**accounts, **_PERIOD})
    if result.error:
        return f"The reconciliation could not be made: {result.text}"
    done = result.json
    await _plan(book, 2, 0.8)
    details = await _look_into(book, done)
    await _plan(book, 3, 0.9)
    adjusted = await _adjusted(book, done)
    await _plan(book, 4, 0.95)
    return _answer(done, adjusted, details, bank.json["findings"] + books.json["findings"])


async def _plan(book: "Playbook", active: int, confidence: float) -> None:
    """Shows the task list with one task active and those before it done."""
    states = ["done" if at < active else "active" if at == active else "pending" for at in range(4)]
    items: list[Json] = [
        {"title": title, "status": state} for title, state in zip(_TASKS, states, strict=True)
    ]
    await book.call("tasks", items=items, confidence=confidence)


def _invoke(namespace: str, tool: str, **arguments: Json) -> Call:
    return Call(f"{namespace}__invoke_tool", {"tool": tool, "arguments": arguments})


def _pair(bank: Json, books: Json) -> dict[str, str]:
    """The one bank account, and the account of the books with the code of the bank."""
    names = [each["account"] for each in books["accounts"]]
    ledger = next(name for name in names if name.startswith(_BOOKS_ACCOUNT))
    return {"bank_account": bank["accounts"][0]["account"], "ledger_account": ledger}


async def _look_into(book: "Playbook", done: Json) -> dict[str, Json]:
    """Reads the details of each open item in one parallel step; by record id."""
    missing_in_books = [each["record"] for each in done["missing_in_books"]["items"]]
    in_books = [*done["missing_at_bank"]["items"], *done["timing"]["items"]]
    on_bank = [_invoke("bank", "get_transaction", record=record) for record in missing_in_books]
    similar = [
        _invoke("bank", "list_transactions", min_amount=size, max_amount=size)
        for size in (each["amount"].lstrip("-") for each in in_books)
    ]
    results = await book.calls(
        *on_bank, *similar, say="Now each open item, and whether its amount is anywhere at the bank."
    )
    records = [*missing_in_books, *(each["record"] for each in in_books)]
    known = zip(records, results, strict=True)
    return {record: None if result.error else result.json for record, result in known}


async def _adjusted(book: "Playbook", done: Json) -> Json:
    """The balance that both sides come to once each has what it lacks, worked out from each side."""
    balances = done["balances"]
    to_book = {"balance": balances["books"]["record"]}
    to_bank = {"balance": balances["bank"]["record"]}
    for group in ("missing_in_books", "missing_at_bank"):
        to_book[group] = done[group]["adds_to_difference"]["record"]
    to_bank["timing"] = done["timing"]["adds_to_difference"]["record"]
    books, bank = await book.calls(
        _calculate("balance + missing_in_books + missing_at_bank", to_book, "books, corrected"),
        _calculate("balance - timing", to_bank, "bank, with what is under way"),
    )
    return {
        "books": None if books.error else books.json,
        "bank": None if bank.error else bank.json,
    }


def _calculate(expression: str, inputs: dict[str, str], label: str) -> Call:
    return Call("calculate", {"expression": expression, "inputs": {**inputs}, "label": label})


def _answer(done: Json, adjusted: Json, details: dict[str, Json], findings: list[Json]) -> str:
    currency, balances = done["currency"], done["balances"]
    verdict = "explained in full" if done["all_explained"] else "not explained in full"
    sections = [
        f"## Operating account, September 2026: {verdict}",
        f"The bank has {_money(balances['bank'], currency)} at 30 September, the books have "
        f"{_money(balances['books'], currency)}: a difference of "
        f"{_money(balances['difference'], currency)}. The items below explain "
        f"{_money(balances['explained'], currency)} of it; "
        f"{_money(balances['unexplained'], currency)} is left. At the start of the month the two "
        f"differed by {_money(balances['opening_difference'], currency)}.",
        f"**What ties.** {_count(done['matched'])} movements are on both sides.",
        _section("Timing: nothing to correct", done["timing"], currency, details),
        _section("Missing in the books: to be entered", done["missing_in_books"], currency, details),
        _section("Missing at the bank: to be looked into", done["missing_at_bank"], currency, details),
        _corrected(adjusted),
        _odd(findings),
    ]
    return "\n\n".join(section for section in sections if section)


def _section(title: str, group: Json, currency: str, details: dict[str, Json]) -> str:
    if not group["items"]:
        return ""
    lines = [
        f"- {each['date']}, {each['text']}: {_grouped(each['amount'])} {currency} [[{each['record']}]]"
        f"{_detail(details.get(each['record']))}"
        for each in group["items"]
    ]
    total = _money(group["adds_to_difference"], currency)
    head = f"**{title}.** {_count(group['count'])} items, together {total} of the difference:"
    return "\n".join([head, "", *lines])


def _detail(found: Json) -> str:
    """What looking into an item showed."""
    if found is None:
        return "; its details could not be read"
    if "transactions" not in found:
        return ""
    alike: Sequence[Json] = found["transactions"]
    if not alike:
        return "; the amount is nowhere in the bank's file"
    return f"; the same amount is at the bank as {_cited(alike)}"


def _cited(items: Sequence[Json]) -> str:
    return ", ".join(f"[[{each['record']}]]" for each in items)


def _corrected(adjusted: Json) -> str:
    books, bank = adjusted["books"], adjusted["bank"]
    if books is None or bank is None:
        return ""
    agree = "both come to the same" if books["amount"] == bank["amount"] else "they do not agree"
    return (
        f"**Once corrected** {agree}: the books {_calculated(books)}, with the missing entries made "
        f"and the one that never reached the bank taken back, and the bank {_calculated(bank)}, with "
        "what is under way."
    )


def _odd(findings: list[Json]) -> str:
    told = [f"- {each['where']}: {each['what']}" for each in findings if "what" in each]
    return "\n".join(["**Odd about the files**", "", *told]) if told else ""


def _money(figure: Json, currency: str) -> str:
    if figure is None:
        return "an amount that no file states"
    return f"{_grouped(figure['value'])} {currency} [[{figure['record']}]]"


def _calculated(figure: Json) -> str:
    return f"{_grouped(figure['amount'])} {figure['currency']} [[{figure['record']}]]"


def _grouped(amount: str) -> str:
    return f"{Decimal(amount):,}"


def _count(figure: Json) -> str:
    return f"{figure['value']} [[{figure['record']}]]"
