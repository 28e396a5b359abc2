"""After a pass: what the journal says of the work, told again.

Status comes from here and never from a digest's prose, where a finished plan would come back to life.
"""

from collections.abc import Iterator

from .breakers import spent_of
from .budget import shares
from .prompts import prompt
from .state import State
from .store.facts import Noted


def restated(state: State) -> Noted | None:
    """The note that follows the newest pass; None when nothing left the view."""
    passes = state.conversation.passes
    if not passes or not passes[-1].is_felt:
        return None
    return Noted(f"state:{len(passes)}", prompt("note_state", state="\n".join(_lines(state))))


def _lines(state: State) -> Iterator[str]:
    yield "Tasks:" if state.tasks else "Tasks: none are listed."
    yield from (f"- {task.status}: {task.title}" for task in state.tasks)
    run = state.current
    yield f"Steps left: {run.granted - run.iterations} of {run.granted}."
    for each in shares(run.budget, spent_of(state)):
        yield f"Budget left: {each.told(each.left)} of {each.told(each.granted)} {each.unit}."
    if run.unknown:
        yield f"Calls of unknown outcome: {', '.join(run.unknown)}."
    if state.skills:
        yield f"Skills at work, whose text stands above: {', '.join(sorted(state.skills))}."
    digest = state.conversation.digest
    if digest is not None:
        yield f"Messages 1 to {digest.reach} are above as a digest, but for the user's and skills."
