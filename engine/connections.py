"""The namespaces of one session, connected.

All of a session's connections live in one task of their own, from first to last: client libraries
want to be left in the task that entered them.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from pydantic import SecretStr

from ..namespaces.meta_tools import Connected
from ..namespaces.tool import Namespace
from ..skills import DocumentError, read_document
from .prompt import Disconnected
from .redact import Redactor
from .work import was_cancelled

CONNECT_S = 30.0
"""Seconds that a namespace has to connect."""
_REASON = 500
"""Characters of a reason that are kept, in one line: a system wrote it, and the prompt quotes it."""

Credentials = Mapping[str, Mapping[str, SecretStr]]
"""Per namespace, what it needs to connect."""

_log = logging.getLogger("offing")


class Connections:
    """What is connected, what is not and why."""

    def __init__(self) -> None:
        self.connected: list[Connected] = []
        self.disconnected: list[Disconnected] = []
        self.guides: dict[str, str] = {}
        self._ready = asyncio.Event()
        self._leave = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None

    async def open(self, namespaces: Sequence[Namespace], credentials: Credentials) -> None:
        """Connects each namespace; one that cannot is reported and the others work."""
        if self._owner is None:
            self._owner = asyncio.create_task(self._own(namespaces, credentials))
        await self._ready.wait()

    async def close(self) -> None:
        """Disconnects; what goes wrong with it is logged."""
        self._leave.set()
        if self._owner is not None:
            await asyncio.gather(self._owner, return_exceptions=True)

    async def _own(self, namespaces: Sequence[Namespace], credentials: Credentials) -> None:
        try:
            async with AsyncExitStack() as stack:
                for namespace in namespaces:
                    await self._connect(stack, namespace, credentials.get(namespace.name, {}))
                self._ready.set()
                await self._leave.wait()
        except Exception as error:  # noqa: BLE001  a namespace may raise anything while it disconnects
            # By its type alone: its text may quote credentials.
            _log.warning("a namespace did not disconnect: %s", type(error).__name__)
        finally:
            self._ready.set()

    async def _connect(
        self, stack: AsyncExitStack, namespace: Namespace, credentials: Mapping[str, SecretStr]
    ) -> None:
        name = namespace.name
        if name in self.guides or any(name == one.name for one in self.connected):
            self.disconnected.append(Disconnected(name, "there are two namespaces of this name"))
            return
        try:
            async with asyncio.timeout(CONNECT_S):
                tools = await stack.enter_async_context(namespace.connect(credentials))
            self.connected.append(Connected(name, tools))
        except TimeoutError:
            self.disconnected.append(Disconnected(name, f"no answer within {CONNECT_S:g} s"))
        except (Exception, asyncio.CancelledError) as error:  # whatever keeps it from it is its reason
            if was_cancelled():
                raise
            reason = " ".join(Redactor.of(credentials)(str(error)).split())[:_REASON]
            self.disconnected.append(Disconnected(name, reason or type(error).__name__))
        else:
            self._read_guide(namespace)

    def _read_guide(self, namespace: Namespace) -> None:
        if namespace.guide is None:
            return
        try:
            guide = read_document(namespace.guide)
        except DocumentError as error:
            _log.warning("the guide of %s is not used: %s", namespace.name, error)
            self.disconnected.append(Disconnected(f"{namespace.name} guide", str(error)))
            return
        for finding in guide.findings:
            _log.info("the guide of %s: %s", namespace.name, finding)
        self.guides[namespace.name] = guide.body
