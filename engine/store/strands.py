"""The facts of work that a run hands to others: which strands, what each may use, and that its time is up."""

from dataclasses import dataclass

from ..limits import Limits


@dataclass(frozen=True, slots=True)
class Strand:
    """One part of the work, done by a run of its own. Its place among its call's strands names that run."""

    title: str
    task: str
    """In the words of the run that asks: all that the strand is told of the request."""
    limits: Limits
    """What is reserved for it of what its parent may use."""
    namespaces: tuple[str, ...] | None = None
    """The only systems that it may call; None for all."""
    skill: str = ""
    """The skill that it works by from the start; empty for none."""


@dataclass(frozen=True, slots=True)
class Delegated:
    """A call hands work to strands: what they may use is reserved from here on, begun or not."""

    call: str
    strands: tuple[Strand, ...]


@dataclass(frozen=True, slots=True)
class Overdue:
    """The time of a strand is up: what is at work is told to end, and it stops with what it reached."""
