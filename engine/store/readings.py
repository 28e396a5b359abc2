"""Decisions about files in the SQLite store, for tools: they run in threads and wait for the disk."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from ..errors import StoreError

READINGS = """
create table if not exists reading(
    tenant text not null, system text not null, key text not null, body text not null,
    primary key(tenant, system, key)) strict;
"""
_WAIT_S = 30.0
"""Seconds to wait for another writer."""


class SqliteReadings:
    """See `Readings`. Each call has a connection of its own, so that no thread waits for the writer's.

    Raises:
        StoreError: the file cannot be read or written.
    """

    def __init__(self, tenant: str, path: Path) -> None:
        self._tenant = tenant
        self._path = path

    def load(self, system: str, key: str) -> str | None:
        """What is kept; None also while there is no such file."""
        if not self._path.exists():
            return None
        statement = "select body from reading where tenant=? and system=? and key=?"
        try:
            found = self._run(statement, (self._tenant, system, key))
        except sqlite3.Error as error:
            if "no such table" in str(error):  # an earlier release made the file
                return None
            raise StoreError(f"cannot read the store {str(self._path)!r}: {error}") from error
        return found[0][0] if found else None

    def keep(self, system: str, key: str, reading: str) -> None:
        """Keeps a decision, durably."""
        self._change(
            "insert or replace into reading values(?, ?, ?, ?)", (self._tenant, system, key, reading)
        )

    def forget(self, system: str, key: str) -> None:
        """Forgets what is kept, durably."""
        statement = "delete from reading where tenant=? and system=? and key=?"
        self._change(statement, (self._tenant, system, key))

    def _change(self, statement: str, values: Sequence[str]) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._run(READINGS, ())
            self._run(statement, values)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"cannot write the store {str(self._path)!r}: {error}") from error

    def _run(self, statement: str, values: Sequence[str]) -> list[tuple[str, ...]]:
        connection = sqlite3.connect(self._path, isolation_level=None, timeout=_WAIT_S)
        try:
            connection.execute("pragma synchronous=full")
            return connection.execute(statement, values).fetchall()
        finally:
            connection.close()
