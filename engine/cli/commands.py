"""What the commands do: open an engine over a store, work, and show what comes of it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

from ..answer import Result
from ..engine import Engine
from ..errors import NotFound
from ..handle import RunHandle
from ..store.facts import Opened
from ..store.sqlite import SqliteStore
from .screen import Screen
from .systems import Systems

ExitCode = Literal[0, 1, 3]
"""0 answered, 1 failed, 3 stopped by a limit or without an answer. 2, wrong usage, is `main`'s."""


async def begin(systems: Systems, request: str, store: Path, screen: Screen) -> ExitCode:
    """Begins a run in a new session and works on it.

    Raises:
        OffingError: it cannot begin, or the store failed.
    """

    async def start(engine: Engine) -> RunHandle:
        session = engine.session(about=systems.about(), setup=systems.to_setup())
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
    return await _work(systems, store, screen, lambda engine: engine.resume(run))


async def _systems_of(run: str, store: Path) -> Systems:
    journal = SqliteStore(store).scoped("local").journal
    async for row in journal.read(run.partition(".")[0]):
        if isinstance(row.known, Opened):
            return Systems.from_setup(row.known.setup)
    raise NotFound(f"there is no run {run!r} in {str(store)!r}: name the store that it began in with --store")


async def _work(
    systems: Systems, store: Path, screen: Screen, start: Callable[[Engine], Awaitable[RunHandle]]
) -> ExitCode:
    namespaces, model = systems.namespaces(), systems.the_model()
    async with Engine(model, namespaces, store=SqliteStore(store)) as engine:
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
    _tell(result, screen)
    return _exit_code(result)


def _tell(result: Result, screen: Screen) -> None:
    screen.line()
    screen.line(result.text())
    for call in result.unknown:
        screen.line(f"Call {call}: nobody knows whether it took effect. Look before you repeat it.")
    if not result.answered:
        screen.line(f"The run stopped ({result.why}): {result.detail}")
        screen.line(f"Go on with: offing resume {result.run}")


def _exit_code(result: Result) -> ExitCode:
    if result.answered:
        return 0
    return 1 if result.why == "fault" else 3
