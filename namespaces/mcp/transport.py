"""The way to a server: its streams, and what is heard beside them.

A server that dies tells why on its standard error or by an HTTP status, not in the protocol. So the last of
that is kept, bounded, for the reason of a failure.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, assert_never

import httpx2
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from .target import Address, Process, Target

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams

_KEPT = 4_000
"""Bytes of standard error that are kept: its end."""
_LAST_WORDS_S = 0.5
"""Seconds that a process which has ended has for what it wrote to arrive."""
_CONNECT_S = 30.0
"""Seconds for one HTTP connection; how long an answer may take is the call's timeout."""
_EVENT_BYTES = 64 * 1024 * 1024
"""Bytes of one server-sent event; a larger answer fails."""


class Notes:
    """What was heard beside the protocol."""

    def __init__(self) -> None:
        self.status = 0
        """HTTP status of the last answer to a message, if it was an error; 0 for none."""
        self.ended = asyncio.Event()
        """Whether nothing more will come from the server."""
        self._stderr = bytearray()

    def wrote(self, data: bytes) -> None:
        """Keeps the end of what the server wrote to its standard error."""
        self._stderr += data
        del self._stderr[:-_KEPT]

    async def answered(self, response: httpx2.Response) -> None:
        """Keeps the status of an answer that is an error. A stream that is not offered (GET) is none."""
        if response.request.method == "POST":
            self.status = response.status_code if response.is_error else 0

    def told(self) -> str:
        """All of it in one line; empty when there is nothing."""
        stderr = " ".join(bytes(self._stderr).decode("utf-8", "replace").split())
        status = f"its last error was HTTP {self.status}" if self.status else ""
        return "; ".join(part for part in (status, f"it wrote: {stderr}" if stderr else "") if part)


def opened(target: Target, notes: Notes) -> "AbstractAsyncContextManager[TransportStreams]":
    """The streams to and from a server. Entering raises what keeps it from being reached."""
    match target:
        case Process():
            return _started(target, notes)
        case Address():
            return _reached(target, notes)
        case _ as never:
            assert_never(never)


@asynccontextmanager
async def _started(target: Process, notes: Notes) -> "AsyncGenerator[TransportStreams]":
    program, *arguments = target.command
    # What is no UTF-8 is replaced: a stray byte must not end the connection.
    server = StdioServerParameters(
        command=program,
        args=arguments,
        env=dict(target.env),
        cwd=target.cwd,
        encoding_error_handler="replace",
    )
    async with _listened(notes) as (errors, over):
        with os.fdopen(errors, "w") as errlog:
            async with stdio_client(server, errlog=errlog) as (read, write):
                errlog.close()  # the child has its own
                yield _Watched(read, notes), write
        await asyncio.wait([over], timeout=_LAST_WORDS_S)


@asynccontextmanager
async def _listened(notes: Notes) -> "AsyncGenerator[tuple[int, asyncio.Future[None]]]":
    """The writing end of a pipe whose end is kept, and whether all writers have closed it."""
    loop = asyncio.get_running_loop()
    reading, writing = os.pipe()
    over: asyncio.Future[None] = loop.create_future()
    transport, _ = await loop.connect_read_pipe(lambda: _Listener(notes, over), os.fdopen(reading, "rb", 0))
    try:
        yield writing, over
    finally:
        transport.close()


class _Listener(asyncio.Protocol):
    def __init__(self, notes: Notes, over: "asyncio.Future[None]") -> None:
        self._notes = notes
        self._over = over

    def data_received(self, data: bytes) -> None:
        self._notes.wrote(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._over.done():
            self._over.set_result(None)


@asynccontextmanager
async def _reached(target: Address, notes: Notes) -> "AsyncGenerator[TransportStreams]":
    patience = httpx2.Timeout(_CONNECT_S, read=None)
    hooks = {"response": [notes.answered]}
    async with (
        httpx2.AsyncClient(headers=dict(target.headers), timeout=patience, event_hooks=hooks) as http,
        streamable_http_client(target.url, http_client=http, max_sse_event_size=_EVENT_BYTES) as streams,
    ):
        read, write = streams
        yield _Watched(read, notes), write


class _Watched:
    """A stream from a server that notes its end: the SDK tells only whoever asks next."""

    def __init__(self, stream: "ReadStream[SessionMessage | Exception]", notes: Notes) -> None:
        self._stream = stream
        self._notes = notes

    async def receive(self) -> SessionMessage | Exception:
        try:
            return await self._stream.receive()
        except BaseException:
            self._notes.ended.set()
            raise

    def __aiter__(self) -> "ReadStream[SessionMessage | Exception]":
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self._stream.__anext__()
        except BaseException:
            self._notes.ended.set()
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        return await self._stream.__aexit__(exc_type, exc_val, exc_tb)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever else the SDK's own streams have
        return getattr(self._stream, name)


def quieten() -> None:
    """Keeps the SDK's log of what servers write from being written: it may quote credentials.

    What matters of it is told in reasons and results, without them.
    """
    for name in ("client", "mcp.client.stdio", "mcp.client.streamable_http", "mcp.shared.jsonrpc_dispatcher"):
        logging.getLogger(name).addFilter(_is_of_others)


def _is_of_others(record: logging.LogRecord) -> bool:
    """One of the SDK's loggers has a name that a host's may have too."""
    return "mcp" not in Path(record.pathname).parts
