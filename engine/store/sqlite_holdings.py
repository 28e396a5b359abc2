"""What a tenant has in the SQLite store."""

from collections.abc import Sequence
from typing import Protocol, TypeVar, cast

from ..clock import Clock
from .holdings import Held, KeptReading
from .writer import Writer

T = TypeVar("T")

HOLDINGS = """
create table if not exists artifact_put(
    tenant text not null, ref text not null, at integer not null,
    primary key(tenant, ref)) strict, without rowid;
"""
PUT = "insert or replace into artifact_put(tenant, ref, at) values(?, ?, ?)"
"""A table of its own: to write the time beside the bytes would write those anew."""

NEW_STREAM = """
insert or ignore into stream(tenant, name, token, alive_at)
select ?, ?, coalesce((select token from stream where tenant='' and name=''), 0), 0
"""
"""Tokens of a new stream go on where those of removed ones ended: they are kept with nobody's stream."""
_KEEP_TOKENS = """
insert into stream(tenant, name, token, alive_at)
select '', '', coalesce(max(token), 0), 0 from stream where tenant in (?, '') having count(*) > 0
on conflict(tenant, name) do update set token=excluded.token
"""

_HELD = """
select artifact.ref, length(body), coalesce(at, 0) from artifact
left join artifact_put using (tenant, ref) where artifact.tenant=? order by artifact.ref
"""
_REMOVE = """
delete from artifact where tenant=? and ref=?
and coalesce((select at from artifact_put where tenant=artifact.tenant and ref=artifact.ref), 0) < ?
"""
_REMOVE_ALL = (
    "delete from fact where stream in (select id from stream where tenant=?)",
    "delete from inbox where stream in (select id from stream where tenant=?)",
    "delete from stream where tenant=?",
    "delete from artifact where tenant=?",
    "delete from artifact_put where tenant=?",
    "delete from reading where tenant=?",
    "delete from memory where tenant=?",
)
_CHECKPOINT = "pragma wal_checkpoint(truncate)"
"""Else what was removed could be read in the write-ahead log until it is written over."""


class Cursor(Protocol):
    """What a statement gives back."""

    @property
    def rowcount(self) -> int:
        """Rows that were changed."""
        ...


class Database(Protocol):
    """The store's database, as far as it is used here."""

    def execute(self, statement: str, values: Sequence[str | bytes | int | None] = ()) -> Cursor:
        """Runs one statement in the writer's thread."""
        ...

    async def query(self, statement: str, values: Sequence[str | int]) -> list[tuple[object, ...]]:
        """Reads on a connection of its own."""
        ...


class SqliteHoldings:
    """See `Holdings`."""

    def __init__(self, tenant: str, database: Database, writer: Writer, clock: Clock) -> None:
        self._tenant = tenant
        self._database = database
        self._writer = writer
        self._clock = clock

    async def streams(self) -> Sequence[str]:
        """The names of its streams that have rows."""
        statement = (
            "select name from stream where tenant=? and exists(select 1 from fact where stream=id)"
            " order by name"
        )
        return [cast("str", name) for (name,) in await self._rows(statement)]

    async def artifacts(self) -> Sequence[Held]:
        """Its artifacts."""
        return [Held(*one) for one in cast("list[tuple[str, int, int]]", await self._rows(_HELD))]

    async def readings(self) -> Sequence[KeptReading]:
        """Its decisions."""
        statement = "select system, key, body from reading where tenant=? order by system, key"
        return [KeptReading(*one) for one in cast("list[tuple[str, str, str]]", await self._rows(statement))]

    async def remove_artifacts(self, refs: Sequence[str], older_than_us: int) -> int:
        """Removes those that were not put for so long."""
        before = self._clock.now_us() - older_than_us
        return await self._writer.submit(lambda: self._remove(refs, before))

    def _remove(self, refs: Sequence[str], before: int) -> int:
        removed = [
            ref for ref in refs if self._database.execute(_REMOVE, (self._tenant, ref, before)).rowcount
        ]
        for ref in removed:
            self._database.execute("delete from artifact_put where tenant=? and ref=?", (self._tenant, ref))
        return len(removed)

    async def remove_all(self) -> None:
        """Removes all of it, the bytes in the file too."""
        await self._writer.submit(self._remove_all)
        await self._database.query(_CHECKPOINT, ())

    def _remove_all(self) -> None:
        self._database.execute("pragma secure_delete=on")
        self._database.execute(_KEEP_TOKENS, (self._tenant,))
        for statement in _REMOVE_ALL:
            self._database.execute(statement, (self._tenant,))

    async def _rows(self, statement: str) -> list[tuple[object, ...]]:
        return await self._database.query(statement, (self._tenant,))
