"""What has to be settled over all files of the books: padding, and what accounts are said to hold."""

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from ..tables.source import Finding
from .books import Assertion, Line, Padding

_TOLD = 50
"""Assertions that are told one by one when they do not hold."""
_ZERO = Decimal(0)


class Settled(NamedTuple):
    """What came of it."""

    padding: tuple[Line, ...]
    """The lines that make assertions hold, as the files order it."""
    findings: tuple[Finding, ...]


class _Key(NamedTuple):
    """Where something stands among all that happens."""

    date: datetime.date
    early: int
    """0 for what comes before all else of its day."""
    file: str
    row: int
    after: int
    """1 for an assertion: it comes after the line it stands on."""


class _Place(NamedTuple):
    """Where something stands in the files."""

    file: str
    row: int
    after: int


def settle(lines: Sequence[Line], assertions: Sequence[Assertion], paddings: Sequence[Padding]) -> Settled:
    """Fills up accounts as ordered, then checks what each is said to hold."""
    if not assertions and not paddings:
        return Settled((), ())
    made, findings = _pad(lines, assertions, paddings)
    whole = [*lines, *made]
    findings += _check(whole, [each for each in assertions if each.by_date], _first)
    findings += _check(whole, [each for each in assertions if not each.by_date], _as_written)
    return Settled(tuple(made), tuple(findings))


class _Balances:
    """What accounts hold: each alone, and each with those below it."""

    def __init__(self) -> None:
        self.own: dict[str, dict[str | None, Decimal]] = {}
        self.tree: dict[str, dict[str | None, Decimal]] = {}

    def add(self, account: str, amount: Decimal, currency: str | None) -> None:
        own = self.own.setdefault(account, {})
        own[currency] = own.get(currency, _ZERO) + amount
        at = len(account)
        while at > 0:
            tree = self.tree.setdefault(account[:at], {})
            tree[currency] = tree.get(currency, _ZERO) + amount
            at = account.rfind(":", 0, at)

    def of(self, assertion: Assertion) -> Mapping[str | None, Decimal]:
        kept = self.tree if assertion.subaccounts else self.own
        return kept.get(assertion.account, {})


def _pad(
    lines: Sequence[Line], assertions: Sequence[Assertion], paddings: Sequence[Padding]
) -> tuple[list[Line], list[Finding]]:
    """An order counts from its day on, once for each currency; a later one takes its place."""
    if not paddings:
        return [], []
    made: list[Line] = []
    balances = _Balances()
    padded: dict[tuple[str, str | None], Decimal] = {}
    open_: dict[str, tuple[Padding, set[str | None]]] = {}
    used: set[Padding] = set()
    for _, each in sorted([*_moves(lines), *_stated(assertions), *_orders(paddings)], key=_first):
        match each:
            case Line():
                balances.add(each.account, each.amount, each.currency)
            case Padding():
                open_[each.account] = (each, set())
            case Assertion():
                order = open_.get(each.account)
                if order is None or each.currency in order[1]:
                    continue
                order[1].add(each.currency)
                key = (each.account, each.currency)
                held = balances.of(each).get(each.currency, _ZERO) + padded.get(key, _ZERO)
                if abs(each.amount - held) > each.tolerance:
                    padded[key] = padded.get(key, _ZERO) + each.amount - held
                    used.add(order[0])
                    made += _padding(order[0], each, each.amount - held)
    unused = [each for each in paddings if each not in used]
    what = "the padding has nothing to fill up"
    return made, [Finding(what, each.file, each.row) for each in unused[:_TOLD]]


def _padding(order: Padding, assertion: Assertion, amount: Decimal) -> Iterator[Line]:
    number = f"{order.file}:{order.row}/{assertion.currency}"
    text = f"padding up to {assertion.amount} {assertion.currency} on {assertion.date}"
    for account, sign in ((order.account, 1), (order.source, -1)):
        yield Line(
            date=order.date,
            account=account,
            amount=amount * sign,
            currency=assertion.currency,
            file=order.file,
            row=order.row,
            journal=number,
            text=text,
            origin="padding",
        )


def _check(
    lines: Sequence[Line], assertions: Sequence[Assertion], order: Callable[["_Event"], "_Key | _Place"]
) -> list[Finding]:
    if not assertions:
        return []
    balances = _Balances()
    wrong: list[Finding] = []
    more = 0
    for _, each in sorted([*_moves(lines), *_stated(assertions)], key=order):
        if isinstance(each, Line):
            balances.add(each.account, each.amount, each.currency)
        elif isinstance(each, Assertion) and (what := _fails(each, balances.of(each))) is not None:
            if len(wrong) < _TOLD:
                wrong.append(Finding(what, each.file, each.row, "error"))
            else:
                more += 1
    if more:
        wrong.append(Finding(f"{more} more balances do not hold", wrong[0].file, None, "error"))
    return wrong


def _fails(assertion: Assertion, held: Mapping[str | None, Decimal]) -> str | None:
    amount, currency = held.get(assertion.currency, _ZERO), assertion.currency
    name = assertion.account + (" and those below it" if assertion.subaccounts else "")
    when = f"{'before' if assertion.early else 'on'} {assertion.date}"
    if abs(amount - assertion.amount) > assertion.tolerance:
        stated = f"{assertion.amount} {currency or ''}".strip()
        return f"{name} holds {amount} {when}, and is stated to hold {stated}: lines are missing or wrong"
    others = [code or "no currency" for code, other in held.items() if other and code != currency]
    if assertion.alone and others:
        return f"{name} also holds {', '.join(others[:5])} {when}, and is stated to hold {currency} alone"
    return None


_Event = tuple[_Key, Line | Assertion | Padding]


def _first(event: _Event) -> _Key:
    return event[0]


def _as_written(event: _Event) -> _Place:
    key = event[0]
    return _Place(key.file, key.row, key.after)


def _moves(lines: Iterable[Line]) -> Iterator[_Event]:
    for each in lines:
        yield _Key(each.date, 1, each.file, each.row, 0), each


def _stated(assertions: Iterable[Assertion]) -> Iterator[_Event]:
    for each in assertions:
        yield _Key(each.date, 0 if each.early else 1, each.file, each.row, 1), each


def _orders(paddings: Iterable[Padding]) -> Iterator[_Event]:
    for each in paddings:
        yield _Key(each.date, 1, each.file, each.row, 0), each
