"""A row as a database keeps it, with a checksum: what a disk has changed is not read as if it were true."""

import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..errors import JournalUnreadable
from .codec import Body, decode, encode
from .journal import Row


class Kept(NamedTuple):
    """The columns of a row beside its stream."""

    seq: int
    run: str
    kind: str
    version: int
    at: int
    body: bytes
    crc: int | None
    """Of all but kind and version; None in rows from before there were any."""


def kept(row: Row) -> Kept:
    """The row as a database keeps it."""
    kind, version, body = encode(row.known)
    return Kept(row.seq, row.run, kind, version, row.at, body, _crc(row.seq, row.run, row.at, body))


def rows_after(after: int, page: Sequence[Kept]) -> Iterator[Row]:
    """The rows of a page that follows a sequence number.

    Raises:
        JournalUnreadable: one is damaged, or missing.
    """
    for place, one in enumerate(page, start=after + 1):
        if one.seq != place:
            raise JournalUnreadable(f"row {place} is missing: restore the last backup of the store")
        if one.crc is not None and one.crc != _crc(one.seq, one.run, one.at, one.body):
            raise JournalUnreadable(
                f"a row of kind {one.kind!r} is damaged: row {one.seq} is not what was written: "
                "restore the last backup of the store"
            )
        yield Row(one.seq, one.run, one.at, decode(Body(one.kind, one.version, one.body)))


def _crc(seq: int, run: str, at: int, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(f"{seq} {run} {at} ".encode()))
