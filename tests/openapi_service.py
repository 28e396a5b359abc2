"""A real HTTP/1.1 service on 127.0.0.1, which keeps what it was sent byte for byte, and a document for it.

In a test:

    async with Service(answer) as service:
        async with connected(document(service.url, {...})) as call:
            output = await call("operation", {...})
        assert service.seen[0].target == "/things?color=blue"
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from pydantic import JsonValue, SecretStr

from offing.namespaces import Effect, Tool, ToolContext, ToolOutput
from offing.namespaces.meta_tools import Connected, Wrong
from offing.namespaces.openapi import OpenApi

Anything: TypeAlias = Any
"""A value as JSON has it, good or bad: its type is what is tried."""
Json = Mapping[str, Any]
KEY = "0123456789abcdef" * 4
"""The idempotency key of calls made here."""


@dataclass(frozen=True)
class Seen:
    """One request as it came in."""

    method: str
    target: str
    headers: Mapping[str, str]
    """By their names in lower case."""
    body: bytes

    @property
    def json(self) -> Anything:
        return json.loads(self.body)


class Line:
    """The connection that a request came over: to be answered, slowed or cut."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def answer(
        self, body: Anything = b"", status: int = 200, content_type: str = "application/json", **headers: str
    ) -> None:
        """A whole answer; what is not bytes is written as JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        told = {"Content-Length": str(len(data)), **{key.replace("_", "-"): v for key, v in headers.items()}}
        if content_type:
            told["Content-Type"] = content_type
        lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        await self.raw(f"HTTP/1.1 {status} Whatever\r\n{lines}\r\n".encode() + data)

    async def raw(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def cut(self) -> None:
        self._writer.transport.abort()


Respond = Callable[[Seen, Line], Awaitable[None]]


async def nothing(seen: Seen, line: Line) -> None:
    """Answers 204 to everything."""
    await line.answer(status=204, content_type="")


def says(
    body: Anything = b"", status: int = 200, content_type: str = "application/json", **headers: str
) -> Respond:
    """Answers everything with the same."""

    async def respond(seen: Seen, line: Line) -> None:
        await line.answer(body, status, content_type, **headers)

    return respond


class Service:
    """The service, in the loop of the test."""

    def __init__(self, respond: Respond = nothing) -> None:
        self.seen: list[Seen] = []
        self.respond = respond
        self.url = ""
        self._server: asyncio.Server | None = None
        self._at_work: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._at_work:
            task.cancel()
        await asyncio.gather(*self._at_work, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._at_work.add(task)
        try:
            while True:
                seen = await _read(reader)
                self.seen.append(seen)
                await self.respond(seen, Line(writer))
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            self._at_work.discard(task)


async def _read(reader: asyncio.StreamReader) -> Seen:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(method, target, headers, body)


def document(paths: Json, *, server: str = "", version: str = "3.1.0", **more: Anything) -> dict[str, Any]:
    """A document around some paths."""
    servers = {"servers": [{"url": server}]} if server else {}
    return {"openapi": version, "info": {"title": "t", "version": "1"}, **servers, "paths": paths, **more}


def written(folder: Path, content: Anything) -> Path:
    """A document as a file."""
    path = folder / "openapi.json"
    path.write_text(json.dumps(content))
    return path


class Calls:
    """The tools of a connected document, called as the engine calls them: validated first."""

    def __init__(
        self, tools: list[Tool], credentials: Mapping[str, SecretStr], files: Mapping[str, bytes]
    ) -> None:
        self.connected = Connected("api", tools)
        self._credentials = credentials
        self._files = files

    def tool(self, name: str) -> Tool:
        return self.connected.tools[name].tool

    def refusal(self, name: str, /, **arguments: JsonValue) -> str:
        """Why the arguments do not fit; empty when they do."""
        found = self.connected.resolve("api__invoke_tool", {"tool": name, "arguments": arguments})
        return found.message if isinstance(found, Wrong) else ""

    async def __call__(self, name: str, /, **arguments: JsonValue) -> ToolOutput:
        assert self.refusal(name, **arguments) == ""
        context = ToolContext("r", "1.1", KEY, self._credentials, lambda text: None, self._read)
        output = self.tool(name).call(arguments, context)
        assert not isinstance(output, ToolOutput)
        return await output

    async def _read(self, handle: str) -> bytes:
        return self._files[handle]


@asynccontextmanager
async def connected(
    namespace: OpenApi,
    credentials: Mapping[str, str] | None = None,
    files: Mapping[str, bytes] | None = None,
) -> AsyncGenerator[Calls]:
    secrets = {name: SecretStr(value) for name, value in (credentials or {}).items()}
    async with namespace.connect(secrets) as tools:
        yield Calls(list(tools), secrets, files or {})


def effects(calls: Calls) -> dict[str, tuple[Effect, bool]]:
    """Effect and danger of each tool."""
    return {
        name: (known.tool.effect, known.tool.destructive) for name, known in calls.connected.tools.items()
    }
