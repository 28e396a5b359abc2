"""What watchers of a session see: typed events, made of its facts and of replies in the making.

Durable events carry the journal's sequence number, so a watcher that comes back asks for what follows
the last one it saw. Deltas are drafts: the reply that follows confirms or replaces them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, cast

from ..tracing import Usage
from .people_events import PEOPLE_EVENTS, PeopleEvent
from .people_events import ApprovalDecided as ApprovalDecided
from .people_events import ApprovalExpired as ApprovalExpired
from .people_events import ApprovalNeeded as ApprovalNeeded
from .people_events import CancelRequested as CancelRequested
from .people_events import MessageTaken as MessageTaken
from .people_events import PostRefused as PostRefused
from .people_events import QuestionAnswered as QuestionAnswered
from .people_events import QuestionAsked as QuestionAsked
from .store.branches import Edited, Forked, Moved, NotUndone
from .store.cached import Cached, Warmed
from .store.facts import (
    Began,
    Checked,
    Compacted,
    Fact,
    Faulted,
    Figure,
    Linked,
    Noted,
    Opened,
    PassWhy,
    Remembered,
    Replied,
    Resumed,
    Settled,
    SkillActivated,
    SkillHow,
    Started,
    Stopped,
    StopWhy,
    Task,
    TasksSet,
    Waited,
    Writer,
)
from .store.journal import Row


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run began with a message of the user."""

    seq: int
    run: str
    text: str


@dataclass(frozen=True, slots=True)
class RunForked:
    """The stream begins as a copy of another one; what follows up to its end was copied."""

    seq: int
    run: str
    stream: str
    """The one that was copied."""
    of: str
    """Its run that the point belongs to."""
    iteration: int
    edits: tuple[Edited, ...]
    effects: tuple[NotUndone, ...]
    """What was done after the point and is not undone: a person should look."""


@dataclass(frozen=True, slots=True)
class RunResumed:
    """Somebody began to drive the run: at its start, and after each stop or kill."""

    seq: int
    run: str
    owner: str
    trace: str = ""
    """The trace that the run is part of, in 32 hexadecimal digits; empty where it is not traced."""


@dataclass(frozen=True, slots=True)
class CallAsked:
    """One call of a reply."""

    call: str
    tool: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ReplyFinished:
    """A reply is whole; it replaces the deltas before it."""

    seq: int
    run: str
    text: str
    reasoning: str
    calls: tuple[CallAsked, ...]
    usage: Usage
    cached: Cached | None = None
    """What became of its prompt in the provider's cache; None where that was not kept."""


@dataclass(frozen=True, slots=True)
class CacheWarmed:
    """The prompt of a run that waits was read in the provider's cache once more, so that it stays there."""

    seq: int
    run: str
    usage: Usage
    cost: Decimal | None
    """US dollars; None where unknown."""


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call that may change something is about to run."""

    seq: int
    run: str
    call: str
    tool: str


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A call has its result."""

    seq: int
    run: str
    call: str
    tool: str
    error: bool
    unknown: bool
    """True when nobody knows whether the call took effect: a person should look."""
    content: str
    """As the model reads it."""


@dataclass(frozen=True, slots=True)
class NoteGiven:
    """The engine told the model something."""

    seq: int
    run: str
    text: str


@dataclass(frozen=True, slots=True)
class TasksChanged:
    """The model rewrote its task list."""

    seq: int
    run: str
    tasks: tuple[Task, ...]
    confidence: float | None


@dataclass(frozen=True, slots=True)
class SkillLoaded:
    """The run works by a skill from here on."""

    seq: int
    run: str
    skill: str
    version: str
    how: SkillHow


@dataclass(frozen=True, slots=True)
class MemoryKept:
    """Something will be remembered in later sessions; a person can forget it by its id."""

    seq: int
    run: str
    id: str
    text: str
    expires_at: int | None
    """Microseconds since 1970 in UTC; None for never."""


@dataclass(frozen=True, slots=True)
class AnswerChecked:
    """The answer that was streamed last was checked: without doubts it stands as it is.

    With doubts the model is asked once to correct it, and the next reply supersedes it; an answer that
    stays in doubt is delivered with its figures marked.
    """

    seq: int
    run: str
    figures: tuple[Figure, ...]
    """Its figures with their sources; none when figures are not checked."""
    doubts: tuple[str, ...]
    """What is not right, each in a line; or why it is not of the wanted type."""


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """A model call gave no reply."""

    seq: int
    run: str
    fault: str
    message: str


@dataclass(frozen=True, slots=True)
class ContextCompacted:
    """Parts of the conversation left what the model is sent. They are kept, and the model can read them."""

    seq: int
    run: str
    why: PassWhy
    before: int
    """Tokens of the prompt, estimated."""
    after: int
    stubs: int
    """Results that became stubs."""
    digested: int
    """Messages that a digest stands for by now; 0 when there is none."""
    writer: Writer
    """Who wrote the digest of this pass; empty where it has none."""
    problem: str
    """Why a digest was written by rule; empty when it was not."""


@dataclass(frozen=True, slots=True)
class RunStopped:
    """The run stopped; its result is ready."""

    seq: int
    run: str
    why: StopWhy
    detail: str


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the reply in the making."""

    seq: int
    """Sequence number that the reply will have at the earliest."""
    n: int
    """Place in the reply, from 1; a gap means that pieces were dropped for a slow watcher."""
    kind: Literal["text", "reasoning", "restart"]
    """"restart": what was streamed of this reply is void."""
    text: str


@dataclass(frozen=True, slots=True)
class Draft:
    """The reply in the making up to now, for a watcher that came late."""

    seq: int
    n: int
    """The last delta that is in it."""
    text: str
    reasoning: str


@dataclass(frozen=True, slots=True)
class Progress:
    """A tool says how far it is."""

    call: str
    text: str


Durable = (
    RunStarted
    | RunForked
    | RunResumed
    | ReplyFinished
    | CacheWarmed
    | CallStarted
    | CallFinished
    | NoteGiven
    | TasksChanged
    | AnswerChecked
    | SkillLoaded
    | MemoryKept
    | ModelFailed
    | ContextCompacted
    | PeopleEvent
    | RunStopped
)
Event = Durable | Delta | Draft | Progress


def event_of(row: Row) -> Durable | None:
    """The event that tells of a row; None for facts that no watcher needs."""
    make = _EVENTS.get(type(row.fact))
    return make(row, cast("Fact", row.fact)) if make is not None else None


def _began(row: Row, fact: Began) -> Durable:
    return RunStarted(row.seq, row.run, fact.message.text)


def _forked(row: Row, fact: Forked) -> Durable:
    return RunForked(row.seq, row.run, fact.stream, fact.run, fact.iteration, fact.edits, fact.effects)


def _resumed(row: Row, fact: Resumed) -> Durable:
    return RunResumed(row.seq, row.run, fact.owner, fact.trace)


def _replied(row: Row, fact: Replied) -> Durable:
    message = fact.reply.message
    calls = tuple(CallAsked(call.id, call.name, call.arguments) for call in message.calls)
    reasoning = "".join(block.text for block in message.blocks if block.kind == "reasoning")
    told = (row.seq, row.run, message.text, reasoning, calls)
    return ReplyFinished(*told, fact.reply.usage, fact.cached)


def _warmed(row: Row, fact: Warmed) -> Durable:
    return CacheWarmed(row.seq, row.run, fact.usage, fact.cost)


def _started(row: Row, fact: Started) -> Durable:
    return CallStarted(row.seq, row.run, fact.call, fact.tool)


def _settled(row: Row, fact: Settled) -> Durable:
    result = fact.result
    return CallFinished(row.seq, row.run, result.call, fact.tool, result.error, fact.unknown, result.content)


def _noted(row: Row, fact: Noted) -> Durable:
    return NoteGiven(row.seq, row.run, fact.text)


def _tasks(row: Row, fact: TasksSet) -> Durable:
    return TasksChanged(row.seq, row.run, fact.tasks, fact.confidence)


def _skill(row: Row, fact: SkillActivated) -> Durable:
    return SkillLoaded(row.seq, row.run, fact.name, fact.version, fact.how)


def _remembered(row: Row, fact: Remembered) -> Durable:
    return MemoryKept(row.seq, row.run, fact.id, fact.text, fact.expires_at)


def _checked(row: Row, fact: Checked) -> Durable:
    doubts = (fact.problem,) if fact.problem else fact.doubts
    return AnswerChecked(row.seq, row.run, fact.figures, doubts)


def _faulted(row: Row, fact: Faulted) -> Durable:
    return ModelFailed(row.seq, row.run, fact.fault, fact.message)


def _compacted(row: Row, fact: Compacted) -> Durable:
    done = fact.done
    digested = done.digest.reach if done.digest is not None else 0
    sizes = (fact.before, fact.after, len(done.stubs), digested)
    return ContextCompacted(row.seq, row.run, fact.why, *sizes, fact.writer, fact.problem)


def _stopped(row: Row, fact: Stopped) -> Durable:
    return RunStopped(row.seq, row.run, fact.why, fact.detail)


_EVENTS: Mapping[type, Callable[..., Durable]] = {
    Began: _began,
    Forked: _forked,
    Resumed: _resumed,
    Replied: _replied,
    Warmed: _warmed,
    Started: _started,
    Settled: _settled,
    Noted: _noted,
    TasksSet: _tasks,
    Checked: _checked,
    SkillActivated: _skill,
    Remembered: _remembered,
    Faulted: _faulted,
    Compacted: _compacted,
    Stopped: _stopped,
    **PEOPLE_EVENTS,
}
"""Opened, Linked and Waited tell a watcher nothing that other events do not; where a session has moved to,
its watchers are told by an error."""

UNSEEN = (Opened, Linked, Waited, Moved)
"""Facts without an event."""
