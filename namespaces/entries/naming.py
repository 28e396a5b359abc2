"""Which account and which file of the books a proposed entry means."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import NamespaceError
from ..ledger.accounts import Account, Books
from ..ledger.books import BookFile
from .entry import Entry, EntryLine
from .texts import fault_of, one_line

_NEAR = 3


@dataclass(frozen=True, slots=True)
class Meant:
    """What a line's account is, or why it cannot be told."""

    name: str
    currency: str | None
    """None when the books name none."""
    account: Account | None = None
    """None for a new account, or when there is a problem."""
    problem: str = ""


def file_meant(entry: Entry, books: Books) -> BookFile | str:
    """The file that the entry is for, or why it cannot be told."""
    named = [each for each in books.files if entry.file in {None, each.name}]
    if len(named) == 1:
        return named[0]
    there_are = ", ".join(repr(each.name) for each in books.files)
    if entry.file is None:
        return f"the books are several files: say with `file` which it is for, one of {there_are}"
    if named:
        return f"two files are called {entry.file!r}: give one of them another name"
    return f"there is no file {entry.file!r} among the books; there are: {there_are}"


def account_meant(line: EntryLine, books: Books, usual: str | None) -> Meant:
    """The account of a line: by its exact name, else by code or part of the name.

    Args:
        line: The line.
        books: The books.
        usual: Currency of a new account for which none is said.
    """
    name, currency = one_line(line.account), line.currency
    named = [each for each in books.accounts if each.name == name]
    if not named and not line.new_account:
        try:
            named = [books.find(name)]
        except NamespaceError:
            return Meant(name, currency or usual, problem=_unknown(name, books))
    if not named:
        return _new(Meant(name, currency or usual))
    fits = [each for each in named if currency in {None, each.currency}]
    if len(fits) == 1:
        return Meant(fits[0].name, fits[0].currency, fits[0])
    kept = " and ".join(each.currency or "no currency" for each in named)
    if fits:
        return Meant(name, None, problem=f"{name!r} is kept in {kept}: say which with `currency`")
    meant = named[0].name
    if line.new_account:
        return Meant(meant, currency)
    what = f"{meant!r} is kept in {kept}, not in {currency}; if it is to hold that too, set new_account"
    return Meant(meant, currency, problem=what)


def usual_currency(file: BookFile, lines: Sequence[EntryLine]) -> str | None:
    """What a new account is kept in when nothing is said: the file's currency, or the other lines'."""
    said = {line.currency for line in lines if line.currency}
    return file.currency or (said.pop() if len(said) == 1 else None)


def _new(meant: Meant) -> Meant:
    fault = "an account needs a name" if not meant.name else fault_of(meant.name)
    return Meant(meant.name, meant.currency, problem=f"{meant.name!r}: {fault}" if fault else "")


def _unknown(name: str, books: Books) -> str:
    names = [each.name for each in books.accounts if each.name]
    known = {each.casefold(): each for each in names}
    known |= {each.split()[0].casefold(): each for each in names}
    near = difflib.get_close_matches(name.casefold(), known, _NEAR)
    offered = ", ".join(dict.fromkeys(repr(known[each]) for each in near))
    hint = f"the nearest are {offered}" if offered else "ledger__list_accounts shows those there are"
    return f"there is no one account {name!r} in the books; {hint}; for a new one set new_account"
