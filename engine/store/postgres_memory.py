"""What is remembered, in the PostgreSQL store."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, LiteralString

from .memories import MemoryItem
from .writer import Writer

if TYPE_CHECKING:
    from .postgres_database import PostgresDatabase

MEMORY_SCHEMA: Final = """
create table offing.memory(
    tenant text not null, id text not null, who text not null, body text not null, run text not null,
    call text not null, at bigint not null, expires_at bigint,
    primary key(tenant, id));
"""
_KEEP: Final = "insert into offing.memory values(%s, %s, %s, %s, %s, %s, %s, %s) on conflict do nothing"
_ITEMS: Final = """
select id, who, body, run, call, at, expires_at from offing.memory
where tenant=%s and (%s or who=%s) order by at, id collate "C"
"""
_ONE: Final = "select id, who, body, run, call, at, expires_at from offing.memory where tenant=%s and id=%s"
_FORGET: Final = "delete from offing.memory where tenant=%s and id=any(%s)"


class PostgresMemory:
    """See `Memory`."""

    def __init__(self, tenant: str, database: "PostgresDatabase", writer: Writer) -> None:
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
        values = (self._tenant, list(ids))
        return await self._writer.submit(lambda: self._database.execute(_FORGET, values).rowcount)

    async def _found(self, statement: LiteralString, values: Sequence[object]) -> list[MemoryItem]:
        rows = await asyncio.to_thread(self._database.query, statement, values)
        return [MemoryItem(*row) for row in rows]
