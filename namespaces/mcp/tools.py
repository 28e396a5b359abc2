"""A server's tools as ours.

What a server says of a tool's effects is a hint by whoever wrote it. It is taken at its word where the
host's policies say nothing, and only in the careful direction where it says nothing itself.
"""

import functools
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from ..policy import ToolPolicy, governed, unmet
from ..tool import Arguments, Effect, Tool, ToolContext, ToolOutput
from .calls import Operation, read
from .link import Link, Server

if TYPE_CHECKING:
    from mcp import types

READ_RESOURCE = "read_resource"
"""Reads what a result links to, of servers that have resources and no tool of that name."""
_SUMMARY = 200
"""Characters of a summary; the whole description is shown with the schema."""


_log = logging.getLogger("offing")


def tools_of(link: Link, server: Server, timeout_s: float, policies: Sequence[ToolPolicy]) -> list[Tool]:
    """The tools of a connected server, as the host's policies have them."""
    tools = [described(one) for one in server.tools]
    if server.has_resources and all(tool.name != READ_RESOURCE for tool in tools):
        tools.append(_reader(link))
    timed = [replace(tool, timeout_s=timeout_s) for tool in tools]
    for pattern in unmet(timed, policies):
        _log.warning("a policy of %s fits none of its tools: %r", link.name, pattern)
    return [_linked(link, tool) for tool in governed(timed, policies)]


def described(listed: "types.Tool") -> Tool:
    """A tool as the server lists it, without a way to call it.

    Its effect is READ for a tool that says it only reads, else REPEATABLE for one that says it is idempotent,
    else ONCE. It is destructive unless it only reads or says that it is not.
    """
    hints = listed.annotations
    effect = Effect.ONCE
    if hints is not None and hints.read_only_hint:
        effect = Effect.READ
    elif hints is not None and hints.idempotent_hint:
        effect = Effect.REPEATABLE
    harmless = hints is not None and hints.destructive_hint is False
    title = listed.title or (hints.title if hints is not None else None) or ""
    said = (listed.description or "").strip() or title or listed.name
    return Tool(
        name=listed.name,
        summary=_shortened(said),
        schema=cast("Mapping[str, JsonValue]", listed.input_schema),
        call=_unlinked,
        effect=effect,
        destructive=effect is not Effect.READ and not harmless,
        description=said,
    )


def _linked(link: Link, tool: Tool) -> Tool:
    """With the way to call it, which goes by the effect that the host has decided on."""
    if tool.call is not _unlinked:
        return tool
    return replace(tool, call=Operation(link, tool.name, may_repeat=tool.effect is not Effect.ONCE))


def _reader(link: Link) -> Tool:
    about: JsonValue = {"type": "string", "description": "As a result of this system names it."}
    return Tool(
        name=READ_RESOURCE,
        summary="Reads a resource that a result of this system links to.",
        schema={
            "type": "object",
            "properties": {"uri": about},
            "required": ["uri"],
            "additionalProperties": False,
        },
        call=functools.partial(read, link),
        effect=Effect.READ,
    )


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SUMMARY else f"{line[: _SUMMARY - 3]}..."


async def _unlinked(arguments: Arguments, context: ToolContext) -> ToolOutput:
    raise NotImplementedError("a tool that is only described cannot be called")
