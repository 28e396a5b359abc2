"""The two accounts of a call, and the rule by which they are compared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from pydantic import JsonValue

from ..bank.accounts import Account as BankAccount
from ..bank.accounts import Accounts
from ..ledger.accounts import Account as LedgerAccount
from ..ledger.accounts import Books
from .carried import Carried
from .placing import Period
from .rule import AccountRule
from .workpaper.carried import OpenItems, carried_to


class Compared(NamedTuple):
    """A bank account and its account in the books."""

    bank: BankAccount
    books: LedgerAccount
    rule: AccountRule

    def arguments(self, period: Period) -> dict[str, JsonValue]:
        """Of the call of `reconcile` that compares them in the same way again."""
        return {
            "bank_account": self.bank.label,
            "ledger_account": self.books.label,
            "from": str(period.start),
            "to": str(period.end),
            "window_days": self.rule.window_days,
            "tolerance": str(self.rule.tolerance),
            "materiality": str(self.rule.materiality),
        }


class Asked(NamedTuple):
    """What a call says of the rule; None leaves it as it is."""

    window_days: int | None = None
    tolerance: Decimal | None = None
    materiality: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Sides:
    """What both systems hold, and how strictly each account is compared."""

    bank: Callable[[], Accounts]
    """What the statement files hold; read anew only when something about the reading has changed."""
    ledger: Callable[[], Books]
    rules: Mapping[str, AccountRule]
    """By bank account, named as `Accounts.find` takes it."""
    default: AccountRule
    """For the other accounts."""
    before: Callable[[], Sequence[OpenItems]] = tuple
    """What the statement of the period before left open, account by account."""

    def check(self) -> None:
        """Reads both sides and looks for each account that has a rule.

        Raises:
            NamespaceError: a side or the statement of the period before cannot be read, or a rule is for an
                account that is not there.
        """
        accounts = self.bank()
        self.ledger()
        self.before()
        for name in self.rules:
            accounts.find(name)

    def compared(self, bank_account: str, ledger_account: str, asked: Asked) -> Compared:
        """The two accounts of a call.

        Raises:
            NamespaceError: one of them is not there; the message names those that are.
        """
        accounts = self.bank()
        bank, books = accounts.find(bank_account), self.ledger().find(ledger_account)
        rule = next((rule for name, rule in self.rules.items() if accounts.find(name) is bank), self.default)
        if asked.window_days is not None:
            rule = replace(rule, window_days=asked.window_days)
        if asked.tolerance is not None:
            rule = replace(rule, tolerance=asked.tolerance)
        if asked.materiality is not None:
            rule = replace(rule, materiality=asked.materiality)
        return Compared(bank, books, rule)

    def carried(self, compared: Compared, period: Period) -> Carried:
        """What is carried forward to a period: nothing unless the statement ends right before it."""
        return carried_to(self.before(), compared.bank.label, compared.books.label, period.start)
