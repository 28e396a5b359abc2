"""What is remembered, in the SQLite store."""

from collections.abc import Sequence
from typing import cast

from .memories import MemoryItem
from .sqlite_holdings import Database
from .writer import Writer

MEMORY_SCHEMA = """
create table if not exists memory(
    tenant text not null, id text not null, user text not null, text text not null, run text not null,
    call text not null, at integer not null, expires_at integer,
    primary key(tenant, id)) strict;
"""
_KEEP = "insert or ignore into memory values(?, ?, ?, ?, ?, ?, ?, ?)"
_ITEMS = """
select id, user, text, run, call, at, expires_at from memory
where tenant=? and (? or user=?) order by at, id
"""
_ONE = "select id, user, text, run, call, at, expires_at from memory where tenant=? and id=?"
_FORGET = "delete from memory where tenant=? and id=?"

_Columns = tuple[str, str, str, str, str, int, int | None]


class SqliteMemory:
    """See `Memory`."""

    def __init__(self, tenant: str, database: Database, writer: Writer) -> None:
        self._tenant, self._database, self._writer = tenant, database, writer

    async def keep(self, item: MemoryItem) -> MemoryItem:
        """Keeps an item."""
        values = (item.id, item.user, item.text, item.run, item.call, item.at, item.expires_at)
        await self._writer.submit(lambda: self._database.execute(_KEEP, (self._tenant, *values)).rowcount)
        [kept] = await self._found(_ONE, (self._tenant, item.id))
        return kept

    async def items(self, user: str | None = None) -> Sequence[MemoryItem]:
        """Those of a user, or all."""
        return await self._found(_ITEMS, (self._tenant, user is None, user or ""))

    async def forget(self, ids: Sequence[str]) -> int:
        """Deletes them."""

        def delete() -> int:
            execute = self._database.execute
            return sum(execute(_FORGET, (self._tenant, each)).rowcount for each in dict.fromkeys(ids))

        return await self._writer.submit(delete)

    async def _found(self, statement: str, values: Sequence[str | int]) -> list[MemoryItem]:
        rows = cast("list[_Columns]", await self._database.query(statement, values))
        return [MemoryItem(*row) for row in rows]
