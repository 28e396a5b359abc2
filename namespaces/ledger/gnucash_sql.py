"""GnuCash books saved as an SQLite database."""

from collections.abc import Iterator, Mapping

from ..tables.source import Findings
from .books import LedgerFile
from .database import Database, quoted
from .gnucash import Account, Book, Split, Transaction, lines_of_book, unused

_NEEDED = {
    "accounts": {"guid", "name", "account_type", "commodity_guid", "parent_guid", "code"},
    "commodities": {"guid", "namespace", "mnemonic"},
    "transactions": {"guid", "currency_guid", "num", "post_date", "description"},
    "splits": {"tx_guid", "account_guid", "memo", "value_num", "value_denom"}
    | {"quantity_num", "quantity_denom"},
}
_BUSINESS = ("customers", "employees", "entries", "invoices", "jobs", "orders", "vendors")
_STAMP = 14
"""Digits of a moment as older versions write it: 20170107105900."""

_Tables = Mapping[str, tuple[str, ...]]


def has_gnucash(tables: _Tables) -> bool:
    """True when the tables of a database are those of GnuCash."""
    return all(columns <= set(tables.get(name, ())) for name, columns in _NEEDED.items())


def read_gnucash_database(file: str, database: Database, tables: _Tables, findings: Findings) -> LedgerFile:
    """Reads the books; a line's row is the number of its split in the table.

    Raises:
        SourceError: the file is damaged, or takes too long to read.
    """
    commodities = {
        guid: (space, name)
        for guid, space, name in _read(database, "commodities", "guid", "namespace", "mnemonic")
    }
    book = Book(file)
    columns = ("guid", "name", "code", "commodity_guid", "parent_guid", "account_type")
    for guid, name, code, commodity, parent, kind in _read(database, "accounts", *columns):
        space, symbol = commodities.get(commodity, ("", ""))
        book.accounts[guid] = Account(name, code, symbol, parent, kind == "ROOT", space == "template")
    transactions = _transactions(database, tables, commodities)
    _add_splits(database, transactions, findings)
    book.transactions += transactions.values()
    kinds = {name: _count(database, name) for name in _BUSINESS if name in tables}
    if (what := unused({name: count for name, count in kinds.items() if count})) is not None:
        findings.add("info", what)
    return lines_of_book(book, findings)


def _transactions(
    database: Database, tables: _Tables, commodities: Mapping[str, tuple[str, str]]
) -> dict[str, Transaction]:
    days: dict[str, str] = {}
    if {"obj_guid", "name", "gdate_val"} <= set(tables.get("slots", ())):
        for of, name, day in _read(database, "slots", "obj_guid", "name", "gdate_val"):
            if name == "date-posted" and day:
                days[of] = day
    made: dict[str, Transaction] = {}
    columns = ("guid", "currency_guid", "post_date", "num", "description")
    for row, cells in enumerate(_read(database, "transactions", *columns), 1):
        guid, currency, posted, number, text = cells
        symbol = commodities.get(currency, ("", ""))[1]
        made[guid] = Transaction(guid, symbol, _moment(posted), days.get(guid, ""), number, text, row)
    return made


def _add_splits(database: Database, transactions: dict[str, Transaction], findings: Findings) -> None:
    columns = (
        "tx_guid",
        "account_guid",
        "memo",
        "value_num",
        "value_denom",
        "quantity_num",
        "quantity_denom",
    )
    for row, cells in enumerate(_read(database, "splits", *columns), 1):
        of, account, memo, value, parts, quantity, quantity_parts = cells
        transaction = transactions.get(of)
        if transaction is None:
            findings.add("error", "is left out: its transaction is not in the file", row)
            continue
        if not transaction.splits:
            transaction.row = row
        split = Split(account, f"{value}/{parts}", f"{quantity}/{quantity_parts}", memo, row)
        transaction.splits.append(split)


def _read(database: Database, table: str, *columns: str) -> Iterator[tuple[str, ...]]:
    return database.read(f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(table)}").rows


def _count(database: Database, table: str) -> int:
    return int(next(database.read(f"SELECT count(*) FROM {quoted(table)}").rows)[0])


def _moment(text: str) -> str:
    if len(text) == _STAMP and text.isdecimal():
        return f"{text[:4]}-{text[4:6]}-{text[6:8]} {text[8:10]}:{text[10:12]}:{text[12:]}"
    return text
