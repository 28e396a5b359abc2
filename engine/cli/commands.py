"""What the commands do: open an engine over a store, work, and show what comes of it."""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

from ...skills import SkillSettings
from ..answer import Result
from ..budget import Budget
from ..engine import Engine
from ..errors import NotFound
from ..handle import RunHandle
from ..history.streams import place_of
from ..limits import Limits
from ..opening import GoingOn
from ..store import store_at
from ..store.branches import Forked
from ..store.facts import Opened
from ..store.place import shown
from .delivered import deliver
from .screen import Screen
from .systems import Systems

_HEADING = re.compile(r"^#{1,2} ", re.MULTILINE)
STORE = ".offing/offing.db"
"""Where runs are kept unless another store is named."""
TENANT = "local"
"""The engine's own, when a host names none."""
ExitCode = Literal[0, 1, 3]
"""0 answered, or waiting for a person; 1 failed; 3 stopped by a limit, a cancel or without an answer.
2, wrong usage, is `main`'s."""


async def begin(
    systems: Systems, request: str, store: str, screen: Screen, budget: Budget | None = None
) -> ExitCode:
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

    await asyncio.to_thread(systems.keep_said, store_at(store).scoped(TENANT).readings)
    return await _work(systems, Kept(store, Limits(budget=budget or Budget())), screen, start)


async def resume(run: str, store: str, screen: Screen, going: GoingOn) -> ExitCode:
    """Goes on with a run after a kill or a stop.

    Raises:
        NotFound: there is no such run in the store.
        NotOpen: with guidance: it has answered.
        JournalUnreadable: a later release wrote it.
        OffingError: it cannot go on, or the store failed.
    """
    systems = await systems_of(run, store)
    skills = SkillSettings(systems.skills)

    async def start(engine: Engine) -> RunHandle:
        more, guidance, by = going
        return await engine.resume(run, skills=skills, more=more, guidance=guidance, by=by)

    return await _work(systems, Kept(store), screen, start)


async def systems_of(run: str, store: str) -> Systems:
    """What a run's session was opened with; of a fork, with the model that is to go on.

    Raises:
        NotFound: there is no such run in the store.
        JournalUnreadable: a later release wrote it.
        ConfigurationError: the session was not opened by this command line.
    """
    journal = store_at(store).scoped(TENANT).journal
    model = ""
    with contextlib.suppress(NotFound):
        place = await place_of(journal, run)
        async for row in journal.read(place.stream):
            if isinstance(row.known, Forked):
                model = next((each.name for each in row.known.edits if each.what == "model"), "")
            if isinstance(row.known, Opened):
                systems = Systems.from_setup(row.known.setup)
                return replace(systems, model=model) if model else systems
    where = f"in {shown(store)!r}: name the store that it began in with --store"
    raise NotFound(f"there is no run {run!r} {where}")


class Kept(NamedTuple):
    """Where a run is kept, and what bounds a new one."""

    store: str
    limits: Limits = Limits()


async def _work(
    systems: Systems, where: Kept, screen: Screen, start: Callable[[Engine], Awaitable[RunHandle]]
) -> ExitCode:
    store = where.store
    kept = store_at(store)
    namespaces, model = systems.namespaces(kept.scoped(TENANT).readings), systems.the_model()
    async with Engine(model, namespaces, store=kept, limits=where.limits) as engine:
        run = await start(engine)
        screen.line(f"run {run.id}")
        try:
            async for event in run:
                screen.show(event)
            result = await run.result()
        except asyncio.CancelledError:
            screen.line(f"interrupted; go on with: {resume_command(run.id, store)}")
            raise
    screen.done()
    if not systems.out or result.why not in {"answered", "waiting"}:
        _tell(result, result.text(), store, screen)
        return _exit_code(result)
    written = await deliver(result, kept.scoped(TENANT), Path(systems.out), systems.report)
    _tell(result, _first_section(result.text()), store, screen)
    for path in written:
        screen.line(f"written: {path}")
    return _exit_code(result)


def _first_section(text: str) -> str:
    """An answer up to its second heading: the whole, with its sources, is in the report."""
    later = _HEADING.search(text, text.find("\n") + 1)
    if later is None:
        return text
    return f"{text[: later.start()].rstrip()}\n\nThe rest of the answer, and all sources, are in the report."


def _tell(result: Result, text: str, store: str, screen: Screen) -> None:
    screen.line()
    screen.line(text)
    for call in result.unknown:
        screen.line(f"Call {call}: nobody knows whether it took effect. Look before you repeat it.")
    if result.answered:
        return
    _tell_open(result, store, screen)
    if result.why != "waiting":
        screen.line(f"The run stopped ({result.why}): {result.detail}")
    more = " --budget-usd AMOUNT, or --max-calls N" if result.why == "budget" else ""
    screen.line(f"Go on with: {resume_command(result.run, store)}{more}")


def _tell_open(result: Result, store: str, screen: Screen) -> None:
    """What waits for a person, and how to say it."""
    where = store_option(store)
    for request in result.approvals:
        screen.line()
        screen.line(f"Call {request.call} waits for approval: {request.why}.")
        screen.line(request.preview)
        screen.line(f"offing approve {result.run} {request.call}{where}")
        screen.line(f"offing deny {result.run} {request.call} --reason '...'{where}")
    for question in result.questions:
        screen.line()
        screen.line(f"Call {question.call} asks: {question.question}")
        for option in question.options:
            screen.line(f"  - {option}")
        screen.line(f"offing answer {result.run} '...' --call {question.call}{where}")


def resume_command(run: str, store: str) -> str:
    """The command that goes on with a run."""
    return f"offing resume {run}{store_option(store)}"


def store_option(store: str) -> str:
    """The option that names the store, where it is not the usual one."""
    return "" if store == STORE else f" --store {shown(store)}"


def _exit_code(result: Result) -> ExitCode:
    if result.answered or result.why == "waiting":
        return 0
    return 1 if result.why == "fault" else 3
