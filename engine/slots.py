"""The places for tool calls at work, shared by a run and its children: who waits gets one in turn."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class FairSlots:
    """A bounded number of places. Runs take turns: a hundred calls of one do not hold up another's one."""

    def __init__(self, most: int) -> None:
        """`most` is how many may be taken at the same time."""
        self._free = most
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """By run, in the order in which it is their turn."""

    @asynccontextmanager
    async def of(self, run: str) -> AsyncGenerator[None]:
        """Holds a place for a call of the run."""
        await self._take(run)
        try:
            yield
        finally:
            self._give_back()

    async def _take(self, run: str) -> None:
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(run, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back()  # it had just become its own
            raise

    def _give_back(self) -> None:
        while self._waiting:
            run = next(iter(self._waiting))
            calls = self._waiting.pop(run)
            turn = calls.popleft()
            if calls:
                self._waiting[run] = calls  # behind all others
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
