"""What is known of one run: the part of a session's state that ends with it. `state.py` folds it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from ..compaction.conversation import Message, ToolCall, ToolResult
from ..tracing import Usage
from .budget import Budget
from .models.model import Reply
from .signs import Signs
from .store.facts import Began, Checked, Faulted, Stopped, StopWhy
from .store.people import CancelAsked
from .store.strands import Strand
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


class Draft(NamedTuple):
    """An answer that the model was asked to correct, with what is wrong with it."""

    answer: str
    checked: Checked


@dataclass(frozen=True, slots=True)
class Took:
    """What runs took, added up."""

    iterations: int = 0
    retries: int = 0
    retried: int = 0
    tool_calls: int = 0
    questions: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: Decimal | None = Decimal(0)
    """US dollars; None once the cost of a model call is unknown."""
    known_cost: Decimal = Decimal(0)
    unpriced: int = 0

    def __add__(self, other: "Took") -> "Took":
        """What both took."""
        return Took(
            self.iterations + other.iterations,
            self.retries + other.retries,
            self.retried + other.retried,
            self.tool_calls + other.tool_calls,
            self.questions + other.questions,
            self.usage + other.usage,
            None if self.cost is None or other.cost is None else self.cost + other.cost,
            self.known_cost + other.known_cost,
            self.unpriced + other.unpriced,
        )


@dataclass(frozen=True, slots=True)
class Child:
    """A run that another one started, as it was when its call got its result; before, as it is so far."""

    run: str
    title: str
    why: StopWhy | None
    """How it ended; None while it is open, and for one that never began."""
    detail: str
    """In words, why it stopped without an answer; else empty."""
    took: Took
    """Its own children included."""
    children: tuple["Child", ...] = ()


def ended_children(children: Iterable[Child]) -> Iterator[str]:
    """The names of children, and of theirs."""
    for child in children:
        yield child.run
        yield from ended_children(child.children)


@dataclass(slots=True)
class RunState:
    """One request being worked on. A session has one at a time, and it may have children."""

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
    overdue: bool = False
    """Of a child: whether its time is up."""
    strands: dict[str, tuple[Strand, ...]] = field(default_factory=dict[str, tuple[Strand, ...]])
    """Of the calls, the ones that handed work to strands, until they have their results."""
    children: list[Child] = field(default_factory=list[Child])
    """Those whose calls have their results, in the order in which they got them."""
    below: Took = field(default_factory=Took)
    """What these took."""
    sections: tuple[str, ...] = ()
    """Headings that its answer has to have: those of the first of its skills that asks for any. One that
    is loaded later, for a part of the work, does not change how the whole is answered."""
    signs: Signs = field(default_factory=Signs)
    """Of how hard it is; never fewer."""

    @property
    def took(self) -> Took:
        """What it took itself."""
        return Took(
            self.iterations,
            self.retries,
            self.retried,
            self.tool_calls,
            self.questions,
            self.usage,
            self.cost,
            self.known_cost,
            self.unpriced,
        )

    @property
    def is_parked(self) -> bool:
        """Whether each call that has no result yet waits for a person."""
        left = [call for call in self.calls if call not in self.results]
        return bool(left) and all(call in self.waiting and self.waiting[call].is_open for call in left)
