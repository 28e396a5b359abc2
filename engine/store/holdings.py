"""What retention asks of a store: to list and to delete what a tenant has."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Held(NamedTuple):
    """An artifact that is kept."""

    ref: str
    size: int
    """Bytes."""
    put_at: int
    """When it was last put; microseconds since 1970 in UTC by the store's clock. 0 where that is not known,
    because an earlier release put it."""


class KeptReading(NamedTuple):
    """A decision of how a file is to be read, as `Readings` keeps it."""

    system: str
    key: str
    text: str


class Holdings(Protocol):
    """All that one tenant has.

    A store that offers it promises two things besides. Each `Artifacts.put` refreshes the artifact's time,
    also when the bytes were there already. No lease of a stream that is made after `remove_all` has the
    fencing token of one from before.
    """

    async def streams(self) -> Sequence[str]:
        """The names of its streams, in order."""
        ...

    async def artifacts(self) -> Sequence[Held]:
        """Its artifacts, by their addresses in order."""
        ...

    async def readings(self) -> Sequence[KeptReading]:
        """Its decisions, by system and key in order."""
        ...

    async def remove_artifacts(self, refs: Sequence[str], older_than_us: int) -> int:
        """Removes those that were last put longer ago than so many microseconds; gives how many.

        The time is looked at in the statement that removes, so one that is put meanwhile stays.

        Raises:
            StoreError: the store failed; nothing was removed.
        """
        ...

    async def remove_all(self) -> None:
        """Removes all of it at once, whoever holds a lease: their next append fails.

        Raises:
            StoreError: the store failed; nothing was removed.
        """
        ...
