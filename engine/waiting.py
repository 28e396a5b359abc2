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

    def is_due(self, at: int) -> bool:
        """Whether nobody can decide any more at this time."""
        expires = self.asked.expires_at if isinstance(self.asked, Requested) else None
        return expires is not None and expires <= at
