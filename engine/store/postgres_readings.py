"""Decisions about files in the PostgreSQL store, for tools: they run in threads and wait for the server."""

from typing import TYPE_CHECKING

from . import postgres_schema as sql

if TYPE_CHECKING:
    from .postgres_database import PostgresDatabase


class PostgresReadings:
    """How files are to be read, as a person decided: a text by system and key, for one tenant.

    All of it blocks, and is safe from any thread.

    Raises:
        StoreError: the server cannot be asked.
    """

    def __init__(self, tenant: str, database: "PostgresDatabase") -> None:
        self._tenant = tenant
        self._database = database

    def load(self, system: str, key: str) -> str | None:
        """What is kept; None when nothing is."""
        found = self._database.query(sql.LOAD_READING, (self._tenant, system, key))
        return str(found[0][0]) if found else None

    def keep(self, system: str, key: str, reading: str) -> None:
        """Keeps a decision in place of an earlier one; durable when it returns."""
        self._database.make_tables()
        self._database.query(sql.KEEP_READING, (self._tenant, system, key, reading))

    def forget(self, system: str, key: str) -> None:
        """Forgets what is kept; without effect when nothing is."""
        self._database.query(sql.FORGET_READING, (self._tenant, system, key))
