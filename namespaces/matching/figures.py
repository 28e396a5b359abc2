"""The figures of a reconciliation as records, so that an answer can cite each of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pydantic import JsonValue

from ..records import Term, by_tool, id_part, sum_records
from ..tool import Record
from .items import Group, Item, terms_of
from .reconciliation import Balances, Reconciliation
from .recurring import Recurring

ALWAYS = (
    Group.TIMING,
    Group.MISSING_IN_BOOKS,
    Group.MISSING_AT_BANK,
    Group.AMOUNT_DIFFERS,
    Group.FEE,
    Group.INTEREST,
)
"""Groups that have figures also without items; the others only with some."""
FOLDED = "below_materiality"


@dataclass(frozen=True, slots=True)
class Figures:
    """Every figure by name, and all records that the figures are made of."""

    named: Mapping[str, Record]
    records: tuple[Record, ...]


def figures_of(done: Reconciliation, bank: str, books: str, arguments: Mapping[str, JsonValue]) -> Figures:
    """Works out the totals, the difference and what of it is explained.

    Args:
        done: The reconciliation.
        bank: The bank account's label.
        books: The label of the account in the books.
        arguments: Of the call of `reconcile` that gives these figures again.
    """
    made = _Made(done, _prefix(done, bank, books), by_tool("matching__reconcile", arguments))
    made.count("matched", len(done.matches), "matches in the period")
    groups = [group for group in Group if group in ALWAYS or done.of(group)]
    for group in groups:
        words = group.value.replace("_", " ")
        made.group(group.value, done.of(group), words)
        folded = [item for item in done.of(group) if not item.material]
        if folded:
            made.group(f"{group.value}/{FOLDED}", folded, f"{words}, below materiality")
    made.opening()
    made.explained(groups)
    made.differences()
    return Figures(made.named, tuple(made.records))


def recurring_figures(
    pattern: Recurring, number: int, arguments: Mapping[str, JsonValue], currency: str | None
) -> Figures:
    """How many closes have what recurs, and what it adds up to.

    Args:
        pattern: What recurs.
        number: Its place in the list, from 1.
        arguments: Of the call of `list_recurring` that gives this list again, with `from` and `to`.
        currency: Of the account.
    """
    accounts = "/".join(id_part(str(arguments[name])) for name in ("bank_account", "ledger_account"))
    rule = f"w{arguments['window_days']}.t{arguments['tolerance']}.l{arguments['least']}"
    prefix = f"matching:{accounts}/recurring/{arguments['from']}..{arguments['to']}.{rule}/{number}"
    known = {name: value for name, value in arguments.items() if name != "materiality"}
    source = by_tool("matching__list_recurring", known)
    closes = Record(f"{prefix}/closes", Decimal(pattern.closes), text=pattern.name, derivation=source)
    terms = [Term(1, each) for each in pattern.records]
    made = sum_records(f"{prefix}/sum", terms, currency, f"together: {pattern.name}")
    return Figures({"in_closes": closes, "sum": made[-1]}, (*pattern.records, closes, *made))


def _prefix(done: Reconciliation, bank: str, books: str) -> str:
    rule, period = done.rule, done.period
    close = f".w{rule.window_days}" + (f".t{rule.tolerance}" if rule.tolerance else "")
    close += f".m{rule.materiality}" if rule.materiality else ""
    close += ".carried" if done.carried else ""
    return f"matching:{id_part(bank)}/{id_part(books)}/{period.start}..{period.end}{close}"


class _Made:
    """The figures made so far: later ones are worked out from them."""

    def __init__(self, done: Reconciliation, prefix: str, source: str) -> None:
        self._done, self._prefix, self._source = done, prefix, source
        self.named: dict[str, Record] = {}
        terms = [*terms_of(done.items), *done.known_before.terms]
        stated = [each for each in (*done.closing, *done.opening) if each is not None]
        sources = [*(term.record for term in terms), *stated]
        self.records: list[Record] = list({record.id: record for record in sources}.values())

    def count(self, name: str, number: int, text: str) -> None:
        record = Record(f"{self._prefix}/{name}", Decimal(number), text=text, derivation=self._source)
        self.named[name] = record
        self.records.append(record)

    def sum(self, name: str, terms: Sequence[Term], text: str) -> None:
        records = sum_records(f"{self._prefix}/{name}", terms, self._done.currency, text)
        self.named[name] = records[-1]
        self.records += records

    def group(self, name: str, items: Sequence[Item], words: str) -> None:
        """How many items there are of a kind, and what they add."""
        self.count(f"{name}_count", len(items), f"items: {words}")
        self.sum(name, terms_of(items), f"what is {words} adds to bank less books")

    def opening(self) -> None:
        """What was different before the period, as far as balances and open items say it."""
        done = self._done
        self.sum("opening_explained", done.known_before.terms, "known to be open before the period")
        self._difference("opening_difference", done.opening, "bank less books before the period")
        if difference := self.named.get("opening_difference"):
            rest = [Term(1, difference), Term(-1, self.named["opening_explained"])]
            self.sum("opening_unexplained", rest, "opening difference less what is known of it")
        if done.known_before:
            self.count("carried_count", len(done.carried.ids), "items carried forward to the period")
            self.count("still_open_count", len(done.still_open.ids), "of what was open before, open still")
            self.sum("still_open", done.still_open.terms, "of what was open before, open still")

    def explained(self, groups: Sequence[Group]) -> None:
        """What the items make of the difference, with what was open before and is known."""
        names = [*(group.value for group in groups), "opening_explained"]
        terms = [Term(1, self.named[name]) for name in names]
        self.sum("explained", terms, "what the items and what was known to be open explain")

    def differences(self) -> None:
        """The difference at the end, as far as both balances are known."""
        self._difference("difference", self._done.closing, "bank less books at the end of the period")
        if difference := self.named.get("difference"):
            rest = [Term(1, difference), Term(-1, self.named["explained"])]
            self.sum("unexplained", rest, "difference less what is explained")

    def _difference(self, name: str, balances: Balances, text: str) -> None:
        if balances.bank and balances.books:
            self.sum(name, [Term(1, balances.bank), Term(-1, balances.books)], text)
