"""What a run waits for from people, as its state has it."""

from dataclasses import dataclass

from .store.people import Answered, Decided, Expired, Questioned, Requested


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call that does not go on before somebody has said something."""

    asked: Requested | Questioned
    said: Decided | Answered | Expired | None = None
    """What came of it; the first that was said counts. None as long as it is open."""

    @property
    def is_open(self) -> bool:
        """Whether it is still waited for."""
        return self.said is None

    @property
    def expires_at(self) -> int | None:
        """From when on nobody can decide, in microseconds since 1970 in UTC; None for never."""
        return self.asked.expires_at if isinstance(self.asked, Requested) else None

    def is_due(self, at: int) -> bool:
        """Whether nobody can decide any more at this time."""
        return self.expires_at is not None and self.expires_at <= at
