"""A session's frame: built once, kept as bytes, resent as stored.

The encoded layers are artifacts, so a session goes on with the very bytes it began with, also after an
upgrade of the engine or a change of its systems. Only another model makes them be encoded anew.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue, TypeAdapter

from ..namespaces.errors import NamespaceError
from ..namespaces.meta_tools import Connected
from ..namespaces.schemas import plain_root
from ..namespaces.tool import Tool
from .connections import Connections
from .errors import ConfigurationError
from .models.model import Frame, Model, ToolDefinition
from .prompt import About, build_frame
from .resident import tools_of
from .session_skills import SessionSkills
from .store.facts import Opened
from .store.journal import Artifacts


@dataclass(frozen=True, slots=True)
class Framed:
    """A frame and what it is on the wire of the session's model."""

    opened: Opened
    static: bytes
    context: bytes
    tools: tuple[str, ...]
    """Names that the frame shows."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a new session's frame is to say."""

    about: About
    date: str
    pinned: Sequence[str]
    setup: Mapping[str, JsonValue]
    skills: SessionSkills
    memory: bool = False
    """Whether it can remember from one session to the next."""


async def make_frame(wanted: Wanted, connections: Connections, model: Model, artifacts: Artifacts) -> Framed:
    """Builds, encodes and stores the frame of a new session.

    Raises:
        ConfigurationError: a pinned tool does not exist.
        StoreError: the store failed.
    """
    definitions = [
        *(_definition(tool) for tool in tools_of(memory=wanted.memory)),
        *(_definition(tool) for one in connections.connected for tool in one.meta_tools()),
        *_pinned(wanted.pinned, connections.connected),
    ]
    frame = build_frame(
        definitions,
        wanted.about,
        wanted.date,
        connections.guides,
        connections.disconnected,
        wanted.skills.parts(),
    )
    static, context = model.encode(frame.static), model.encode(frame.context)
    opened = Opened(
        model=model.name,
        frame=await artifacts.put(_kept().dump_json(frame)),
        static=await artifacts.put(static),
        context=await artifacts.put(context),
        setup=wanted.setup,
    )
    return Framed(opened, static, context, _names(frame))


async def stored_frame(opened: Opened, model: Model, artifacts: Artifacts) -> Framed:
    """The frame of a session that began before.

    Raises:
        StoreError: an artifact is missing, or the store failed.
    """
    frame = _kept().validate_json(await artifacts.get(opened.frame))
    if opened.model != model.name:
        static, context = model.encode(frame.static), model.encode(frame.context)
    else:
        static, context = await artifacts.get(opened.static), await artifacts.get(opened.context)
    return Framed(opened, static, context, _names(frame))


@functools.cache
def _kept() -> TypeAdapter[Frame]:
    """How a frame is written and read back. To work this out takes longer than to build a frame."""
    return TypeAdapter(Frame)


def _names(frame: Frame) -> tuple[str, ...]:
    return tuple(definition.name for definition in frame.static.tools)


def _definition(tool: Tool) -> ToolDefinition:
    return ToolDefinition(tool.name, tool.summary, tool.schema)


def _pinned(names: Sequence[str], connected: Sequence[Connected]) -> list[ToolDefinition]:
    """Tools of namespaces that are shown with their schemas, for those used all the time."""
    by_name = {one.name: one for one in connected}
    own = (
        f"{one.name}__{name}" for one in connected for name, known in one.tools.items() if known.tool.pinned
    )
    shown: list[ToolDefinition] = []
    for name in dict.fromkeys((*names, *own)):
        namespace, _, operation = name.partition("__")
        if namespace not in by_name:
            continue  # not connected: the frame says so, with the reason
        try:
            alias = by_name[namespace].direct_name(operation)
        except NamespaceError as error:
            raise ConfigurationError(f"cannot pin {name!r}: {error}") from error
        tool = by_name[namespace].tools[operation].tool
        shown.append(ToolDefinition(alias, tool.description or tool.summary, plain_root(tool.schema)))
    return shown
