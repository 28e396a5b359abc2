"""The inbox of the PostgreSQL store, in the writer's thread. What was taken stays, for its key."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import NotFound, StoreError
from . import postgres_schema as sql
from .inbox import Posting

if TYPE_CHECKING:
    from .postgres_database import PostgresDatabase


class PostgresInbox:
    """The inboxes of one tenant."""

    def __init__(self, tenant: str, database: "PostgresDatabase") -> None:
        self._tenant = tenant
        self._database = database

    def post(self, stream: str, posting: Posting) -> int:
        """Puts something in; gives its number, also when it was there before.

        Raises:
            NotFound: there is no such stream.
        """
        given = (posting.run, posting.kind, posting.body, posting.who, posting.at)
        place = (self._tenant, stream)
        new = self._database.execute(sql.POST, (*place, posting.key, *given)).fetchall()
        known = new or self._database.execute(sql.POSTED, (posting.key, *place)).fetchall()
        if not known:
            raise NotFound(f"there is no session {stream!r}")
        return int(known[0][0])

    def take(self, stream: str, taken: Sequence[int]) -> None:
        """Takes these items out.

        Raises:
            StoreError: one is not there.
        """
        if not taken:
            return
        found = self._database.execute(sql.TAKE_ITEMS, (list(taken), self._tenant, stream)).fetchall()
        left = list(taken)
        for (item,) in found:
            left.remove(item)
        if left:
            raise StoreError(f"item {left[0]} is not in the inbox of session {stream!r}")
