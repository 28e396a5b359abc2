"""What others say to a run at work, as its driver hears of it."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from .store.inbox import Cancel, Item, word_of
from .store.journal import Journal, Lease

T = TypeVar("T")


class Mail:
    """The inbox of one driver's stream."""

    def __init__(self, journal: Journal, lease: Lease) -> None:
        """Takes the stream's journal and the right to write to it."""
        self._journal = journal
        self._stream = lease.stream
        self._posted = asyncio.Event()
        self._posted.set()  # what was posted before anybody drove
        self._left = False
        self.cancelling = False
        """Whether somebody asked to stop: nothing is begun any more."""
        self.interrupting = False
        """Whether calls at work are told to end for that."""
        self.interruptible: set[asyncio.Task[None]] = set()
        """The calls at work that can be told so."""
        journal.on_post(lease, self._posted.set)

    async def items(self) -> Sequence[Item]:
        """What there is to be taken in.

        Raises:
            StoreError: the store failed.
        """
        if not self._left and not self._posted.is_set():
            return ()
        self._posted.clear()
        self._left = False
        return await self._journal.inbox(self._stream)

    async def cancelled(self, run: str, *, at_once: bool = False) -> bool:
        """Waits until somebody asks the run to stop; gives whether at once. It takes nothing in.

        With `at_once` it waits for somebody who asks for just that.

        Raises:
            StoreError: the store failed.
        """
        while True:
            await self._posted.wait()
            self._left = True
            self._posted.clear()
            items = await self._journal.inbox(self._stream)
            words = [word_of(item) for item in items if item.run == run]
            asked = [word for word in words if isinstance(word, Cancel)]
            hard = any(cancel.hard for cancel in asked)
            self.cancelling = self.cancelling or bool(asked)
            if hard or (asked and not at_once):
                return hard

    async def unless_cancelled(self, run: str, work: Coroutine[Any, Any, T]) -> T | None:
        """Does the work of a run; None when somebody asked to stop meanwhile, and it was told to end.

        Raises:
            StoreError: the store failed; besides, whatever the work raises.
        """
        working = asyncio.create_task(work)
        watching = asyncio.create_task(self.cancelled(run))
        try:
            await asyncio.wait([working, watching], return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                return working.result()
            watching.result()
            return None
        finally:
            await end((working, watching))


async def end(tasks: "Sequence[asyncio.Task[Any]]") -> None:
    """Tells tasks to end and waits until they have."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
