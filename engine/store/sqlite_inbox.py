"""The inbox of the SQLite store: its table and statements. What was taken stays, for its key."""

from collections.abc import Sequence
from typing import Protocol, cast

from ..errors import NotFound, StoreError
from .inbox import Item, Posting

INBOX_SCHEMA = """
create table if not exists inbox(
    id integer primary key autoincrement, stream integer not null, key text, run text not null,
    kind text not null, body blob not null, who text not null, at integer not null,
    taken integer not null default 0,
    unique(stream, key)) strict;
create index if not exists inbox_open on inbox(stream) where taken=0;
"""
_POST = """
insert into inbox(stream, key, run, kind, body, who, at) select id, ?, ?, ?, ?, ?, ? from stream
where tenant=? and name=? on conflict(stream, key) do nothing returning id
"""
_POSTED = """
select inbox.id from stream join inbox on stream=stream.id and key=? where tenant=? and name=?
"""
INBOX = """
select id, run, kind, body, who, at from inbox
where stream=(select id from stream where tenant=? and name=?) and taken=0 order by id
"""
_TAKE = """
update inbox set taken=1 where id=? and taken=0
    and stream=(select id from stream where tenant=? and name=?)
"""
NEWEST = """
select tenant, name, max(inbox.id) from inbox join stream on stream=stream.id
where taken=0 group by stream
"""


class Cursor(Protocol):
    """What came of a statement."""

    @property
    def rowcount(self) -> int:
        """Rows that it changed."""
        ...

    def fetchall(self) -> list[tuple[object, ...]]:
        """Rows that it gives."""
        ...


class Connection(Protocol):
    """The writer's connection."""

    def execute(self, statement: str, values: Sequence[str | bytes | int | None] = ()) -> Cursor:
        """Runs one statement in the writer's thread."""
        ...


class SqliteInbox:
    """The inboxes of one tenant, in the writer's thread."""

    def __init__(self, tenant: str, connection: Connection) -> None:
        self._tenant = tenant
        self._connection = connection

    def post(self, stream: str, posting: Posting) -> int:
        """Puts something in; gives its number, also when it was there before.

        Raises:
            NotFound: there is no such stream.
        """
        given = (posting.run, posting.kind, posting.body, posting.who, posting.at)
        where = (self._tenant, stream)
        new = self._connection.execute(_POST, (posting.key, *given, *where)).fetchall()
        known = new or self._connection.execute(_POSTED, (posting.key, *where)).fetchall()
        if not known:
            raise NotFound(f"there is no session {stream!r}")
        return cast("int", known[0][0])

    def take(self, stream: str, taken: Sequence[int]) -> None:
        """Takes these items out.

        Raises:
            StoreError: one is not there.
        """
        for item in taken:
            if self._connection.execute(_TAKE, (item, self._tenant, stream)).rowcount != 1:
                raise StoreError(f"item {item} is not in the inbox of session {stream!r}")


def items(rows: Sequence[tuple[object, ...]]) -> list[Item]:
    """The items that the rows of `INBOX` hold."""
    return [Item(*row) for row in rows]  # type: ignore[arg-type]  # columns have their types: strict
