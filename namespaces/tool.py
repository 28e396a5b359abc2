"""What a tool is, what it is given and what it gives back.

Everything that a model can call is a `Tool`: a function of a connected system, one of the engine's
resident tools, a meta-tool of a namespace. This file holds data only; `functions.py` makes tools of
Python functions, and the engine's dispatch is the one place that runs them.
"""

import datetime
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Literal, Protocol

from pydantic import JsonValue, SecretStr

Arguments = Mapping[str, JsonValue]
"""Arguments of one call: they fit the tool's schema when the tool sees them."""

ALONE: frozenset[str] = frozenset({"*"})
"""The write set of a call that runs alone."""


class Effect(Enum):
    """What running a call does to the world, which decides what a resumed run may do again."""

    READ = "read"
    """Changes nothing. No intent is recorded, and it may run again."""
    REPEATABLE = "repeatable"
    """Running it twice is the same as running it once."""
    ONCE = "once"
    """Never to be run twice. After a kill in the middle its outcome is unknown."""


@dataclass(frozen=True, slots=True)
class Record:
    """One source fact that a figure of an answer can link to."""

    id: str
    """Unique in a session and stable between readings: `bank:txn/2026-09-14/8123`."""
    amount: Decimal | None = None
    """Signed amount; None for a record that is no amount."""
    currency: str | None = None
    """ISO 4217 code; of books also a commodity, or a symbol that stands for several currencies. None when
    the source does not say it or the record is no amount."""
    date: datetime.date | None = None
    """The day the source gives the record; None when it gives none."""
    text: str = ""
    """What the source says of it, on one line."""
    file: str | None = None
    """Name of the file it was read from; None for what came from a system."""
    row: int | None = None
    """Line in that file, counted from 1; None where rows mean nothing."""
    derivation: str | None = None
    """For a computed record, the expression over other records; None for a source record."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """Bytes that a tool produced beside its text: stored as an artifact, named by a handle."""

    name: str
    data: bytes
    mime: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Question:
    """What a call has to know from a person before it can go on.

    The call is over for now, and what it holds is let go: it may be answered in days, and by then another
    process may be at work. Then the tool is called again, with the answer in its context.
    """

    text: str
    """For the person: who asks, and all it takes to answer."""
    options: tuple[str, ...] = ()
    """Answers to choose from; none for an answer in words."""
    schema: Mapping[str, JsonValue] | None = None
    """JSON Schema of the answer when it is to be a JSON object, for hosts that show a form. None for an
    answer in words. Whoever answers may not keep to it: the tool checks."""
    state: JsonValue = None
    """What the tool needs to go on. It is kept in the journal, so it holds no secrets."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said to a call's `Question`."""

    text: str
    state: JsonValue = None
    """That of the question."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a call produced. It is data, never authority: nothing in it can approve or configure."""

    content: JsonValue
    """Text, or JSON that is shown to the model as text."""
    records: tuple[Record, ...] = ()
    """Source facts that the answer may cite from now on."""
    error: bool = False
    """True when the call failed: `content` then says what was wrong and what would be right."""
    attachments: tuple[Attachment, ...] = ()
    """Blobs and media; images and PDF documents are shown to the model, the rest by handle."""
    unknown: bool = False
    """True when nobody knows whether the call took effect, such as when its connection broke: `content` then
    says what happened. It counts for calls that are ONCE."""
    question: Question | None = None
    """With one, the call is not over: a person is asked, and it goes on with what they say. `content` is
    shown when nobody may be asked any more."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What `Tool.inspect` found out about a call that was started and whose outcome is not known."""

    outcome: Literal["done", "not done", "unknown"]
    """"done": it took effect. "not done": it did not and can not any more, so it may be run."""
    output: ToolOutput | None = None
    """With "done", the call's output where it can be had; None shows the model that it was done."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call is given beside its arguments."""

    run: str
    """Id of the run the call belongs to."""
    call: str
    """Position of the call in its session, such as `17.2`."""
    idempotency_key: str
    """The same for each attempt at this call, also after a resume; unlike that of any other call."""
    credentials: Mapping[str, SecretStr]
    """Given by the host for this session and namespace. Never part of the prompt or the journal."""
    progress: Callable[[str], None]
    """Tells watchers, not the model, how far the call is. Safe from any thread."""
    read: Callable[[str], Awaitable[bytes]]
    """The bytes behind a handle of this session; raises KeyError for a handle it does not have."""
    answer: Answer | None = field(default=None, kw_only=True)
    """What a person said to the question that the call has asked; None at its first attempt."""
    traceparent: str = field(default="", kw_only=True)
    """W3C trace context of the call's span, for a header or the like; empty where it is not traced."""


ToolFunction = Callable[[Arguments, ToolContext], "Awaitable[ToolOutput] | ToolOutput"]


@dataclass(frozen=True, slots=True)
class Tool:
    """One callable operation.

    A tool may raise: what it raises is shown to the model as the call's error. It may be cancelled at
    its timeout. It does not promise to be called once unless its effect is ONCE.
    """

    name: str
    """As the system calls it: any characters; the model is shown a legal alias (`names.py`)."""
    summary: str
    """One line, for the list the model scans."""
    schema: Mapping[str, JsonValue]
    """JSON Schema of the arguments, its root an object."""
    call: ToolFunction
    effect: Effect = Effect.ONCE
    destructive: bool = False
    """True when a person has to approve each call."""
    writes: frozenset[str] | None = None
    """Names of what the call writes to: calls with a name in common do not overlap, and a call that
    writes to `"*"` runs alone. None stands for nothing with READ, else for `{"*"}`."""
    blocking: bool = False
    """True for a synchronous function: `call` then runs in the engine's bounded thread pool."""
    timeout_s: float = 60.0
    """Seconds until the call is given up. A call that is no READ is then of unknown outcome."""
    record_namespaces: frozenset[str] = frozenset()
    """Namespaces besides its own whose records it may register, as one that compares two of them does.
    A record with any other prefix gets that of the tool's own namespace: no system can pass for
    another. Set by whoever writes the tool, never by what a remote system says of itself."""
    inspect: Callable[[Arguments, ToolContext], Awaitable[Inspection]] | None = None
    """Finds out what became of a started call; None when the system cannot tell."""
    preview: Callable[[Arguments, ToolContext], Awaitable[str]] | None = None
    """Says what a call would do, and changes nothing: shown to the person who is to approve it. None shows
    its arguments."""
    pinned: bool = False
    """True when the model is shown its schema from the start, beside those that the host names."""
    deprecated: bool = False
    """True for a tool that the system would rather not have used: it is listed behind the others."""
    unusable: str = ""
    """Why it cannot be called: it is then set aside with this reason. Empty when it can."""
    description: str = ""
    """All that the system says of it, for a model that is about to call it; empty when that is `summary`."""

    @property
    def write_set(self) -> frozenset[str]:
        """`writes` with its default filled in."""
        if self.writes is not None:
            return self.writes
        return frozenset() if self.effect is Effect.READ else ALONE


class Namespace(Protocol):
    """One connected system. The model sees two meta-tools of it, however many tools it has."""

    @property
    def name(self) -> str:
        """Short and legal in tool names: it prefixes the meta-tools, as in `bank__invoke_tool`."""
        ...

    @property
    def guide(self) -> Path | None:
        """The SKILL.md that says which tool to use when; None when there is none."""
        ...

    def connect(self, credentials: Mapping[str, SecretStr]) -> AbstractAsyncContextManager[Sequence[Tool]]:
        """Connects for one session and yields the system's tools.

        Any exception means that it is not connected: it is reported with its message, and the
        session goes on without this namespace. The same sequence of tools is to be given each time.
        """
        ...
