"""The figures of a reconciliation as records, so that an answer can cite each of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from pydantic import JsonValue

from ..records import Term, by_tool, id_part, sum_records
from ..tool import Record
from .reconciliation import Group, Reconciliation, terms_of


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
    made.count("matched", len(done.matches), "pairs matched in the period")
    for group in Group:
        items = done.of(group)
        words = group.value.replace("_", " ")
        made.count(f"{group.value}_count", len(items), f"items: {words}")
        made.sum(group.value, terms_of(items), f"what is {words} adds to bank less books")
    made.sum("explained", [Term(1, made.named[group.value]) for group in Group], "explained")
    made.balances()
    return Figures(made.named, tuple(made.records))


def _prefix(done: Reconciliation, bank: str, books: str) -> str:
    rule, period = done.rule, done.period
    close = f".w{rule.window_days}" + (f".t{rule.tolerance}" if rule.tolerance else "")
    return f"matching:{id_part(bank)}/{id_part(books)}/{period.start}..{period.end}{close}"


class _Made:
    """The figures made so far: later ones are worked out from them."""

    def __init__(self, done: Reconciliation, prefix: str, source: str) -> None:
        self._done, self._prefix, self._source = done, prefix, source
        self.named: dict[str, Record] = {}
        sources = [term.record for term in terms_of(done.items)]
        stated = (done.bank_balance, done.books_balance, done.bank_opening, done.books_opening)
        sources += [record for record in stated if record is not None]
        self.records: list[Record] = list({record.id: record for record in sources}.values())
        self._currency = next((record.currency for record in self.records), None)

    def count(self, name: str, number: int, text: str) -> None:
        record = Record(f"{self._prefix}/{name}", Decimal(number), text=text, derivation=self._source)
        self.named[name] = record
        self.records.append(record)

    def sum(self, name: str, terms: list[Term], text: str) -> None:
        records = sum_records(f"{self._prefix}/{name}", terms, self._currency, text)
        self.named[name] = records[-1]
        self.records += records

    def balances(self) -> None:
        """The differences, as far as both balances are known."""
        done = self._done
        if done.bank_opening and done.books_opening:
            terms = [Term(1, done.bank_opening), Term(-1, done.books_opening)]
            self.sum("opening_difference", terms, "bank less books before the period")
        if done.bank_balance and done.books_balance:
            terms = [Term(1, done.bank_balance), Term(-1, done.books_balance)]
            self.sum("difference", terms, "bank less books at the end of the period")
            rest = [Term(1, self.named["difference"]), Term(-1, self.named["explained"])]
            self.sum("unexplained", rest, "difference less what the items explain")
