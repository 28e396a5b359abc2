"""What the loopback server can answer, and how an answer becomes server-sent events.

An `Answer` is a whole reply. The other five are faults: what a client meets when the API or the
network fails. The events are Anthropic's; each other wire's file has its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Text:
    """A text block; `deltas` is the number of text_delta events it is sent in (at least 1)."""

    text: str
    deltas: int = 3


@dataclass(frozen=True, slots=True)
class Thinking:
    """A thinking block. Without `signature` the server issues one, bound to all before it."""

    thinking: str
    signature: str = ""
    deltas: int = 2


@dataclass(frozen=True, slots=True)
class RedactedThinking:
    """A redacted_thinking block. Without `data` the server issues data bound like a signature."""

    data: str = ""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool_use block.

    `input` is an object, or the raw text of the input_json_delta events: malformed, cut off or
    empty as wanted. Without `id` the server derives one from the block's position in the
    conversation.
    """

    name: str
    input: Mapping[str, object] | str = field(default_factory=dict[str, object])
    id: str = ""
    deltas: int = 3

    @property
    def raw(self) -> str:
        """The text that the deltas add up to."""
        return self.input if isinstance(self.input, str) else _compact(self.input)


Block: TypeAlias = Text | Thinking | RedactedThinking | ToolUse | Mapping[str, object]
"""A mapping is sent as it is, in content_block_start: server tools, or types nobody knows yet."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one reply; `input_tokens` are those the cache has no part in."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    thinking_tokens: int = 0

    def started(self) -> JsonObject:
        """The usage of message_start."""
        return {
            "input_tokens": self.input_tokens,
            "cache_creation_input_tokens": self.cache_write_5m + self.cache_write_1h,
            "cache_read_input_tokens": self.cache_read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.cache_write_5m,
                "ephemeral_1h_input_tokens": self.cache_write_1h,
            },
            "output_tokens": min(self.output_tokens, 1),
            "service_tier": "standard",
        }

    def total(self) -> JsonObject:
        """The usage of message_delta, which is cumulative: it replaces the former one."""
        return {
            "input_tokens": self.input_tokens,
            "cache_creation_input_tokens": self.cache_write_5m + self.cache_write_1h,
            "cache_read_input_tokens": self.cache_read,
            "output_tokens": self.output_tokens,
            "output_tokens_details": {"thinking_tokens": self.thinking_tokens},
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole reply.

    `stop_reason` is worded as the wire has it; None is "tool_use" when a tool is called, else "end_turn",
    or the wire's words for them. `usage` None is computed from the sizes of request and reply, and from
    the simulated cache if there is one.
    """

    blocks: Sequence[Block] = (Text("ok", deltas=1),)
    stop_reason: str | None = None
    usage: Usage | None = None
    stop_details: Mapping[str, object] | None = None
    stop_sequence: str | None = None

    @property
    def reason(self) -> str:
        """The stop reason as sent."""
        calls = any(isinstance(block, ToolUse) for block in self.blocks)
        return self.stop_reason or ("tool_use" if calls else "end_turn")


@dataclass(frozen=True, slots=True)
class HttpError:
    """A status instead of a stream, with the API's error body."""

    status: int
    error_type: str = "api_error"
    message: str = "Internal server error"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    code: str | None = None
    """OpenAI's `error.code`; the others have none."""
    details: Sequence[Mapping[str, object]] = ()
    """Gemini's `error.details`; the others have none."""
    raw: str | None = None
    """Sent in place of the error body: what a proxy says that speaks no API."""


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """An error within the stream, after the first `after_blocks` blocks of `answer`; then a clean end."""

    after_blocks: int = 0
    type: str = "overloaded_error"
    message: str = "Overloaded"
    answer: Answer = Answer()
    code: str | None = None
    """OpenAI's `error.code`; on Gemini's wire its numeric status. Anthropic's has none."""


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection is cut after so many events, or bytes of events; else before any byte."""

    after_events: int | None = None
    after_bytes: int | None = None
    answer: Answer = Answer()


@dataclass(frozen=True, slots=True)
class Stall:
    """Silence after so many events (None: at once), until the client leaves or the server stops."""

    after_events: int | None = None
    answer: Answer = Answer()


@dataclass(frozen=True, slots=True)
class NoStop:
    """A clean end without the events that close an answer, or after `after_events` events."""

    after_events: int | None = None
    answer: Answer = Answer()


Reply: TypeAlias = Answer | HttpError | ErrorEvent | Drop | Stall | NoStop


@dataclass(frozen=True, slots=True)
class Envelope:
    """What of a reply follows from the request and not from the script."""

    id: str
    model: str
    usage: Usage
    missed: JsonObject | None = None
    """Why the cache could not be read; None when there is nothing to say."""


def event(kind: str, **data: object) -> bytes:
    """One server-sent event."""
    return f"event: {kind}\ndata: {_compact({'type': kind, **data})}\n\n".encode()


def head_events(envelope: Envelope) -> list[bytes]:
    """The start of every stream."""
    message: JsonObject = {
        "id": envelope.id,
        "type": "message",
        "role": "assistant",
        "model": envelope.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": envelope.usage.started(),
    }
    if envelope.missed is not None:
        message["diagnostics"] = {"cache_miss_reason": envelope.missed}
    return [event("message_start", message=message)]


def block_events(index: int, block: Block) -> list[bytes]:
    """One content block. A ping follows the start of the first and precedes each other one."""
    ping = event("ping")
    start = event("content_block_start", index=index, content_block=_opening(block))
    opening = [ping, start] if index else [start, ping]
    deltas = [event("content_block_delta", index=index, delta=delta) for delta in _deltas(block)]
    return [*opening, *deltas, event("content_block_stop", index=index)]


def tail_events(answer: Answer, usage: Usage) -> list[bytes]:
    """The end of a whole stream."""
    delta = {
        "stop_reason": answer.reason,
        "stop_sequence": answer.stop_sequence,
        "stop_details": answer.stop_details,
    }
    return [event("message_delta", delta=delta, usage=usage.total()), event("message_stop")]


def wire_block(block: Block) -> JsonObject:
    """The block as a client sends it back; tool input that is no object goes back as `{}`."""
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case Thinking():
            return {"type": "thinking", "thinking": block.thinking, "signature": block.signature}
        case RedactedThinking():
            return {"type": "redacted_thinking", "data": block.data}
        case ToolUse():
            return {
                "type": "tool_use",
                "id": block.id,
                "name": block.name,
                "input": _object(block.raw),
            }
        case _:
            return dict(block)


def pieces(text: str, count: int) -> list[str]:
    """`text` in at most `count` parts of about the same length; an empty text is one empty part."""
    size = max(1, -(-len(text) // max(1, count)))
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]


def _opening(block: Block) -> JsonObject:
    match block:
        case Text():
            return {"type": "text", "text": ""}
        case Thinking():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case ToolUse():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}
        case _:
            return wire_block(block)


def _deltas(block: Block) -> list[JsonObject]:
    match block:
        case Text():
            return [{"type": "text_delta", "text": part} for part in pieces(block.text, block.deltas)]
        case Thinking():
            # omitted thinking has a signature and no text
            parts = pieces(block.thinking, block.deltas) if block.thinking else []
            thought: list[JsonObject] = [{"type": "thinking_delta", "thinking": part} for part in parts]
            return [*thought, {"type": "signature_delta", "signature": block.signature}]
        case ToolUse():
            # the real API opens every input with an empty delta
            parts = ["", *pieces(block.raw, block.deltas)] if block.raw else [""]
            return [{"type": "input_json_delta", "partial_json": part} for part in parts]
        case _:
            return []


def _object(raw: str) -> object:
    try:
        value: object = json.loads(raw)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
