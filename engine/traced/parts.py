"""What is told of a part of a run, and its span: pure, and the same live and out of the journal.

What an attribute is called on the wire is said in `tracing/names.py`; here stands what is told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from ...tracing import Usage
from ...tracing.bounded import bounded, text
from ...tracing.names import named
from ...tracing.span import Attribute, Kind, Link, Moment, Span, span_id

Told = Mapping[str, Attribute | None]
"""By what is meant, as `tracing/names.py` has it; None is left out."""

AGENT = "offing"
STRAND = "offing strand"
"""What a child run is called: its title is in the model's words, and those are told only where content is."""


class Interval(NamedTuple):
    """From when to when; microseconds since 1970 in UTC."""

    start_us: int
    end_us: int


class Part(NamedTuple):
    """What is told of one part of a run, wherever its span belongs."""

    what: tuple[str | int, ...]
    """Which part it is: its span's id is made of this."""
    name: str
    told: Told
    kind: Kind = "internal"
    error: str = ""
    """Why it failed; empty when it did not."""
    moments: tuple[Moment, ...] = ()
    links: tuple[Link, ...] = ()


class Place(NamedTuple):
    """Where a run's spans belong."""

    trace: str
    seed: str
    """What their ids are made of, beside what they stand for: of this run alone."""
    parent: str
    """Id of the span that the run is part of; empty for the root of a trace."""
    run: str
    session: str
    content: bool = False
    """Whether what was said is told."""
    is_joined: bool = False
    """Whether the trace is the host's."""

    def id(self, *what: str | int) -> str:
        """Id of the span of a part of the run."""
        return span_id(self.seed, *what)

    def span(self, part: Part, parent: str, time: Interval) -> Span:
        """The part's span, its attributes under all their names."""
        told: dict[str, Attribute | None] = {**part.told, "session": self.session, "run": self.run}
        return Span(
            trace=self.trace,
            id=self.id(*part.what),
            parent=parent,
            name=text(part.name, 200),
            start_us=time.start_us,
            end_us=max(time),
            attributes=bounded(named(told)),
            kind=part.kind,
            error=text(part.error, 500),
            moments=part.moments,
            links=part.links,
            is_joined=self.is_joined,
        )


@dataclass(frozen=True, slots=True)
class Work:
    """What was done in a part of a run, added up."""

    usage: Usage = field(default_factory=Usage)
    cost: Decimal | None = Decimal(0)
    """US dollars; None once the cost of one call is not known."""
    model_us: int = 0
    tools_us: int = 0
    """In which at least one tool was at work."""
    waiting_us: int = 0
    journal_us: int = 0
    """Waiting for the journal; 0 also where that was not measured."""
    retries: int = 0
    failed: int = 0
    """Calls of tools that failed."""
    unknown: int = 0
    """Calls of which nobody knows whether they took effect."""
    missed: int = 0
    """Tokens that were in the provider's cache and were not read."""

    def __add__(self, other: "Work") -> "Work":
        return Work(
            self.usage + other.usage,
            None if self.cost is None or other.cost is None else self.cost + other.cost,
            self.model_us + other.model_us,
            self.tools_us + other.tools_us,
            self.waiting_us + other.waiting_us,
            self.journal_us + other.journal_us,
            self.retries + other.retries,
            self.failed + other.failed,
            self.unknown + other.unknown,
            self.missed + other.missed,
        )

    @property
    def taken(self) -> "Work":
        """Without the times: those of a child pass beside its parent's."""
        return Work(
            self.usage,
            self.cost,
            retries=self.retries,
            failed=self.failed,
            unknown=self.unknown,
            missed=self.missed,
        )

    @property
    def told(self) -> dict[str, Attribute | None]:
        """As attributes of the span that contains the work.

        Under names of our own, so that a viewer which adds up spans counts nothing twice. What there was
        none of is left out.
        """
        return {
            "sum.input_tokens": self.usage.prompt,
            "sum.output_tokens": self.usage.output,
            "sum.cache_read": self.usage.cache_read,
            "sum.cache_missed": self.missed or None,
            "sum.cost_usd": dollars(self.cost),
            "time.model_ms": self.model_us / 1000,
            "time.tools_ms": self.tools_us / 1000,
            "time.waiting_ms": self.waiting_us / 1000 or None,
            "time.journal_ms": self.journal_us / 1000,
            "retries": self.retries or None,
            "calls_failed": self.failed or None,
            "calls_unknown": self.unknown or None,
        }


class End(NamedTuple):
    """Why work on a run ended, for now."""

    why: str
    """As `Stopped` has it; or "interrupted", "copied", "open"."""
    detail: str = ""

    @property
    def is_well(self) -> bool:
        """Whether nothing went wrong."""
        return self.why in {"answered", "waiting", "copied", "open"}


KILLED = End("interrupted", "its process ended")
OPEN = End("open", "it is at work, or its process ended")
PARKED = End("waiting", "its run waits for people")


def iteration(number: int, stretch: int, work: Work, moments: Sequence[Moment]) -> Part:
    """One model call with its retries, and the calls of tools that it asked for."""
    told: dict[str, Attribute | None] = {"kind": "CHAIN", "iteration": number, **work.told}
    return Part(("iteration", number, stretch), f"iteration {number}", told, moments=tuple(moments))


def stretch(number: int, agent: str, end: End, told: Told, links: tuple[Link, ...]) -> Part:
    """The work on a run up to a stop."""
    common: dict[str, Attribute | None] = {
        "operation": "invoke_agent",
        "kind": "AGENT",
        "agent": agent,
        "stretch": number,
        "why": end.why,
        "detail": text(end.detail, 500) or None,
        "error_type": None if end.is_well else end.why,
    }
    name = f"invoke_agent {agent} (resumed)" if number else f"invoke_agent {agent}"
    error = "" if end.is_well else f"{end.why}: {end.detail}"
    return Part(("stretch", number), name, {**common, **told}, error=error, links=links)


def dollars(cost: Decimal | None) -> float | None:
    """A cost as an attribute; None where it is unknown."""
    return None if cost is None else float(cost)
