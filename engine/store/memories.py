"""What is remembered across the sessions of one tenant, as a store keeps it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """Something that was remembered, with where it comes from."""

    id: str
    """Of the call that remembered it, so that a call that runs again keeps it once."""
    user: str
    """Whose it is, as the host names people; empty for who has no name."""
    text: str
    run: str
    call: str
    at: int
    """When; microseconds since 1970 in UTC."""
    expires_at: int | None = None
    """From when on it is as if it were not there; None for never."""

    def is_there(self, at_us: int) -> bool:
        """Whether it has not expired by then."""
        return self.expires_at is None or at_us < self.expires_at


class Memory(Protocol):
    """The items of one tenant."""

    async def keep(self, item: MemoryItem) -> MemoryItem:
        """Keeps an item durably and gives it; one whose id is there already stays, and is given, as it is.

        Raises:
            StoreError: the store failed.
        """
        ...

    async def items(self, user: str | None = None) -> Sequence[MemoryItem]:
        """Those of a user, of everybody without one; the oldest first, expired ones too.

        Raises:
            StoreError: the store failed.
        """
        ...

    async def forget(self, ids: Sequence[str]) -> int:
        """Deletes the items of these ids; gives how many were there.

        Raises:
            StoreError: the store failed; nothing was deleted.
        """
        ...


class MemoryInMemory:
    """See `Memory`: as long as its process lives."""

    def __init__(self) -> None:
        self._items: dict[str, MemoryItem] = {}

    async def keep(self, item: MemoryItem) -> MemoryItem:
        """Keeps an item."""
        return self._items.setdefault(item.id, item)

    async def items(self, user: str | None = None) -> Sequence[MemoryItem]:
        """Those of a user, or all."""
        found = [item for item in self._items.values() if user in {None, item.user}]
        return sorted(found, key=lambda item: (item.at, item.id))

    async def forget(self, ids: Sequence[str]) -> int:
        """Deletes them."""
        return sum(self._items.pop(identity, None) is not None for identity in dict.fromkeys(ids))

    def clear(self) -> None:
        """Deletes all of them."""
        self._items.clear()
