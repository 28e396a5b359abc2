"""The numbers that keep one client, or one customer, from taking what the others need."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of the service; those of a run are the engine's `Limits`."""

    body_bytes: int = 100_000
    """Of a request's JSON."""
    file_bytes: int = 5_000_000
    """Of a file that is sent up."""
    body_s: float = 10.0
    """Seconds that a request's body may take to come in."""
    slow_s: float = 20.0
    """Seconds in which a client has to take what it is sent; after that it is dropped, and may come back."""
    sessions: int = 100
    """Sessions of one customer that are open at the same time; idle ones are closed for others."""
    runs: int = 10
    """Runs of one customer at work at the same time."""
    watchers: int = 20
    """Event streams of one session."""
