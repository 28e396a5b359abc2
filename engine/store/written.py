"""What the stores with a writer's thread have in common: leases and appends by way of its queue."""

import asyncio
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from ..errors import LeaseLost
from .facts import Fact, Settled, Unknown
from .inbox import Bells
from .journal import Lease, Row
from .kept import Kept, kept
from .people import taken_items
from .writer import Writer

PAGE = 500
"""Rows read at a time."""
_LARGE = 1_000_000
"""Bytes from which hashing is worth a thread."""


class Holder(Protocol):
    """A store's database, as far as every journal needs it."""

    held: set[tuple[str, str, int]]
    """Tenant, stream and token of each lease held here."""
    bells: Bells


class Takes(Protocol):
    """An inbox, as far as an append needs it."""

    def take(self, stream: str, taken: Sequence[int]) -> None:
        """Takes these items out, in the writer's thread."""
        ...


class WrittenJournal(ABC):
    """The part of a `Journal` that changes something. What begins with `_` runs in the writer's thread."""

    def __init__(self, tenant: str, writer: Writer, holder: Holder, inbox: Takes) -> None:
        self._tenant = tenant
        self._writer = writer
        self._holder = holder
        self._takes = inbox

    async def acquire(self, stream: str) -> Lease:
        """Takes the stream's lease; from a dead owner on this host at once."""
        return await self._writer.submit(lambda: self._acquire(stream), lambda: "a lease")

    async def release(self, lease: Lease) -> None:
        """Gives a lease back."""
        self._holder.held.discard((self._tenant, lease.stream, lease.token))
        self._holder.bells.take_down(self._tenant, lease)
        await self._writer.submit(lambda: self._release(lease), lambda: "a lease given back")

    def append(self, lease: Lease, rows: Sequence[Row]) -> Awaitable[None]:
        """Appends the rows with the next commit."""
        bodies = [kept(row) for row in rows]
        taken = taken_items([row.fact for row in rows])

        def append() -> None:
            if bodies:
                self._append(lease, bodies)
            self._takes.take(lease.stream, taken)

        return self._writer.submit(append, lambda: named(rows))

    def on_post(self, lease: Lease, tell: Callable[[], object]) -> None:
        """Calls `tell` soon after each post."""
        self._holder.bells.hang(self._tenant, lease, tell)

    @abstractmethod
    def _acquire(self, stream: str) -> Lease: ...

    @abstractmethod
    def _release(self, lease: Lease) -> None: ...

    @abstractmethod
    def _append(self, lease: Lease, rows: Sequence[Kept]) -> None:
        """All of at least one row, or none; raises `not_written` when the lease was lost."""


def named(rows: Sequence[Row]) -> str:
    """What is in the rows, in words for who listens: `Replied`, or `Started 1.4`."""
    return " + ".join(_named(row.fact) for row in rows)


def _named(fact: Fact | Unknown) -> str:
    call: str = fact.result.call if isinstance(fact, Settled) else getattr(fact, "call", "")
    return f"{type(fact).__name__} {call}".rstrip()


def not_written(seq: int, stream: str) -> LeaseLost:
    """The error of an append that changed nothing."""
    return LeaseLost(
        f"row {seq} of session {stream!r} was not written: the session has a new "
        "owner, or the row before it is missing"
    )


async def address_of(data: bytes) -> str:
    """SHA-256 in hexadecimal. Large ones are hashed in a thread, off the event loop."""
    hashed = hashlib.sha256(data) if len(data) < _LARGE else await asyncio.to_thread(hashlib.sha256, data)
    return hashed.hexdigest()
