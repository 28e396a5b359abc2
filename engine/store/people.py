"""The facts about people: what a run asks of them, and what they say to it.

What somebody says is posted to the inbox (`inbox.py`) and becomes a fact here, in the one transaction
that takes it out of there. Calls are named by their position in the stream, so a child's call is
named like any other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pydantic import JsonValue

from ...compaction.conversation import Message
from .stored import Stored

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Requested:
    """A call needs a person's approval, and does not run without it."""

    call: str
    tool: str
    """The operation, such as `entries__post_entry`."""
    arguments: Mapping[str, JsonValue]
    """Validated, with the defaults of the tool's schema filled in: what is approved, and what then runs."""
    digest: str
    """SHA-256 of operation and arguments, in hexadecimal. An approval holds for this and nothing else."""
    preview: str
    """What the call would do, for the person who decides."""
    why: str
    """Why approval is needed."""
    expires_at: int | None = None
    """Microseconds since 1970 in UTC from which on nobody can approve any more; None for never."""
    other_than: str | None = None
    """Who asked for the work and may not approve it; empty when that is not known, so that nobody may.
    None when anybody may approve."""


@dataclass(frozen=True, slots=True)
class Questioned:
    """A call asks a person something, and is open until it is answered.

    It is `ask_user`, or a call of a system that has to know something before it can go on. Such a call is
    not at work meanwhile: it begins anew with the answer.
    """

    call: str
    question: str
    options: tuple[str, ...] = ()
    """Answers to choose from; none for an answer in words. Another answer may be given all the same."""
    schema: Mapping[str, JsonValue] | None = None
    """JSON Schema of an answer that is to be a JSON object; None for an answer in words."""
    state: JsonValue = None
    """What the call's tool is given back with the answer; None for nothing."""


@dataclass(frozen=True, slots=True)
class Expired:
    """A request was not decided in time: its call will not run."""

    call: str


@dataclass(frozen=True, slots=True)
class Posted:
    """Who said something, and when."""

    item: int
    """Its number in the inbox: each is taken once. 0 in a copy of the fact, which takes nothing."""
    who: str
    """As the host names them; empty when it does not say."""
    at: int
    """When it was posted; microseconds since 1970 in UTC."""


@dataclass(frozen=True, slots=True)
class Decided:
    """Somebody approved a call, or denied it."""

    posted: Posted
    call: str
    approved: bool
    reason: str = ""
    """In words. That of a denial is read by the model."""


@dataclass(frozen=True, slots=True)
class Answered:
    """Somebody answered a question."""

    posted: Posted
    call: str
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """Somebody sent a message to a run at work: the model reads it at its next iteration."""

    posted: Posted
    message: Message
    files: tuple[Stored, ...] = ()


@dataclass(frozen=True, slots=True)
class CancelAsked:
    """Somebody wants the run to stop."""

    posted: Posted
    reason: str = ""
    hard: bool = False
    """True for at once, without letting short calls end."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Something posted was taken out of the inbox and changes nothing."""

    posted: Posted
    kind: str
    """What it was: "decide", "answer", "say" or "cancel"."""
    why: str


Taken = Decided | Answered | Said | CancelAsked | Refused
"""The facts that take an item out of the inbox."""

PeopleFact = Requested | Questioned | Expired | Taken


def taken_items(facts: Sequence[object]) -> list[int]:
    """The items that go out of the inbox with these facts."""
    return [fact.posted.item for fact in facts if isinstance(fact, Taken) and fact.posted.item]


def copied(fact: T) -> T:
    """The fact as another stream has it, in whose inbox nothing of it ever was."""
    if not isinstance(fact, Taken):
        return fact
    return replace(fact, posted=replace(fact.posted, item=0))
