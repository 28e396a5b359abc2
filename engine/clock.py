"""Time and randomness, injected so that a run can be replayed and a test never waits."""

import secrets
import time
from dataclasses import dataclass
from typing import Protocol


class Clock(Protocol):
    """Where the engine's time comes from."""

    def now_us(self) -> int:
        """Microseconds since 1970 in UTC. It may jump in either direction."""
        ...


class Names(Protocol):
    """Where the ids of new sessions come from."""

    def new(self) -> str:
        """A name that was never given before, of characters from `a-z0-9`."""
        ...


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The machine's clock."""

    def now_us(self) -> int:
        """Microseconds since 1970 in UTC."""
        return time.time_ns() // 1000


@dataclass(frozen=True, slots=True)
class RandomNames:
    """Ten random characters: 50 bits, and none that is mistaken for another when read aloud."""

    def new(self) -> str:
        """A new random name."""
        return "".join(secrets.choice("abcdefghjkmnpqrstvwxyz0123456789") for _ in range(10))


@dataclass(frozen=True, slots=True)
class Outside:
    """What an engine takes from the world that is not the same each time."""

    clock: Clock = SystemClock()
    names: Names = RandomNames()
