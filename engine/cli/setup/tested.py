"""The scenario of `offing selftest`, as the processes that are killed find it."""

import asyncio
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from pydantic import JsonValue

from ...configuration import Configuration, load
from ...configuration.settings import CachingSettings, ModelsSettings
from ...crashes import Deed, Place, approve_all
from ...crashes.life import TENANT
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
_PARTS = ("one.txt", "two.txt")
"""What strands write, a file each."""
_STRAND = "Write"
_LONG = "long.txt"
_CHARS, _AT_ONCE = 12_000, 4
"""Characters of one reading of the long file, and readings in one reply."""
_LONG_CHARS = 3 * _AT_ONCE * _CHARS
_LIMITS = Limits(window=64_000, reply_tokens=8_000)
"""A window that the long file does not fit in."""


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


async def play(book: Playbook, text: str) -> str:
    """Looks at each system, then has the engine do what it promises something about."""
    calls = [Call(name) for name in Order.from_environment().calls]
    if text.startswith(_STRAND):
        await book.calls(*calls, Call("write_file", {"path": text.split()[1], "text": "written\n"}))
        return "The part is done."
    if calls:
        await book.calls(*calls)
    strands: list[JsonValue] = [{"title": each, "task": f"{_STRAND} {each} ."} for each in _PARTS]
    await book.call("delegate", strands=strands)
    for begin in range(0, _LONG_CHARS, _AT_ONCE * _CHARS):  # so much that room has to be made
        offsets = range(begin, begin + _AT_ONCE * _CHARS, _CHARS)
        await book.calls(*(Call("read", {"source": _LONG, "offset": each}) for each in offsets))
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
        there = sorted(path.name for path in _workspace(place).root.glob("*"))
        found = [Deed(f"wrote {name}") for name in there if name != _LONG]
        return [*found, *(Deed(f"remembered {text}") for text in asyncio.run(_remembered(place)))]

    def problems(self, place: Place) -> Iterable[str]:
        """See `Scenario`."""
        return ()

    async def _live(self, place: Place) -> str | None:
        configuration, long = _configuration(), _workspace(place).root / _LONG
        long.parent.mkdir(parents=True, exist_ok=True)
        long.write_text(_long())
        model = Scripted(play, name="selftest")
        async with configuration.engine(model=model, store=store_at(place.store)) as engine:
            result = await (await _going_on(engine, configuration, _workspace(place))).result()
            if result.answered:
                return result.answer
            if result.why == "waiting":
                await approve_all(engine.inbox, result)
                return None
            raise ConfigurationError(f"the run stopped ({result.why}): {result.detail}")


def _long() -> str:
    """The text of the long file; no two parts of it are the same."""
    text = "\n".join(f"Line {number} of a long file." for number in range(_LONG_CHARS // 20))
    return text[:_LONG_CHARS]


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
    """The user's, without what a test is not to use up, and without asking or telling anybody else."""
    configuration = load(Order.from_environment().file)
    update = {
        "memory": MemoryPolicy(),
        "notify": None,
        "limits": _LIMITS,
        "models": ModelsSettings(),
        "caching": CachingSettings(),
        "tenant": TENANT,
    }
    return replace(configuration, settings=configuration.settings.model_copy(update=update))


scenario = Tested()
