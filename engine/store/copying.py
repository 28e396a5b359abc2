"""Whole streams written at once: copies of other streams, and those that were exported."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..errors import ConfigurationError
from .branches import Moved
from .journal import Journal, Row
from .people import copied as as_copied


async def write_stream(journal: Journal, stream: str, rows: Sequence[Row]) -> None:
    """Makes a stream of these rows, all or none. Nothing of it was ever in the new stream's inbox.

    Raises:
        ConfigurationError: the stream is there already.
        StoreError: the store failed; nothing was written.
    """
    lease = await journal.acquire(stream)
    try:
        if lease.last:
            raise ConfigurationError(f"there is a session {stream!r} already: choose another name")
        await journal.append(lease, [replace(row, fact=as_copied(row.fact)) for row in rows])
    finally:
        await journal.release(lease)


async def move_stream(
    journal: Journal, stream: str, to: str, copy: Callable[[Sequence[Row]], Sequence[Row]], at: int
) -> Sequence[Row]:
    """Writes a changed copy of a stream as another one, which the session goes on in. Gives the copy.

    Nobody writes to the stream meanwhile. A kill in between leaves a copy that nobody goes on in.

    Raises:
        LeaseHeld: the session is being worked on.
        ConfigurationError: there is a stream of the new name already.
        StoreError: the store failed; the session goes on where it was.
    """
    lease = await journal.acquire(stream)
    try:
        rows = [row async for row in journal.read(stream)]
        if rows and isinstance(rows[-1].fact, Moved):
            raise ConfigurationError(f"{stream!r} was left meanwhile: the session goes on in another stream")
        copied = copy(rows)
        await write_stream(journal, to, copied)
        await journal.append(lease, [Row(lease.last + 1, rows[-1].run, at, Moved(to))])
    finally:
        await journal.release(lease)
    return copied
