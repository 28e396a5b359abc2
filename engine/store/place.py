"""A store by its name: a URL, or the path of a file."""

from pathlib import Path

from .journal import Store
from .postgres import PostgresStore
from .sqlite import SqliteStore

_URLS = ("postgresql://", "postgres://")


def store_at(where: str | Path) -> Store:
    """The store at `postgresql://...`, or in the SQLite file of that path. Opens nothing yet.

    Raises:
        ConfigurationError: the URL cannot be read, or the extra `postgres` is not installed.
    """
    if isinstance(where, str) and where.startswith(_URLS):
        return PostgresStore(where)
    return SqliteStore(where)
