"""What is said, in Anthropic's words: one small function a kind of part or block.

A request body is put together from segments that were encoded once. Cache markers are spliced into a
segment's end when it is sent, so the kept bytes never change.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import cast

from pydantic import JsonValue

from ...compaction.conversation import Block, Media, Message, Reasoning, Text, ToolCall, ToolResult
from ..scrub import json_bytes
from .model import Context, Part, Request, Static, ToolDefinition

PROVIDER = "anthropic"
MOST_MARKS = 4
"""A fifth marker is refused (WIRE.md, section 1)."""

_MARK = b',"cache_control":{"type":"ephemeral"}'
"""Five minutes, the default, so that it is not said."""
_HOUR_MARK = b',"cache_control":{"type":"ephemeral","ttl":"1h"}'
_END_OF_BLOCK = 1
"""Bytes after the place for a marker where a segment is one block: `}`."""
_END_OF_MESSAGE = 3
"""The same where it is a message: `}]}`."""
_HEAD = 2

Wire = dict[str, JsonValue]


def encode(part: Part, before: Message | None, model: str) -> bytes:
    """One part as a segment of the body for a model."""
    if isinstance(part, Static):
        tools = json_bytes([_definition(tool) for tool in part.tools])
        head = b'"tools":%b,' % tools if part.tools else b""
        return b'%b"system":[%b' % (head, json_bytes(_text(part.system)))
    if isinstance(part, Context):
        return json_bytes(_text(part.text))
    if part.role == "assistant":
        return b'{"role":"assistant","content":%b}' % _reply(part, model)
    ids: Mapping[str, str] = call_ids(before, model) if before is not None else {}
    blocks = [wire for block in part.blocks for wire in _said(block, ids, part.role)]
    return b'{"role":"user","content":%b}' % json_bytes(cast("JsonValue", blocks))


def join(options: Mapping[str, JsonValue], request: Request, last: Mapping[str, JsonValue]) -> bytes:
    """The body of a request; `last` are options that stand behind the messages.

    It is copied once: in a long run that is megabytes, and most of what a step costs more than the
    first one did.
    """
    marked = list(request.segments)
    for number, place in list(enumerate(request.marks))[-MOST_MARKS:]:
        end = _END_OF_BLOCK if place < _HEAD else _END_OF_MESSAGE
        segment = marked[place]
        mark = _HOUR_MARK if number < request.hour_marks else _MARK
        marked[place] = segment[:-end] + mark + segment[-end:]
    static, context, *messages = marked
    messages[:1] = [b'%b],"messages":[%b' % (context, b"".join(messages[:1]))]
    messages[-1] += b"]," + json_bytes(dict(last))[1:] if last else b"]}"
    return b",".join((json_bytes(dict(options))[:-1], static, *messages))


def call_ids(message: Message, model: str) -> Mapping[str, str]:
    """The id of each call of a message on the wire, by ours."""
    ours = [call.id for call in message.calls]
    body = _verbatim(message, model)
    if body is None:
        return {call: _own_id(call) for call in ours}
    content = cast("list[Wire]", json.loads(body))
    theirs = [str(block["id"]) for block in content if block.get("type") == "tool_use"]
    return dict(zip(ours, theirs, strict=True))


def is_blank(block: Mapping[str, object]) -> bool:
    """Whether a block is a text that the API sends at times and never takes back."""
    return block.get("type") == "text" and not str(block.get("text", "")).strip()


def _verbatim(message: Message, model: str) -> bytes | None:
    """The reply as this model sent it; None for one of another model, whose thinking it refuses."""
    raw = message.raw
    return raw.body if raw is not None and (raw.provider, raw.model) == (PROVIDER, model) else None


def _own_id(call: str) -> str:
    return f"call_{call.replace('.', '_')}"


def _definition(tool: ToolDefinition) -> JsonValue:
    schema = cast("JsonValue", dict(tool.schema))
    return {"name": tool.name, "description": tool.description, "input_schema": schema}


def _text(text: str) -> Wire:
    return {"type": "text", "text": text}


def _reply(message: Message, model: str) -> bytes:
    """A reply as it came, or as far as another model's can be told here."""
    body = _verbatim(message, model)
    if body is not None:
        return body
    ids = call_ids(message, model)
    blocks = [wire for block in message.blocks for wire in _said(block, ids, message.role)]
    return json_bytes(cast("JsonValue", blocks or [_text("(nothing said)")]))


def _said(block: Block, ids: Mapping[str, str], role: str) -> Iterable[Wire]:
    if isinstance(block, Text) and role == "note":
        return [_text(f"<note>{block.text}</note>")]
    return _BLOCKS[type(block)](block, ids)


def _said_text(block: Text, ids: Mapping[str, str]) -> Iterable[Wire]:
    return [_text(block.text)] if block.text.strip() else []


def _said_reasoning(block: Reasoning, ids: Mapping[str, str]) -> Iterable[Wire]:
    """Thinking goes back only as it came, signed; another provider's is left out."""
    return []


def _said_media(block: Media, ids: Mapping[str, str]) -> Iterable[Wire]:
    source: Wire = {"type": "base64", "media_type": block.mime, "data": block.base64}
    if block.mime == "application/pdf":
        return [{"type": "document", "source": source, "title": block.name or "document"}]
    return [{"type": "image", "source": source}]


def _said_call(block: ToolCall, ids: Mapping[str, str]) -> Iterable[Wire]:
    arguments = cast("JsonValue", dict(block.arguments))
    return [{"type": "tool_use", "id": ids[block.id], "name": block.name, "input": arguments}]


def _said_result(block: ToolResult, ids: Mapping[str, str]) -> Iterable[Wire]:
    content: JsonValue = block.content
    if block.media:
        shown = [wire for media in block.media for wire in _said_media(media, ids)]
        content = cast("JsonValue", [_text(block.content), *shown])
    wire: Wire = {"type": "tool_result", "tool_use_id": ids[block.call], "content": content}
    return [{**wire, "is_error": True}] if block.error else [wire]


_BLOCKS: Mapping[type, Callable[..., Iterable[Wire]]] = {
    Text: _said_text,
    Reasoning: _said_reasoning,
    Media: _said_media,
    ToolCall: _said_call,
    ToolResult: _said_result,
}
