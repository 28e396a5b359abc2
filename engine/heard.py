"""What people say, and what is asked of them: a part of the fold in `state.py`."""

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from .family import cancel
from .run_state import RunState
from .store.people import (
    Answered,
    CancelAsked,
    Decided,
    Expired,
    PeopleFact,
    Questioned,
    Refused,
    Requested,
    Said,
)
from .waiting import Waiting

if TYPE_CHECKING:
    from .state import State


def hear(state: "State", run: RunState, fact: PeopleFact) -> None:
    """What a run asked, or was told."""
    match fact:
        case Requested(call) | Questioned(call):
            run.waiting[call] = Waiting(fact)
            run.started.discard(call)  # a call that asks has come back, and begins anew with the answer
            run.questions += isinstance(fact, Questioned)
        case Decided() | Answered() | Expired():
            waiting = run.waiting.get(fact.call)
            if waiting is not None and waiting.is_open:  # the first word counts
                run.waiting[fact.call] = replace(waiting, said=fact)
        case Said(_, message, files):
            state.artifacts.update((stored.handle, stored) for stored in files)
            run.said.append(message)
            deliver(state, run)
        case CancelAsked():
            cancel(state, fact)
        case Refused():
            pass
        case _ as never:
            assert_never(never)


def deliver(state: "State", run: RunState) -> None:
    """Messages go behind the results of a batch, and never into a paused turn.

    What the model said before one is no answer to it.
    """
    paused = run.last is not None and run.last.stop == "pause"
    if run.calls or paused or not run.said:
        return
    state.conversation.messages.extend(run.said)
    run.said = []
    run.last = run.checked = None
    run.goes_on = False
