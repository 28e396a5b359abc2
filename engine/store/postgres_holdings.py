"""What a tenant has in the PostgreSQL store. Times are those of the server."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, LiteralString

from .holdings import Held, KeptReading
from .writer import Writer

if TYPE_CHECKING:
    from psycopg.rows import TupleRow

    from .postgres_database import PostgresDatabase

_STREAMS: Final = """
select name from offing.stream
where tenant=%s and exists(select from offing.fact where stream=id) order by name collate "C"
"""
_HELD: Final = """
select ref, length(body), at from offing.artifact where tenant=%s order by ref collate "C"
"""
_READINGS: Final = """
select system, key, body from offing.reading where tenant=%s order by system collate "C", key collate "C"
"""
_REMOVE: Final = """
delete from offing.artifact where tenant=%s and ref=any(%s)
    and at < (extract(epoch from clock_timestamp()) * 1000000)::bigint - %s
"""
_KEEP_TOKENS: Final = """
insert into offing.stream(tenant, name, token)
select '', '', max(token) from offing.stream where tenant in (%s, '') having count(*) > 0
on conflict(tenant, name) do update set token=excluded.token
"""
_REMOVE_ALL: Final[tuple[LiteralString, ...]] = (
    "delete from offing.fact where stream in (select id from offing.stream where tenant=%s)",
    "delete from offing.inbox where stream in (select id from offing.stream where tenant=%s)",
    "delete from offing.stream where tenant=%s",
    "delete from offing.artifact where tenant=%s",
    "delete from offing.reading where tenant=%s",
    "delete from offing.memory where tenant=%s",
)


class PostgresHoldings:
    """See `Holdings`. What is removed is gone from the disk once the server has vacuumed its tables."""

    def __init__(self, tenant: str, database: "PostgresDatabase", writer: Writer) -> None:
        self._tenant = tenant
        self._database = database
        self._writer = writer

    async def streams(self) -> Sequence[str]:
        """The names of its streams that have rows."""
        return [str(name) for (name,) in await self._rows(_STREAMS)]

    async def artifacts(self) -> Sequence[Held]:
        """Its artifacts."""
        return [Held(*one) for one in await self._rows(_HELD)]

    async def readings(self) -> Sequence[KeptReading]:
        """Its decisions."""
        return [KeptReading(*one) for one in await self._rows(_READINGS)]

    async def remove_artifacts(self, refs: Sequence[str], older_than_us: int) -> int:
        """Removes those that were not put for so long."""
        values = (self._tenant, list(refs), older_than_us)
        return await self._writer.submit(lambda: self._database.execute(_REMOVE, values).rowcount)

    async def remove_all(self) -> None:
        """Removes all of it."""
        await self._writer.submit(self._remove_all)

    def _remove_all(self) -> None:
        for statement in (_KEEP_TOKENS, *_REMOVE_ALL):
            self._database.execute(statement, (self._tenant,))

    async def _rows(self, statement: LiteralString) -> "list[TupleRow]":
        return await asyncio.to_thread(self._database.query, statement, (self._tenant,))
