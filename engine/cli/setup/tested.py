"""The scenario of `offing selftest`, as the processes that are killed find it."""

import asyncio
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from ...configuration import Configuration, load
from ...crashes import Deed, Place, approve_all
from ...crashes.scenario import SESSION
from ...engine import Engine
from ...errors import ConfigurationError, NotFound
from ...handle import RunHandle
from ...limits import Limits
from ...memory import MemoryPolicy
from ...models.scripted import Call, Playbook, Scripted
from ...resident.workspace import Workspace
from ...store import store_at

ORDER = "OFFING_SELFTEST"
"""The variable of the environment that says what is tested."""
_FILE = "selftest.txt"


@dataclass(frozen=True, slots=True)
class Order:
    """What is tested."""

    file: str
    """The configuration."""
    calls: tuple[str, ...]
    """What is called without an argument."""

    def to_json(self) -> str:
        """As the environment keeps it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_environment(cls) -> "Order":
        """What this process is told."""
        given = json.loads(os.environ[ORDER])
        return cls(given["file"], tuple(given["calls"]))


async def play(book: Playbook, _: str) -> str:
    """Looks at each system, then has the engine do what it promises something about."""
    calls = [Call(name) for name in Order.from_environment().calls]
    if calls:
        await book.calls(*calls)
    await book.call("tasks", items=[{"title": "look", "status": "done"}, {"title": "write"}])
    await book.call("ask_user", question="Go on?")
    await book.calls(
        Call("write_file", {"path": _FILE, "text": "written\n"}),
        Call("remember", {"text": "The selftest was here."}),
    )
    await book.call("read", source=_FILE)
    return "The selftest is through."


class Tested:
    """The user's systems and rules, over a store and a workspace of each journey's own."""

    def live(self, place: Place) -> str | None:
        """See `Scenario`."""
        return asyncio.run(self._live(place))

    def deeds(self, place: Place) -> Iterable[Deed]:
        """What is in the workspace, and what is remembered."""
        found = [Deed(f"wrote {path.name}") for path in sorted(_workspace(place).root.glob("*"))]
        return [*found, *(Deed(f"remembered {text}") for text in asyncio.run(_remembered(place)))]

    def problems(self, place: Place) -> Iterable[str]:
        """See `Scenario`."""
        return ()

    async def _live(self, place: Place) -> str | None:
        configuration = _configuration()
        model = Scripted(play, name="selftest")
        async with configuration.engine(model=model, store=store_at(place.store)) as engine:
            result = await (await _going_on(engine, configuration, _workspace(place))).result()
            if result.answered:
                return result.answer
            if result.why == "waiting":
                await approve_all(engine.inbox, result)
                return None
            raise ConfigurationError(f"the run stopped ({result.why}): {result.detail}")


async def _going_on(engine: Engine, configuration: Configuration, workspace: Workspace) -> RunHandle:
    """The run, begun or gone on with."""
    credentials, skills = configuration.credentials(), configuration.skills
    try:
        newest = await engine.inbox.newest(SESSION)
    except NotFound:
        session = engine.session(
            SESSION, about=configuration.about, credentials=credentials, workspace=workspace, skills=skills
        )
        async with session.run("Test yourself.") as run:
            return run
    return await engine.resume(newest, credentials=credentials, workspace=workspace, skills=skills)


async def _remembered(place: Place) -> list[str]:
    store = store_at(place.store)
    try:
        return [item.text for item in await store.scoped(_configuration().tenant).memory.items()]
    finally:
        await store.close()


def _workspace(place: Place) -> Workspace:
    return Workspace(place.folder / "work")


def _configuration() -> Configuration:
    """The user's, without what a test is not to use up, and without telling anybody."""
    configuration = load(Order.from_environment().file)
    update = {"memory": MemoryPolicy(), "notify": None, "limits": Limits()}
    return replace(configuration, settings=configuration.settings.model_copy(update=update))


scenario = Tested()
