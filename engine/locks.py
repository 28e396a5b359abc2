"""Write locks: calls that write to the same thing do not overlap, in the order they were asked for.

A call waits only for earlier ones, so there is no deadlock. A call that outlives its timeout keeps
its lock until it really ends; calls that would have to wait for it are told so instead.
"""

import asyncio
from collections.abc import Sequence

from ..namespaces.tool import ALONE


class Ticket:
    """One call's place in the order."""

    def __init__(self, operation: str, writes: frozenset[str], before: Sequence["Ticket"]) -> None:
        self.operation = operation
        self.writes = writes
        self._before = before
        self._answered = asyncio.Event()
        self.held = True

    async def turn(self) -> str | None:
        """Waits until no earlier call is in the way.

        Returns the operation of a call in the way that outlived its timeout; None when there is none.
        """
        for other in reversed(self._before):  # the last one's turn comes last: most waits are one wake-up
            if not other._answered.is_set():
                await other.answered()
        return next((other.operation for other in self._before if other.held), None)

    async def answered(self) -> None:
        """Waits until the call has its result, be it that it is overdue."""
        await self._answered.wait()

    def answer(self) -> None:
        """The call has its result; the lock may still be held."""
        self._answered.set()

    def release(self) -> None:
        """The call has really ended."""
        self.held = False
        self._answered.set()


class WriteLocks:
    """The order of the calls of one session that are at work."""

    def __init__(self) -> None:
        self._tickets: list[Ticket] = []

    def enter(self, operation: str, writes: frozenset[str]) -> Ticket:
        """Takes the next place in the order."""
        self._tickets = [ticket for ticket in self._tickets if ticket.held]
        before = [ticket for ticket in self._tickets if _conflict(ticket.writes, writes)]
        ticket = Ticket(operation, writes, before)
        self._tickets.append(ticket)
        return ticket


def _conflict(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one & other) or not ALONE.isdisjoint(one | other)
