"""The events about people: what a run asks of them, and what they said to it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .store.journal import Row
from .store.people import Answered, CancelAsked, Decided, Expired, Questioned, Refused, Requested, Said


@dataclass(frozen=True, slots=True)
class ApprovalNeeded:
    """A call does not run unless somebody approves it."""

    seq: int
    run: str
    call: str
    tool: str
    arguments: Mapping[str, object]
    """With defaults filled in: just these are approved."""
    digest: str
    """Of tool and arguments, to be given back with the approval."""
    preview: str
    """What the call would do, in words."""
    why: str
    expires_at: int | None
    """Microseconds since 1970 in UTC; None for never."""


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """The model, or a system that it has called, asks a person something."""

    seq: int
    run: str
    call: str
    question: str
    options: tuple[str, ...]
    schema: Mapping[str, object] | None = None
    """JSON Schema of the answer, for a form: what is filled in is posted as the text of a JSON object. None
    for an answer in words."""


@dataclass(frozen=True, slots=True)
class ApprovalExpired:
    """Nobody decided in time."""

    seq: int
    run: str
    call: str


@dataclass(frozen=True, slots=True)
class ApprovalDecided:
    """Somebody approved a call, or denied it."""

    seq: int
    run: str
    call: str
    approved: bool
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """Somebody answered a question."""

    seq: int
    run: str
    call: str
    by: str
    text: str


@dataclass(frozen=True, slots=True)
class MessageTaken:
    """A message reached the run: the model reads it at its next iteration."""

    seq: int
    run: str
    by: str
    text: str


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """Somebody asked the run to stop; `RunStopped` with "cancelled" follows."""

    seq: int
    run: str
    by: str
    reason: str
    at_once: bool


@dataclass(frozen=True, slots=True)
class PostRefused:
    """Something that was said to the run changes nothing."""

    seq: int
    run: str
    by: str
    kind: str
    """What it was: "decide", "answer", "say" or "cancel"."""
    why: str


PeopleEvent = (
    ApprovalNeeded
    | QuestionAsked
    | ApprovalExpired
    | ApprovalDecided
    | QuestionAnswered
    | MessageTaken
    | CancelRequested
    | PostRefused
)


def _requested(row: Row, fact: Requested) -> PeopleEvent:
    shown = (fact.call, fact.tool, fact.arguments, fact.digest, fact.preview, fact.why, fact.expires_at)
    return ApprovalNeeded(row.seq, row.run, *shown)


def _questioned(row: Row, fact: Questioned) -> PeopleEvent:
    return QuestionAsked(row.seq, row.run, fact.call, fact.question, fact.options, fact.schema)


def _expired(row: Row, fact: Expired) -> PeopleEvent:
    return ApprovalExpired(row.seq, row.run, fact.call)


def _decided(row: Row, fact: Decided) -> PeopleEvent:
    return ApprovalDecided(row.seq, row.run, fact.call, fact.approved, fact.posted.who, fact.reason)


def _answered(row: Row, fact: Answered) -> PeopleEvent:
    return QuestionAnswered(row.seq, row.run, fact.call, fact.posted.who, fact.text)


def _said(row: Row, fact: Said) -> PeopleEvent:
    return MessageTaken(row.seq, row.run, fact.posted.who, fact.message.text)


def _cancel(row: Row, fact: CancelAsked) -> PeopleEvent:
    return CancelRequested(row.seq, row.run, fact.posted.who, fact.reason, fact.hard)


def _refused(row: Row, fact: Refused) -> PeopleEvent:
    return PostRefused(row.seq, row.run, fact.posted.who, fact.kind, fact.why)


PEOPLE_EVENTS: Mapping[type, Callable[..., PeopleEvent]] = {
    Requested: _requested,
    Questioned: _questioned,
    Expired: _expired,
    Decided: _decided,
    Answered: _answered,
    Said: _said,
    CancelAsked: _cancel,
    Refused: _refused,
}
