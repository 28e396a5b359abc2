"""The facts that a journal holds: everything that ever happened in a session, and nothing else.

State is the fold of these. A fact is never changed once a release has written it: a new meaning is a
new kind, or a new version with an upcaster in `codec.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from pydantic import JsonValue

from ...compaction.conversation import Message, Pass, ToolResult
from ...namespaces.tool import Record
from ...tracing import Usage
from ..budget import Budget
from ..errors import FaultKind
from ..limits import Limits, Room
from ..models.model import Reply
from .branches import Forked, Moved
from .cached import Cached, Warmed
from .people import Answered, CancelAsked, Decided, Expired, Questioned, Refused, Requested, Said
from .stored import Stored as Stored


@dataclass(frozen=True, slots=True)
class Task:
    """One item of the list the user sees."""

    title: str
    status: Literal["pending", "active", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Opened:
    """A session began: its frame is fixed from here on, also for later versions of the engine."""

    model: str
    """Name of the model that `static` and `context` were encoded for."""
    frame: str
    """Artifact: the frame as JSON, for other models."""
    static: str
    """Artifact: the encoded first layer, resent as stored."""
    context: str
    """Artifact: the encoded second layer."""
    setup: Mapping[str, JsonValue]
    """What the host needs to open the session again, such as the files it was given."""


CheckMode = Literal["auto", "required", "off"]
"""When the figures of an answer in words are checked against their sources. "auto": once the session has
read or worked out a record. "required": always, so that a figure without any record is one without a source.
"off": never."""


@dataclass(frozen=True, slots=True)
class Began:
    """A run began with what the user said."""

    message: Message
    limits: Limits
    """What it may use."""
    output: Mapping[str, JsonValue] | None = None
    """JSON Schema that the answer has to fit; None for an answer in words."""
    files: tuple[Stored, ...] = ()
    check: CheckMode = "auto"
    by: str = ""
    """Who asked for it, as the host names them; empty when it does not say."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """Somebody drives the run from here on: first at its start, then after each stop or kill."""

    owner: str
    """Who: host and process."""
    iterations: int = 0
    """Further model calls granted, on going on after a stop; else 0."""
    more: Budget | None = None
    """Added to what the run may spend, where that is limited; None for nothing."""
    model: str = ""
    """The model that works from here on, as configured; empty in old journals."""
    room: Room | None = None
    """What it takes; None in old journals: then nothing is compacted unless the provider refuses a prompt."""
    trace: str = ""
    """The trace that the run is part of, in 32 hexadecimal digits; empty where it is not traced."""
    host: str = ""
    """The host's span that it is begun or resumed in, as the header `traceparent` has it; empty for none."""


@dataclass(frozen=True, slots=True)
class Noted:
    """The engine told the model something."""

    key: str
    """What it is about; each key is told once in a session."""
    text: str


@dataclass(frozen=True, slots=True)
class Replied:
    """The model replied."""

    reply: Reply
    cost: Decimal | None = None
    """In US dollars, by the prices of that day; None where unknown."""
    request: str = ""
    """Digest of the prompt that it answers, as `Wire.digest` has it; empty where none was kept."""
    cached: Cached | None = None
    """What became of the prompt in the provider's cache; None where it was not kept."""


@dataclass(frozen=True, slots=True)
class Faulted:
    """A model call gave no reply."""

    fault: FaultKind
    message: str
    told_us: int | None = None
    """Microseconds that the provider asked to wait; None when it did not say."""
    chance: float = 0.0
    """From 0 to 1: the share of luck in the wait before the next attempt."""
    usage: Usage = field(default_factory=Usage)
    """What the failed call cost, as far as the provider said."""
    cost: Decimal | None = Decimal(0)
    """In US dollars; None where unknown."""


@dataclass(frozen=True, slots=True)
class Waited:
    """The wait after a failed call is over."""


PassWhy = Literal["full", "refused", "cold", "model"]
"""Why room was made: the prompt came near to what the model takes; the provider said that it was too long;
the cache was cold anyway; another model goes on."""
Writer = Literal["", "model", "rule"]
"""Who wrote a digest; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """Parts of the conversation left what the model is sent."""

    done: Pass
    why: PassWhy
    before: int
    """Tokens of the prompt, estimated."""
    after: int
    stored: tuple[Stored, ...] = ()
    """What left and was not kept before, by the handles it is read back with."""
    writer: Writer = ""
    problem: str = ""
    """Why the model's digest was not used; empty when it was, and when none was needed."""
    calls: int = 0
    """Model calls that were made for the digest, failed ones too."""
    usage: Usage = field(default_factory=Usage)
    """Of these."""
    cost: Decimal | None = Decimal(0)
    """In US dollars; None where unknown."""


@dataclass(frozen=True, slots=True)
class Started:
    """A call that is no READ is about to run: recorded before it does."""

    call: str
    tool: str
    key: str
    """The idempotency key it is given."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A call has its result."""

    result: ToolResult
    tool: str
    """The operation behind the call, such as `bank__list_transactions`; as called where unknown."""
    records: tuple[Record, ...] = ()
    stored: tuple[Stored, ...] = ()
    unknown: bool = False
    """True when nobody knows whether the call took effect."""


@dataclass(frozen=True, slots=True)
class TasksSet:
    """The model rewrote its task list."""

    tasks: tuple[Task, ...]
    confidence: float | None = None
    """The model's, from 0 to 1; None when it did not say."""


@dataclass(frozen=True, slots=True)
class Linked:
    """The model tied a figure of the coming answer to records."""

    figure: str
    records: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of an answer: a number that states something about the data."""

    text: str
    """As the answer has it."""
    start: int
    end: int
    """Characters of the answer, from 0."""
    records: tuple[str, ...]
    """Ids of the records it rests on, or that it names as such."""
    problem: str = ""
    """Why it is not linked to a record that says the same; empty when it is."""


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer was checked against what was asked for."""

    problem: str = ""
    """Why it is not of the wanted type; empty when it is, or none was wanted."""
    figures: tuple[Figure, ...] = ()
    """Its figures; none for an answer of a type, or when the check is off."""
    missing: tuple[str, ...] = ()
    """Sections that the active skills ask for and it lacks."""

    @property
    def doubts(self) -> tuple[str, ...]:
        """What the model is told to correct, each in a line."""
        figures = (f"{figure.text}: {figure.problem}" for figure in self.figures if figure.problem)
        return (*figures, *(f"the section {name!r} is missing" for name in self.missing))


SkillHow = Literal["start", "request", "model"]
"""Who chose a skill: the host when it opened the session, the user by naming it, or the model."""


@dataclass(frozen=True, slots=True)
class SkillActivated:
    """A run works by a skill from here on.

    Its text is the note `text` or in the result of `call`. Where both are empty it is in the session's
    context, with "start", or where it stood before.
    """

    name: str
    version: str
    """Skills of the same version say the same."""
    how: SkillHow
    sections: tuple[str, ...] = ()
    """Headings that the run's answer has to have."""
    call: str = ""
    """With "model", the call whose result holds the skill; empty when it was active already."""
    text: str = ""
    """With "request", the note that holds the skill; empty when it was active already."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """Something is kept for later sessions, beside the journal: a person may forget it there."""

    id: str
    """The same when the call that asked for it runs again."""
    user: str
    """Whose it is; empty for who has no name."""
    text: str
    expires_at: int | None = None
    """Microseconds since 1970 in UTC; None for never."""


StopWhy = Literal[
    "answered",
    "limit",
    "repeating",
    "length",
    "empty",
    "unfit",
    "refused",
    "window",
    "fault",
    "paused",
    "unavailable",
    "waiting",
    "cancelled",
    "budget",
    "intervention",
]


@dataclass(frozen=True, slots=True)
class Stopped:
    """A run stopped; all but "answered" can go on with a resume.

    "limit": the granted iterations are used. "repeating": the same call kept failing the same way.
    "length", "empty" and "unfit": replies kept being cut, empty, or not of the wanted type.
    "refused": the model declined. "window": the context is full. "fault": the request, the key or the
    account is wrong. "unavailable": the model could not be reached, or asks to come back later than a
    run waits. "paused": the provider paused its turn again and again. "waiting": nothing can be done before
    a person has decided or answered. "cancelled": somebody asked for it. "budget": what it may spend is
    spent. "intervention": it is within its limits, but a person should look at it.
    """

    why: StopWhy
    detail: str = ""
    """In words, for a person: what happened and what would help."""


Fact = (
    Opened
    | Began
    | Resumed
    | Noted
    | Replied
    | Faulted
    | Waited
    | Compacted
    | Started
    | Settled
    | TasksSet
    | Linked
    | Checked
    | SkillActivated
    | Remembered
    | Requested
    | Questioned
    | Expired
    | Decided
    | Answered
    | Said
    | CancelAsked
    | Refused
    | Stopped
    | Warmed
    | Forked
    | Moved
)


@dataclass(frozen=True, slots=True)
class Unknown:
    """A row of a kind or version that this release does not know: it can be shown, not driven."""

    kind: str
    version: int
    body: bytes
