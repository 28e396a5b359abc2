"""A server of the SDK's own making, over stdio or streamable HTTP.

    python mcp_server.py LOG            over stdio
    python mcp_server.py LOG http       over HTTP, at a port that it prints

Of today's protocol version and of the older ones, as the client asks.
"""

import asyncio
import base64
import socket
import sys
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from pydantic import BaseModel

LOG = Path(sys.argv[1])
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n0").decode()
server = MCPServer("shop", version="1")


class Day(BaseModel):
    """What a booking needs."""

    day: str
    people: int


def noted(line: str) -> None:
    with LOG.open("a") as log:
        log.write(f"{line}\n")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def look(word: str) -> dict[str, Any]:
    """Looks a word up.

    In all of the books.
    """
    return {"word": word, "found": 2}


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def shown() -> CallToolResult:
    """Shows all that a result can hold."""
    text = TextResourceContents(uri="note://1", text="the note", mime_type="text/plain")
    blob = BlobResourceContents(uri="file:///a/b.bin", blob=base64.b64encode(b"\x00\x01").decode())
    return CallToolResult(
        content=[
            TextContent(text="here"),
            ImageContent(data=PNG, mime_type="image/png"),
            AudioContent(data=base64.b64encode(b"beep").decode(), mime_type="audio/wav"),
            ResourceLink(name="the note", uri="note://1", mime_type="text/plain", size=8),
            EmbeddedResource(resource=text),
            EmbeddedResource(resource=blob),
            ImageContent(data="***", mime_type="image/png"),
        ],
        structured_content={"total": 7},
    )


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def who(context: Context) -> str:
    """Tells who calls."""
    return str((context.headers or {}).get("authorization"))


@server.tool()
def boom(word: str | None = None) -> str:
    """Fails."""
    raise ValueError(f"no {word!r}")


@server.tool(annotations=ToolAnnotations(destructive_hint=False))
async def slow(context: Context) -> str:
    """Works, and tells how far it is, until it is told to end."""
    noted("slow")
    await context.report_progress(1, 4, "reading")
    try:
        await asyncio.Event().wait()
    finally:
        noted("slow was told to end")
    return ""


async def asked(word: str) -> Elicit[Day]:
    return Elicit(f"Which day for {word}?", Day)


@server.tool(annotations=ToolAnnotations(destructive_hint=False))
async def book(word: str, day: Annotated[Day, Resolve(asked)]) -> str:
    """Books a day."""
    noted(f"book {word} {day.day} {day.people}")
    return f"booked {word} on {day.day} for {day.people}"


@server.resource("note://1")
def note() -> str:
    return "the whole note"


async def _serve(listening: socket.socket) -> None:
    import uvicorn

    config = uvicorn.Config(server.streamable_http_app(), log_level="critical", lifespan="on")
    await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    if sys.argv[2:] == ["http"]:
        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        sys.stdout.write(f"{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        asyncio.run(_serve(listening))
    else:
        server.run()
