"""Where it is kept how files are to be read that leave it open, as a person decided."""

import threading
from typing import Protocol


class Readings(Protocol):
    """Keeps decisions. All of it blocks, and is safe from any thread.

    A decision is a text; whoever keeps it knows what it means.
    """

    def load(self, system: str, key: str) -> str | None:
        """What is kept for a system under a key; None when nothing is.

        Raises:
            Exception: it cannot be reached; then the tool that needed it fails.
        """
        ...

    def keep(self, system: str, key: str, reading: str) -> None:
        """Keeps a decision in place of an earlier one; durable when it returns.

        Raises:
            Exception: it cannot be kept; then nothing has changed.
        """
        ...

    def forget(self, system: str, key: str) -> None:
        """Forgets what is kept; without effect when nothing is.

        Raises:
            Exception: it cannot be forgotten; then nothing has changed.
        """
        ...


class MemoryReadings:
    """Keeps decisions as long as it lives."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()

    def all(self) -> list[tuple[str, str, str]]:
        """Each decision: its system, its key, and what is kept."""
        with self._lock:
            return [(system, key, kept) for (system, key), kept in self._kept.items()]

    def load(self, system: str, key: str) -> str | None:
        """See `Readings`."""
        with self._lock:
            return self._kept.get((system, key))

    def keep(self, system: str, key: str, reading: str) -> None:
        """See `Readings`."""
        with self._lock:
            self._kept[system, key] = reading

    def forget(self, system: str, key: str) -> None:
        """See `Readings`."""
        with self._lock:
            self._kept.pop((system, key), None)
