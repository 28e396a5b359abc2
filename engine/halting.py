"""Telling a run to end in the middle of a step: somebody asked for it, or its time is up.

Who asks is heard through the inbox or, once another driver has taken it in, through the state. Nothing is
recorded here; what follows is the next step's business.
"""

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from .lineage import lineage
from .store.inbox import Cancel, Item, word_of

if TYPE_CHECKING:
    from .run import Run

T = TypeVar("T")


@dataclass(slots=True)
class Halt:
    """How far a run is told to end."""

    halting: bool = False
    """Whether it is to stop: nothing is begun any more."""
    interrupting: bool = False
    """Whether calls at work are told to end for that."""
    interruptible: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    """The calls at work that can be told so."""


async def halted(run: "Run", *, at_once: bool = False) -> bool:
    """Waits until the run is to stop; gives whether at once. It takes nothing in.

    With `at_once` it waits for somebody who asks for just that.

    Raises:
        StoreError: the store failed.
    """
    while True:
        rings = run.mail.rings
        asked = list(_asked(run, await run.mail.items()))
        run.halt.halting = run.halt.halting or bool(asked)
        if any(asked) or (asked and not at_once):
            return any(asked)
        await run.mail.rung(rings)


def _asked(run: "Run", items: Sequence[Item]) -> Iterator[bool]:
    """For each reason to stop, whether at once."""
    current = run.state.current
    if current.cancel is not None:
        yield current.cancel.hard
    if current.overdue:
        yield False
    family = lineage(run.id)
    for item in items:
        word = word_of(item) if item.run in family else None
        if isinstance(word, Cancel):
            yield word.hard


def why_halted(run: "Run") -> str:
    """Why it is to stop, for who reads what became of its calls."""
    return "its time is up" if run.state.current.overdue else "the run was cancelled"


async def unless_halted(run: "Run", work: Coroutine[Any, Any, T]) -> T | None:
    """Does the work of a run; None when the run is to stop meanwhile, and the work was told to end.

    Raises:
        StoreError: the store failed; besides, whatever the work raises.
    """
    working = asyncio.create_task(work)
    watching = asyncio.create_task(halted(run))
    try:
        await asyncio.wait([working, watching], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        watching.result()
        return None
    finally:
        await end((working, watching))


async def end(tasks: "Sequence[asyncio.Task[Any]]") -> None:
    """Tells tasks to end and waits until they have."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
