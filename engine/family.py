"""The fold of what ties a run and its children together; `state.py` folds what each of them does."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .lineage import child_of, parent_of, path_of
from .run_state import Child, RunState, Took
from .store.people import CancelAsked
from .store.strands import Delegated

if TYPE_CHECKING:
    from .state import State
    from .store.journal import Row


def pass_time(child: "State", row: "Row") -> None:
    """A child's time. What passed while it waited for people is not spent."""
    if child.run is not None and child.run.is_parked:
        child.run.idle_us += max(0, row.at - child.at)
    child.seq, child.at = row.seq, row.at


def inherit(session: "State", run: RunState) -> None:
    """A child that begins just as its parent is told to stop is told the same."""
    above = session.of(parent_of(run.id)) if parent_of(run.id) else None
    if above is not None and above.run is not None:
        run.cancel, run.overdue = above.run.cancel, above.run.overdue


def delegate(state: "State", row: "Row", fact: Delegated) -> None:
    """The strands are there from here on; each begins with its run."""
    state.current.strands[fact.call] = fact.strands
    in_frame = {
        name: skill for name, skill in state.skills.items() if not skill.call and skill.message is None
    }
    for number, strand in enumerate(fact.strands, start=1):
        state.children[child_of(row.run, fact.call, number)] = type(state)(
            seq=row.seq,
            at=row.at,
            path=path_of(fact.call, number),
            strand=strand,
            opened=state.opened,
            opened_at=state.opened_at,
            records=state.records,
            artifacts=state.artifacts,
            skills=dict(in_frame),
        )


def cancel(state: "State", asked: CancelAsked) -> None:
    """Whoever stops a run stops its children."""
    if state.run is not None and (not state.path or state.run.stopped is None):
        state.run.cancel = asked
    for child in state.children.values():
        cancel(child, asked)


def end_time(state: "State") -> None:
    """A run whose time is up has no time for its children."""
    if state.run is not None:
        state.run.overdue = True
    for child in state.children.values():
        end_time(child)


def gather_in(state: "State", run: RunState, call: str) -> None:
    """The children of a call that has its result: what they took is kept, what they said is not."""
    for number, strand in enumerate(run.strands.pop(call, ()), start=1):
        identity = child_of(run.id, call, number)
        state_of_it = state.children.pop(identity)
        child = child_in(identity, strand.title, state_of_it)
        run.children.append(child)
        run.below += child.took
        if state_of_it.run is not None:
            run.unknown += state_of_it.run.unknown


def child_in(identity: str, title: str, state: "State") -> Child:
    """A child as its state has it."""
    run = state.run
    if run is None:
        return Child(identity, title, None, "", Took())
    end = run.stopped
    why, detail = (None, "") if end is None else (end.why, end.detail)
    return Child(identity, title, why, detail, state.took(), (*run.children, *open_children(state)))


def open_children(state: "State") -> Iterator[Child]:
    """The children whose calls have no result yet."""
    run = state.current
    for call, strands in run.strands.items():
        for number, strand in enumerate(strands, start=1):
            identity = child_of(run.id, call, number)
            yield child_in(identity, strand.title, state.children[identity])
