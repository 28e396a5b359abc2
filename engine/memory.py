"""Memory across sessions: what is kept of it, for how long, and what one session may reach of it.

What is remembered is data with an origin, never authority. It belongs to one user of one tenant; only what
`remember` is called with gets into it, and `recall` gives it back with who said it, in which run, and when.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .errors import ConfigurationError
from .store.memories import Memory, MemoryItem

_DAY_US = 86_400 * 1_000_000


@dataclass(frozen=True, slots=True)
class MemoryPolicy:
    """How much is remembered, and for how long."""

    expires_after_days: float | None = None
    """Days until an item is forgotten by itself; None for never. `remember` may ask for fewer."""
    most_items: int = 500
    """Items that one user has at most; further ones are refused until some are forgotten."""

    def __post_init__(self) -> None:
        """Refuses what keeps nothing.

        Raises:
            ConfigurationError: a number is 0 or less.
        """
        if self.expires_after_days is not None and self.expires_after_days <= 0:
            told = f"expires_after_days has to be more than 0; got {self.expires_after_days!r}"
            raise ConfigurationError(told)
        if self.most_items <= 0:
            raise ConfigurationError(f"most_items has to be more than 0; got {self.most_items!r}")

    def expires_at(self, at_us: int, days: float | None) -> int | None:
        """When an item of that time is forgotten: microseconds since 1970 in UTC; None for never."""
        wanted = [each for each in (days, self.expires_after_days) if each is not None]
        return at_us + round(min(wanted) * _DAY_US) if wanted else None


@dataclass(frozen=True, slots=True)
class SessionMemory:
    """What one session may reach: the tenant's items, and the policy."""

    items: Memory
    policy: MemoryPolicy


def found(items: Iterable[MemoryItem], query: str, at_us: int, most: int) -> Sequence[MemoryItem]:
    """Those that have not expired and fit best, then the newest; all of them without a query."""
    words = {word for word in re.split(r"\W+", query.casefold()) if word}
    scored = [(_score(item, words), item) for item in items if item.is_there(at_us)]
    fitting = [(score, item) for score, item in scored if score or not words]
    fitting.sort(key=lambda each: (-each[0], -each[1].at, each[1].id))
    return [item for _, item in fitting[:most]]


def _score(item: MemoryItem, words: set[str]) -> int:
    text = item.text.casefold()
    return sum(word in text for word in words)
