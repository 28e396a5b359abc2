"""What was said: immutable messages made of immutable blocks, and what the model is sent of them.

The conversation only grows. Its view is a pure fold of its messages and its passes: each pass says what
left the view, and nothing that it says ever changes a message. Nothing here knows a provider, a tool or
the journal.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, JsonValue

Role = Literal["user", "assistant", "tool", "note"]
"""Who speaks: a person, the model, the tools that answer the model's calls, or the engine, whose
notes state the date, a budget or what went wrong. Only what the user said has to stay verbatim."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words. Never empty on the wire: providers refuse empty text."""

    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the model thought, as far as the provider shows it; empty when it shows none."""

    text: str
    kind: Literal["reasoning"] = "reasoning"


@dataclass(frozen=True, slots=True)
class Media:
    """An image or a PDF document."""

    mime: str
    """`image/png`, `image/jpeg`, `image/gif`, `image/webp` or `application/pdf`."""
    base64: str
    name: str = ""
    """File name, shown to the model; empty when there is none."""
    kind: Literal["media"] = "media"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that the model asked for."""

    id: str
    """Its position in the session, such as `17.2`: second call of the 17th reply. The provider's own
    id lives in the message's raw data only: providers repeat theirs."""
    name: str
    arguments: Mapping[str, JsonValue]
    malformed: str | None = None
    """What the model wrote where it is no JSON object; `arguments` is then empty and the call is
    answered with what was wrong, never run. None for a well-formed call."""
    kind: Literal["call"] = "call"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to. Exactly one exists for each call, in the message after it."""

    call: str
    """Id of the call it answers."""
    content: str
    """As rendered once, at dispatch: capped, and free of what no wire can carry."""
    error: bool = False
    media: tuple[Media, ...] = ()
    handle: str | None = None
    """Where the whole output can be read back, byte for byte; None when `content` is all of it."""
    kind: Literal["result"] = "result"


Block = Annotated[Text | Reasoning | Media | ToolCall | ToolResult, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class Raw:
    """A provider's own form of an assistant message, resent to it verbatim."""

    provider: str
    """Which wire it belongs to, such as `anthropic`."""
    model: str
    body: bytes
    """The content as UTF-8 JSON."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message."""

    role: Role
    blocks: tuple[Block, ...]
    raw: Raw | None = None
    """Of an assistant message, what the provider sent; None when no provider made it."""

    @property
    def text(self) -> str:
        """The words of the message, without reasoning, calls and results."""
        return "".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls it asks for, in order."""
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The results it carries, in order."""
        return tuple(block for block in self.blocks if isinstance(block, ToolResult))


@dataclass(frozen=True, slots=True)
class Stub:
    """What stands in the place of a result that left the view."""

    call: str
    """Id of the call whose result it was."""
    text: str
    handle: str
    """Where the result can be read back, byte for byte."""


@dataclass(frozen=True, slots=True)
class Digest:
    """What stands in the place of the oldest messages."""

    text: str
    reach: int
    """Messages that it stands for, from the first on, but for those that stay."""
    stays: tuple[int, ...]
    """Places, from 0, of the messages before `reach` that stay: what the user said, and active skills."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One compaction, as it is recorded: what leaves the view of the messages there are."""

    end: int
    """Messages that there were. It changes none that came later."""
    stubs: tuple[Stub, ...] = ()
    digest: Digest | None = None
    """In place of that of an earlier pass; None leaves that one where it is."""
    bare_from: int | None = None
    """Place, from 0, of the first message that it changes. From there up to `end` replies go without
    reasoning, which is bound to what stood before it (WIRE.md, fact A). None where none is dropped."""

    @property
    def is_felt(self) -> bool:
        """Whether anything but reasoning left the view."""
        return bool(self.stubs) or self.digest is not None

    @property
    def is_empty(self) -> bool:
        """Whether nothing left the view at all."""
        return not self.is_felt and self.bare_from is None


class Placed(NamedTuple):
    """A message of the view."""

    place: int
    """Of the message that it shows, from 0; -1 for the digest."""
    message: Message


@dataclass(slots=True)
class Conversation:
    """All that was said in a session, oldest first, and the passes over it."""

    messages: list[Message] = field(default_factory=list[Message])
    passes: list[Pass] = field(default_factory=list[Pass])
    _kept: "_Kept | None" = field(default=None, init=False, repr=False, compare=False)

    def view(self) -> Sequence[Message]:
        """What the model is sent."""
        return tuple(placed.message for placed in self.placed())

    @property
    def digest(self) -> Digest | None:
        """The digest in the view; None when there is none."""
        return newest_digest(self.passes)

    def placed(self) -> Sequence[Placed]:
        """The view, each message with its place in the conversation.

        What the passes make of the messages before them is worked out once a pass, so that a step costs
        what it adds.
        """
        if self._kept is None or self._kept.passes != len(self.passes):
            self._kept = _Kept(len(self.passes), folded(self.messages, self.passes))
        end = self.passes[-1].end if self.passes else 0
        fresh = (Placed(place, self.messages[place]) for place in range(end, len(self.messages)))
        return (*self._kept.placed, *fresh)


class _Kept(NamedTuple):
    """The fold of the passes, of how many of them."""

    passes: int
    placed: tuple[Placed, ...]


def folded(messages: Sequence[Message], passes: Sequence[Pass]) -> tuple[Placed, ...]:
    """The view of the messages up to the end of the last pass; nothing before the first pass."""
    if not passes:
        return ()
    stubs = {stub.call: stub for one in passes for stub in one.stubs}
    digest = newest_digest(passes)
    bare = [range(one.bare_from, one.end) for one in passes if one.bare_from is not None]

    def shown(place: int) -> Placed:
        message = messages[place]
        if message.role == "assistant" and any(place in span for span in bare):
            message = without_reasoning(message)
        return Placed(place, _stubbed(message, stubs))

    end = passes[-1].end
    if digest is None:
        return tuple(map(shown, range(end)))
    summary = Placed(-1, Message("note", (Text(digest.text),)))
    return (*map(shown, digest.stays), summary, *map(shown, range(digest.reach, end)))


def newest_digest(passes: Sequence[Pass]) -> Digest | None:
    """The digest that holds; None when there is none."""
    return next((one.digest for one in reversed(passes) if one.digest is not None), None)


def without_reasoning(message: Message) -> Message:
    """A reply as far as it can be told without what was thought; it is no longer as its provider sent it."""
    blocks = tuple(block for block in message.blocks if not isinstance(block, Reasoning))
    return replace(message, blocks=blocks, raw=None)


def _stubbed(message: Message, stubs: Mapping[str, Stub]) -> Message:
    if not any(result.call in stubs for result in message.results):
        return message
    return replace(message, blocks=tuple(_stub(block, stubs) for block in message.blocks))


def _stub(block: Block, stubs: Mapping[str, Stub]) -> Block:
    if not isinstance(block, ToolResult) or block.call not in stubs:
        return block
    stub = stubs[block.call]
    return replace(block, content=stub.text, media=(), handle=stub.handle)


def unpaired(messages: Sequence[Message], since: int = 0) -> Iterator[str]:
    """Says where calls and results do not stand one to one, results next after their calls, in order.

    Providers refuse such a history for good, so a request is checked before it is sent, from message
    `since` on. The last message may be an assistant message whose results are still to come.
    """
    for place in range(since, len(messages)):
        message, before = messages[place], messages[place - 1] if place else None
        asked = [call.id for call in before.calls] if before is not None else []
        answered = [result.call for result in message.results]
        if asked != answered:
            yield f"message {place} answers calls {answered}, the one before it asked {asked}"
