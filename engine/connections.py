"""The namespaces of one session, connected at the same time.

Each lives in a task of its own, from first to last: client libraries want to be left in the task that
entered them, and one that is slow keeps no other waiting.
"""

import asyncio
import logging
from collections import Counter
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
        self._owned: list[_Owned] | None = None
        self._twice: list[str] = []
        self._taken = False

    async def open(self, namespaces: Sequence[Namespace], credentials: Credentials) -> None:
        """Connects all namespaces at once; one that cannot is reported and the others work."""
        if self._owned is None:
            by_name = {one.name: one for one in reversed(namespaces)}  # of two of one name, the first
            counted = Counter(one.name for one in namespaces)
            self._twice = [name for name, times in counted.items() if times > 1]
            firsts = [by_name[name] for name in counted]
            self._owned = [_Owned(one, credentials.get(one.name, {})) for one in firsts]
        await asyncio.gather(*(one.ready.wait() for one in self._owned))
        if not self._taken:
            self._taken = True
            self._take(self._owned)

    async def close(self) -> None:
        """Disconnects; what goes wrong with it is logged."""
        owned = self._owned or []
        for one in owned:
            one.end()
        await asyncio.gather(*(one.task for one in owned), return_exceptions=True)

    def _take(self, owned: "Sequence[_Owned]") -> None:
        """In the order that the host gave, whichever was connected first."""
        for one in owned:
            if one.connected is None:
                self.disconnected.append(Disconnected(one.namespace.name, one.reason))
            else:
                self.connected.append(one.connected)
                self._read_guide(one.namespace)
        self.disconnected += [
            Disconnected(name, "there are two namespaces of this name") for name in self._twice
        ]

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


class _Owned:
    """One namespace, in a task of its own from first to last."""

    def __init__(self, namespace: Namespace, credentials: Mapping[str, SecretStr]) -> None:
        self.namespace = namespace
        self.connected: Connected | None = None
        self.reason = ""
        """Why it is not connected."""
        self.ready = asyncio.Event()
        """Whether it is known which of both."""
        self._credentials = credentials
        self._leave = asyncio.Event()
        self.task = asyncio.create_task(self._own())

    def end(self) -> None:
        """Tells it to disconnect, or to give up connecting."""
        self._leave.set()
        if not self.ready.is_set():
            self.task.cancel()

    async def _own(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                await self._connect(stack)
                self.ready.set()
                await self._leave.wait()
        except Exception as error:  # noqa: BLE001  a namespace may raise anything while it disconnects
            # By its type alone: its text may quote credentials.
            _log.warning("a namespace did not disconnect: %s", type(error).__name__)
        finally:
            self.ready.set()

    async def _connect(self, stack: AsyncExitStack) -> None:
        try:
            async with asyncio.timeout(CONNECT_S):
                tools = await stack.enter_async_context(self.namespace.connect(self._credentials))
            self.connected = Connected(self.namespace.name, tools)
        except TimeoutError:
            self.reason = f"no answer within {CONNECT_S:g} s"
        except (Exception, asyncio.CancelledError) as error:  # whatever keeps it from it is its reason
            if was_cancelled():
                raise
            reason = " ".join(Redactor.of(self._credentials)(str(error)).split())[:_REASON]
            self.reason = reason or type(error).__name__
