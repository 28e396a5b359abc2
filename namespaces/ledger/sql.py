"""Books in a database: the lines of journals in one table or view, known by the names of its columns.

The names are those of a general ledger as CSV (`date`, `account`, `amount` or `debit` and `credit`,
`currency`, `journal`, `text`). A statement of the host may give them instead. Databases other than SQLite
are not connected to: the host copies the lines into an SQLite file, or writes them as CSV.
"""

from ..tables.header import Candidate, Columns, check_roles, find_header
from ..tables.source import Conventions, Findings, Source, SourceError, quote
from ..tables.table import Row, Table
from .books import LedgerFile
from .database import Rows, is_sqlite, open_database, quoted
from .general_ledger import WORDS, ledger_of_tables
from .gnucash_sql import has_gnucash, read_gnucash_database

__all__ = ["is_sqlite", "read_database"]

_LISTED = 20
_TAB = "\t"
_WANTED = "journal_lines(date, account, amount, currency, journal, text)"


def read_database(source: Source, conventions: Conventions, query: str | None = None) -> LedgerFile:
    """Reads the books in one SQLite file: those of GnuCash, or the lines in a table or view.

    Args:
        source: The file.
        conventions: Used where the file leaves it open.
        query: The statement that gives the lines; None finds the table or view that has them.

    Raises:
        SourceError: it is damaged, takes too long, or has no lines; or several tables have them.
        UndecidedError: two readings of dates or amounts fit.
    """
    findings = Findings(source.file)
    check_roles(source.file, conventions.columns, WORDS)
    with open_database(source, findings) as database:
        if query is not None:
            table = _table(source.file, database.read(query), conventions)
        else:
            tables = database.tables()
            if has_gnucash(tables):
                return read_gnucash_database(source.file, database, tables, findings)
            name = _chosen(source.file, tables, conventions)
            table = _table(source.file, database.read(f"SELECT * FROM {quoted(name)}"), conventions)
            findings.add("info", f"the lines are those of {quote(name)}")
        return ledger_of_tables(source.file, "sql", [table], conventions, findings)


def _chosen(file: str, tables: dict[str, tuple[str, ...]], conventions: Conventions) -> str:
    """The one table or view that has lines."""
    fits = [name for name, names in tables.items() if _columns(names, conventions) is not None]
    if len(fits) == 1:
        return fits[0]
    listed = ", ".join(quote(name) for name in (fits or list(tables))[:_LISTED]) or "none"
    if fits:
        what = f"several tables or views may hold the lines of journals: {listed}; say which with query=,"
        raise SourceError(file, f"{what} such as: SELECT * FROM {quoted(fits[0])}")
    what = f"no table or view has a date, an account and an amount (or debit and credit): there are {listed};"
    raise SourceError(file, f"{what} make a view {_WANTED}, or say query=")


def _columns(names: tuple[str, ...], conventions: Conventions) -> Columns | None:
    header = find_header([Candidate(1, names, _TAB)], WORDS, conventions.columns)
    if header is None or not {"account", "code"} & set(header.columns.roles):
        return None
    return header.columns


def _table(file: str, read: Rows, conventions: Conventions) -> Table:
    columns = _columns(read.columns, conventions)
    if columns is None:
        what = f"has no date, account and amount among its columns: {', '.join(read.columns[:_LISTED])}"
        raise SourceError(file, f"the query {what}; name them as in {_WANTED}")
    rows = tuple(Row(number, cells) for number, cells in enumerate(read.rows, 1))
    if not rows:
        raise SourceError(file, "gives no rows; read a period with entries")
    return Table(file, _TAB, columns, (), rows)
