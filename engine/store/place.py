"""A store by its name: a URL, or the path of a file."""

import re
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
    return PostgresStore(str(where)) if is_url(where) else SqliteStore(where)


def is_url(where: str | Path) -> bool:
    """Whether it names a server, not a file."""
    return isinstance(where, str) and where.startswith(_URLS)


def shown(where: str | Path) -> str:
    """The name as it may be shown to anybody: a URL without its password."""
    if not is_url(where):
        return str(where)
    return re.sub(r"//([^:@/]*):.*@", r"//\1@", str(where).partition("?")[0])
