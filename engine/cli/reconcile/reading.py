"""Reads what the request names. A file that cannot be read stops the command: sums would be wrong."""

from collections.abc import Sequence
from typing import NamedTuple

from ....namespaces.bank.accounts import Accounts
from ....namespaces.bank.namespace import Bank
from ....namespaces.errors import NamespaceError
from ....namespaces.ledger.accounts import Books
from ....namespaces.ledger.namespace import Ledger
from ....namespaces.matching.workpaper import OpenItems, read_open_items
from ....namespaces.tables.source import Finding, read_source
from ...errors import ConfigurationError
from ...store import store_at
from ..work.conventions import as_options
from .request import Request

_UNREAD = "the file is not read: "


class Read(NamedTuple):
    """Both sides, and what the period before left open."""

    accounts: Accounts
    books: Books
    before: tuple[OpenItems, ...]
    notes: tuple[str, ...] = ()
    """What was decided about the files before, and what is kept of what was said now."""


def read_files(request: Request) -> Read:
    """Reads all files of the request.

    Raises:
        ConfigurationError: one of them cannot be read; the message says why and which option would help.
    """
    readings = store_at(request.store).scoped(request.tenant).readings if request.store else None
    bank = Bank(request.bank, **request.bank_said, readings=readings)
    ledger = Ledger(request.ledger, **request.ledger_said, readings=readings)
    kept = [] if readings is None else [*bank.keep_said(), *ledger.keep_said()]
    try:
        accounts, books = bank.contents(), ledger.contents()
        before = read_open_items(read_source(request.carried)) if request.carried else ()
    except NamespaceError as error:
        raise ConfigurationError(as_options(str(error))) from error
    _refuse_unread([*accounts.findings, *books.findings])
    new = {each.file for each in kept}
    used = (each for of in (bank, ledger) for each in of.as_decided() if each.file not in new)
    notes = [f"{each.where}: {each.what}" for each in used]
    notes += [f"{each.file}: how it was read is kept for {each.label}" for each in kept]
    return Read(accounts, books, before, tuple(notes))


def _refuse_unread(findings: Sequence[Finding]) -> None:
    unread = [each.what for each in findings if each.what.startswith(_UNREAD)]
    if unread:
        raise ConfigurationError("\n  ".join(as_options(each.removeprefix(_UNREAD)) for each in unread))
