"""What people say to a run from the command line: approve, deny, answer, say, cancel.

Each only posts to the run's inbox. Whoever works on the run takes it in; else `offing resume` does.
"""

import getpass
from collections.abc import Sequence
from typing import Literal, TypeVar

from ..clock import SystemClock
from ..errors import ConfigurationError
from ..inbox import Inbox
from ..store import store_at
from ..store.people import Questioned, Requested
from .commands import TENANT, resume_command
from .screen import Screen

T = TypeVar("T", Requested, Questioned)


class Person:
    """Somebody who says something to one run."""

    def __init__(self, run: str, store: str, screen: Screen, by: str = "") -> None:
        """`by` is who says it; empty for the user of this machine."""
        self._run, self._store, self._screen = run, store, screen
        self._by = by or getpass.getuser()
        self._kept = store_at(store)
        self._inbox = Inbox(self._kept.scoped(TENANT), SystemClock())

    async def approve(self, call: str) -> Literal[0]:
        """Approves one call; the only one that waits when none is named.

        Raises:
            ConfigurationError: several wait and none is named, or none waits.
            OffingError: the run or the call is not there, or the store failed.
        """
        request = _one(call, await self._open(Requested), "approve")
        await self._inbox.approve(self._run, request.call, by=self._by, digest=request.digest)
        return await self._said(f"{request.tool}, call {request.call}, is approved by {self._by}")

    async def deny(self, call: str, reason: str) -> Literal[0]:
        """Denies one call. Raises as `approve` does."""
        request = _one(call, await self._open(Requested), "deny")
        await self._inbox.deny(self._run, request.call, reason=reason, by=self._by)
        return await self._said(f"{request.tool}, call {request.call}, is denied by {self._by}")

    async def answer(self, call: str, text: str) -> Literal[0]:
        """Answers one question. Raises as `approve` does."""
        question = _one(call, await self._open(Questioned), "answer")
        await self._inbox.answer(self._run, question.call, text, by=self._by)
        return await self._said(f"answered: {question.question}")

    async def say(self, text: str) -> Literal[0]:
        """Sends the run a message.

        Raises:
            OffingError: there is no such run, it has answered, or the store failed.
        """
        await self._inbox.say(self._run, text, by=self._by)
        return await self._said("the message is posted")

    async def cancel(self, reason: str, *, at_once: bool) -> Literal[0]:
        """Asks the run to stop. Raises as `say` does."""
        await self._inbox.cancel(self._run, reason=reason, at_once=at_once, by=self._by)
        return await self._said("the run is asked to stop")

    async def _open(self, kind: type[T]) -> list[T]:
        return [each for each in await self._inbox.open(self._run) if isinstance(each, kind)]

    async def _said(self, what: str) -> Literal[0]:
        await self._kept.close()
        self._screen.line(what)
        self._screen.line(f"if nobody works on the run: {resume_command(self._run, self._store)}")
        return 0


def _one(call: str, waiting: Sequence[T], verb: str) -> T:
    fitting = [each for each in waiting if call in {"", each.call}]
    if len(fitting) == 1:
        return fitting[0]
    if not waiting:
        raise ConfigurationError(f"nothing waits for somebody to {verb} it")
    listed = "; ".join(f"{each.call} ({_what(each)})" for each in waiting)
    raise ConfigurationError(f"name the call to {verb}: {listed}")


def _what(waiting: Requested | Questioned) -> str:
    return waiting.tool if isinstance(waiting, Requested) else waiting.question
