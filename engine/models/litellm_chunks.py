"""A reply, put together from the chunks that litellm makes of every provider's stream.

The chunks are read as plain objects. What is kept is the message as it goes back: what a strict server
refuses is left out of it, what a provider needs again is in it, byte for byte.

Three things do not survive litellm: the words of OpenAI's refusals (an empty reply comes of them), the
difference between a whole reply of Gemini's and one that was cut off cleanly, and, over
`anthropic/...`, the place of thinking that stands between text and calls; `anthropic:` keeps it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from pydantic import JsonValue

from ...compaction.conversation import Block, Message, Raw, Reasoning, Text, ToolCall
from ...tracing import Usage
from ..errors import ModelFault
from ..scrub import json_bytes, json_object, scrub, scrub_json
from .litellm_wire import PROVIDER, REASONING_ALWAYS, Wire, provider_of, wire_call
from .model import Delta, Reply, StopReason

Chunk = Mapping[str, JsonValue]

_STOPS: Mapping[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tools",
    "length": "length",
    "content_filter": "refusal",
}
"""litellm maps every provider's reasons to these; another counts as an end: nothing is run after it."""

_RESPONSES = ("reasoning_items", "provider_specific_fields")
_GOES_BACK: Mapping[str, Sequence[str]] = {
    "openai": _RESPONSES,
    "azure": _RESPONSES,
    "gemini": ("provider_specific_fields",),
    "vertex_ai": ("provider_specific_fields",),
    "anthropic": ("thinking_blocks",),
    "bedrock": ("thinking_blocks",),
    "deepseek": ("reasoning_content",),
    "moonshot": ("reasoning_content",),
    "hosted_vllm": ("reasoning_content",),
}
"""What a provider takes back beside content and calls. The others refuse it or do not look at it."""
_SIGNED = "__thought__"
"""Between a call's id and Gemini's signature, which comes back in no other way."""
_GROWS = frozenset({"thinking", "signature"})
_NO_FIELDS: Mapping[str, JsonValue] = {}


@dataclass(slots=True)
class _Call:
    """A call in the making."""

    identity: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    def is_another(self, identity: str, name: str) -> bool:
        """Whether a piece that says this begins a call of its own.

        Servers that leave the index out have all calls at index 0. Some repeat id and name with each
        piece: that is the same call until its arguments are whole.
        """
        if identity and self.identity and identity != self.identity:
            return True
        if not name or not self.name:
            return False
        begun = self.arguments.strip()
        repeats = bool(identity) and (identity, name) == (self.identity, self.name)
        return not repeats or not begun or json_object(begun) is not None


@dataclass(frozen=True, slots=True)
class _Read:
    """A finished call: as it goes back, and as the engine knows it."""

    wire: Wire
    call: ToolCall


class ReplyReader:
    """Takes the chunks of one stream and gives the reply."""

    def __init__(self, model: str, turn: int) -> None:
        """Takes the model's name and the number of the reply, from which missing ids are made."""
        self._model = model
        self._turn = turn
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._kept: dict[str, JsonValue] = {}
        self._fields: dict[str, JsonValue] = {}
        self._thinking: dict[str, Wire] = {}
        self._usage: Mapping[str, JsonValue] = _NO_FIELDS
        self._stop = ""
        self._native = ""
        self._is_counted = True

    def feed(self, chunk: Chunk) -> list[Delta]:
        """Takes a chunk; gives what a watcher can be shown of it.

        Raises:
            ModelFault: the chunk makes no sense.
        """
        try:
            return self._take(chunk)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelFault("cut", f"a chunk of the stream cannot be read: {error!r}") from error

    def ended(self, native: str, *, is_counted: bool) -> None:
        """Takes what only the whole stream tells.

        Args:
            native: The provider's own stop reason, empty where litellm does not tell it.
            is_counted: Whether the provider sent a usage. litellm makes one up where it did not.
        """
        self._native = native
        self._is_counted = is_counted

    @property
    def usage(self) -> Usage:
        """What the provider counted; nothing where it did not: what is unknown is not guessed."""
        return usage_of(self._usage) if self._is_counted else Usage()

    def reply(self) -> Reply:
        """The whole reply.

        A stream of nothing at all looks to litellm like one that ended well.

        Raises:
            ModelFault: the stream ended before the reply did; nothing of it may be used.
        """
        text = "".join(self._texts)
        is_empty = not text and not self._calls and not (self._usage and self._is_counted)
        if not self._stop or (is_empty and self._stop == "stop"):
            raise ModelFault("cut", "the stream ended before the reply did", usage=self.usage)
        calls = self._finished()
        blocks: list[Block] = [Reasoning("".join(self._thoughts))] if any(self._thoughts) else []
        if text.strip():
            blocks.append(Text(text))
        blocks += [one.call for one in calls]
        wire = self._message(text, calls)
        raw = Raw(PROVIDER, self._model, json_bytes(wire)) if text.strip() or calls else None
        message = Message("assistant", tuple(blocks) if raw is not None else (), raw)
        return self._judged(message)

    def _judged(self, message: Message) -> Reply:
        """A reason that litellm does not know it calls "stop", or "tool_calls" where there are calls."""
        known = self._stop in _STOPS
        if self._stop in {"stop", "tool_calls"} and self._native and self._native not in _STOPS:
            known = False
        stop: StopReason = _STOPS[self._stop] if known else "end"
        detail = "" if known else f"unknown stop reason {self._native or self._stop!r}"
        return Reply(message, stop, self.usage, detail)

    def _take(self, chunk: Chunk) -> list[Delta]:
        self._usage = _inside(chunk, "usage") or self._usage
        deltas: list[Delta] = []
        for choice in cast("Sequence[Chunk]", chunk.get("choices") or ()):
            self._stop = str(choice.get("finish_reason") or self._stop)
            deltas += self._delta(_inside(choice, "delta"))
        return deltas

    def _delta(self, delta: Chunk) -> list[Delta]:
        self._keep(delta)
        for piece in cast("Sequence[Chunk]", delta.get("tool_calls") or ()):
            self._call_piece(piece)
        thought, text = delta.get("reasoning_content"), delta.get("content")
        shown: list[Delta] = []
        if isinstance(thought, str) and thought:
            self._thoughts.append(thought)
            shown.append(Delta("reasoning", thought))
        if isinstance(text, str) and text:
            self._texts.append(text)
            shown.append(Delta("text", text))
        return shown

    def _keep(self, delta: Chunk) -> None:
        items = delta.get("reasoning_items")
        if isinstance(items, list):
            self._kept["reasoning_items"] = [*_list(self._kept, "reasoning_items"), *items]
        for piece in _list(delta, "thinking_blocks"):
            self._thinking_piece(dict(cast("Wire", piece)))
        for key, value in _inside(delta, "provider_specific_fields").items():
            if isinstance(value, list):
                self._fields[key] = [*_list(self._fields, key), *value]
            elif value is not None:
                self._fields[key] = value

    def _thinking_piece(self, piece: Wire) -> None:
        """Claude's thinking comes in pieces of numbered blocks, the signature last."""
        block = self._thinking.setdefault(str(piece.pop("index", 0)), {})
        for key, value in piece.items():
            if key in _GROWS and isinstance(value, str):
                block[key] = f"{block.get(key) or ''}{value}"
            elif value is not None:
                block[key] = value

    def _call_piece(self, piece: Chunk) -> None:
        function, index = _inside(piece, "function"), piece.get("index")
        place = index if isinstance(index, int) else 0
        identity, name = str(piece.get("id") or ""), str(function.get("name") or "")
        call = self._by_index.get(place)
        if call is None or call.is_another(identity, name):
            call = self._by_index[place] = _Call()
            self._calls.append(call)
        call.identity = call.identity or identity
        call.name = call.name or name
        call.pieces.append(str(function.get("arguments") or ""))

    def _finished(self) -> list[_Read]:
        """The calls with ids that are there and differ, each with arguments that can go back."""
        finished: list[_Read] = []
        seen: set[str] = set()
        for number, call in enumerate(self._calls, 1):
            identity = scrub(call.identity)
            if not identity.partition(_SIGNED)[0] or identity in seen:
                identity = _renamed(identity, f"call_{self._turn}_{number}", seen)
            seen.add(identity)
            finished.append(_read(call, identity))
        return finished

    def _message(self, text: str, calls: Sequence[_Read]) -> Wire:
        wire: Wire = {"role": "assistant", "content": text if text.strip() else None}
        if calls:
            wire["tool_calls"] = [one.wire for one in calls]
        provider = provider_of(self._model)
        thinking = cast("JsonValue", list(self._thinking.values()))
        found = {**self._kept, "thinking_blocks": thinking, "provider_specific_fields": self._fields}
        thought = "".join(self._thoughts)
        if thought or (calls and provider in REASONING_ALWAYS):
            found["reasoning_content"] = thought
        more = {
            key: found[key] for key in _GOES_BACK.get(provider, ()) if found.get(key) not in (None, {}, [])
        }
        return {**wire, **more}


def usage_of(usage: Mapping[str, JsonValue]) -> Usage:
    """Usage split once: the prompt's count includes what the cache has a part in."""
    prompt = _inside(usage, "prompt_tokens_details")
    read = _number(prompt, "cached_tokens") or _number(usage, "cache_read_input_tokens")
    written = _number(prompt, "cache_write_tokens") or _number(prompt, "cache_creation_tokens")
    written = written or _number(usage, "cache_creation_input_tokens")
    hour = _number(_inside(prompt, "cache_creation_token_details"), "ephemeral_1h_input_tokens")
    return Usage(
        input=max(0, _number(usage, "prompt_tokens") - read - written),
        cache_read=read,
        cache_write_5m=max(0, written - hour),
        cache_write_1h=min(hour, written),
        output=_number(usage, "completion_tokens"),
        reasoning=_number(_inside(usage, "completion_tokens_details"), "reasoning_tokens"),
    )


def _renamed(identity: str, ours: str, seen: set[str]) -> str:
    """An id of ours in place of one that is missing or repeated, still signed as it was."""
    _, signed, signature = identity.partition(_SIGNED)
    while f"{ours}{signed}{signature}" in seen:
        ours += "_again"
    return f"{ours}{signed}{signature}"


def _read(call: _Call, identity: str) -> _Read:
    text = call.arguments
    arguments = json_object(text) if text.strip() else {}
    malformed = text if arguments is None else None
    known = arguments or {}
    fit = scrub_json(known)
    sent = text if known and fit == known else json_bytes(fit).decode()
    return _Read(wire_call(identity, call.name, sent), ToolCall("", call.name, known, malformed))


def _inside(fields: Mapping[str, JsonValue], key: str) -> Mapping[str, JsonValue]:
    value = fields.get(key)
    return value if isinstance(value, dict) else _NO_FIELDS


def _list(fields: Mapping[str, JsonValue], key: str) -> list[JsonValue]:
    value = fields.get(key)
    return value if isinstance(value, list) else []


def _number(fields: Mapping[str, JsonValue], key: str) -> int:
    value = fields.get(key)
    return value if isinstance(value, int) else 0
