"""Reading what the context does not hold, and writing files."""

from typing import Annotated

from pydantic import Field

from ...namespaces.functions import tool
from ...namespaces.tool import Attachment, Effect, ToolContext, ToolOutput
from ..results import SHOWN_AS_MEDIA
from .desk import Desk, desk
from .workspace import WorkspaceError

_MOST = 12_000
"""Characters that one reading gives at most."""
_HEADER = 300
"""Characters around what is read: together they are less than a result may have, so that it is never
offloaded again."""
_AROUND = 120
"""Characters shown before and after something found."""
_FINDS = 20

Source = Annotated[
    str,
    Field(
        description="A handle such as result/17.2, conversation/1-40, file/NAME, or a path in the workspace."
    ),
]


@tool(effect=Effect.READ)
async def read(
    source: Source,
    context: ToolContext,
    offset: Annotated[int, Field(ge=0, description="First character, from 0.")] = 0,
    length: Annotated[int, Field(ge=1, le=_MOST, description="Characters.")] = _MOST,
    search: Annotated[
        str | None, Field(min_length=1, description="Show where this text occurs instead.")
    ] = None,
) -> ToolOutput:
    """Reads a long tool output by its handle, or a file: a range of it, or where a text occurs."""
    at = desk(context)
    try:
        data, mime = await _bytes(at, source)
    except (KeyError, WorkspaceError) as error:
        return ToolOutput(str(error.args[0]), error=True)
    if mime in SHOWN_AS_MEDIA:
        return ToolOutput(source, attachments=(Attachment(source, data, mime),))
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return ToolOutput(f"{source} is no UTF-8 text ({len(data)} bytes): give it to a tool that reads it")
    if search is not None:
        return ToolOutput(_found(source, text, search, _room(at)))
    part = text[offset : offset + min(length, _room(at))]
    return ToolOutput(f"[{source}: characters {offset} to {offset + len(part)} of {len(text)}]\n{part}")


def _room(at: Desk) -> int:
    """Characters that a reading may have, so that its result is shown whole."""
    return max(1, at.state.current.began.limits.result_chars - _HEADER)


async def _bytes(at: Desk, source: str) -> tuple[bytes, str]:
    if source in at.state.artifacts:
        return await at.read(source), at.state.artifacts[source].mime
    if at.workspace is None:
        known = ", ".join(sorted(at.state.artifacts)[:50]) or "none yet"
        raise KeyError(f"there is no handle {source!r} in this session. Handles: {known}")
    return at.workspace.read(source), "text/plain"


def _found(source: str, text: str, search: str, room: int) -> str:
    lower, wanted = text.lower(), search.lower()
    places: list[int] = []
    place = lower.find(wanted)
    while place >= 0 and len(places) < _FINDS:
        places.append(place)
        place = lower.find(wanted, place + len(wanted))
    if not places:
        return f"{search!r} does not occur in {source} ({len(text)} characters)."
    shown = [f"at {p}: ...{text[max(0, p - _AROUND) : p + len(wanted) + _AROUND]}..." for p in places]
    while len(shown) > 1 and sum(map(len, shown)) > room:
        shown.pop()
    more = " (there are more)" if place >= 0 or len(shown) < len(places) else ""
    return "\n".join([f"{search!r} occurs in {source}, {len(shown)} times shown{more}:", *shown])


@tool(effect=Effect.REPEATABLE, writes=frozenset({"workspace"}))
async def write_file(
    path: Annotated[str, Field(min_length=1, description="A path in the workspace.")],
    text: str,
    context: ToolContext,
) -> ToolOutput:
    """Writes a text file into the workspace, replacing what was there."""
    workspace = desk(context).workspace
    if workspace is None:
        return ToolOutput("this session has no workspace to write to", error=True)
    try:
        size = workspace.write(path, text)
    except (WorkspaceError, OSError) as error:
        return ToolOutput(f"not written: {error}", error=True)
    return ToolOutput(f"{path}: {size} bytes written.")
