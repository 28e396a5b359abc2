"""Decisions about files in the PostgreSQL store, for tools: they run in threads and wait for the server."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, LiteralString

if TYPE_CHECKING:
    from .postgres_database import PostgresDatabase

_LOAD: Final = "select body from offing.reading where tenant=%s and system=%s and key=%s"
_KEEP: Final = """
insert into offing.reading values(%s, %s, %s, %s)
on conflict(tenant, system, key) do update set body=excluded.body
"""
_FORGET: Final = "delete from offing.reading where tenant=%s and system=%s and key=%s"


class PostgresReadings:
    """See `Readings`. Changes have a connection of their own, so that no thread waits for the writer's.

    Raises:
        StoreError: the server cannot be reached, or refuses.
    """

    def __init__(self, tenant: str, database: "PostgresDatabase") -> None:
        self._tenant = tenant
        self._database = database

    def load(self, system: str, key: str) -> str | None:
        """What is kept; None also where nobody has made the tables yet."""
        found = self._database.query(_LOAD, (self._tenant, system, key))
        return str(found[0][0]) if found else None

    def keep(self, system: str, key: str, reading: str) -> None:
        """Keeps a decision, durably."""
        self._change(_KEEP, (self._tenant, system, key, reading))

    def forget(self, system: str, key: str) -> None:
        """Forgets what is kept, durably."""
        self._change(_FORGET, (self._tenant, system, key))

    def _change(self, statement: LiteralString, values: Sequence[str]) -> None:
        self._database.change(statement, values)
