"""The tools that a server lists, page by page."""

import logging
from typing import TYPE_CHECKING

from mcp import Client

if TYPE_CHECKING:
    from mcp.types import Tool

_PAGES = 200
"""Pages that are asked for: a list without an end must not hold a session."""
_TOOLS = 5_000

_log = logging.getLogger("offing")


async def listed(client: Client) -> "list[Tool]":
    """All tools of a server that has any; the first pages of a list that does not end."""
    if client.server_capabilities.tools is None:
        return []
    tools: list[Tool] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        tools += page.tools
        cursor = page.next_cursor
        if not cursor:
            return tools[:_TOOLS]
        if cursor in seen or len(tools) >= _TOOLS:
            break
        seen.add(cursor)
    _log.warning("a server's list of tools does not end: the first %d are used", len(tools[:_TOOLS]))
    return tools[:_TOOLS]
