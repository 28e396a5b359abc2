"""OpenAI's `POST /v1/chat/completions`, and what servers that imitate it do differently."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal

from loopback_answers import (
    Answer,
    Block,
    ErrorEvent,
    HttpError,
    RedactedThinking,
    Text,
    Thinking,
    ToolUse,
    Usage,
    pieces,
)
from loopback_cache import AutomaticCache
from loopback_openai_rules import Chat, Extras, refusal
from loopback_prompt import JsonObject, answered, as_object, digest
from loopback_script import Seen
from loopback_wire import (
    MAX_BODY_BYTES,
    Events,
    Plan,
    Streamed,
    answer_of,
    planned,
    spoken,
    status_plan,
    stream_head,
)

CREATED = 1_767_225_600
"""When everything here was made, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs between servers; as it stands, OpenAI's own way."""

    reasoning: Literal["reasoning_content", "reasoning"] | None = None
    """The delta that carries thinking; None keeps it and only counts its tokens."""
    whole_calls: bool = False
    """A call comes in one chunk, its arguments whole."""
    index: Literal["given", "zero", "missing"] = "given"
    """Of a call within the reply; "zero" is the same for all."""
    ids: Literal["given", "repeated", "empty", "missing"] = "given"
    """Of calls that are scripted without one; "repeated" is the same at every position."""
    stop_with_calls: str = "tool_calls"
    """finish_reason of a reply with calls."""
    usage: Literal["asked", "always", "never"] = "asked"
    """Whether usage is sent; "always" puts it in the chunk that has the finish_reason."""
    extras: Extras = "refuse"
    """What becomes of message fields that OpenAI's reference does not name."""
    parses_arguments: bool = True
    """Refuse arguments of a replayed call that are no JSON object. OpenAI itself takes any string."""


OPENAI = Dialect()
DEEPSEEK = Dialect(reasoning="reasoning_content", extras="require_reasoning")
VLLM = Dialect(reasoning="reasoning", extras="ignore")
OLLAMA = Dialect(
    reasoning="reasoning", whole_calls=True, index="zero", stop_with_calls="stop", extras="ignore"
)
"""As older releases were; newer ones count the calls and finish with tool_calls."""
LLAMA_CPP = Dialect(
    reasoning="reasoning_content", whole_calls=True, index="missing", ids="empty", extras="ignore"
)
"""As older releases were; newer ones send deltas and make ids."""


class OpenAI:
    """The wire."""

    def __init__(self, dialect: Dialect = OPENAI, cache: AutomaticCache | None = None) -> None:
        self._dialect = dialect
        self._cache = cache

    def unroutable(self, method: str, seen: Seen) -> HttpError | None:
        """Another path, no Bearer token or too large a body."""
        return unroutable(method, seen, "/v1/chat/completions")

    def answered(self, body: JsonObject) -> int:
        """The number of assistant messages."""
        return answered(body)

    def exchange(self, seen: Seen, number: str) -> ChatExchange:
        """Read one request."""
        return ChatExchange(seen, number, self._dialect, self._cache)

    def refused(self, complaint: str) -> HttpError:
        """A complaint as this API's 400."""
        return HttpError(400, "invalid_request_error", complaint)

    def error(self, fault: HttpError, number: str) -> Plan:
        """An error response as the API words it."""
        return error_plan(fault, number)


class ChatExchange:
    """One request for a chat completion."""

    def __init__(
        self, seen: Seen, number: str, dialect: Dialect, cache: AutomaticCache | None = None
    ) -> None:
        self._seen = seen
        self._number = number
        self._dialect = dialect
        self._cache = cache
        self._body: JsonObject = seen.json or {}

    def refusal(self) -> HttpError | None:
        """The first complaint of the rules."""
        dialect = self._dialect
        complaint = refusal(Chat(self._body, dialect.extras, parses_arguments=dialect.parses_arguments))
        return None if complaint is None else HttpError(400, "invalid_request_error", complaint)

    def plan(self, reply: Streamed) -> Plan:
        """The response that streams the reply."""
        answer = answer_of(reply)
        usage = answer.usage or self._usage(answer)
        calls = count()
        blocks = [self._block(block, calls) for block in answer.blocks]
        opening = [self._chunk({"role": "assistant", "content": "", "refusal": None})]
        events = Events(opening, blocks, self._closing(answer, usage))
        return planned(reply, events, stream_head("x-request-id", self._number), error_event)

    def _usage(self, answer: Answer) -> Usage:
        plain = Usage(input_tokens=len(self._seen.body) // 4)
        counted = self._cache.account(self._body) if self._cache else plain
        said = spoken(answer)
        return replace(counted, output_tokens=said.output_tokens, thinking_tokens=said.thinking_tokens)

    def _block(self, block: Block, calls: count[int]) -> list[bytes]:
        match block:
            case Text():
                deltas = [{"content": part} for part in pieces(block.text, block.deltas)]
            case Thinking():
                deltas = self._thoughts(block)
            case RedactedThinking():
                deltas = []
            case ToolUse():
                deltas = [{"tool_calls": [part]} for part in self._call(block, next(calls))]
            case _:
                deltas = [dict(block)]
        return [self._chunk(delta) for delta in deltas]

    def _thoughts(self, block: Thinking) -> list[JsonObject]:
        name = self._dialect.reasoning
        return [] if name is None else [{name: part} for part in pieces(block.thinking, block.deltas)]

    def _call(self, block: ToolUse, n: int) -> list[JsonObject]:
        index = {"given": {"index": n}, "zero": {"index": 0}, "missing": {}}[self._dialect.index]
        named = {**index, **self._id(block, n), "type": "function"}
        if self._dialect.whole_calls:
            return [{**named, "function": {"name": block.name, "arguments": block.raw}}]
        opening: JsonObject = {**named, "function": {"name": block.name, "arguments": ""}}
        parts = pieces(block.raw, block.deltas) if block.raw else []
        return [opening, *({**index, "function": {"arguments": part}} for part in parts)]

    def _id(self, block: ToolUse, n: int) -> JsonObject:
        if block.id:
            return {"id": block.id}
        position = answered(self._body)
        made = {"given": f"call_{position:04}_{n}", "repeated": f"call_{n}", "empty": ""}
        return {} if self._dialect.ids == "missing" else {"id": made[self._dialect.ids]}

    def _closing(self, answer: Answer, usage: Usage) -> list[bytes]:
        counted = chat_usage(usage)
        options = as_object(self._body.get("stream_options")) or {}
        asked = options.get("include_usage") is True
        last: JsonObject = {"usage": counted} if self._dialect.usage == "always" else {}
        reason = self._reason(answer)
        closing = [self._chunk({}, reason, **last)] if reason or last else []
        if self._dialect.usage == "asked" and asked:
            closing.append(self._event(choices=[], usage=counted))
        return [*closing, b"data: [DONE]\n\n"]

    def _reason(self, answer: Answer) -> str:
        """An empty stop reason is one that never comes, though the stream closes as usual."""
        if answer.stop_reason is not None:
            return answer.stop_reason
        calls = any(isinstance(block, ToolUse) for block in answer.blocks)
        return self._dialect.stop_with_calls if calls else "stop"

    def _chunk(self, delta: JsonObject, reason: str = "", **more: object) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason or None}
        return self._event(choices=[choice], **more)

    def _event(self, **fields: object) -> bytes:
        return data_event(
            {
                "id": f"chatcmpl-{digest(self._seen.body)}",
                "object": "chat.completion.chunk",
                "created": CREATED,
                "model": self._body.get("model"),
                "system_fingerprint": "fp_loopback",
                **fields,
            }
        )


def chat_usage(usage: Usage) -> JsonObject:
    """Usage as a chat completion has it: the prompt's tokens include those of the cache."""
    written = usage.cache_write_5m + usage.cache_write_1h
    prompt = usage.input_tokens + usage.cache_read + written
    cached = {"cached_tokens": usage.cache_read, "cache_write_tokens": written, "audio_tokens": 0}
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output_tokens,
        "total_tokens": prompt + usage.output_tokens,
        "prompt_tokens_details": cached,
        "completion_tokens_details": {"reasoning_tokens": usage.thinking_tokens, "audio_tokens": 0},
    }


def data_event(fields: JsonObject) -> bytes:
    """A server-sent event without a name."""
    return f"data: {json.dumps(fields, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def error_event(fault: ErrorEvent) -> bytes:
    """An error in place of a chunk."""
    error = {"message": fault.message, "type": fault.type, "param": None, "code": fault.code}
    return data_event({"error": error})


def error_plan(fault: HttpError, number: str) -> Plan:
    """An error response as OpenAI words it."""
    error: JsonObject = {
        "message": fault.message, "type": fault.error_type, "param": None, "code": fault.code
    }  # fmt: skip
    return status_plan(fault, {"error": error}, {"x-request-id": number})


def unroutable(method: str, seen: Seen, path: str) -> HttpError | None:
    """Another path, no Bearer token or too large a body."""
    if method != "POST" or seen.path.partition("?")[0] != path:
        invalid = f"Invalid URL ({method} {seen.path})"
        return HttpError(404, "invalid_request_error", invalid)
    if not seen.headers.get("authorization", "").startswith("Bearer "):
        missing = "You didn't provide an API key."
        return HttpError(401, "invalid_request_error", missing, code="invalid_api_key")
    if len(seen.body) > MAX_BODY_BYTES:
        return HttpError(413, "invalid_request_error", "Request entity too large")
    return None
