"""The store for more than one machine: a PostgreSQL database that engines of many hosts share.

The same journal as in a SQLite file: one writer a store with group commit, bodies as bytes, the fencing
token checked in the statement of each append. Needs the extra `postgres`.
"""

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from ..errors import ConfigurationError, NotFound
from ..points import changing
from . import postgres_schema as sql
from .faults import whole
from .inbox import Item, Posting
from .journal import Lease, Row, Scope
from .kept import Kept, rows_after
from .leases import refuse_living
from .owner import Owner, is_dead
from .postgres_holdings import PostgresHoldings
from .postgres_inbox import PostgresInbox
from .postgres_memory import PostgresMemory
from .postgres_readings import PostgresReadings
from .writer import Writer
from .written import PAGE, WrittenJournal, address_of, not_written

if TYPE_CHECKING:
    from .postgres_database import PostgresDatabase
    from .postgres_link import Patience


class PostgresStore:
    """A store in a PostgreSQL database, its tables in the schema `offing`, made at the first use.

    Nothing is opened before. Each store is an owner of its own, also in one process.
    """

    def __init__(self, url: str, patience: "Patience | None" = None) -> None:
        """Connects nowhere yet.

        Args:
            url: Such as `postgresql://user:password@host:5432/database`, with libpq's parameters.
            patience: How long is waited for the server; None for what suits most.

        Raises:
            ConfigurationError: the URL cannot be read, or the extra is not installed.
        """
        if importlib.util.find_spec("psycopg") is None:
            raise ConfigurationError("a PostgreSQL store needs psycopg: pip install 'offing[postgres]'")
        from .postgres_database import PostgresDatabase
        from .postgres_link import Patience

        self._database = PostgresDatabase(url, patience or Patience())
        self._writer = Writer(self._database.open)

    def scoped(self, tenant: str) -> Scope:
        """The part that belongs to a tenant."""
        return Scope(
            PostgresJournal(tenant, self._database, self._writer),
            PostgresArtifacts(tenant, self._database, self._writer),
            PostgresReadings(tenant, self._database),
            PostgresHoldings(tenant, self._database, self._writer),
            PostgresMemory(tenant, self._database, self._writer),
        )

    async def close(self) -> None:
        """Writes out what was accepted, gives back the leases and closes all connections."""
        try:
            if self._database.opened:
                await self._writer.submit(self._database.release_all, lambda: "closing")
        finally:
            await self._writer.close()
            self._database.close()


class PostgresJournal(WrittenJournal):
    """See `Journal`."""

    def __init__(self, tenant: str, database: "PostgresDatabase", writer: Writer) -> None:
        self._database = database
        self._inbox = PostgresInbox(tenant, database)
        super().__init__(tenant, writer, database, self._inbox)

    def _acquire(self, stream: str) -> Lease:
        """Looks before it waits for the row: who works there has it locked, again and again."""
        execute = self._database.execute
        place = (self._tenant, stream)
        self._refuse_living(stream)
        execute(sql.MAKE, place)
        (identity, token) = execute(sql.FIND, place).fetchall()[0]
        self._refuse_living(stream)
        execute(sql.TAKE_LEASE, (token + 1, self._database.owner.store, identity))
        last = int(execute(sql.LAST, (identity,)).fetchall()[0][0])
        self._database.held.add((*place, token + 1))
        return Lease(stream, token + 1, last)

    def _refuse_living(self, stream: str) -> None:
        for token, owner, body, silent_us in self._database.execute(sql.HOLDER, (self._tenant, stream)):
            known = Owner.from_json(body)
            if not self._given_up(stream, token, owner):
                refuse_living(stream, known, silent_us, dead=self._is_dead(known))

    def _is_dead(self, owner: Owner) -> bool:
        """Whether it surely is. Two hosts may have one name: only of this boot can anything be known."""
        return owner.boot == self._database.owner.boot != "" and is_dead(owner)

    def _given_up(self, stream: str, token: int, owner: str) -> bool:
        """Whether the lease is one of this store that could not be written down as given back."""
        ours = owner == self._database.owner.store
        return ours and (self._tenant, stream, token) not in self._database.held

    def _release(self, lease: Lease) -> None:
        self._database.execute(sql.RELEASE, (self._tenant, lease.stream, lease.token))

    def _append(self, lease: Lease, rows: Sequence[Kept]) -> None:
        """In one statement, which writes all or nothing."""
        first = rows[0].seq
        follow = [row.seq for row in rows] == list(range(first, first + len(rows)))
        columns = [list(column) for column in zip(*rows, strict=True)]
        values = (self._tenant, lease.stream, lease.token, *columns, first - 1)
        if not follow or self._database.execute(sql.APPEND, values).rowcount != len(rows):
            raise not_written(first, lease.stream)

    async def read(self, stream: str, after: int = 0) -> AsyncIterator[Row]:
        """The rows after a sequence number, a page at a time."""
        while True:
            values = (self._tenant, stream, after, PAGE)
            page = await asyncio.to_thread(self._database.query, sql.READ, values)
            for row in rows_after(after, [Kept(*one) for one in page]):
                yield row
            after += len(page)
            if len(page) < PAGE:
                return

    async def post(self, stream: str, posting: Posting) -> int:
        """Puts something into the stream's inbox; who waits in this process is told at once."""
        durable = asyncio.ensure_future(asyncio.to_thread(self._inbox.post, stream, posting))
        changing(lambda: f"a posted {posting.kind}", durable)
        item = await durable
        self._database.bells.ring(self._tenant, stream, item)
        return item

    async def inbox(self, stream: str) -> Sequence[Item]:
        """What is not taken yet."""
        found = await asyncio.to_thread(self._database.query, sql.INBOX, (self._tenant, stream))
        return [Item(*one) for one in found]


class PostgresArtifacts:
    """See `Artifacts`."""

    def __init__(self, tenant: str, database: "PostgresDatabase", writer: Writer) -> None:
        self._tenant = tenant
        self._database = database
        self._writer = writer

    async def put(self, data: bytes) -> str:
        """Keeps the bytes."""
        ref = await address_of(data)
        await self._writer.submit(lambda: self._put(ref, data), lambda: "an artifact")
        return ref

    def _put(self, ref: str, data: bytes) -> None:
        self._database.execute(sql.PUT, (self._tenant, ref, data))

    async def get(self, ref: str) -> bytes:
        """The bytes at an address."""
        found = await asyncio.to_thread(self._database.query, sql.GET, (self._tenant, ref))
        if not found:
            raise NotFound(f"no artifact {ref!r}")
        return whole(ref, found[0][0])
