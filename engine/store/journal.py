"""What the engine asks of a store: a journal of facts and a room for artifacts, per tenant.

A store promises: what `append` returned for is durable and will be read back in order; an append
under a lease that was taken over changes nothing. It does not promise that an append whose call was
interrupted did not happen: the next reader sees.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ...namespaces.tables.readings import MemoryReadings, Readings
from ..errors import JournalUnreadable
from .facts import Fact, Unknown
from .holdings import Holdings
from .inbox import Item, Posting
from .memories import Memory, MemoryInMemory


@dataclass(frozen=True, slots=True)
class Row:
    """One fact in its place."""

    seq: int
    """Position in the stream, from 1 without gaps."""
    run: str
    at: int
    """Microseconds since 1970 in UTC, from the engine's clock."""
    fact: Fact | Unknown

    @property
    def known(self) -> Fact:
        """The fact.

        Raises:
            JournalUnreadable: this release does not know its kind or version.
        """
        if isinstance(self.fact, Unknown):
            raise JournalUnreadable(
                f"row {self.seq} is of kind {self.fact.kind!r}, version {self.fact.version}, which "
                "this release does not know: it can be shown; to go on, use a newer release"
            )
        return self.fact


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to append to a stream."""

    stream: str
    token: int
    """Fencing token: greater than that of any earlier lease of the stream."""
    last: int
    """Sequence number of the stream's last row when the lease was taken; 0 when it has none."""


class Journal(Protocol):
    """The facts of one tenant."""

    async def acquire(self, stream: str) -> Lease:
        """Takes the stream's lease, making the stream when it is new.

        Raises:
            LeaseHeld: its owner is not known to be dead, and gave a sign of life recently.
        """
        ...

    async def release(self, lease: Lease) -> None:
        """Gives a lease back; without effect when it was lost."""
        ...

    def append(self, lease: Lease, rows: Sequence[Row]) -> Awaitable[None]:
        """Appends all the rows or none. Rows are in the journal in the order of these calls.

        With them the items go out of the inbox that they record (`people.taken_items`).

        Raises:
            LeaseLost: the stream has a new owner; nothing was written.
            StoreError: the store failed, or an item was not in the inbox; nothing was written, unless
                the error says that this is not known: then the next reader sees.
        """
        ...

    def read(self, stream: str, after: int = 0) -> AsyncIterator[Row]:
        """The rows after a sequence number, in order; none when there is no such stream.

        Raises:
            JournalUnreadable: a row is damaged.
        """
        ...

    async def post(self, stream: str, posting: Posting) -> int:
        """Puts something into the stream's inbox; nobody's lease is needed. Gives its number.

        What was posted under the same key before is not posted again, also when it was taken since.

        Raises:
            NotFound: there is no such stream.
        """
        ...

    async def inbox(self, stream: str) -> Sequence[Item]:
        """What was posted and is not taken yet, in order; nothing when there is no such stream."""
        ...

    def on_post(self, lease: Lease, tell: Callable[[], object]) -> None:
        """Has `tell` called in the running loop soon after each post, by whichever process.

        It may be called for nothing, and once for many. It ends when the lease is given back.
        """
        ...


class Artifacts(Protocol):
    """The stored bytes of one tenant, by their content: the same bytes are kept once."""

    async def put(self, data: bytes) -> str:
        """Keeps the bytes durably and gives their address: SHA-256 in hexadecimal."""
        ...

    async def get(self, ref: str) -> bytes:
        """The bytes at an address.

        Raises:
            NotFound: nothing of this tenant is there.
        """
        ...


@dataclass(frozen=True, slots=True)
class Scope:
    """A store as one tenant sees it."""

    journal: Journal
    artifacts: Artifacts
    readings: Readings = field(default_factory=MemoryReadings)
    """How files are to be read, as people decided; of a store without a place for them, while it lives."""
    holdings: Holdings | None = None
    """To export, to delete and to sweep; None of a store that cannot."""
    memory: Memory = field(default_factory=MemoryInMemory)
    """What is remembered across sessions; of a store without a place for it, while it lives."""


class Store(Protocol):
    """A place where sessions are kept."""

    def scoped(self, tenant: str) -> Scope:
        """The part that belongs to a tenant; nothing in it reaches another's."""
        ...

    async def close(self) -> None:
        """Writes out what was accepted, gives back its leases and frees the store."""
        ...
