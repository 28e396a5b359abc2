"""Anthropic's `POST /v1/messages`, as it documents it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from loopback_answers import (
    Answer,
    Block,
    Envelope,
    ErrorEvent,
    HttpError,
    RedactedThinking,
    Thinking,
    ToolUse,
    Usage,
    block_events,
    event,
    head_events,
    tail_events,
    wire_block,
)
from loopback_cache import PromptCache
from loopback_diagnosis import Diagnosis
from loopback_prompt import Binding, JsonObject, Placed, answered, digest, rendered
from loopback_rules import Memory, Request, paused_content, refusal
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

_THOUGHTS = (Thinking, RedactedThinking)


class Anthropic:
    """The wire; with a cache it tells in usage what was read and written."""

    def __init__(self, cache: PromptCache | None = None) -> None:
        self._cache = cache
        self._memory = Memory()
        self._diagnosis = Diagnosis()

    def unroutable(self, method: str, seen: Seen) -> HttpError | None:
        """Another path, no Bearer token, no version or too large a body."""
        if method != "POST" or seen.path.partition("?")[0] != "/v1/messages":
            return HttpError(404, "not_found_error", f"{method} {seen.path}: Not found")
        if not seen.headers.get("authorization", "").startswith("Bearer "):
            return HttpError(401, "authentication_error", "authorization: a Bearer token is required")
        if "anthropic-version" not in seen.headers:
            return self.refused("anthropic-version: header is required")
        if len(seen.body) > MAX_BODY_BYTES:
            return HttpError(413, "request_too_large", "Request exceeds the maximum size")
        return None

    def answered(self, body: JsonObject) -> int:
        """The number of assistant messages."""
        return answered(body)

    def exchange(self, seen: Seen, number: str) -> AnthropicExchange:
        """Read one request."""
        return AnthropicExchange(seen, number, self._memory, self._cache, self._diagnosis)

    def refused(self, complaint: str) -> HttpError:
        """A complaint as this API's 400."""
        return HttpError(400, "invalid_request_error", complaint)

    def error(self, fault: HttpError, number: str) -> Plan:
        """An error response as the API words it."""
        error: JsonObject = {"type": fault.error_type, "message": fault.message}
        body: JsonObject = {"type": "error", "error": error, "request_id": number}
        return status_plan(fault, body, {"request-id": number})


class AnthropicExchange:
    """One request for a message."""

    def __init__(
        self, seen: Seen, number: str, memory: Memory, cache: PromptCache | None, diagnosis: Diagnosis
    ) -> None:
        self._seen = seen
        self._number = number
        self._memory = memory
        self._cache = cache
        self._diagnosis = diagnosis
        self._body: JsonObject = seen.json or {}

    @cached_property
    def _placed(self) -> list[Placed]:
        return rendered(self._body)

    def refusal(self) -> HttpError | None:
        """The first complaint of the rules."""
        request = Request(self._seen.headers, self._body, self._placed, self._memory)
        complaint = refusal(request)
        return None if complaint is None else HttpError(400, "invalid_request_error", complaint)

    def plan(self, reply: Streamed) -> Plan:
        """The response that streams the reply."""
        if self._body["max_tokens"] == 0:
            return self._warmed()
        answer = self._issued(answer_of(reply))
        if isinstance(reply, Answer):
            _remember(answer, self._memory)
        usage = answer.usage or self._usage(answer)
        identity = f"msg_{digest(self._seen.body)}"
        missed = self._diagnosis.reason(self._body, self._placed, identity)
        envelope = Envelope(identity, str(self._body.get("model")), usage, missed)
        return stream_plan(reply, answer, envelope, stream_head("request-id", self._number))

    def _warmed(self) -> Plan:
        """The prompt is read into the cache, and nothing is said."""
        usage = self._usage(Answer([]))
        message = {"id": f"msg_{self._number}", "type": "message", "role": "assistant", "content": []}
        stopped = {"stop_reason": "max_tokens", "usage": {**usage.started(), "output_tokens": 0}}
        head = {"request-id": self._number}
        return status_plan(HttpError(200), {**message, **stopped}, head)

    def _issued(self, answer: Answer) -> Answer:
        """The answer with what the server adds: ids of calls, and signatures bound to the prefix."""
        position = answered(self._body)
        binding = Binding()
        if any(isinstance(block, _THOUGHTS) for block in answer.blocks):
            for placed in self._placed:
                binding.append(placed.role, placed.value)
        made: list[Block] = []
        for n, block in enumerate(answer.blocks):
            match block:
                case ToolUse(id=""):
                    made.append(replace(block, id=f"toolu_{position:04}_{n}"))
                case Thinking(signature=""):
                    made.append(replace(block, signature=binding.issue(block.thinking)))
                case RedactedThinking(data=""):
                    made.append(replace(block, data=binding.issue("")))
                case _:
                    made.append(block)
            binding.append("messages:assistant", wire_block(made[-1]))
        return replace(answer, blocks=tuple(made))

    def _usage(self, answer: Answer) -> Usage:
        plain = Usage(input_tokens=len(self._seen.body) // 4)
        counted = self._cache.account(self._body, self._placed) if self._cache else plain
        said = spoken(answer)
        return replace(counted, output_tokens=said.output_tokens, thinking_tokens=said.thinking_tokens)


def stream_plan(reply: Streamed, answer: Answer, envelope: Envelope, head: bytes) -> Plan:
    """The events of an answer, and what a fault makes of them."""
    blocks = [block_events(n, block) for n, block in enumerate(answer.blocks)]
    events = Events(head_events(envelope), blocks, tail_events(answer, envelope.usage))
    return planned(reply, events, head, _error_event)


def _error_event(fault: ErrorEvent) -> bytes:
    return event("error", error={"type": fault.type, "message": fault.message})


def _remember(answer: Answer, memory: Memory) -> None:
    sent = [wire_block(block) for block in answer.blocks]
    memory.types.update(str(block.get("type")) for block in sent)
    if answer.reason == "pause_turn":
        memory.paused.add(paused_content(sent))
