"""How a run goes on after a stop or a kill: a part of the fold in `state.py`."""

from dataclasses import replace
from typing import TYPE_CHECKING

from .family import pass_time
from .run_state import RunState
from .store.facts import Resumed
from .store.journal import Row

if TYPE_CHECKING:
    from .state import State


def resume(state: "State", row: Row, resumed: Resumed, idle_us: int) -> None:
    """A run goes on, and with it the children that were at work; what is granted is the run's."""
    state.model, state.room = resumed.model or state.model, resumed.room or state.room
    if state.current.stopped is not None:
        state.gauge = replace(state.gauge, passed=False)
    _go_on(state.current, resumed, idle_us)
    for child in state.children.values():
        if child.run is None or child.run.stopped is not None:
            continue
        was_parked = child.run.is_parked
        pass_time(child, row)
        resume(child, row, Resumed(resumed.owner), 0 if was_parked else idle_us)


def _go_on(run: RunState, resumed: Resumed, idle_us: int) -> None:
    """A stop, and what led to it, is forgotten; what is recorded as done, or spent, stays so."""
    _grant(run, resumed)
    run.idle_us += idle_us
    if run.stopped is None or run.stopped.why != "budget":  # else the retry that it stopped at is next
        run.fault, run.faults = None, 0
    if run.stopped is None:
        return
    run.stopped = run.cancel = None
    run.unsupervised = 0
    if run.calls:
        return  # it waited for a person, and goes on where it was
    run.repeated = None
    run.unfinished = run.pauses = 0
    run.failures.clear()
    if run.last is not None and run.last.stop != "pause":
        run.last = None


def _grant(run: RunState, resumed: Resumed) -> None:
    run.granted += resumed.iterations
    if resumed.more is None:
        return
    run.budget += resumed.more
    if resumed.more.cost is not None:
        run.unpriced, run.below = 0, replace(run.below, unpriced=0)
