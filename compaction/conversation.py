"""What was said: immutable messages made of immutable blocks.

The conversation only grows. What the model is sent of it is its view; until something is compacted
the view is the whole conversation. Nothing here knows a provider, a tool or the journal.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

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


@dataclass(slots=True)
class Conversation:
    """All that was said in a session, oldest first."""

    messages: list[Message] = field(default_factory=list[Message])

    def view(self) -> Sequence[Message]:
        """What the model is sent."""
        return tuple(self.messages)


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
