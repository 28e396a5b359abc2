"""A store that lives as long as its process: for tests, and for hosts that keep nothing.

It goes through the same bytes as a durable one, so that what cannot be stored fails here too.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...namespaces.tables.readings import MemoryReadings
from ..clock import Clock, SystemClock
from ..errors import LeaseHeld, LeaseLost, NotFound, StoreError
from .codec import Body, decode, encode
from .inbox import Bells, Item, Posting
from .journal import Lease, Row, Scope
from .memories import MemoryInMemory
from .memory_holdings import KeptBytes, MemoryHoldings
from .people import taken_items


class _Kept(NamedTuple):
    run: str
    at: int
    body: Body


@dataclass(slots=True)
class _Stream:
    rows: list[_Kept] = field(default_factory=list[_Kept])
    token: int = 0
    held: bool = False
    inbox: dict[int, Item] = field(default_factory=dict[int, Item])
    """What is not taken yet, by its number."""
    posted: int = 0
    """Items, in all."""
    keys: dict[str, int] = field(default_factory=dict[str, int])


class MemoryStore:
    """A store in memory."""

    def __init__(self, clock: Clock | None = None) -> None:
        """`clock` says when artifacts are put; None for the machine's."""
        self._tenants: dict[str, Scope] = {}
        self._clock = clock or SystemClock()

    def scoped(self, tenant: str) -> Scope:
        """The part that belongs to a tenant."""
        if tenant not in self._tenants:
            journal, artifacts, readings = MemoryJournal(), MemoryArtifacts(self._clock), MemoryReadings()
            memory = MemoryInMemory()
            holdings = MemoryHoldings(journal, artifacts.kept, readings, memory, self._clock)
            self._tenants[tenant] = Scope(journal, artifacts, readings, holdings, memory)
        return self._tenants[tenant]

    async def close(self) -> None:
        """Does nothing: what was stored can be read until the process ends."""


class MemoryJournal:
    """See `Journal`."""

    def __init__(self) -> None:
        self._streams: dict[str, _Stream] = {}
        self._bells = Bells()
        self._token = 0
        """Of streams that were forgotten, the highest."""

    def names(self) -> Sequence[str]:
        """The streams that have rows."""
        return [name for name, stream in self._streams.items() if stream.rows]

    def clear(self) -> None:
        """Forgets all streams, but not the tokens that were given."""
        self._token = max([self._token, *(stream.token for stream in self._streams.values())])
        self._streams.clear()

    async def acquire(self, stream: str) -> Lease:
        """Takes the stream's lease."""
        kept = self._streams.setdefault(stream, _Stream(token=self._token))
        if kept.held:
            raise LeaseHeld(f"session {stream!r} is being worked on in this process")
        kept.held = True
        kept.token += 1
        return Lease(stream, kept.token, len(kept.rows))

    async def release(self, lease: Lease) -> None:
        """Gives a lease back."""
        kept = self._streams.get(lease.stream, _Stream())
        if kept.token == lease.token:
            kept.held = False
            self._bells.take_down("", lease)

    def append(self, lease: Lease, rows: Sequence[Row]) -> Awaitable[None]:
        """Appends the rows at once."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        kept = self._streams.get(lease.stream, _Stream())
        places = list(range(len(kept.rows) + 1, len(kept.rows) + 1 + len(rows)))
        if kept.token != lease.token or not kept.held or [row.seq for row in rows] != places:
            done.set_exception(LeaseLost(f"session {lease.stream!r} has a new owner"))
            return done
        taken = taken_items([row.fact for row in rows])
        if len(set(taken)) < len(taken) or not kept.inbox.keys() >= set(taken):
            done.set_exception(StoreError(f"of items {taken} of the inbox, not all are there"))
            return done
        bodies = [_Kept(row.run, row.at, encode(row.known)) for row in rows]
        kept.rows.extend(bodies)
        for item in taken:
            del kept.inbox[item]
        done.set_result(None)
        return done

    async def read(self, stream: str, after: int = 0) -> AsyncIterator[Row]:
        """The rows after a sequence number."""
        kept = self._streams.get(stream, _Stream())
        for place, (run, at, body) in enumerate(kept.rows[after:], start=after + 1):
            yield Row(place, run, at, decode(body))

    async def post(self, stream: str, posting: Posting) -> int:
        """Puts something into the stream's inbox."""
        kept = self._streams.get(stream)
        if kept is None:
            raise NotFound(f"there is no session {stream!r}")
        if posting.key is not None and posting.key in kept.keys:
            return kept.keys[posting.key]
        kept.posted += 1
        given = posting
        kept.inbox[kept.posted] = Item(kept.posted, given.run, given.kind, given.body, given.who, given.at)
        if posting.key is not None:
            kept.keys[posting.key] = kept.posted
        self._bells.ring("", stream, kept.posted)
        return kept.posted

    async def inbox(self, stream: str) -> Sequence[Item]:
        """What is not taken yet."""
        return list(self._streams.get(stream, _Stream()).inbox.values())

    def on_post(self, lease: Lease, tell: Callable[[], object]) -> None:
        """Calls `tell` after each post."""
        self._bells.hang("", lease, tell)


class MemoryArtifacts:
    """See `Artifacts`."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.kept: dict[str, KeptBytes] = {}
        self._clock = clock or SystemClock()

    async def put(self, data: bytes) -> str:
        """Keeps the bytes."""
        ref = hashlib.sha256(data).hexdigest()
        self.kept.setdefault(ref, KeptBytes(data, 0)).put_at = self._clock.now_us()
        return ref

    async def get(self, ref: str) -> bytes:
        """The bytes at an address."""
        if ref not in self.kept:
            raise NotFound(f"no artifact {ref!r}")
        return self.kept[ref].data
