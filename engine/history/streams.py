"""Where a run is: which stream of its session, by the name that a person gives.

`september.3` is the third run of the session `september`, in the stream that the session goes on in.
A rollback leaves a stream behind: `september~0.3` is that run in the first stream, `september~1.3` in the
one after the first rollback, and so on.
"""

import re
from typing import NamedTuple

from ..errors import ConfigurationError, NotFound
from ..store.branches import Moved
from ..store.journal import Journal, Row

BRANCH = "~"
"""Stands between a session's name, which cannot have it, and the number of a stream."""


_SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}")


def session_named(name: str) -> str:
    """The name, when a session can have it.

    Raises:
        ConfigurationError: it cannot.
    """
    if not _SESSION.fullmatch(name):
        raise ConfigurationError(
            f"a session cannot be called {name!r}: use 1 to 64 letters, digits, '_' and '-'"
        )
    return name


class Place(NamedTuple):
    """A run in one stream."""

    stream: str
    run: str


async def place_of(journal: Journal, run: str) -> Place:
    """Where a run is, by its id or by the id with a stream's number in it.

    Raises:
        NotFound: it is no run's name, or there is no such stream.
        StoreError: the store failed.
    """
    named, dot, number = run.partition(".")
    session, branch, version = named.partition(BRANCH)
    stream = session if version == "0" else named
    if not branch:
        stream = await head_of(journal, session)
    if not dot or not session or await _row_after(journal, stream, 0) is None:
        raise NotFound(f"there is no run {run!r}")
    return Place(stream, f"{session}.{number}")


async def head_of(journal: Journal, session: str) -> str:
    """The stream that a session goes on in: its own, or the one that the last rollback made."""
    stream = session
    while True:
        last = await last_row(journal, stream)
        if last is None or not isinstance(last.fact, Moved):
            return stream
        stream = last.fact.stream


async def next_stream(journal: Journal, stream: str) -> str:
    """A name for the stream that follows on a rollback."""
    session, _, version = stream.partition(BRANCH)
    number = int(version or 0) + 1
    while await _row_after(journal, f"{session}{BRANCH}{number}", 0) is not None:
        number += 1  # what a kill in the middle of a rollback has left
    return f"{session}{BRANCH}{number}"


async def last_row(journal: Journal, stream: str) -> Row | None:
    """The last row of a stream, found in few looks however long it is; None when it has none."""
    found = await _row_after(journal, stream, 0)
    step = 1
    while found is not None:
        further = await _row_after(journal, stream, found.seq + step - 1)
        if further is None and step == 1:
            return found
        found, step = (further, step * 2) if further is not None else (found, step // 2)
    return None


async def _row_after(journal: Journal, stream: str, after: int) -> Row | None:
    async for row in journal.read(stream, after):
        return row
    return None
