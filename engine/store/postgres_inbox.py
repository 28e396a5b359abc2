"""The inbox of the PostgreSQL store. What was taken stays, for its key."""

import uuid
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
        """Puts something in; gives its number, also when it was there before. In any thread.

        It is posted under a key in any case, so that it is there once when it has to be sent twice.

        Raises:
            NotFound: there is no such stream.
            StoreError: the store failed.
        """
        given = (posting.run, posting.kind, posting.body, posting.who, posting.at)
        place = (self._tenant, stream)
        key = posting.key if posting.key is not None else f"unnamed {uuid.uuid4().hex}"
        new = self._database.query(sql.POST, (*place, key, *given))
        known = new or self._database.query(sql.POSTED, (key, *place))
        if not known:
            raise NotFound(f"there is no session {stream!r}")
        return int(known[0][0])

    def take(self, stream: str, taken: Sequence[int]) -> None:
        """Takes these items out, in the writer's thread.

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
