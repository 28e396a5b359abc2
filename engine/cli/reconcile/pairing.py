"""Which account of the books is which bank account: as it was said, else only where it is plain."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from ....namespaces.bank.accounts import Account as BankAccount
from ....namespaces.bank.accounts import Accounts
from ....namespaces.errors import NamespaceError
from ....namespaces.ledger.accounts import Account as LedgerAccount
from ....namespaces.ledger.accounts import Books
from ...errors import ConfigurationError

_LEAST_DIGITS = 4
"""Digits of an account's number that have to stand in the name of its account in the books."""
_LEAST_SHARED = 3
"""Equal amounts from which two accounts may be the same by what is on them."""
_FAR_MORE = 3
"""How many times as many equal amounts the best one has to have as the next."""
_SHOWN = 5
_BANK = re.compile(
    r"\b(?:bank|banque|banco|current account|checking|chequing|girokonto|giro|compte courant|rekening)\b",
    re.IGNORECASE,
)
_ABOUT_BANKS = re.compile(
    r"charges?|fees?|interest|commission|loans?|overdraft|clearing|suspense|gebühr|zins|frais|intérêt|kosten",
    re.IGNORECASE,
)
""""Bank charges" is no bank account."""


class Pair(NamedTuple):
    """One bank account and its account in the books."""

    bank: BankAccount
    books: LedgerAccount
    how: str
    """How it was found, for the person who reads it."""


class Unpaired(NamedTuple):
    """A bank account whose account in the books is not plain."""

    bank: BankAccount
    candidates: tuple[LedgerAccount, ...]
    """Those that fit best, the best first; empty when none is in its currency."""
    currencies: tuple[str, ...]
    """Of the accounts of the books that are left; empty when they name none."""
    turned: LedgerAccount | None
    """The one that has its amounts with the other sign; None when none does."""


class Pairing(NamedTuple):
    """What became of every bank account."""

    pairs: tuple[Pair, ...]
    unpaired: tuple[Unpaired, ...]


def pair_accounts(accounts: Accounts, books: Books, said: Sequence[str]) -> Pairing:
    """Pairs the accounts, each once: what was said, then by number, by what is on them, by its name.

    Args:
        accounts: Of the bank.
        books: Of all entities.
        said: Pairs as `BANK=LEDGER`.

    Raises:
        ConfigurationError: what was said names no account, or one twice.
    """
    pairs = [_said(each, accounts, books) for each in said]
    _refuse_twice(pairs)
    pairs += _by_number(*_left(accounts, books, pairs))
    pairs += _by_amounts(*_left(accounts, books, pairs))
    pairs += _by_word(*_left(accounts, books, pairs))
    rest, free = _left(accounts, books, pairs)
    scores = _scores(rest, free)
    order = [each.label for each in accounts.accounts]
    currencies = tuple(sorted({each.currency for each in free if each.currency}))
    return Pairing(
        tuple(sorted(pairs, key=lambda pair: order.index(pair.bank.label))),
        tuple(
            Unpaired(each, tuple(_ranked(each, free, scores)), currencies, with_other_sign(each, free))
            for each in rest
        ),
    )


def with_other_sign(bank: BankAccount, books: Sequence[LedgerAccount]) -> LedgerAccount | None:
    """The account that has far more amounts of a bank account with the other sign than any has with its own.

    On many cards a charge is positive. None where it is no such one.
    """
    own = _amounts(bank)
    turned: Counter[Decimal | None] = Counter(
        {-amount: number for amount, number in own.items() if amount is not None}
    )
    fits = [(each, _amounts(each)) for each in books if each.currency == bank.currency]
    least = max(1, min(_LEAST_SHARED, len(bank.booked)))
    straight = max(((own & amounts).total() for _, amounts in fits), default=0)
    best, found = max(
        ((each, (turned & amounts).total()) for each, amounts in fits),
        key=lambda pair: pair[1],
        default=(None, 0),
    )
    return best if found >= max(least, _FAR_MORE * straight) else None


def _said(text: str, accounts: Accounts, books: Books) -> Pair:
    bank, equals, ledger = text.partition("=")
    if not equals or not bank.strip() or not ledger.strip():
        raise ConfigurationError(f"--pair {text!r} is no pair: give BANK=LEDGER, such as 55120944=1200")
    try:
        return Pair(accounts.find(bank.strip()), books.find(ledger.strip()), "as --pair says")
    except NamespaceError as error:
        raise ConfigurationError(f"--pair {text!r}: {error}") from error


def _refuse_twice(pairs: Sequence[Pair]) -> None:
    for labels in ([pair.bank.label for pair in pairs], [pair.books.label for pair in pairs]):
        for label, times in Counter(labels).items():
            if times > 1:
                raise ConfigurationError(f"--pair names {label!r} {times} times: each account has one other")


def _by_number(bank: Sequence[BankAccount], books: Sequence[LedgerAccount]) -> list[Pair]:
    """Pairs where the number of one bank account stands in the name of one account of the books."""
    found = [(each, _numbered(each, books)) for each in bank]
    taken = Counter(ledger.label for _, those in found for ledger in those)
    return [
        Pair(each, those[0], "its number is in the name")
        for each, those in found
        if len(those) == 1 and taken[those[0].label] == 1
    ]


def _numbered(bank: BankAccount, books: Iterable[LedgerAccount]) -> list[LedgerAccount]:
    number = re.sub(r"[^0-9A-Z]", "", bank.name.upper())
    return [each for each in books if each.currency == bank.currency and _says(each.name, number)]


def _says(name: str, number: str) -> bool:
    """Whether a name has a number's last digits; its own code, such as 1200, counts as any other."""
    groups = re.findall(r"[0-9]+", name)
    return any(len(each) >= _LEAST_DIGITS and number.endswith(each) for each in groups)


_Scores = Mapping[tuple[str, str], int]
"""How many amounts are on both of two accounts, by their labels: the bank's first."""


def _by_amounts(bank: Sequence[BankAccount], books: Sequence[LedgerAccount]) -> list[Pair]:
    """Pairs where by far the most amounts are on both, seen from either account."""
    scores = _scores(bank, books)
    found: list[Pair] = []
    for each in bank:
        ranked = _ranked(each, books, scores)
        if ranked and _is_plain(each, ranked[0].label, scores):
            what = (
                f"{scores[each.label, ranked[0].label]} of its {len(each.booked)} amounts are in that account"
            )
            found.append(Pair(each, ranked[0], what))
    return found


def _scores(bank: Sequence[BankAccount], books: Sequence[LedgerAccount]) -> _Scores:
    one = {each.label: _amounts(each) for each in bank}
    other = {each.label: _amounts(each) for each in books}
    return {
        (a.label, b.label): (one[a.label] & other[b.label]).total()
        for a in bank
        for b in books
        if a.currency == b.currency
    }


def _is_plain(bank: BankAccount, books: str, scores: _Scores) -> bool:
    """Whether enough is on both: all of the bank's where that is little, and far more than on any other."""
    score = scores[bank.label, books]
    least = max(1, min(_LEAST_SHARED, len(bank.booked)))
    rivals = [value for (a, b), value in scores.items() if (a == bank.label) != (b == books)]
    return score >= max(least, _FAR_MORE * max(rivals, default=0))


def _ranked(bank: BankAccount, books: Iterable[LedgerAccount], scores: _Scores) -> list[LedgerAccount]:
    """Those in its currency that share the most amounts with it, the best first."""
    fits = [each for each in books if (bank.label, each.label) in scores]
    return sorted(fits, key=lambda each: (-scores[bank.label, each.label], each.label))[:_SHOWN]


def _amounts(account: BankAccount | LedgerAccount) -> Counter[Decimal | None]:
    return Counter(record.amount for record in account.between(None, None))


def _by_word(bank: Sequence[BankAccount], books: Sequence[LedgerAccount]) -> list[Pair]:
    """Pairs the one bank account of a currency with the one account that is called a bank's.

    Not where they share no amount, nor where another account shares half as many or more: names are no
    proof.
    """
    scores = _scores(bank, books)
    found: list[Pair] = []
    for each in bank:
        rivals = [other for other in bank if other.currency == each.currency]
        called = [other for other in books if other.currency == each.currency and _is_bank(other.name)]
        if len(rivals) != 1 or len(called) != 1:
            continue
        others = [scores[each.label, other.label] for other in books if (each.label, other.label) in scores]
        shared = scores[each.label, called[0].label]
        others.remove(shared)
        plain = shared and 2 * max(others, default=0) <= shared
        if plain and with_other_sign(each, books) is None:
            found.append(Pair(each, called[0], "the only one that is called a bank account"))
    return found


def _is_bank(name: str) -> bool:
    return _BANK.search(name) is not None and _ABOUT_BANKS.search(name) is None


class _Left(NamedTuple):
    bank: list[BankAccount]
    books: list[LedgerAccount]


def _left(accounts: Accounts, books: Books, pairs: Sequence[Pair]) -> _Left:
    """The accounts of either side that are in no pair yet."""
    at_bank = {pair.bank.label for pair in pairs}
    in_books = {pair.books.label for pair in pairs}
    return _Left(
        [each for each in accounts.accounts if each.label not in at_bank],
        [each for each in books.accounts if each.label not in in_books],
    )
