"""The report of an investigation: Markdown in which each figure is followed by its record.

Words of banks and books are set as code: they are quoted, and numbers in them are no figures of the report.
"""

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from . import MATERIALITY, TOLERANCE, DemoAccount, DemoMonth

Json = Any
"""JSON of a tool whose shape the playbook knows."""

GROUPS: Mapping[str, tuple[str, str]] = {
    "timing": ("in the books, not yet at the bank", "clears by itself"),
    "missing_in_books": ("nothing like it in the books", "to be entered, once it is known what it is"),
    "missing_at_bank": ("nothing like it at the bank", "to be looked into"),
    "fee": ("taken by the bank or kept from a settlement", "to be entered"),
    "interest": ("given by the bank", "to be entered"),
    "duplicate": ("like another one that is matched", "to be taken back, or claimed from who took it"),
    "amount_differs": ("within the tolerance", "the difference is to be entered"),
    "transposed": ("two digits are swapped in the books", "to be corrected"),
    "reversed": ("entered with the wrong sign", "to be corrected"),
    "exchange": ("at another rate of exchange", "the difference is to be entered"),
    "cancelled": ("taken back on the same side", "nothing is left of it"),
    "cleared": ("open before, settled in this period", "done"),
}
"""What each group is, in words, and what happens with its items."""
_SETTLED = ("cancelled", "cleared")
_ALL = "Every difference is explained, item by item."
_NOT_ALL = "Not every difference is explained."


@dataclass(frozen=True, slots=True)
class Account:
    """One account as it was worked."""

    of: DemoAccount
    done: Json
    """What `reconcile` gave; None when it could not be made."""
    remaining: Json
    """The difference without what is under way; None when it could not be worked out."""
    details: Mapping[str, Json]
    """What looking up single items showed, by record."""
    problem: str
    """Why it could not be reconciled; empty when it could."""

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.of.entity}, {self.of.title}"


class Worked(NamedTuple):
    """What came of one account, in the words of who worked it."""

    of: DemoAccount
    explained: bool
    """Whether every difference is."""
    concluded: str
    """A line of the conclusion."""
    statement: str = ""
    """From the bank to the books; empty, as what follows, when it could not be reconciled."""
    items: str = ""
    carried: str = ""


@dataclass(frozen=True, slots=True)
class Posted:
    """What became of the entry."""

    failed: bool
    """Whether it is not in the books: it was denied, or could not be posted."""
    told: Json
    """What `post_entry` gave, or why it did not run."""


@dataclass(frozen=True, slots=True)
class Investigation:
    """All that the report is made of."""

    month: DemoMonth
    accounts: Sequence[Worked]
    statement: str | None
    """What `make_statement` said; None when there is no statement."""
    proposed: Json
    """What `propose_entry` gave; None when nothing was proposed."""
    findings: Sequence[Json]
    """What is odd about the files."""
    posted: Posted | None = None
    """What became of the entry; None while it waits for approval."""


def report(of: Investigation) -> str:
    """The whole answer."""
    sections = [
        "## Conclusion",
        *_conclusion(of),
        "## Reconciliation statement",
        *(each.statement for each in of.accounts),
        "## Items",
        *(each.items for each in of.accounts),
        "## Entries",
        "\n".join(_entries(of)),
        "## Carried forward",
        *(each.carried for each in of.accounts),
        "## Basis",
        "\n".join(_basis(of)),
    ]
    return "\n\n".join(section for section in sections if section)


def account_report(account: Account, month: DemoMonth) -> str:
    """What whoever worked one account answers."""
    if account.done is None:
        return "\n\n".join([f"# {account.name}", _NOT_ALL, _concluded(account)])
    sections = [
        f"# {account.name}",
        _ALL if account.done["all_explained"] else _NOT_ALL,
        _concluded(account),
        "\n".join(_statement(account, month)),
        "\n".join(_items(account)),
        "\n".join(_carried(account, month)),
    ]
    return "\n\n".join(sections)


def worked_of(account: DemoAccount, told: str) -> Worked:
    """What was answered of one account, from the answers of all."""
    name = f"# {account.entity}, {account.title}\n\n"
    own = re.split(r"^(?:# |\[\d+\] )", told.partition(name)[2], maxsplit=1, flags=re.MULTILINE)[0].strip()
    head, *sections = re.split(r"\n\n(?=### )", own)
    explained, _, concluded = head.partition("\n\n")
    if not concluded:
        title = f"{account.entity}, {account.title}"
        return Worked(account, explained=False, concluded=f"- **{title}** could not be reconciled.")
    return Worked(account, explained == _ALL, concluded, *sections)


def _conclusion(of: Investigation) -> Iterator[str]:
    explained = all(each.explained for each in of.accounts)
    verdict = (
        "every difference is explained, item by item" if explained else "not every difference is explained"
    )
    yield f"{of.month.title}: {verdict}. What is under way clears by itself; the rest is to be settled."
    yield "\n".join(each.concluded for each in of.accounts)


def _concluded(account: Account) -> str:
    if account.done is None:
        return f"- **{account.name}** could not be reconciled: {_quoted(account.problem)}"
    done, balances = account.done, account.done["balances"]
    bank, books, difference, unexplained = (
        _money(balances[name], done["currency"]) for name in ("bank", "books", "difference", "unexplained")
    )
    told = f"- **{account.name}**: bank {bank}, books {books}, difference {difference}"
    told += f", unexplained {unexplained}."
    if account.remaining is not None:
        told += (
            f" Once what is under way has arrived, {_calculated(account.remaining)} is left to be corrected."
        )
    return told


def _statement(account: Account, month: DemoMonth) -> Iterator[str]:
    done, currency = account.done, account.done["currency"]
    balances = done["balances"]
    last = _day(month.end)
    yield f"### {account.name}: from the bank to the books"
    yield ""
    yield "| | adds to bank less books |"
    yield "|---|---|"
    yield f"| Balance at the bank, {last} | {_money(balances['bank'], currency)} |"
    if balances.get("opening_explained") and Decimal(balances["opening_explained"]["value"]):
        yield f"| Open before the period | {_money(balances['opening_explained'], currency)} |"
    for group in _groups(done):
        adds = _money(done[group]["adds_to_difference"], currency)
        yield f"| {_words(group)}, {_counted(done[group]['count'])} | {adds} |"
    yield f"| Balance in the books, {last} | {_money(balances['books'], currency)} |"
    yield f"| Unexplained | {_money(balances['unexplained'], currency)} |"
    yield ""
    yield f"{_figure(done['matched'])} matches, within the period, of movements on both sides."


def _items(account: Account) -> Iterator[str]:
    done = account.done
    yield f"### {account.name}: items"
    yield ""
    yield "| date | what | amount | group | evidence | next |"
    yield "|---|---|---|---|---|---|"
    for group in _groups(done):
        for item in done[group]["items"]:
            yield _item(item, group, account)
    for group in _groups(done):
        if folded := done[group].get("below_materiality"):
            adds = _money(folded["adds_to_difference"], done["currency"])
            count = _counted(folded["count"])
            yield f"| | below materiality, {count} | {adds} | {_words(group)} | {' | '.join(GROUPS[group])} |"


def _item(item: Json, group: str, account: Account) -> str:
    evidence, then = GROUPS[group]
    cells = (
        item["date"],
        _quoted(item["text"]),
        _amount(item, account.done["currency"]),
        _words(group),
        f"{evidence}{_detail(account.details.get(item['record']))}",
        then,
    )
    return f"| {' | '.join(cells)} |"


def _amount(item: Json, currency: str) -> str:
    """The item's own amount; of records that were matched and differ, by how much they do."""
    if "with" in item:
        cited = "".join(f" [[{record}]]" for record in (item["record"], *item["with"]))
        return f"{_grouped(item['adds_to_difference'])} {currency}{cited}"
    return f"{_grouped(item['amount'])} {currency} [[{item['record']}]]"


def _detail(found: Json) -> str:
    """What looking an item up showed."""
    if found is None or "transactions" not in found:
        return ""
    alike = [f"[[{each['record']}]]" for each in found["transactions"]]
    return (
        f"; the same amount is at the bank as {' '.join(alike)}" if alike else "; its amount is nowhere there"
    )


def _entries(of: Investigation) -> Iterator[str]:
    proposed = of.proposed
    if proposed is None:
        yield "Nothing was proposed."
        return
    entry = proposed["entry"]
    yield f"Proposed as {_quoted(proposed['proposal'])}, dated {entry['date']}: {_quoted(entry['text'])}."
    yield ""
    yield "| account | debit | credit |"
    yield "|---|---|---|"
    for line, record in zip(entry["lines"], proposed["line_records"], strict=True):
        sides = [
            f"{_grouped(line[side])} {line['currency']}" if side in line else ""
            for side in ("debit", "credit")
        ]
        cited = [f"{side} [[{record}]]" if side else "" for side in sides]
        yield f"| {_quoted(line['account'])} | {cited[0]} | {cited[1]} |"
    yield ""
    yield from _posted(of.posted)


def _posted(posted: Posted | None) -> Iterator[str]:
    if posted is None:
        yield "Nothing is posted: `post_entry` waits until somebody who may approve it has."
        return
    if posted.failed:
        yield f"Not posted: {_quoted(' '.join(str(posted.told).split()))}"
        return
    yield f"Posted to {_quoted(posted.told['file'])}, with the mark {_quoted(posted.told['mark'])}:"
    yield ""
    for line in posted.told.get("lines", ()):
        yield f"- {_quoted(line['account'])}: {_grouped(line['amount'])} GBP [[{line['record']}]]"


def _carried(account: Account, month: DemoMonth) -> Iterator[str]:
    """What the next period begins with."""
    done = account.done
    own = [group for group in _groups(done) if group not in _SETTLED]
    old = done.get("carried_forward", {}).get("still_open_items", [])
    yield f"### {account.name}: open at the end"
    yield ""
    if own:
        yield f"From this period, as listed above: {', '.join(_words(group).lower() for group in own)}."
    if not own and not old:
        yield "Nothing."
    if old:
        yield "From before, and open still:"
        yield ""
        yield "| date | what | amount | age |"
        yield "|---|---|---|---|"
        for item in old:
            what, amount = _quoted(item["text"]), _amount(item, done["currency"])
            yield f"| {item['date']} | {what} | {amount} |{_age(item, month)}"


def _age(item: Json, month: DemoMonth) -> str:
    age = datetime.date.fromisoformat(month.end) - datetime.date.fromisoformat(item["date"])
    return f" {age.days} days |"


def _basis(of: Investigation) -> Iterator[str]:
    month = of.month
    files = [path.name for path in (*month.bank, *month.ledger)]
    yield f"- Files: {', '.join(files)}; their hashes are in the statement."
    yield f"- Days: {month.start} to {month.end}."
    yield f"- Amounts may differ by `{TOLERANCE}`; items of less than `{MATERIALITY}` are summed in one line."
    if month.before:
        yield f"- What {month.before} left open was carried forward from its statement."
    if of.statement is None:
        yield "- No statement was made."
    for finding in of.findings:
        if "what" in finding:
            yield f"- {finding['where']}: {_quoted(finding['what'])}"
    yield "- Not looked at: whether each payment was right to be made."


def _groups(done: Json) -> list[str]:
    """The groups that have items."""
    return [group for group in GROUPS if group in done and Decimal(done[group]["count"]["value"])]


def _words(group: str) -> str:
    return group.replace("_", " ").capitalize()


def _counted(figure: Json) -> str:
    items = "item" if figure["value"] == "1" else "items"
    return f"{figure['value']} {items} [[{figure['record']}]]"


def _figure(figure: Json) -> str:
    return f"{figure['value']} [[{figure['record']}]]"


def _money(figure: Json, currency: str) -> str:
    if figure is None:
        return "not stated"
    return f"{_grouped(figure['value'])} {currency} [[{figure['record']}]]"


def _calculated(figure: Json) -> str:
    return f"{_grouped(figure['amount'])} {figure['currency']} [[{figure['record']}]]"


def _grouped(amount: str) -> str:
    return f"{Decimal(amount):,}"


def _quoted(text: str) -> str:
    """The text as code, whatever is in it, on one line of a table."""
    plain = " ".join(text.replace("`", "'").replace("|", "/").split())
    return f"`{plain}`" if plain else ""


def _day(day: str) -> str:
    date = datetime.date.fromisoformat(day)
    return f"{date.day} {date:%B %Y}"
