"""What a trace is made of: finished spans, whatever becomes of them.

Ids are digests of what a span stands for, so the same run has the same trace wherever it is worked on,
and whoever resumes it knows the ids of spans that another process was to end.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

Attribute = str | bool | int | float | tuple[str, ...]
"""What OpenTelemetry lets an attribute be, as far as it is used here."""
Attributes = Mapping[str, Attribute]

Kind = Literal["internal", "client"]
"""Client is what waits for another system: a model's provider."""


class Moment(NamedTuple):
    """Something that happened within a span."""

    name: str
    at_us: int
    """Microseconds since 1970 in UTC."""
    attributes: Attributes


class Link(NamedTuple):
    """A span of another trace that this one has to do with."""

    trace: str
    span: str
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Span:
    """One finished span."""

    trace: str
    """32 hexadecimal digits."""
    id: str
    """16 hexadecimal digits."""
    parent: str
    """Id of the span that it is part of; empty for the root of a trace."""
    name: str
    start_us: int
    """Microseconds since 1970 in UTC."""
    end_us: int
    attributes: Attributes
    kind: Kind = "internal"
    error: str = ""
    """Why what it stands for failed, in words; empty when it did not."""
    moments: tuple[Moment, ...] = ()
    links: tuple[Link, ...] = field(default=())

    @property
    def duration_us(self) -> int:
        """How long it took; a clock that was set back makes it 0."""
        return max(0, self.end_us - self.start_us)


class Sink(Protocol):
    """Where finished spans go."""

    def take(self, span: Span) -> None:
        """Takes a span. Never waits, never raises: what cannot be kept is dropped, and counted in a log."""
        ...

    def close(self, wait_s: float) -> None:
        """Delivers what was taken, for so many seconds at most. Blocks: not for an event loop."""
        ...


def trace_id(run: str) -> str:
    """The trace of a run, by the id of the top run."""
    return _digest("trace", run)[:32]


def span_id(run: str, *what: str | int) -> str:
    """The span of a part of a run."""
    return _digest("span", run, *map(str, what))[:16]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
