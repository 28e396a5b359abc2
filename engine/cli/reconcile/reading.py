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
from ..conventions import as_options
from .request import Request

_UNREAD = "the file is not read: "


class Read(NamedTuple):
    """Both sides, and what the period before left open."""

    accounts: Accounts
    books: Books
    before: tuple[OpenItems, ...]


def read_files(request: Request) -> Read:
    """Reads all files of the request.

    Raises:
        ConfigurationError: one of them cannot be read; the message says why and which option would help.
    """
    try:
        accounts = Bank(request.bank, **request.said).contents()
        books = Ledger(request.ledger, **request.said).contents()
        before = read_open_items(read_source(request.carried)) if request.carried else ()
    except NamespaceError as error:
        raise ConfigurationError(as_options(str(error))) from error
    _refuse_unread([*accounts.findings, *books.findings])
    return Read(accounts, books, before)


def _refuse_unread(findings: Sequence[Finding]) -> None:
    unread = [each.what for each in findings if each.what.startswith(_UNREAD)]
    if unread:
        raise ConfigurationError("\n  ".join(as_options(each.removeprefix(_UNREAD)) for each in unread))
