"""The writer's connection to a PostgreSQL server: transactions, and what became of one that was cut."""

from collections.abc import Callable, Sequence
from typing import LiteralString, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow

from ..errors import ConfigurationError, StoreError
from . import postgres_schema as sql
from .faults import advice, told
from .inbox import Bells
from .owner import Owner, this_process
from .postgres_link import Link, LinkPool, Patience, connect, connect_again, is_cut
from .writer import Undone

T = TypeVar("T")

Values = Sequence[object]

_COLLIDED = frozenset({"40001", "40P01"})
"""SQLSTATEs of a transaction that was given up for another one's sake."""


class PostgresDatabase:
    """See `Database`. Of many changes in one transaction each is a message to the server, no more.

    When one fails, the whole transaction is undone and made again with a savepoint around each.
    """

    def __init__(self, url: str, patience: Patience) -> None:
        self.shown = _without_password(url)
        self.owner: Owner = this_process()
        self.opened = False
        self.held: set[tuple[str, str, int]] = set()
        """Tenant, stream and token of each lease held here."""
        self.bells = Bells()
        self._url = url
        self._patience = patience
        self._name = f"offing writer {self.owner.store}"
        self._pool = LinkPool(url, patience)
        self._link: Link | None = None
        self._batch = 0
        """The number of the last transaction."""
        self._careful = False
        """Whether there is a savepoint around each change."""
        self._wrote = False
        """Whether the change at work has written anything."""

    def open(self) -> "PostgresDatabase":
        """Connects for writing, and makes the tables when they are missing.

        Raises:
            StoreError: the server cannot be reached, or the tables not be made.
        """
        try:
            self._link = connect(self._url, self._patience, self._name)
            sql.prepare(self._link)
            self._link.execute(sql.SWEEP)
        except (psycopg.Error, StoreError) as error:
            self.close()
            raise told(f"cannot open the store {self.shown!r}", error) from error
        self.opened = self._pool.reached = True
        return self

    def execute(self, statement: LiteralString | bytes, values: Values = ()) -> "psycopg.Cursor[TupleRow]":
        """Runs one statement in the writer's thread."""
        if self._link is None:
            raise StoreError(f"the store {self.shown!r} is not open")
        cursor = self._link.execute(statement, values or None, prepare=None if values else False)
        if cursor.rowcount > 0 and not (cursor.statusmessage or "").startswith("SELECT"):
            self._wrote = True
        return cursor

    def begin(self) -> None:
        """Begins a transaction, on a new connection when the last one was cut."""
        if self._link is None or self._link.closed:
            self._connect_again()
        self._batch += 1
        body = self.owner.to_json().hex()
        begin = sql.BEGIN.format(id=self.owner.store, body=body, batch=self._batch)
        try:
            self.execute(begin.encode())
        except psycopg.Error as error:
            raise self._undone(error) from error

    def attempt(self, change: Callable[[], T]) -> T:
        """Runs one change."""
        if self._careful:
            return self._attempt_carefully(change)
        self._wrote = False
        try:
            return change()
        except psycopg.Error as error:
            raise self._undone(error) from error
        except Exception as error:
            if self._wrote:
                self._careful = True
                raise Undone(str(error)) from error
            raise

    def _attempt_carefully(self, change: Callable[[], T]) -> T:
        self.execute(b"savepoint change")
        try:
            result = change()
        except Exception as error:
            if isinstance(error, psycopg.Error) and self._must_begin_anew(error):
                raise self._undone(error) from error
            self.execute(b"rollback to change")
            raise
        self.execute(b"release change")
        return result

    def _must_begin_anew(self, error: psycopg.Error) -> bool:
        return self._link is None or is_cut(self._link, error) or error.sqlstate in _COLLIDED

    def _undone(self, error: psycopg.Error) -> Undone:
        """A transaction that was never told to commit is undone, whatever happened to it."""
        self._careful = not self._must_begin_anew(error)
        if self._link is not None and is_cut(self._link, error):
            self._link.close()
        return Undone(str(error))

    def commit(self) -> None:
        """Makes the transaction durable.

        Raises:
            Undone: it was not committed.
            StoreError: the connection was cut meanwhile and cannot be made again: nobody knows.
        """
        try:
            done = self.execute(b"commit").statusmessage
        except psycopg.Error as error:
            if self._link is not None and not is_cut(self._link, error):
                raise
            self._find_out(error)
        else:
            if done != "COMMIT":
                raise StoreError("the server undid the transaction")
        self._careful = False

    def _find_out(self, cut: psycopg.Error) -> None:
        """Whether the transaction that was cut in its commit is durable, by its number."""
        try:
            self._connect_again()
            found = self.execute(sql.CONCLUDED, (self.owner.store,)).fetchall()
        except (psycopg.Error, StoreError) as error:
            raise told(
                "whether the last changes were kept is not known: the connection was cut in their commit",
                error,
                "Resume when the server is back: the run goes on from what the journal holds",
            ) from error
        if not found or found[0][0] < self._batch:
            raise Undone(str(cut)) from cut

    def _connect_again(self) -> None:
        """Makes the connection again, and ends the former one where the server does not know it is gone.

        What that one left unfinished is undone, or finished: a statement that needs what it locked waits.
        """
        if self._link is not None:
            self._link.close()
        try:
            self._link = connect_again(self._url, self._patience, self._name)
            self._link.execute(sql.CUT_OFF, (self._name,))
        except psycopg.Error as error:
            hint = advice(error) or "See that the server runs, then resume"
            raise told(f"the store {self.shown!r} cannot be reached", error, hint) from error

    def rollback(self) -> None:
        """Undoes the transaction, if one is open."""
        if self._link is None or self._link.closed:
            return
        try:
            self._link.execute(b"rollback")
        except psycopg.Error:
            self._link.close()

    @property
    def holds_leases(self) -> bool:
        """Whether there is a lease to keep alive."""
        return bool(self.held)

    def heartbeat(self) -> None:
        """Does nothing: each transaction says, as it begins, that its owner is alive."""

    def look(self) -> None:
        """Tells those who wait what was posted by others."""
        if self.bells:
            for tenant, stream, item in self.execute(sql.NEWEST, (self.owner.store,)).fetchall():
                self.bells.ring(tenant, stream, item)

    def release_all(self) -> None:
        """Gives back each lease held here, and leaves no trace of this owner."""
        self.execute(sql.RELEASE_ALL, (self.owner.store,))
        self.execute(sql.FORGET, (self.owner.store,))

    def close(self) -> None:
        """Closes all connections."""
        self.opened = False
        self._pool.close()
        if self._link is not None:
            self._link.close()

    def make_tables(self) -> None:
        """Makes the tables when they are missing, in any thread.

        Raises:
            StoreError: they cannot be made.
        """
        if self.opened:
            return
        try:
            link = connect(self._url, self._patience, "offing")
            try:
                sql.prepare(link)
            finally:
                link.close()
        except psycopg.Error as error:
            raise told(f"cannot open the store {self.shown!r}", error) from error

    def query(self, statement: LiteralString, values: Values) -> list[TupleRow]:
        """Runs a statement by itself, on a connection that does not wait for the writer.

        It has to be one that may run twice: it is sent again when the connection is cut. Tables that nobody
        has made yet are empty.

        Raises:
            StoreError: the store failed.
        """
        try:
            return self._pool.query(statement, values)
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
            return []
        except psycopg.Error as error:
            raise told(f"the store {self.shown!r} cannot be asked", error) from error


def _without_password(url: str) -> str:
    """Where the database is, for messages.

    Raises:
        ConfigurationError: that is no URL of a PostgreSQL database.
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        raise ConfigurationError(
            "the URL of the PostgreSQL store cannot be read: it is to be "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
        ) from None
    place = "".join(f":{parts[name]}" for name in ("port",) if parts.get(name))
    return f"postgresql://{parts.get('host', '')}{place}/{parts.get('dbname', '')}"
