"""What `run`, `demo` and `resume` do: open an engine over a store, work, and tell what comes of it."""

import asyncio
import contextlib
import getpass
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ...budget import Budget
from ...configuration import Configuration
from ...engine import Engine
from ...errors import NotFound
from ...handle import RunHandle
from ...history.streams import place_of
from ...opening import GoingOn
from ...session import Session
from ...store import Store
from ...store.branches import Forked
from ...store.facts import Opened
from ...store.place import shown
from ..exits import ExitCode
from ..ground import Ground
from .delivered import deliver
from .systems import Systems, base_of, keep_said
from .told import exit_code
from .watching import Watcher


@dataclass(frozen=True, slots=True)
class Begun:
    """A run at work, and the session that it is in."""

    run: RunHandle
    session: Session | None = None
    """None when it was resumed: what is not connected was told when it began."""


async def begin(systems: Systems, request: str, ground: Ground, watcher: Watcher, budget: Budget) -> ExitCode:
    """Begins a run in a new session and works on it. `budget` is what the command line says of it.

    Raises:
        OffingError: it cannot begin, or the store failed.
    """
    configuration = bounded(systems.configured(base_of(systems, ground)), budget)

    async def start(engine: Engine) -> Begun:
        session = opened(engine, configuration, systems)
        async with session.run(request, by=getpass.getuser()) as run:
            return Begun(run, session)

    await asyncio.to_thread(keep_said, configuration, ground.scope().readings)
    return await _work(systems, configuration, ground, watcher, start)


async def resume(run: str, ground: Ground, watcher: Watcher, going: GoingOn) -> ExitCode:
    """Goes on with a run after a kill or a stop.

    Raises:
        NotFound: there is no such run in the store.
        NotOpen: with guidance: it has answered.
        JournalUnreadable: a later release wrote it.
        OffingError: it cannot go on, or the store failed.
    """
    systems = await systems_of(run, ground)
    configuration = systems.configured(base_of(systems, ground))

    async def start(engine: Engine) -> Begun:
        return Begun(
            await engine.resume(
                run,
                credentials=configuration.credentials(),
                workspace=configuration.workspace,
                skills=configuration.skills,
                more=going.more,
                guidance=going.guidance,
                by=going.by,
            )
        )

    return await _work(systems, configuration, ground, watcher, start)


async def systems_of(run: str, ground: Ground) -> Systems:
    """What a run's session was opened with; of a fork, with the model that is to go on.

    Raises:
        NotFound: there is no such run in the store.
        JournalUnreadable: a later release wrote it.
        ConfigurationError: the session was not opened by this command line.
    """
    journal = ground.scope().journal
    model = ""
    with contextlib.suppress(NotFound):
        place = await place_of(journal, run)
        async for row in journal.read(place.stream):
            if isinstance(row.known, Forked):
                model = next((each.name for each in row.known.edits if each.what == "model"), "")
            if isinstance(row.known, Opened):
                systems = Systems.from_setup(row.known.setup)
                return replace(systems, model=model) if model else systems
    where = f"in {shown(ground.store)!r}: name the store that it began in with --store"
    raise NotFound(f"there is no run {run!r} {where}")


def opened(
    engine: Engine, configuration: Configuration, systems: Systems, name: str | None = None
) -> Session:
    """The session of that name, a new one without a name, as the file and the command line say.

    Raises:
        ConfigurationError: it cannot have that name, or a credential is not there.
    """
    return engine.session(
        name,
        about=configuration.about,
        credentials=configuration.credentials(),
        workspace=configuration.workspace,
        setup=systems.to_setup(),
        skills=configuration.skills,
    )


def bounded(configuration: Configuration, budget: Budget) -> Configuration:
    """With what the command line says of the budget in its place."""
    limits = configuration.settings.limits
    own = limits.budget
    merged = replace(
        own,
        cost=own.cost if budget.cost is None else budget.cost,
        model_calls=own.model_calls if budget.model_calls is None else budget.model_calls,
    )
    update = {"limits": replace(limits, budget=merged)}
    return replace(configuration, settings=configuration.settings.model_copy(update=update))


async def _work(
    systems: Systems,
    configuration: Configuration,
    ground: Ground,
    watcher: Watcher,
    start: Callable[[Engine], Awaitable[Begun]],
) -> ExitCode:
    kept: Store = ground.kept()
    async with configuration.engine(model=systems.the_model(), store=kept, tracing=ground.tracing) as engine:
        begun = await start(engine)
        run = begun.run
        watcher.begun(run.id, () if begun.session is None else begun.session.disconnected)
        try:
            async for event in run:
                watcher.show(event)
            result = await run.result()
        except asyncio.CancelledError:
            watcher.interrupted(run.id)
            raise
    files: tuple[Path, ...] = ()
    if systems.out and result.why in {"answered", "waiting"}:
        files = await deliver(result, kept.scoped(ground.tenant), Path(systems.out), systems.report)
    watcher.ended(result, files)
    return exit_code(result)
