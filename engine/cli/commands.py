"""What the commands do: open an engine over a store, work, and show what comes of it."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

from ...skills import SkillSettings
from ..answer import Result
from ..engine import Engine
from ..errors import NotFound
from ..handle import RunHandle
from ..store.facts import Opened
from ..store.sqlite import SqliteStore
from .delivered import deliver
from .screen import Screen
from .systems import Systems

_HEADING = re.compile(r"^#{1,2} ", re.MULTILINE)
_TENANT = "local"
"""The engine's own, when a host names none."""
ExitCode = Literal[0, 1, 3]
"""0 answered, 1 failed, 3 stopped by a limit or without an answer. 2, wrong usage, is `main`'s."""


async def begin(systems: Systems, request: str, store: Path, screen: Screen) -> ExitCode:
    """Begins a run in a new session and works on it.

    Raises:
        OffingError: it cannot begin, or the store failed.
    """

    async def start(engine: Engine) -> RunHandle:
        session = engine.session(about=systems.about(), setup=systems.to_setup(), skills=systems.skills)
        async with session.run(request) as run:
            for missing in session.disconnected:
                screen.line(f"{missing.name} is not connected: {missing.reason}")
            return run

    return await _work(systems, store, screen, start)


async def resume(run: str, store: Path, screen: Screen) -> ExitCode:
    """Goes on with a run after a kill or a stop.

    Raises:
        NotFound: there is no such run in the store.
        JournalUnreadable: a later release wrote it.
        OffingError: it cannot go on, or the store failed.
    """
    systems = await _systems_of(run, store)
    skills = SkillSettings(systems.skills)
    return await _work(systems, store, screen, lambda engine: engine.resume(run, skills=skills))


async def _systems_of(run: str, store: Path) -> Systems:
    journal = SqliteStore(store).scoped(_TENANT).journal
    async for row in journal.read(run.partition(".")[0]):
        if isinstance(row.known, Opened):
            return Systems.from_setup(row.known.setup)
    raise NotFound(f"there is no run {run!r} in {str(store)!r}: name the store that it began in with --store")


async def _work(
    systems: Systems, store: Path, screen: Screen, start: Callable[[Engine], Awaitable[RunHandle]]
) -> ExitCode:
    kept = SqliteStore(store)
    namespaces, model = systems.namespaces(kept.scoped(_TENANT).readings), systems.the_model()
    async with Engine(model, namespaces, store=kept) as engine:
        run = await start(engine)
        screen.line(f"run {run.id}")
        try:
            async for event in run:
                screen.show(event)
            result = await run.result()
        except asyncio.CancelledError:
            screen.line(f"interrupted; go on with: offing resume {run.id}")
            raise
    screen.done()
    if not systems.out or not result.answered:
        _tell(result, result.text(), screen)
        return _exit_code(result)
    written = await deliver(result, kept.scoped(_TENANT), Path(systems.out), systems.report)
    _tell(result, _first_section(result.text()), screen)
    for path in written:
        screen.line(f"written: {path}")
    return _exit_code(result)


def _first_section(text: str) -> str:
    """An answer up to its second heading: the whole, with its sources, is in the report."""
    later = _HEADING.search(text, text.find("\n") + 1)
    if later is None:
        return text
    return f"{text[: later.start()].rstrip()}\n\nThe rest of the answer, and all sources, are in the report."


def _tell(result: Result, text: str, screen: Screen) -> None:
    screen.line()
    screen.line(text)
    for call in result.unknown:
        screen.line(f"Call {call}: nobody knows whether it took effect. Look before you repeat it.")
    if not result.answered:
        screen.line(f"The run stopped ({result.why}): {result.detail}")
        screen.line(f"Go on with: offing resume {result.run}")


def _exit_code(result: Result) -> ExitCode:
    if result.answered:
        return 0
    return 1 if result.why == "fault" else 3
