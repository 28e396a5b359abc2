"""The events of runs as wholes: how each begins, hands work on, goes on and stops."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .lineage import child_of, parent_of
from .store.branches import Edited, Forked, NotUndone
from .store.facts import Began, Resumed, Stopped, StopWhy
from .store.journal import Row
from .store.strands import Delegated, Overdue


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run began with a message of the user."""

    seq: int
    run: str
    text: str
    parent: str = ""
    """The run that started it as its child; empty for one that a person started."""


@dataclass(frozen=True, slots=True)
class StrandPlanned:
    """A part of the work that a child will do."""

    run: str
    """Of the child; its events carry it."""
    title: str


@dataclass(frozen=True, slots=True)
class WorkDelegated:
    """A call hands work to children: each begins with a `RunStarted` of its own, when it is its turn."""

    seq: int
    run: str
    call: str
    strands: tuple[StrandPlanned, ...]


@dataclass(frozen=True, slots=True)
class TimeUp:
    """The time of a child is up: it stops with what it has reached."""

    seq: int
    run: str


@dataclass(frozen=True, slots=True)
class RunForked:
    """The stream begins as a copy of another one; what follows up to its end was copied."""

    seq: int
    run: str
    stream: str
    """The one that was copied."""
    of: str
    """Its run that the point belongs to."""
    iteration: int
    edits: tuple[Edited, ...]
    effects: tuple[NotUndone, ...]
    """What was done after the point and is not undone: a person should look."""


@dataclass(frozen=True, slots=True)
class RunResumed:
    """Somebody began to drive the run: at its start, and after each stop or kill."""

    seq: int
    run: str
    owner: str


@dataclass(frozen=True, slots=True)
class RunStopped:
    """The run stopped; its result is ready."""

    seq: int
    run: str
    why: StopWhy
    detail: str


RunEvent = RunStarted | WorkDelegated | TimeUp | RunForked | RunResumed | RunStopped


def _began(row: Row, fact: Began) -> RunEvent:
    return RunStarted(row.seq, row.run, fact.message.text, parent_of(row.run))


def _delegated(row: Row, fact: Delegated) -> RunEvent:
    planned = [
        StrandPlanned(child_of(row.run, fact.call, number), strand.title)
        for number, strand in enumerate(fact.strands, start=1)
    ]
    return WorkDelegated(row.seq, row.run, fact.call, tuple(planned))


def _overdue(row: Row, fact: Overdue) -> RunEvent:
    return TimeUp(row.seq, row.run)


def _forked(row: Row, fact: Forked) -> RunEvent:
    return RunForked(row.seq, row.run, fact.stream, fact.run, fact.iteration, fact.edits, fact.effects)


def _resumed(row: Row, fact: Resumed) -> RunEvent:
    return RunResumed(row.seq, row.run, fact.owner)


def _stopped(row: Row, fact: Stopped) -> RunEvent:
    return RunStopped(row.seq, row.run, fact.why, fact.detail)


RUN_EVENTS: Mapping[type, Callable[..., RunEvent]] = {
    Began: _began,
    Delegated: _delegated,
    Overdue: _overdue,
    Forked: _forked,
    Resumed: _resumed,
    Stopped: _stopped,
}
