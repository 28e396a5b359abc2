"""Google's `POST /v1beta/models/X:streamGenerateContent?alt=sse`, as its Gemini API documents it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

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
    wire_block,
)
from loopback_gemini_rules import Signed, call_key, refusal, turn_count
from loopback_prompt import JsonObject, digest
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


class Gemini:
    """The wire.

    It signs as Gemini 3 does: the first call of a reply, or else the empty text that ends it. A
    thinking block with a signature of its own carries that. `cachedContents` is a refusal: it bills
    storage and costs two requests, and nothing here has reason to ask for it.
    """

    def __init__(self, *, signs: bool = True) -> None:
        self._signed = Signed()
        self._signs = signs

    def unroutable(self, method: str, seen: Seen) -> HttpError | None:
        """Another path, no key or too large a body."""
        path, _, query = seen.path.partition("?")
        if path.endswith("/cachedContents"):
            return self.refused("cachedContents: no request may cause this one")
        model = path.removeprefix("/v1beta/models/").removesuffix(":streamGenerateContent")
        if method != "POST" or path != f"/v1beta/models/{model}:streamGenerateContent":
            return HttpError(404, "NOT_FOUND", f"{method} {path}: Not found")
        if "alt=sse" not in query.split("&"):
            return self.refused("alt: this server answers server-sent events only")
        if "x-goog-api-key" not in seen.headers and "key=" not in query:
            return HttpError(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers.")
        if len(seen.body) > MAX_BODY_BYTES:
            return HttpError(413, "INVALID_ARGUMENT", "Request payload size exceeds the limit")
        return None

    def answered(self, body: JsonObject) -> int:
        """The number of the model's turns."""
        return turn_count(body)

    def exchange(self, seen: Seen, number: str) -> GeminiExchange:
        """Read one request."""
        return GeminiExchange(seen, number, self._signed, signs=self._signs)

    def refused(self, complaint: str) -> HttpError:
        """A complaint as this API's 400."""
        return HttpError(400, "INVALID_ARGUMENT", complaint)

    def error(self, fault: HttpError, number: str) -> Plan:
        """An error response as the API words it."""
        error: JsonObject = {"code": fault.status, "message": fault.message, "status": fault.error_type}
        if fault.details:
            error["details"] = [dict(detail) for detail in fault.details]
        return status_plan(fault, {"error": error}, {"x-request-id": number})


class GeminiExchange:
    """One request for content.

    Stop reasons are finishReason: None is STOP, an empty one never comes. stop_details with a
    blockReason are a promptFeedback in place of any candidate; others are fields of the last candidate.
    Raw text as a call's input is sent as the object that it is, or as an empty one. A mapping among the
    blocks is sent as the part that it is.
    """

    def __init__(self, seen: Seen, number: str, signed: Signed, *, signs: bool) -> None:
        self._seen = seen
        self._number = number
        self._signed = signed
        self._signs = signs
        self._body: JsonObject = seen.json or {}
        path = seen.path.partition("?")[0]
        self._model = path.removeprefix("/v1beta/models/").partition(":")[0]

    def refusal(self) -> HttpError | None:
        """The first complaint of the rules."""
        complaint = refusal(self._body, self._signed)
        return None if complaint is None else HttpError(400, "INVALID_ARGUMENT", complaint)

    def plan(self, reply: Streamed) -> Plan:
        """The response that streams the reply."""
        answer = answer_of(reply)
        usage = answer.usage or replace(spoken(answer), input_tokens=len(self._seen.body) // 4)
        head = stream_head("x-request-id", self._number)
        feedback = dict(answer.stop_details or {})
        if "blockReason" in feedback:
            blocked = self._event(promptFeedback=feedback, usageMetadata=_usage(usage))
            return planned(reply, Events([], [], [blocked]), head, _error_event)
        first = next((n for n, block in enumerate(answer.blocks) if isinstance(block, ToolUse)), None)
        blocks = [
            [self._chunk([part], usage) for part in self._parts(block, signed=n == first)]
            for n, block in enumerate(answer.blocks)
        ]
        closing = self._closing(answer, usage, signed=first is None and bool(answer.blocks))
        return planned(reply, Events([], blocks, closing), head, _error_event)

    def _parts(self, block: Block, *, signed: bool) -> list[JsonObject]:
        match block:
            case Text():
                return [{"text": part} for part in pieces(block.text, block.deltas)]
            case Thinking():
                thoughts: list[JsonObject] = [
                    {"text": part, "thought": True} for part in pieces(block.thinking, block.deltas)
                ]
                thoughts[-1] |= {"thoughtSignature": block.signature} if block.signature else {}
                return thoughts
            case RedactedThinking():
                return []
            case ToolUse():
                return [self._call(block, signed=signed)]
            case _:
                return [dict(block)]

    def _call(self, block: ToolUse, *, signed: bool) -> JsonObject:
        call: JsonObject = {"name": block.name, "args": wire_block(block)["input"]}
        if block.id:
            call["id"] = block.id
        if not signed or not self._signs:
            return {"functionCall": call}
        signature = self._signature()
        self._signed.calls.setdefault(call_key(call), set()).add(signature)
        return {"functionCall": call, "thoughtSignature": signature}

    def _closing(self, answer: Answer, usage: Usage, *, signed: bool) -> list[bytes]:
        reason = "STOP" if answer.stop_reason is None else answer.stop_reason
        part: JsonObject = {"text": ""}
        if signed and self._signs:
            part["thoughtSignature"] = self._signature()
        ended: JsonObject = {"finishReason": reason} if reason else {}
        parts = [part] if reason in {"", "STOP", "MAX_TOKENS"} else []
        return [self._chunk(parts, usage, **ended, **dict(answer.stop_details or {}))]

    def _signature(self) -> str:
        return f"c2lnbmVk{digest(self._seen.body)}"

    def _chunk(self, parts: Sequence[JsonObject], usage: Usage, **fields: object) -> bytes:
        content: JsonObject = {"content": {"parts": list(parts), "role": "model"}} if parts else {}
        return self._event(candidates=[{**content, **fields, "index": 0}], usageMetadata=_usage(usage))

    def _event(self, **fields: object) -> bytes:
        named = {"modelVersion": self._model, "responseId": digest(self._seen.body)}
        return _data({**fields, **named})


def _usage(usage: Usage) -> JsonObject:
    """The prompt's tokens include those of the cache, the candidates' exclude thoughts."""
    prompt = usage.input_tokens + usage.cache_read
    counted: JsonObject = {
        "promptTokenCount": prompt,
        "candidatesTokenCount": max(0, usage.output_tokens - usage.thinking_tokens),
        "totalTokenCount": prompt + usage.output_tokens,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
    }
    if usage.thinking_tokens:
        counted["thoughtsTokenCount"] = usage.thinking_tokens
    if usage.cache_read:
        counted["cachedContentTokenCount"] = usage.cache_read
        counted["cacheTokensDetails"] = [{"modality": "TEXT", "tokenCount": usage.cache_read}]
    return counted


def _error_event(fault: ErrorEvent) -> bytes:
    code = int(fault.code or 503)
    return _data({"error": {"code": code, "message": fault.message, "status": fault.type}})


def _data(fields: JsonObject) -> bytes:
    return f"data: {json.dumps(fields, ensure_ascii=False)}\r\n\r\n".encode()
