"""What the engine asks of a model, whoever provides it.

An adapter is two methods: `encode` turns a part of the prompt into bytes, once; `stream` sends the
parts and gives what comes back. Everything between them, above all what is sent and when, is the
engine's.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args, runtime_checkable

from pydantic import JsonValue

from ...compaction.conversation import Message
from ...tracing import Usage


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as the model is told of it."""

    name: str
    """Legal for every provider: `^[a-zA-Z0-9_-]{1,64}$` (WIRE.md, section 6)."""
    description: str
    schema: Mapping[str, JsonValue]
    """JSON Schema with a plain object at its root."""


@dataclass(frozen=True, slots=True)
class Static:
    """Layer 1: the same bytes for every session that has the same namespaces."""

    system: str
    tools: tuple[ToolDefinition, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """Layer 2: the same bytes for the whole of a session."""

    text: str


@dataclass(frozen=True, slots=True)
class Frame:
    """What a session fixes when it is made: its first two layers."""

    static: Static
    context: Context


Part = Static | Context | Message


Effort = Literal["low", "medium", "high", "xhigh", "max"]
"""How much a model is to think, where it does not decide by itself."""
EFFORTS: tuple[Effort, ...] = get_args(Effort)
"""From the least to the most."""


@dataclass(frozen=True, slots=True)
class Request:
    """One model call."""

    segments: Sequence[bytes]
    """The encoded parts: Static, Context, then each message of the view."""
    marks: tuple[int, ...]
    """Places in `segments` whose end is worth a cache marker, ascending, four at most. An adapter
    whose provider caches by itself, or bills for markers, ignores them."""
    turn: int
    """Which reply of the session is asked for, from 1."""
    view: Sequence[Message]
    """The messages behind the segments, for adapters that look at what was said."""
    effort: Effort | None = None
    """None for the model's own judgement or default. An adapter brings it down to what the model takes;
    it is outside the cached prefix."""
    hour_marks: int = 0
    """How many of the marks, from the first, are to last an hour; the others last five minutes. A count,
    since a longer lifetime has to stand before a shorter one."""
    former: str = ""
    """The provider's own id of the reply before, for a provider that says why it could not read what it had
    cached then; empty for none."""
    said: Sequence[Message] = ()
    """All that was said, whatever left the view since, for models that follow what happened."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a reply in the making. It is a draft: "restart" takes back all before it."""

    kind: Literal["text", "reasoning", "restart"]
    text: str = ""


StopReason = Literal["end", "tools", "length", "pause", "refusal", "window"]
"""Why a reply ended: it is finished; it wants its calls run; it reached max_tokens; the provider
paused and wants the conversation resent as it is; it was refused; the window is full. Calls are run
after "tools" and in no other case."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply."""

    message: Message
    """Its calls carry any ids; the engine numbers them."""
    stop: StopReason
    usage: Usage
    detail: str = ""
    """What the provider says of the stop, such as the category of a refusal; empty when nothing."""
    id: str = ""
    """The provider's own; empty where the adapter has no use for it."""
    cache_miss: str = ""
    """Why the provider could not read from its cache what it had cached for the request before, in its own
    words; empty when it does not say."""


def clamp(wanted: Effort, supported: Sequence[Effort]) -> Effort | None:
    """The nearest supported effort that is not above; the lowest one when all are above.

    None when nothing is supported.
    """
    known: list[Effort] = [each for each in EFFORTS if each in supported]
    not_above: list[Effort] = [each for each in known if EFFORTS.index(each) <= EFFORTS.index(wanted)]
    return not_above[-1] if not_above else next(iter(known), None)


class Model(Protocol):
    """A model behind a wire."""

    @property
    def name(self) -> str:
        """As configured, such as `anthropic:claude-opus-5-5`."""
        ...

    def encode(self, part: Part, before: Message | None = None) -> bytes:
        """The part as its provider wants it. Pure: the same part gives the same bytes.

        `before` is the message before a message: its raw data knows the provider's ids of the calls
        that the part answers.
        """
        ...

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """Yields deltas and ends in one Reply.

        Raises:
            ModelFault: the call gave no usable reply, for the classified reason.
        """
        ...


@dataclass(frozen=True, slots=True)
class Thinking:
    """How a model thinks, as far as it can be told."""

    adaptive: bool = False
    """Whether it decides by itself, turn by turn, how much to think."""
    efforts: tuple[Effort, ...] = ()
    """Those that a request may choose from; empty when it takes none, when it is unknown, and when it
    has been settled already."""
    rebinds: bool = False
    """Whether the provider itself leaves out reasoning that is bound to another prefix, so that a pass need
    not (WIRE.md, fact A)."""


@runtime_checkable
class SaysHowItThinks(Protocol):
    """A model that knows how it is configured to think. Of others, the catalog tells."""

    @property
    def thinking(self) -> Thinking:
        """How it thinks."""
        ...


@runtime_checkable
class TakesMarkers(Protocol):
    """A model whose provider caches what markers ask for, for as long as they say. Others need none."""

    @property
    def takes_markers(self) -> bool:
        """Whether the marks of a request reach the provider."""
        ...


@runtime_checkable
class KeepsWarm(Protocol):
    """A model that can have a prompt read in its provider's cache without a reply, so that it stays there."""

    async def warm(self, request: Request) -> Usage:
        """Sends the prompt and gives what it cost.

        Raises:
            ModelFault: the call failed, for the classified reason.
        """
        ...


@runtime_checkable
class ShowsBodies(Protocol):
    """A model that builds the body of its requests itself, and can show it without sending it."""

    def body(self, request: Request) -> bytes:
        """The body. Pure: the same request gives the same bytes."""
        ...


@runtime_checkable
class HoldsConnections(Protocol):
    """A model that keeps connections open between requests."""

    async def close(self) -> None:
        """Closes them. A later request connects anew, so a model may serve more than one engine."""
        ...
