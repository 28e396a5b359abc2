"""A proxy before a server, on this machine, that cuts a connection at a chosen message."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

How = Literal["lost", "lost, unnoticed", "delivered", "swallowed"]
"""What becomes of the message. "lost": it does not arrive, both ends are told. "lost, unnoticed": the
server is not told. "delivered": it arrives, its answer does not. "swallowed": nobody is told anything."""

HOWS: tuple[How, ...] = ("lost", "lost, unnoticed", "delivered", "swallowed")


@dataclass(slots=True)
class Proxy:
    """Counts what clients send; the next cut is made once."""

    server_port: int
    port: int = 0
    at: bytes | int | None = None
    """The cut: at the first message that holds these bytes, or at the message of that number, from 1."""
    how: How = "lost"
    since: bytes = b""
    """Messages are counted from the first that holds these bytes."""
    seen: int = 0
    """Messages counted."""
    cuts: int = 0
    refusing: bool = False
    """Whether new connections are refused, from the next cut on with `refuse_after`."""
    refuse_after: bool = False
    tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    writers: list[asyncio.StreamWriter] = field(default_factory=list[asyncio.StreamWriter])

    def url(self, direct: str) -> str:
        """The URL of a database, by way of this proxy."""
        return direct.replace(f":{self.server_port}/", f":{self.port}/")

    async def serve(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        if self.refusing:
            client.transport.abort()
            return
        answers, server = await asyncio.open_connection("127.0.0.1", self.server_port)
        self.writers += [client, server]
        back = asyncio.ensure_future(self._pass_back(answers, client))
        self.tasks.add(back)
        with contextlib.suppress(ConnectionError):
            while message := await reader.read(1 << 20):
                if self._is_the_one(message):
                    await self._cut(message, client, server, back)
                    return
                server.write(message)
        server.close()

    def _is_the_one(self, message: bytes) -> bool:
        self.seen += bool(self.seen) or self.since in message
        return (
            self.seen == self.at if isinstance(self.at, int) else self.at is not None and self.at in message
        )

    async def _cut(
        self,
        message: bytes,
        client: asyncio.StreamWriter,
        server: asyncio.StreamWriter,
        back: "asyncio.Task[None]",
    ) -> None:
        self.at = None
        self.cuts += 1
        self.refusing = self.refuse_after
        if self.how == "swallowed":
            return
        back.cancel()
        if self.how == "delivered":
            server.write(message)
            await server.drain()
        client.transport.abort()
        if self.how != "lost, unnoticed":
            server.close()

    async def _pass_back(self, answers: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while answer := await answers.read(1 << 20):
                client.write(answer)
        client.close()


@asynccontextmanager
async def proxy_before(port: int) -> AsyncGenerator[Proxy]:
    """A proxy at work."""
    proxy = Proxy(port)
    listener = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()
        for task in proxy.tasks:
            task.cancel()
        for writer in proxy.writers:
            writer.transport.abort()
        await asyncio.sleep(0)
