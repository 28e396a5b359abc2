"""What a run begins and goes on with, and whether it may."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pydantic import BaseModel

from .budget import Budget
from .errors import ConfigurationError
from .files import File
from .limits import Limits
from .run import Means
from .run_state import RunState
from .state import State
from .store.facts import Resumed
from .store.owner import this_process
from .traced.trail import Joined
from .window import room_of
from .wire import HEAD


class Opening(NamedTuple):
    """What a run begins with."""

    text: str
    files: Sequence[File]
    output: type[BaseModel] | None
    by: str


class GoingOn(NamedTuple):
    """What a run goes on with after a stop."""

    more: Budget | None = None
    """Added to its budget; None for nothing."""
    guidance: str = ""
    """A person's words, which the model reads next; empty for none."""
    by: str = ""
    """Whose they are."""


def driven(limits: Limits, means: Means, joined: Joined) -> Resumed:
    """The fact that this process drives a run from here on, with which model, and in which trace."""
    room = room_of(limits, means.info, means.wire.segments[:HEAD])
    trace, host = joined
    return Resumed(str(this_process()), model=means.model.name, room=room, trace=trace, host=host)


def resumed(current: RunState, more: Budget | None, means: Means) -> Resumed | None:
    """The fact that a run goes on with; None when it has answered."""
    if current.stopped is not None and current.stopped.why == "answered":
        return None
    limit = current.stopped is not None and current.stopped.why == "limit"
    granted = current.began.limits.iterations if limit else 0
    joined = means.trail.joined(current.id, current.trace)
    return replace(driven(current.began.limits, means, joined), iterations=granted, more=more)


def check_finished(state: State) -> None:
    """A session works on one run at a time, to its end.

    Raises:
        ConfigurationError: the run before was interrupted, or waits for a person.
    """
    current = state.run
    if current is None or (current.stopped is not None and not current.calls):
        return
    if current.stopped is None:
        raise ConfigurationError(f"run {current.id!r} was interrupted: resume it first")
    raise ConfigurationError(
        f"run {current.id!r} {current.stopped.detail}: have that said, or cancel the run; then resume it"
    )
