"""The connection of one session to one server, from first to last.

The SDK's client has to be left in the task that entered it, so each connection lives in a task of its own.
One that is lost is made anew when the next call needs it, a bounded number of times in a row.
"""

import asyncio
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, cast

import httpx2
from mcp import Client
from mcp.types import Implementation

from ..errors import NamespaceError
from .elicitation import Conversations
from .listing import listed
from .target import Target
from .transport import Notes, opened, quieten

if TYPE_CHECKING:
    from mcp.types import Tool

_LEAVE_S = 10.0
"""Seconds that a server has to end; then its connection is dropped."""
_REASON = 800
"""Characters of a reason that are told."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a server is connected; the fields are those of `McpNamespace`."""

    protocol: str
    connect_s: float
    reconnects: int


@dataclass(frozen=True, slots=True)
class Server:
    """What a server said of itself when it was connected."""

    tools: Sequence["Tool"]
    has_resources: bool


class Lost(Exception):
    """There is no connection; the message says why, and nothing was sent."""


class Connection:
    """One connection: it is made once and ends once."""

    def __init__(self, target: Target, settings: Settings, conversations: Conversations) -> None:
        self._target = target
        self._settings = settings
        self._conversations = conversations
        self._notes = Notes()
        self._told = asyncio.Event()
        self.client: Client | None = None
        """None before it is connected and once it is lost."""
        self.server: Server | None = None
        self.reason = ""
        """Why there is none any more."""
        self._refused = self._crowded = False
        self._at_work = 0
        self._task = asyncio.create_task(self._own())

    @property
    def is_over(self) -> bool:
        """Whether it has been lost, or never was."""
        return self._notes.ended.is_set() or self._task.done()

    @property
    def was_refused(self) -> bool:
        """Whether it is over because the server took no connection, and nothing else was on its way."""
        return self._refused and not self._crowded

    @contextmanager
    def at_work(self) -> Generator[None]:
        """While a request is on its way."""
        self._at_work += 1
        self._crowded = self._crowded or self._at_work > 1
        try:
            yield
        finally:
            self._at_work -= 1
            if not self._at_work and not self.is_over:
                self._crowded = False

    @property
    def status(self) -> int:
        """HTTP status of the last answer that was an error; 0 for none."""
        return self._notes.status

    async def connected(self) -> Client:
        """The client, once it is connected.

        Raises:
            Lost: it could not be connected, or is not any more.
        """
        await self._told.wait()
        if self.client is None or self.is_over:
            await self._end()
            raise Lost(self.reason or "the connection was closed")
        return self.client

    async def close(self) -> None:
        """Disconnects; a server that does not end is left behind."""
        self._notes.ended.set()
        if not self._told.is_set():
            self._task.cancel()
        await self._end()

    async def _end(self) -> None:
        """Waits until it has ended; a server has a bounded time for that."""
        await asyncio.wait([self._task], timeout=_LEAVE_S)
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _own(self) -> None:
        try:
            async with asyncio.timeout(self._settings.connect_s) as limit, self._new() as client:
                self.server = await _described(client)
                limit.reschedule(None)
                self.client = client
                self._told.set()
                await self._notes.ended.wait()
                self.reason = "the server has ended"
        except TimeoutError:
            self.reason = f"no answer within {self._settings.connect_s:g} s"
        except Exception as error:  # noqa: BLE001  the SDK raises what its transports do, in groups
            self.reason = _said(error)
            self._refused = all(isinstance(one, httpx2.ConnectError) for one in _single(error))
        finally:
            self.client = None
            told = self._notes.told()
            self.reason = "; ".join(part for part in (self.reason, told) if part)[:_REASON]
            self._told.set()

    def _new(self) -> Client:
        return Client(
            opened(self._target, self._notes),
            mode=self._settings.protocol,
            elicitation_callback=self._conversations.elicited,
            client_info=Implementation(name="offing", version=_version()),
            cache=None,
        )


class Link:
    """A server as the tools of a session reach it."""

    def __init__(self, name: str, target: Target, settings: Settings) -> None:
        self.name = name
        """That of the namespace, for the person who is asked something."""
        self.conversations = Conversations()
        self._target = target
        self._settings = settings
        self._lost = 0
        """Connections in a row that came to nothing."""
        self._changing = asyncio.Lock()
        self._connection: Connection | None = None

    async def open(self) -> Server:
        """Connects for the first time.

        Raises:
            NamespaceError: the server cannot be used, with the reason.
        """
        quieten()
        connection = self._connection = self._connect()
        try:
            await connection.connected()
        except Lost as lost:
            raise NamespaceError(str(lost)) from lost
        return connection.server or Server((), has_resources=False)

    async def connection(self) -> Connection:
        """A connection to send a request on; a new one when the last was lost.

        Raises:
            Lost: there is none, and nothing was sent.
        """
        async with self._changing:
            connection = self._connection
            if connection is None or connection.is_over:
                connection = self._connection = await self._again(connection)
        await connection.connected()
        return connection

    def worked(self) -> None:
        """A request was answered: what was lost before does not count any more."""
        self._lost = 0

    async def close(self) -> None:
        """Disconnects."""
        if self._connection is not None:
            await self._connection.close()

    async def _again(self, last: Connection | None) -> Connection:
        if last is not None:
            await last.close()
        reason = "" if last is None else last.reason
        if self._lost >= self._settings.reconnects:
            raise Lost(f"it was lost {self._lost + 1} times in a row: {reason}")
        self._lost += 1
        return self._connect()

    def _connect(self) -> Connection:
        return Connection(self._target, self._settings, self.conversations)


async def _described(client: Client) -> Server:
    has_resources = client.server_capabilities.resources is not None
    return Server(await listed(client), has_resources)


def _said(error: BaseException) -> str:
    """What went wrong, without the groups that the SDK wraps it in."""
    told = (f"{type(one).__name__}: {one}" if str(one) else type(one).__name__ for one in _single(error))
    return "; ".join(dict.fromkeys(told))


def _single(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _single(one)
    else:
        yield error


def _version() -> str:
    try:
        return version("offing")
    except PackageNotFoundError:
        return "0"
