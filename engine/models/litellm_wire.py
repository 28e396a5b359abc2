"""What is said, in the words of chat completions: one small function a kind of part or block.

A segment of a message is the inside of a JSON array: one or more chat messages, joined by commas. A
batch of results is a message a result, and images among them follow in a message of the user, for a
tool's message holds text alone. A reply goes back as it was put together from its chunks.

litellm takes objects and changes some of them on its way, so each request reads all its segments
anew: after 400 steps that takes 2 to 4 ms, of the 25 to 120 that litellm takes for the same messages.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from ...compaction.conversation import Block, Media, Message, Reasoning, Text, ToolCall, ToolResult
from ..scrub import json_bytes
from .model import Context, Part, Request, Static, ToolDefinition

PROVIDER = "litellm"
REASONING_ALWAYS = frozenset({"deepseek"})
"""Providers that want reasoning back with each call, were it empty."""

_HEAD = 2
_MOST_MARKS = 4
_FIVE_MINUTES: JsonValue = {"type": "ephemeral"}
_HOUR: JsonValue = {"type": "ephemeral", "ttl": "1h"}
_MARKED = frozenset({"anthropic"})
"""Providers that need cache markers. OpenAI and Gemini cache by themselves, and Gemini would bill."""
_READS_PDF = frozenset({"anthropic", "azure", "bedrock", "gemini", "openai", "openrouter", "vertex_ai"})
_BLIND = frozenset({"deepseek"})
"""Providers for which litellm takes images out of a message and says nothing."""
_OF_RESPONSES = ("reasoning_items", "provider_specific_fields")
_ILLEGAL = re.compile("[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64

Wire = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request's prompt, as litellm takes it."""

    messages: list[Wire]
    tools: list[JsonValue]


def provider_of(model: str) -> str:
    """The provider in a name such as `openai/gpt-5.6`."""
    return model.partition("/")[0]


def encode(part: Part, before: Message | None, model: str) -> bytes:
    """One part as a segment for a model."""
    if isinstance(part, Static):
        tools = cast("JsonValue", [_definition(tool) for tool in part.tools])
        return json_bytes({"system": part.system, "tools": tools})
    if isinstance(part, Context):
        return json_bytes(part.text)
    if part.role == "assistant":
        return _verbatim(part, model) or json_bytes(_reply(part, provider_of(model)))
    ids: Mapping[str, str] = call_ids(before, model) if before is not None else {}
    messages = [*_results(part, ids), *_words(part, provider_of(model))]
    return b",".join(json_bytes(message) for message in messages)


def takes_markers(model: str) -> bool:
    """Whether the provider of a model needs cache markers."""
    return provider_of(model) in _MARKED


def prompt_of(request: Request, model: str) -> Prompt:
    """The messages and tools of a request: one system message, then what was said."""
    segments = request.segments
    static = cast("dict[str, JsonValue]", json.loads(segments[0]))
    layers = [str(static["system"]), str(json.loads(segments[1]))]
    tools = cast("list[JsonValue]", static["tools"])
    if takes_markers(model):
        return Prompt(_marked(layers, segments[_HEAD:], _markers(request)), tools)
    system: Wire = {"role": "system", "content": "\n\n".join(filter(str.strip, layers))}
    return Prompt([system, *_read(segments[_HEAD:])], tools)


def for_chat(messages: list[Wire]) -> list[Wire]:
    """The messages of one request, rid of what only the Responses API takes back."""
    for message in messages:
        for key in _OF_RESPONSES:
            message.pop(key, None)
    return messages


def call_ids(message: Message, model: str) -> Mapping[str, str]:
    """The id of each call of a message on the wire, by ours."""
    ours = [call.id for call in message.calls]
    body = _verbatim(message, model)
    if body is None:
        return {call: _own_id(call) for call in ours}
    calls = cast("list[Wire]", json.loads(body).get("tool_calls") or [])
    return dict(zip(ours, (str(call["id"]) for call in calls), strict=True))


def wire_call(identity: str, name: str, arguments: str) -> Wire:
    """A call as it goes out; a name that a model made up has to be legal there too."""
    legal = _ILLEGAL.sub("_", name)[:_LONGEST_NAME] or "unnamed"
    return {"id": identity, "type": "function", "function": {"name": legal, "arguments": arguments}}


def _read(segments: Sequence[bytes]) -> list[Wire]:
    return cast("list[Wire]", json.loads(b"[%b]" % b",".join(segments)))


def _markers(request: Request) -> Mapping[int, JsonValue]:
    """The cache marker of each place that has one."""
    numbered = list(enumerate(request.marks))[-_MOST_MARKS:]
    return {place: _HOUR if number < request.hour_marks else _FIVE_MINUTES for number, place in numbered}


def _marked(layers: Sequence[str], segments: Sequence[bytes], markers: Mapping[int, JsonValue]) -> list[Wire]:
    """The messages with a cache marker where one is wanted: at the end of a layer or of a message."""
    blocks: list[JsonValue] = []
    for place, layer in enumerate(layers):
        if layer.strip():
            blocks.append(_with_marker(_text(layer), markers.get(place)))
    messages: list[Wire] = [{"role": "system", "content": blocks}]
    for place, segment in enumerate(segments, _HEAD):
        said = _read([segment])
        messages += [*said[:-1], _with_mark(said[-1], markers[place])] if place in markers else said
    return messages


def _with_mark(message: Wire, marker: JsonValue) -> Wire:
    """A tool's message is marked as a whole, another one at its last part."""
    if message["role"] == "tool":
        return _with_marker(message, marker)
    content = message["content"]
    parts: list[JsonValue] = content if isinstance(content, list) else [_text(str(content))]
    return {**message, "content": [*parts[:-1], _with_marker(cast("Wire", parts[-1]), marker)]}


def _with_marker(fields: Wire, marker: JsonValue) -> Wire:
    return {**fields, "cache_control": marker} if marker else fields


def _verbatim(message: Message, model: str) -> bytes | None:
    """The reply as this model gave it; None for another model's, whose reasoning it refuses."""
    raw = message.raw
    return raw.body if raw is not None and (raw.provider, raw.model) == (PROVIDER, model) else None


def _own_id(call: str) -> str:
    return f"call_{call.replace('.', '_')}"


def _definition(tool: ToolDefinition) -> JsonValue:
    schema = cast("JsonValue", dict(tool.schema))
    function: Wire = {"name": tool.name, "description": tool.description, "parameters": schema}
    return {"type": "function", "function": function}


def _text(text: str) -> Wire:
    return {"type": "text", "text": text}


def _reply(message: Message, provider: str) -> Wire:
    """Another model's reply, as far as it can be told here: its reasoning is left out."""
    text = "".join(block.text for block in message.blocks if isinstance(block, Text))
    calls: list[JsonValue] = [
        wire_call(_own_id(call.id), call.name, json_bytes(dict(call.arguments)).decode())
        for call in message.calls
    ]
    content = text if text.strip() else None if calls else "(nothing said)"
    wire: Wire = {"role": "assistant", "content": content}
    if not calls:
        return wire
    thought: Wire = {"reasoning_content": ""} if provider in REASONING_ALWAYS else {}
    return {**wire, "tool_calls": calls, **thought}


def _results(message: Message, ids: Mapping[str, str]) -> Iterable[Wire]:
    for result in message.results:
        content = f"Error: {result.content}" if result.error else result.content
        said = content if content.strip() else "(empty)"
        yield {"role": "tool", "tool_call_id": ids[result.call], "content": said}


def _words(message: Message, provider: str) -> Iterable[Wire]:
    """What a person or the engine says, and the images of results: one message of the user."""
    parts = [part for block in message.blocks for part in _said(block, message.role, provider)]
    if any(part["type"] != "text" for part in parts):
        return [{"role": "user", "content": cast("JsonValue", parts)}]
    texts = [str(part["text"]) for part in parts]
    if not texts and message.results:
        return []
    return [{"role": "user", "content": "\n\n".join(texts) or "(nothing said)"}]


def _said(block: Block, role: str, provider: str) -> Iterable[Wire]:
    if isinstance(block, Text) and role == "note":
        return [_text(f"<note>{block.text}</note>")]
    return _BLOCKS[type(block)](block, provider)


def _said_text(block: Text, provider: str) -> Iterable[Wire]:
    return [_text(block.text)] if block.text.strip() else []


def _said_media(block: Media, provider: str) -> Iterable[Wire]:
    is_document = block.mime == "application/pdf"
    name = block.name or ("document.pdf" if is_document else "image")
    if provider in _BLIND or (is_document and provider not in _READS_PDF):
        kind = "PDF document" if is_document else "image"
        return [_text(f"({kind} that this model cannot be shown: {name})")]
    data = f"data:{block.mime};base64,{block.base64}"
    if is_document:
        return [{"type": "file", "file": {"filename": name, "file_data": data}}]
    return [{"type": "image_url", "image_url": {"url": data}}]


def _said_result(block: ToolResult, provider: str) -> Iterable[Wire]:
    """The images of a result; its text is a message of its own."""
    shown = [part for media in block.media for part in _said_media(media, provider)]
    return [_text(f"Shown by call {_own_id(block.call)}:"), *shown] if shown else []


def _left_out(block: Reasoning | ToolCall, provider: str) -> Iterable[Wire]:
    """Only a model's own messages hold these."""
    return []


_BLOCKS: Mapping[type, Callable[..., Iterable[Wire]]] = {
    Text: _said_text,
    Reasoning: _left_out,
    Media: _said_media,
    ToolCall: _left_out,
    ToolResult: _said_result,
}
