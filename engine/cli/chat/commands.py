"""What can be said to the conversation itself: lines that begin with a slash."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..ground import Ground
from ..journal.summary import money
from .talk import Talk


class Slash(NamedTuple):
    """One of them."""

    help: str
    do: Callable[[Talk, Ground, str], None]


def _help(_: Talk, ground: Ground, __: str) -> None:
    for name, slash in SLASHES.items():
        ground.screen.line(f"  {name:<10} {slash.help}")
    ground.screen.line(f"  {QUIT:<10} ends; the session can be gone on with by its name")
    ground.screen.line("  a skill by its name, such as /period-end-reconciliation, is worked by in that run")


def _resume(talk: Talk, ground: Ground, words: str) -> None:
    run = talk.newest()
    if run is None:
        ground.screen.line("nothing was begun yet")
    else:
        talk.go_on(run, words)


def _cost(talk: Talk, ground: Ground, _: str) -> None:
    if talk.last is None:
        ground.screen.line("nothing was begun yet")
        return
    usage = talk.last.usage
    read, written = f"{usage.prompt:,} tokens read", f"{usage.output:,} written"
    ground.screen.line(f"{talk.last.iterations} iterations, {read}, {written}, {money(talk.last.cost)}")


def _tasks(talk: Talk, ground: Ground, _: str) -> None:
    for task in () if talk.last is None else talk.last.tasks:
        ground.screen.line(f"  {task.status:<8} {task.title}")


def _where(talk: Talk, ground: Ground, _: str) -> None:
    ground.screen.line(f"session {talk.session.id}, last run {talk.newest() or 'none'}")
    ground.screen.line(f"look at it with: offing show RUN{ground.again}")


QUIT = "/quit"
SLASHES: Mapping[str, Slash] = {
    "/help": Slash("this list", _help),
    "/resume": Slash("goes on with the last run; words after it are read by the model", _resume),
    "/tasks": Slash("the task list of the last run", _tasks),
    "/cost": Slash("what the last run took", _cost),
    "/where": Slash("the names of the session and of its last run", _where),
}
"""By the word that calls it."""
