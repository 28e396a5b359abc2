"""Forks and rollbacks of a store's sessions."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ConfigurationError
from ..store.branches import Forked, NotUndone
from ..store.copying import move_stream, write_stream
from ..store.journal import Journal, Row
from .fork import Point, Target, forked
from .streams import BRANCH, next_stream, place_of


@dataclass(frozen=True, slots=True)
class Branch:
    """What a fork or a rollback came to. Nothing runs yet: resume the run, or say something new."""

    session: str
    """The session to go on in."""
    run: str
    """Its current run: resume it by this."""
    stream: str
    """Where the rows are: the session's name, but after a rollback."""
    not_undone: tuple[NotUndone, ...]
    """Calls that may change something, made after the point. The model is told of them as well."""


async def fork_run(journal: Journal, run: str, at: int, target: Target) -> Branch:
    """Copies a run up to a settled iteration, with what its session said before, into a new session.

    Raises:
        NotFound: there is no such run.
        ConfigurationError: the session is there already, the iteration is not settled, or the edit does
            not fit it.
        StoreError: the store failed.
    """
    place = await place_of(journal, run)
    rows = [row async for row in journal.read(place.stream)]
    copied = forked(rows, Point(place.stream, place.run, at), target)
    await write_stream(journal, target.session, copied)
    return _branch(target.session, target.session, copied)


async def roll_back(journal: Journal, run: str, at: int, now_us: int) -> Branch:
    """Takes a session back to a settled iteration of a run of it. What came after stays readable.

    Raises:
        NotFound: there is no such run.
        ConfigurationError: the iteration is not settled, or the run is in a stream that was left.
        LeaseHeld: the session is being worked on.
        StoreError: the store failed; the session goes on where it was.
    """
    if BRANCH in run:
        raise ConfigurationError(f"only what a session goes on in can be rolled back; fork {run!r} instead")
    place = await place_of(journal, run)
    session = place.run.partition(".")[0]
    to = await next_stream(journal, place.stream)
    point, target = Point(place.stream, place.run, at), Target(session, now_us)
    copied = await move_stream(journal, place.stream, to, lambda rows: forked(rows, point, target), now_us)
    return _branch(session, to, copied)


def _branch(session: str, stream: str, copied: Sequence[Row]) -> Branch:
    origin = copied[0].known
    effects = origin.effects if isinstance(origin, Forked) else ()
    return Branch(session, copied[-1].run, stream, effects)
