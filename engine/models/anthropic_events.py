"""A reply of Anthropic's, read from the events of its stream.

The events are read as they come off the wire, as JSON: what is resent later is what was received, and
a kind of block that is not known here passes through.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import cast

from pydantic import JsonValue

from ...compaction.conversation import Block, Message, Raw, Reasoning, Text, ToolCall
from ...tracing import Usage
from ..errors import ModelFault
from ..scrub import json_bytes, json_object
from .anthropic_wire import PROVIDER, is_blank
from .model import Delta, Reply, StopReason

Event = Mapping[str, JsonValue]

_STOPS: Mapping[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "pause_turn": "pause",
    "refusal": "refusal",
    "model_context_window_exceeded": "window",
}
"""A stop reason that is not known here counts as an end: nothing is run after it."""

_PIECES: Mapping[str, tuple[str, str]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("partial_json", "input"),
}
"""Per kind of delta: where its piece stands, and which field of the block it extends."""


@dataclass(slots=True)
class _Partial:
    """A block in the making."""

    start: dict[str, JsonValue]
    pieces: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    citations: list[JsonValue] = field(default_factory=list[JsonValue])


class ReplyReader:
    """Takes the events of one stream and gives the reply."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._blocks: dict[int, _Partial] = {}
        self._usage: dict[str, JsonValue] = {}
        self._stop: str | None = None
        self._details: JsonValue = None
        self._id = ""
        self._cache_miss = ""
        self._finished = False

    def feed(self, event: Event) -> Delta | None:
        """Takes an event; gives what a watcher can be shown of it.

        Raises:
            ModelFault: the event makes no sense where it stands.
        """
        try:
            return self._take(event)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelFault("cut", f"an event of the stream cannot be read: {error!r}") from error

    def reply(self) -> Reply:
        """The whole reply.

        Raises:
            ModelFault: the stream ended before the reply did; nothing of it may be used.
        """
        if not self._finished or self._stop is None:
            raise ModelFault("cut", "the stream ended before the reply did")
        contents = [_content(self._blocks[index]) for index in sorted(self._blocks)]
        kept = [one for one in contents if not is_blank(one.wire)]
        _tell_apart(kept)
        raw = Raw(PROVIDER, self._model, json_bytes([cast("JsonValue", one.wire) for one in kept]))
        blocks = tuple(block for one in kept if (block := _block(one)) is not None)
        message = Message("assistant", blocks, raw if kept else None)
        stop = _STOPS.get(self._stop, "end")
        return Reply(message, stop, self.usage, self._detail(), self._id, self._cache_miss)

    @property
    def usage(self) -> Usage:
        """What was counted so far."""
        return _usage(self._usage)

    def _take(self, event: Event) -> Delta | None:
        match event.get("type"):
            case "message_start":
                self._message_start(event)
            case "content_block_start":
                self._block_start(event)
            case "content_block_delta":
                return self._block_delta(event)
            case "message_delta":
                self._message_delta(event)
            case "message_stop":
                self._finished = True
            case _:  # pings, ends of blocks, and kinds that are not known here
                pass
        return None

    def _detail(self) -> str:
        if isinstance(self._details, dict):
            told = (self._details.get(key) for key in ("category", "explanation"))
            return ": ".join(str(one) for one in told if one)
        return "" if self._stop in _STOPS else f"unknown stop reason {self._stop!r}"

    def _message_start(self, event: Event) -> None:
        message = cast("Mapping[str, JsonValue]", event["message"])
        self._id = str(message.get("id") or "")
        self._diagnosed(message)
        self._count(message.get("usage"))

    def _block_start(self, event: Event) -> None:
        start = dict(cast("Mapping[str, JsonValue]", event["content_block"]))
        self._blocks[_index(event)] = _Partial(start)

    def _block_delta(self, event: Event) -> Delta | None:
        partial = self._blocks[_index(event)]
        delta = cast("Mapping[str, JsonValue]", event["delta"])
        kind = str(delta["type"])
        if kind == "citations_delta":
            partial.citations.append(delta["citation"])
            return None
        if kind not in _PIECES:
            return None
        source, target = _PIECES[kind]
        piece = str(delta[source])
        partial.pieces.setdefault(target, []).append(piece)
        if kind == "text_delta":
            return Delta("text", piece)
        return Delta("reasoning", piece) if kind == "thinking_delta" else None

    def _message_delta(self, event: Event) -> None:
        delta = cast("Mapping[str, JsonValue]", event["delta"])
        if delta.get("stop_reason") is not None:
            self._stop = str(delta["stop_reason"])
        self._details = delta.get("stop_details") or self._details
        self._diagnosed(event)
        self._count(event.get("usage"))

    def _diagnosed(self, told: Mapping[str, JsonValue]) -> None:
        """Why the cache was not read: it may come late, since it is found out beside the reply."""
        reason = _inside(_inside(told, "diagnostics"), "cache_miss_reason")
        if reason:
            tokens = _number(reason, "cache_missed_input_tokens")
            self._cache_miss = f"{reason.get('type')}{f' ({tokens} tokens)' if tokens else ''}"

    def _count(self, usage: JsonValue) -> None:
        """Counts are cumulative: what is said later replaces what was said before."""
        if isinstance(usage, dict):
            self._usage.update((key, value) for key, value in usage.items() if value is not None)


@dataclass(slots=True)
class _Content:
    """A finished block: as it is resent, and what could not be resent."""

    wire: dict[str, JsonValue]
    malformed: str | None = None


def _index(event: Event) -> int:
    return int(cast("int", event["index"]))


def _content(partial: _Partial) -> _Content:
    wire = dict(partial.start)
    malformed: str | None = None
    for target, pieces in partial.pieces.items():
        text = "".join(pieces)
        if target != "input":
            wire[target] = f"{wire.get(target) or ''}{text}"
        elif text.strip():
            arguments = json_object(text)
            malformed = text if arguments is None else None
            wire["input"] = arguments or {}
    if partial.citations:
        wire["citations"] = partial.citations
    if wire.get("type") == "tool_use" and not isinstance(wire.get("input"), dict):
        malformed, wire["input"] = str(wire.get("input")), {}
    return _Content(wire, malformed)


def _tell_apart(contents: list[_Content]) -> None:
    """Calls of one reply need different ids, and some servers repeat theirs."""
    seen: set[str] = set()
    for one in contents:
        if one.wire.get("type") != "tool_use":
            continue
        identity = str(one.wire.get("id"))
        while identity in seen:
            identity += "_again"
        one.wire["id"] = identity
        seen.add(identity)


def _block(content: _Content) -> Block | None:
    make = _BLOCKS.get(str(content.wire.get("type")))
    return make(content) if make is not None else None


def _text(content: _Content) -> Block:
    return Text(str(content.wire["text"]))


def _thinking(content: _Content) -> Block:
    return Reasoning(str(content.wire.get("thinking") or ""))


def _tool_use(content: _Content) -> Block:
    arguments = cast("dict[str, JsonValue]", content.wire["input"])
    return ToolCall("", str(content.wire.get("name")), arguments, content.malformed)


_BLOCKS: Mapping[str, Callable[[_Content], Block]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _thinking,
    "tool_use": _tool_use,
}
"""Blocks that are known here; the others are resent as they came and not looked into."""


def usage_of(message: object) -> Usage:
    """The usage of a whole message that was not streamed."""
    return (
        _usage(_inside(cast("Mapping[str, JsonValue]", message), "usage"))
        if isinstance(message, dict)
        else Usage()
    )


def _usage(usage: Mapping[str, JsonValue]) -> Usage:
    writes = _inside(usage, "cache_creation")
    hour = _number(writes, "ephemeral_1h_input_tokens")
    return Usage(
        input=_number(usage, "input_tokens"),
        cache_read=_number(usage, "cache_read_input_tokens"),
        cache_write_5m=max(0, _number(usage, "cache_creation_input_tokens") - hour),
        cache_write_1h=hour,
        output=_number(usage, "output_tokens"),
        reasoning=_number(_inside(usage, "output_tokens_details"), "thinking_tokens"),
    )


def _inside(usage: Mapping[str, JsonValue], key: str) -> Mapping[str, JsonValue]:
    value = usage.get(key)
    return value if isinstance(value, dict) else {}


def _number(usage: Mapping[str, JsonValue], key: str) -> int:
    value = usage.get(key)
    return value if isinstance(value, int) else 0
