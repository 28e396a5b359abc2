"""The default store: one SQLite file, safe for several processes on one machine.

Durable by WAL and `synchronous=FULL`: what `append` returned for survives a power cut. Bodies are
kept as bytes, never as a database's JSON or text.
"""

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..clock import Clock, SystemClock
from ..errors import NotFound, StoreError
from .faults import told, whole
from .inbox import Bells, Item, Posting
from .journal import Lease, Row, Scope
from .kept import Kept, rows_after
from .leases import Uptime, refuse_living
from .owner import Owner, is_dead, this_process
from .readings import READINGS, SqliteReadings
from .sqlite_holdings import HOLDINGS, NEW_STREAM, PUT, SqliteHoldings
from .sqlite_inbox import INBOX, INBOX_SCHEMA, NEWEST, SqliteInbox, items
from .sqlite_memory import MEMORY_SCHEMA, SqliteMemory
from .writer import Writer
from .written import PAGE, WrittenJournal, address_of, not_written

T = TypeVar("T")

_SWITCH_S = 0.02
"""Seconds between tries to switch a new file to its write-ahead log."""
_SWITCH_MOST_S = 10.0
"""Seconds after which the switch is given up."""

_SCHEMA = """
create table if not exists stream(
    id integer primary key, tenant text not null, name text not null, token integer not null,
    owner blob, alive_at integer not null, unique(tenant, name)) strict;
create table if not exists fact(
    stream integer not null, seq integer not null, run text not null, kind text not null,
    version integer not null, at integer not null, body blob not null, crc integer,
    primary key(stream, seq)) strict, without rowid;
create table if not exists artifact(
    tenant text not null, ref text not null, body blob not null,
    primary key(tenant, ref)) strict;
"""

_FIND = "select id, token, owner, alive_at from stream where tenant=? and name=?"
_LAST = "select coalesce(max(seq), 0) from fact where stream=?"
_APPEND = """
insert into fact select id, ?, ?, ?, ?, ?, ?, ? from stream
where tenant=? and name=? and token=? and owner is not null
    and (select coalesce(max(seq), 0) from fact where stream=id) = ?
"""
_READ = """
select seq, run, kind, version, at, body, crc from fact
where stream=(select id from stream where tenant=? and name=?) and seq>? order by seq limit ?
"""


class SqliteStore:
    """A store in a file, made when it is missing.

    Nothing is opened before the first use. One process may open a file more than once; each is an
    owner of its own.
    """

    def __init__(self, path: str | Path, clock: Clock | None = None) -> None:
        """Opens nothing yet.

        Args:
            path: The file.
            clock: What signs of life are timed by, the same for all who open the file; None for the time
                since the machine started, which does not jump.
        """
        self.path = Path(path)
        self._database = SqliteDatabase(self.path, clock or Uptime())
        self._writer = Writer(self._database.open)
        self._wall = clock or SystemClock()
        """When artifacts are put: unlike signs of life, that has to hold over years."""

    def scoped(self, tenant: str) -> Scope:
        """The part that belongs to a tenant."""
        return Scope(
            SqliteJournal(tenant, self._database, self._writer),
            SqliteArtifacts(tenant, self._database, self._writer, self._wall),
            SqliteReadings(tenant, self.path),
            SqliteHoldings(tenant, self._database, self._writer, self._wall),
            SqliteMemory(tenant, self._database, self._writer),
        )

    async def close(self) -> None:
        """Writes out what was accepted, gives back the leases and ends the writer's thread."""
        try:
            if self._database.opened:
                await self._writer.submit(self._database.release_all, lambda: "closing")
        finally:
            await self._writer.close()


class SqliteDatabase:
    """The connection of the writer's thread, and short-lived ones for reading."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self.clock = clock
        self.owner: Owner = this_process()
        self.opened = False
        self.held: set[tuple[str, str, int]] = set()
        """Tenant, stream and token of each lease held here."""
        self.bells = Bells()
        self._connection: sqlite3.Connection | None = None

    def open(self) -> "SqliteDatabase":
        """Connects for writing.

        Raises:
            StoreError: the file is no database, or its folder cannot hold a write-ahead log.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=30)
            self._connection = connection
            mode = _write_ahead(connection)
            connection.execute("pragma synchronous=full")
            _make_tables(connection)
        except (sqlite3.Error, OSError) as error:
            self.close()
            raise told(f"cannot open the store {str(self.path)!r}", error) from error
        if mode != "wal":
            self.close()
            raise StoreError(
                f"the store {str(self.path)!r} cannot use a write-ahead log (mode {mode!r}): "
                "put it on a local disk"
            )
        self.opened = True
        return self

    def execute(self, statement: str, values: Sequence[str | bytes | int | None] = ()) -> sqlite3.Cursor:
        """Runs one statement in the writer's thread."""
        if self._connection is None:
            raise StoreError(f"the store {str(self.path)!r} is not open")
        return self._connection.execute(statement, values)

    def begin(self) -> None:
        """Begins a transaction that will write."""
        self.execute("begin immediate")

    def commit(self) -> None:
        """Makes the transaction durable."""
        self.execute("commit")

    def rollback(self) -> None:
        """Undoes the transaction, if one is open."""
        with contextlib.suppress(sqlite3.Error):
            if self._connection is not None:
                self._connection.rollback()

    def attempt(self, change: Callable[[], T]) -> T:
        """Runs one change inside a savepoint, unless an earlier one has undone the transaction."""
        if self._connection is None or not self._connection.in_transaction:
            raise StoreError("the transaction was undone")
        self.execute("savepoint job")
        try:
            result = change()
        except Exception:
            if self._connection.in_transaction:
                self.execute("rollback to job")
                self.execute("release job")
            raise
        self.execute("release job")
        return result

    @property
    def holds_leases(self) -> bool:
        """Whether there is a lease to keep alive."""
        return bool(self.held)

    def heartbeat(self) -> None:
        """Says that the leases held here are alive."""
        self.execute(
            "update stream set alive_at=? where owner=?",
            (self.clock.now_us(), self.owner.to_json()),
        )

    def look(self) -> None:
        """Tells those who wait what was posted by others."""
        if self.bells:
            for tenant, stream, item in self.execute(NEWEST).fetchall():
                self.bells.ring(tenant, stream, item)

    def release_all(self) -> None:
        """Gives back each lease held here."""
        self.execute("update stream set owner=null where owner=?", (self.owner.to_json(),))

    def close(self) -> None:
        """Closes the writer's connection."""
        self.opened = False
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    async def query(self, statement: str, values: Sequence[str | int]) -> list[tuple[object, ...]]:
        """Reads in a thread, on a connection of its own: a reader never waits for the writer."""
        return await asyncio.to_thread(self._query, statement, values)

    def _query(self, statement: str, values: Sequence[str | int]) -> list[tuple[object, ...]]:
        if not self.path.exists():
            return []
        try:
            connection = sqlite3.connect(self.path, timeout=30)
            try:
                return connection.execute(statement, values).fetchall()
            finally:
                connection.close()
        except sqlite3.Error as error:
            if "no such table" in str(error):  # its writer is about to make them
                return []
            raise told(f"cannot read the store {str(self.path)!r}", error) from error


class SqliteJournal(WrittenJournal):
    """See `Journal`."""

    def __init__(self, tenant: str, database: SqliteDatabase, writer: Writer) -> None:
        self._database = database
        self._inbox = SqliteInbox(tenant, database)
        super().__init__(tenant, writer, database, self._inbox)

    def _acquire(self, stream: str) -> Lease:
        execute = self._database.execute
        now = self._database.clock.now_us()
        execute(NEW_STREAM, (self._tenant, stream))
        identity, token, owner, alive_at = execute(_FIND, (self._tenant, stream)).fetchone()
        if owner is not None and not self._given_up(stream, token, owner):
            self._refuse_living(stream, Owner.from_json(owner), now - alive_at)
        execute(
            "update stream set token=?, owner=?, alive_at=? where id=?",
            (token + 1, self._database.owner.to_json(), now, identity),
        )
        (last,) = execute(_LAST, (identity,)).fetchone()
        self._database.held.add((self._tenant, stream, token + 1))
        return Lease(stream, token + 1, last)

    def _refuse_living(self, stream: str, owner: Owner, silent_us: int) -> None:
        former_boot = silent_us < 0 and owner.boot != self._database.owner.boot
        refuse_living(stream, owner, silent_us, dead=former_boot or is_dead(owner))

    def _given_up(self, stream: str, token: int, owner: bytes) -> bool:
        """Whether the lease is one of this store that could not be written down as given back."""
        ours = owner == self._database.owner.to_json()
        return ours and (self._tenant, stream, token) not in self._database.held

    def _release(self, lease: Lease) -> None:
        self._database.execute(
            "update stream set owner=null where tenant=? and name=? and token=?",
            (self._tenant, lease.stream, lease.token),
        )

    def _append(self, lease: Lease, rows: Sequence[Kept]) -> None:
        for row in rows:
            under = (self._tenant, lease.stream, lease.token, row.seq - 1)
            if self._database.execute(_APPEND, (*row, *under)).rowcount != 1:
                raise not_written(row.seq, lease.stream)

    async def read(self, stream: str, after: int = 0) -> AsyncIterator[Row]:
        """The rows after a sequence number, a page at a time."""
        while True:
            page = await self._database.query(_READ, (self._tenant, stream, after, PAGE))
            rows = [Kept(*one) for one in page]  # type: ignore[arg-type]  # columns have their types: strict
            for row in rows_after(after, rows):
                yield row
            after += len(page)
            if len(page) < PAGE:
                return

    async def post(self, stream: str, posting: Posting) -> int:
        """Puts something into the stream's inbox; who waits in this process is told at once."""
        item = await self._writer.submit(
            lambda: self._inbox.post(stream, posting), lambda: f"a posted {posting.kind}"
        )
        self._database.bells.ring(self._tenant, stream, item)
        return item

    async def inbox(self, stream: str) -> Sequence[Item]:
        """What is not taken yet."""
        return items(await self._database.query(INBOX, (self._tenant, stream)))


class SqliteArtifacts:
    """See `Artifacts`."""

    def __init__(
        self, tenant: str, database: SqliteDatabase, writer: Writer, clock: Clock | None = None
    ) -> None:
        self._tenant = tenant
        self._database = database
        self._writer = writer
        self._clock = clock or SystemClock()

    async def put(self, data: bytes) -> str:
        """Keeps the bytes."""
        ref = await address_of(data)
        await self._writer.submit(lambda: self._put(ref, data), lambda: "an artifact")
        return ref

    def _put(self, ref: str, data: bytes) -> None:
        self._database.execute(
            "insert or ignore into artifact(tenant, ref, body) values(?, ?, ?)",
            (self._tenant, ref, data),
        )
        self._database.execute(PUT, (self._tenant, ref, self._clock.now_us()))

    async def get(self, ref: str) -> bytes:
        """The bytes at an address."""
        found = await self._database.query(
            "select body from artifact where tenant=? and ref=?", (self._tenant, ref)
        )
        if not found:
            raise NotFound(f"no artifact {ref!r}")
        (body,) = found[0]
        return whole(ref, body)  # type: ignore[arg-type]


def _make_tables(connection: sqlite3.Connection) -> None:
    connection.executescript(
        f"begin immediate; {_SCHEMA} {INBOX_SCHEMA} {READINGS} {HOLDINGS} {MEMORY_SCHEMA}"
    )
    columns = [name for _, name, *_ in connection.execute("pragma table_info(fact)")]
    if "crc" not in columns:
        connection.execute("alter table fact add column crc integer")
    connection.execute("commit")


def _write_ahead(connection: sqlite3.Connection) -> str:
    """Switches to a write-ahead log; gives the mode that holds then.

    SQLite does not wait for its lock here, so of several processes that open a new file at once all but
    one are refused, for the moment that the switch takes.
    """
    give_up_at = time.monotonic() + _SWITCH_MOST_S
    while True:
        try:
            (mode,) = connection.execute("pragma journal_mode=wal").fetchone()
            return str(mode)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up_at:
                raise
        time.sleep(_SWITCH_S)
