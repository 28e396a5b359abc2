"""What a tenant has in the store in memory."""

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ...namespaces.tables.readings import MemoryReadings
from ..clock import Clock, SystemClock
from .holdings import Held, KeptReading
from .memories import MemoryInMemory


@dataclass(slots=True)
class KeptBytes:
    """An artifact in memory."""

    data: bytes
    put_at: int


class Streams(Protocol):
    """The journal, as far as it is used here."""

    def names(self) -> Sequence[str]:
        """The streams that have rows."""
        ...

    def clear(self) -> None:
        """Forgets all streams, but not the tokens that were given."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryHoldings:
    """See `Holdings`."""

    journal: Streams
    kept: MutableMapping[str, KeptBytes]
    """The artifacts by their addresses."""
    decisions: MemoryReadings
    memory: MemoryInMemory
    clock: Clock = field(default_factory=SystemClock)

    async def streams(self) -> Sequence[str]:
        """The names of its streams that have rows."""
        return sorted(self.journal.names())

    async def artifacts(self) -> Sequence[Held]:
        """Its artifacts."""
        return [Held(ref, len(one.data), one.put_at) for ref, one in sorted(self.kept.items())]

    async def readings(self) -> Sequence[KeptReading]:
        """Its decisions."""
        return [KeptReading(*one) for one in sorted(self.decisions.all())]

    async def remove_artifacts(self, refs: Sequence[str], older_than_us: int) -> int:
        """Removes those that were not put for so long."""
        before = self.clock.now_us() - older_than_us
        old = [ref for ref in refs if ref in self.kept and self.kept[ref].put_at < before]
        for ref in old:
            del self.kept[ref]
        return len(old)

    async def remove_all(self) -> None:
        """Removes all of it."""
        self.journal.clear()
        self.kept.clear()
        for system, key, _ in self.decisions.all():
            self.decisions.forget(system, key)
        self.memory.clear()
