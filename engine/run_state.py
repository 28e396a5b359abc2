"""What is known of one run: the part of a session's state that ends with it. `state.py` folds it."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from ..compaction.conversation import Message, ToolCall, ToolResult
from ..tracing import Usage
from .budget import Budget
from .models.model import Reply
from .signs import Signs
from .store.cached import CacheMiss
from .store.facts import Began, Checked, Faulted, Stopped
from .store.people import CancelAsked
from .waiting import Waiting


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that failed, and how often in a row it did so in the same way."""

    tool: str
    error: str
    """Digest of the error."""
    times: int
    since: str
    """The first of these calls."""


@dataclass(frozen=True, slots=True)
class ActiveSkill:
    """A skill whose text the model has, and where: compaction leaves it there."""

    version: str
    call: str = ""
    """The call whose result holds it; empty when none does."""
    message: int | None = None
    """Place of the note that holds it in the conversation, from 0; None when a call's result or the
    session's context does."""


class Spoke(NamedTuple):
    """Which model gave the newest reply, and when: its provider's cache holds what it was sent."""

    model: str = ""
    """As configured; empty before the first reply, and in old journals."""
    at: int = 0
    """Microseconds since 1970 in UTC."""


class Draft(NamedTuple):
    """An answer that the model was asked to correct, with what is wrong with it."""

    answer: str
    checked: Checked


@dataclass(slots=True)
class RunState:
    """One request being worked on. A session has one at a time."""

    id: str
    first: int
    """Sequence number of its first row."""
    began: Began
    at: int
    """When it began; microseconds since 1970 in UTC."""
    granted: int
    """Model calls that may give a reply, in all."""
    budget: Budget = field(default_factory=Budget)
    """What it may spend in all, further grants included."""
    trace: str = ""
    """The trace that it is part of; empty where it is not traced."""
    idle_us: int = 0
    """Microseconds in which nobody drove it: from each stop, or kill, to the resume after it."""
    iterations: int = 0
    """Model calls that gave a reply."""
    usage: Usage = field(default_factory=Usage)
    cost: Decimal | None = Decimal(0)
    """US dollars of all model calls; None once the cost of one is unknown."""
    known_cost: Decimal = Decimal(0)
    """US dollars of those whose cost is known."""
    unpriced: int = 0
    """Those whose cost is not known, since somebody last granted money."""
    tool_calls: int = 0
    """Calls of tools that it was let make: those of the newest reply from its beginning on."""
    questions: int = 0
    """Questions put to people."""
    digest_calls: int = 0
    """Model calls that were made for digests."""
    retried: int = 0
    """Failed model calls that were tried again after a wait."""
    unsupervised: int = 0
    """Replies since somebody last let it go on."""
    last: Reply | None = None
    """The newest reply; None before the first, and again when it has been dealt with."""
    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    """The calls of the newest reply, in order, until each has its result."""
    started: set[str] = field(default_factory=set[str])
    """Of these, the ones with a recorded intent. After a resume they are in doubt."""
    beyond: frozenset[str] = frozenset()
    """Of these, the ones that its budget does not cover: they are not executed."""
    results: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult])
    waiting: dict[str, Waiting] = field(default_factory=dict[str, Waiting])
    """Of these calls, the ones that needed a word of a person, with what was said."""
    said: list[Message] = field(default_factory=list[Message])
    """Messages that came meanwhile and are to be read once the calls have their results."""
    cancel: CancelAsked | None = None
    """Who wants it to stop; None when nobody does."""
    unfinished: int = 0
    """Replies in a row that were cut, empty or unfit."""
    pauses: int = 0
    failures: dict[str, Failure] = field(default_factory=dict[str, Failure])
    """Failed calls by a digest of name and arguments, until the same call succeeds."""
    repeated: Failure | None = None
    """Of the newest reply's calls, the one that failed most often; None when none failed."""
    fault: Faulted | None = None
    """The newest model call's failure; None when it gave a reply."""
    fault_at: int = 0
    """When that was."""
    faults: int = 0
    """Failures in a row."""
    retries: int = 0
    """Model calls that failed, in all."""
    waited: bool = False
    """Whether the wait after the failure is over."""
    answer: str = ""
    """What the model said last, with what it goes on from where a reply was cut or paused."""
    goes_on: bool = False
    """Whether the next reply goes on from the newest one."""
    draft: Draft | None = None
    """The first answer in doubt; None when none was."""
    checked: Checked | None = None
    """The verdict on the newest reply as an answer; None before it was checked."""
    doubted: int = 0
    """Answers with figures that are not linked or sections that are missing."""
    unknown: list[str] = field(default_factory=list[str])
    """Calls of which nobody knows whether they took effect."""
    stopped: Stopped | None = None
    sections: tuple[str, ...] = ()
    """Headings that its answer has to have: those of the first of its skills that asks for any. One that
    is loaded later, for a part of the work, does not change how the whole is answered."""
    cache_misses: list[CacheMiss] = field(default_factory=list[CacheMiss])
    """Replies whose prompts were not read from the provider's cache as far as the ones before reached."""
    warmed: int = 0
    """How often its prompt was kept warm while it waited."""
    signs: Signs = field(default_factory=Signs)
    """Of how hard it is; never fewer."""
