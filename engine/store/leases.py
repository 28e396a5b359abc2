"""When a lease may be taken from its owner: the same rule for every store with more than one process."""

import time
from dataclasses import dataclass

from ..errors import LeaseHeld
from .owner import Owner

LEASE_US = 30_000_000
"""Microseconds without a sign of life after which an owner that cannot be seen is taken for dead."""


@dataclass(frozen=True, slots=True)
class Uptime:
    """The clock of leases that processes of one machine share: it runs alike for all, and never jumps."""

    def now_us(self) -> int:
        """Microseconds, mostly since the machine started."""
        return time.monotonic_ns() // 1000


def refuse_living(stream: str, owner: Owner, silent_us: int, *, dead: bool) -> None:
    """Does nothing when the owner is dead or long silent.

    Raises:
        LeaseHeld: it may be alive.
    """
    if dead or silent_us > LEASE_US:
        return
    raise LeaseHeld(
        f"session {stream!r} is being worked on by {owner}, which wrote "
        f"{silent_us // 1_000_000} s ago; wait for it, or end it"
    )
