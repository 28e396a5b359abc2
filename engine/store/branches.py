"""The facts that tie the branches of a session together: a stream that goes on from another one."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Edited:
    """What a fork changed in what it copied."""

    what: Literal["message", "result", "model"]
    name: str = ""
    """The call whose result it is, or the model; empty for the user's message."""


@dataclass(frozen=True, slots=True)
class NotUndone:
    """A call that may change something, made after the point that a fork goes on from. It is not undone."""

    call: str
    tool: str
    outcome: Literal["done", "failed", "unknown"]
    """"failed": its result is an error. "unknown": nobody knows whether it took effect."""


@dataclass(frozen=True, slots=True)
class Forked:
    """This stream is a copy of another one up to a settled iteration. Always the first row."""

    stream: str
    """The one that was copied."""
    run: str
    """The run of it that the point belongs to."""
    seq: int
    """The last row that was copied."""
    iteration: int
    """The settled one: 0 is before the run's first reply."""
    edits: tuple[Edited, ...] = ()
    effects: tuple[NotUndone, ...] = ()
    """What the copied stream did after the point, in the order in which it began."""
    trace: str = ""
    """The trace of the run; empty where it was not traced."""

    @property
    def note(self) -> str:
        """Key of the note that tells the model of the effects."""
        return f"fork:{self.stream}:{self.seq}"


@dataclass(frozen=True, slots=True)
class Moved:
    """The session was rolled back and goes on in another stream. Always the last row."""

    stream: str
