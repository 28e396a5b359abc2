"""A checked entry as records and as what the model is shown of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from pydantic import JsonValue

from ..ledger.accounts import Account
from ..records import Term, id_part, sum_records
from ..tool import Record
from .checks import Checked, Notice
from .entry import Entry, as_json, proposal_id


@dataclass(frozen=True, slots=True)
class Balance:
    """What an account holds at the end of the entry's day, before and after the entry."""

    name: str
    before: Record
    sums: tuple[Record, ...]
    """What it holds after the entry is the last; before it stand the partial sums of a long one."""

    @property
    def after(self) -> Record:
        """What it holds with the entry."""
        return self.sums[-1]


@dataclass(frozen=True, slots=True)
class Proposal:
    """An entry that may be posted, if a person approves."""

    id: str
    entry: Entry
    lines: tuple[Record, ...]
    totals: tuple[Record, ...]
    """The sum of the debits of each currency, behind the partial sums of a long one."""
    balances: tuple[Balance, ...]
    notices: tuple[Notice, ...]

    @property
    def records(self) -> tuple[Record, ...]:
        """All that an answer may cite of it."""
        held = [record for each in self.balances for record in (each.before, *each.sums)]
        noticed = [each.record for each in self.notices if each.record is not None]
        return (*self.lines, *self.totals, *held, *noticed)


def proposal_of(checked: Checked) -> Proposal:
    """The proposal of an entry that has no problems."""
    entry = checked.entry
    name = proposal_id(entry)
    lines = tuple(
        Record(
            id=f"entries:proposal/{name}/{number}",
            amount=line.amount,
            currency=line.currency,
            date=entry.date,
            text=f"proposed, not posted: {line.account}: {entry.text_of(line)}",
        )
        for number, line in enumerate(entry.lines, 1)
    )
    return Proposal(
        name, entry, lines, _totals(name, lines), _balances(name, checked, lines), checked.notices
    )


def _totals(name: str, lines: Sequence[Record]) -> tuple[Record, ...]:
    made: list[Record] = []
    for currency in dict.fromkeys(line.currency for line in lines):
        debits = [Term(1, each) for each in lines if each.currency == currency and (each.amount or 0) > 0]
        end = "total" if len({each.currency for each in lines}) == 1 else f"total-{currency or 'none'}"
        made += sum_records(f"entries:proposal/{name}/{end}", debits, currency, "total of the proposed entry")
    return tuple(made)


def _balances(name: str, checked: Checked, lines: Sequence[Record]) -> tuple[Balance, ...]:
    touched: dict[tuple[str, str | None], list[Record]] = {}
    accounts: dict[tuple[str, str | None], Account | None] = {}
    for line, account, record in zip(checked.entry.lines, checked.accounts, lines, strict=True):
        key = (line.account, line.currency)
        touched.setdefault(key, []).append(record)
        accounts[key] = account
    made: list[Balance] = []
    for key, records in touched.items():
        account = accounts[key]
        label = account.label if account else " ".join(part for part in key if part)
        before = _before(f"entries:proposal/{name}/before/{id_part(label)}", account, records[0])
        after = f"entries:proposal/{name}/after/{id_part(label)}"
        day = checked.entry.date
        text = f"balance of {label} at the end of {day} if the entry is posted"
        terms = [Term(1, each) for each in (before, *records)]
        made.append(Balance(label, before, sum_records(after, terms, key[1], text)))
    return tuple(made)


def _before(name: str, account: Account | None, line: Record) -> Record:
    day = line.date
    stated = account.balance_on(day) if account and day else None
    if stated is not None:
        return stated
    text = f"nothing was posted to the account by {day}"
    return Record(name, Decimal(0), line.currency, day, text)


def shown(proposal: Proposal) -> dict[str, JsonValue]:
    """What the model is told."""
    entry = proposal.entry
    sums = {each.currency: each for each in proposal.totals}
    totals: list[JsonValue] = [{**_figure(each), "currency": of} for of, each in sums.items()]
    balances: list[JsonValue] = [
        {"account": each.name, "before": _figure(each.before), "after": _figure(each.after)}
        for each in proposal.balances
    ]
    return {
        "proposal": proposal.id,
        "entry": dict(as_json(entry)),
        "line_records": [each.id for each in proposal.lines],
        "total": totals,
        "balances": {"date": str(entry.date), "accounts": balances},
    }


def notices_of(notices: Sequence[Notice]) -> list[JsonValue]:
    """Notices as the model is shown them."""
    return [
        {"what": each.what} if each.record is None else {"what": each.what, "record": each.record.id}
        for each in notices
    ]


def _figure(record: Record) -> dict[str, JsonValue]:
    return {"value": str(record.amount), "record": record.id}
