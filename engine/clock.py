"""Time and randomness, injected so that a run can be replayed and a test never waits."""

import asyncio
import random
import secrets
import time
from dataclasses import dataclass
from typing import Protocol


class Clock(Protocol):
    """Where time comes from."""

    def now_us(self) -> int:
        """Microseconds since 1970 in UTC. It may jump in either direction."""
        ...


class RunClock(Clock, Protocol):
    """What runs wait by."""

    async def sleep_until(self, at_us: int) -> None:
        """Comes back when that time is reached; at once when it has passed."""
        ...

    def chance(self) -> float:
        """A random number from 0 to 1."""
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

    async def sleep_until(self, at_us: int) -> None:
        """Sleeps."""
        await asyncio.sleep(max(0, at_us - self.now_us()) / 1_000_000)

    def chance(self) -> float:
        """A random number."""
        return random.random()


@dataclass(frozen=True, slots=True)
class RandomNames:
    """Ten random characters: 50 bits, and none that is mistaken for another when read aloud."""

    def new(self) -> str:
        """A new random name."""
        return "".join(secrets.choice("abcdefghjkmnpqrstvwxyz0123456789") for _ in range(10))


@dataclass(frozen=True, slots=True)
class Outside:
    """What an engine takes from the world that is not the same each time."""

    clock: RunClock = SystemClock()
    names: Names = RandomNames()
