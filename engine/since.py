"""What a run did since a point: what a person looks at who has to decide how it goes on. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .store.facts import Began, Checked, Replied, Settled, Started, Task, TasksSet
from .store.journal import Row

_MOST = 50
"""Effects, and changes of tasks, that are told."""


@dataclass(frozen=True, slots=True)
class Since:
    """What changed after an iteration."""

    iteration: int
    """The last one before; 0 for the beginning of the run."""
    replies: int
    """Of the run itself, not of its children."""
    calls: int
    """That have their result."""
    failed: int
    """Of these, the ones that failed."""
    effects: tuple[str, ...]
    """Calls that may have changed something, with what they came to; the first 50."""
    tasks: tuple[str, ...]
    """Tasks that were added, left out or changed; the first 50."""
    figures: tuple[str, ...]
    """Of the newest answer that was checked; those that link to no record with why."""


def since(rows: Sequence[Row], run: str, iteration: int) -> Since:
    """What happened after an iteration of a run, its children included.

    Args:
        rows: Those of its stream, in order.
        run: Its id.
        iteration: How many replies of it are left out.
    """
    before, after = _parted(rows, run, iteration)
    settled = [row.fact for row in after if isinstance(row.fact, Settled)]
    checked = [row.fact for row in after if isinstance(row.fact, Checked)]
    begun = {row.fact.call for row in rows if isinstance(row.fact, Started)}
    effects = [f"{fact.tool}, call {fact.result.call}: {_end(fact)}" for fact in settled]
    return Since(
        iteration=iteration,
        replies=sum(row.run == run and isinstance(row.fact, Replied) for row in after),
        calls=len(settled),
        failed=sum(fact.result.error for fact in settled),
        effects=tuple(told for told, fact in zip(effects, settled, strict=True) if fact.result.call in begun)[
            :_MOST
        ],
        tasks=tuple(_changes(_tasks(before), _tasks(after, before)))[:_MOST],
        figures=tuple(
            f"{one.text}: {one.problem}" if one.problem else one.text
            for one in (checked[-1].figures if checked else ())
        ),
    )


def _parted(rows: Sequence[Row], run: str, iteration: int) -> tuple[Sequence[Row], Sequence[Row]]:
    """The rows before the first reply after the iteration, and the others; before the run itself for 0."""
    kind = Replied if iteration else Began
    seen = 0
    for place, row in enumerate(rows):
        if row.run == run and isinstance(row.fact, kind):
            if seen == iteration:
                return rows[:place], rows[place:]
            seen += 1
    return rows, ()


def _end(fact: Settled) -> str:
    if fact.unknown:
        return "nobody knows whether it took effect"
    return "failed" if fact.result.error else "done"


def _tasks(*parts: Sequence[Row]) -> Mapping[str, Task]:
    """The newest list of the first part that has one."""
    for rows in parts:
        lists = [row.fact.tasks for row in rows if isinstance(row.fact, TasksSet)]
        if lists:
            return {task.title: task for task in lists[-1]}
    return {}


def _changes(former: Mapping[str, Task], now: Mapping[str, Task]) -> Iterator[str]:
    for title, task in now.items():
        if title not in former:
            yield f"{title}: {task.status}, new"
        elif former[title].status != task.status:
            yield f"{title}: {former[title].status}, now {task.status}"
    yield from (f"{title}: left out" for title in former if title not in now)
