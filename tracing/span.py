"""What a trace is made of: finished spans, whatever becomes of them.

Ids are digests of what a span stands for, so the same part of a run has the same span wherever it is worked
on, and whoever resumes it knows the ids of spans that another process was to end.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
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
    links: tuple[Link, ...] = ()
    is_joined: bool = False
    """Whether its trace is the host's, which has decided to keep it."""

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


def digest(*parts: str | int) -> str:
    """64 hexadecimal digits that stand for the parts."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


def trace_id(*what: str | int) -> str:
    """The trace of what is meant, the same wherever it is asked for."""
    return digest("trace", *what)[:32]


def span_id(seed: str, *what: str | int) -> str:
    """The span of a part of a run. `seed` is of that run: some viewers tell spans by their ids alone."""
    return digest("span", seed, *what)[:16]
