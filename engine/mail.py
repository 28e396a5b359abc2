"""What others say to the runs of a stream, as those who drive them hear of it."""

import asyncio
from collections.abc import Sequence

from .store.inbox import Item
from .store.journal import Journal, Lease


class Mail:
    """The inbox of one driver's stream, shared by all the runs that it drives."""

    def __init__(self, journal: Journal, lease: Lease) -> None:
        """Takes the stream's journal and the right to write to it."""
        self._journal = journal
        self._stream = lease.stream
        self._bell = asyncio.Event()
        self._reading = asyncio.Lock()
        self._items: Sequence[Item] = ()
        self._taken: set[int] = set()
        self._heard = 0
        self.rings = 1  # for what was posted before anybody drove
        """How often something was, or may have been, posted or done that others look for."""
        self.taking = asyncio.Lock()
        """Held by who takes something in: each item is taken once."""
        self.drivers: set[str] = set()
        """The children that are driven; what is said to others is taken in by the next one above."""
        journal.on_post(lease, self.ring)

    def ring(self) -> None:
        """Wakes up all who wait for a ring."""
        self.rings += 1
        self._bell.set()
        self._bell = asyncio.Event()

    async def rung(self, since: int) -> None:
        """Waits until it has rung more often than that."""
        while self.rings == since:
            await self._bell.wait()

    @property
    def is_empty(self) -> bool:
        """Whether it is known that there is nothing to be taken in."""
        return self._heard == self.rings and not self._items

    async def items(self) -> Sequence[Item]:
        """What was posted and is not taken in yet.

        Raises:
            StoreError: the store failed.
        """
        async with self._reading:
            if self._heard != self.rings:
                rings = self.rings
                items = await self._journal.inbox(self._stream)
                self._items = tuple(each for each in items if each.id not in self._taken)
                self._heard = rings
        return self._items

    def taken(self, item: Item) -> None:
        """The item is in the journal."""
        self._taken.add(item.id)  # it may be on its way here still, read before it was taken
        self._items = tuple(each for each in self._items if each.id != item.id)
