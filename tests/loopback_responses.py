"""OpenAI's `POST /v1/responses`: items in, events with items out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

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
from loopback_openai import CREATED, error_plan, unroutable
from loopback_prompt import JsonObject, as_list, as_object, digest
from loopback_responses_rules import Issued, refusal, turn_count
from loopback_script import Seen
from loopback_wire import Events, Plan, Streamed, answer_of, planned, spoken, stream_head

_OPENING = ("response.created", "response.in_progress")
_INCOMPLETE = ("max_output_tokens", "content_filter")


class Responses:
    """The wire. It remembers the items that it sent, as the API does for stored responses."""

    def __init__(self) -> None:
        self._issued = Issued()

    def unroutable(self, method: str, seen: Seen) -> HttpError | None:
        """Another path, no Bearer token or too large a body."""
        return unroutable(method, seen, "/v1/responses")

    def answered(self, body: JsonObject) -> int:
        """The number of runs of items that a model made."""
        return turn_count(body)

    def exchange(self, seen: Seen, number: str) -> ResponsesExchange:
        """Read one request."""
        return ResponsesExchange(seen, number, self._issued)

    def refused(self, complaint: str) -> HttpError:
        """A complaint as this API's 400."""
        return HttpError(400, "invalid_request_error", complaint)

    def error(self, fault: HttpError, number: str) -> Plan:
        """An error response as the API words it."""
        return error_plan(fault, number)


class ResponsesExchange:
    """One request for a response.

    Stop reasons: None is completed; "max_output_tokens" and "content_filter" are incomplete; "failed"
    is a failed response, its error the answer's stop_details. A mapping among the blocks is sent as the
    output item that it is.
    """

    def __init__(self, seen: Seen, number: str, issued: Issued) -> None:
        self._seen = seen
        self._number = number
        self._issued = issued
        self._body: JsonObject = seen.json or {}
        self._turn = turn_count(self._body)
        self._numbers = count()

    def refusal(self) -> HttpError | None:
        """The first complaint of the rules."""
        return refusal(self._body, self._issued)

    def plan(self, reply: Streamed) -> Plan:
        """The response that streams the reply."""
        answer = answer_of(reply)
        usage = answer.usage or replace(spoken(answer), input_tokens=len(self._seen.body) // 4)
        items = [self._item(n, block) for n, block in enumerate(answer.blocks)]
        if isinstance(reply, Answer):
            self._issued.add(items)
        opening = [self._event(kind, response=self._response()) for kind in _OPENING]
        pairs = zip(answer.blocks, items, strict=True)
        blocks = [self._block(n, block, item) for n, (block, item) in enumerate(pairs)]
        events = Events(opening, blocks, self._closing(answer, items, usage))
        return planned(reply, events, stream_head("x-request-id", self._number), self._error)

    def _item(self, n: int, block: Block) -> JsonObject:
        """A block as the output item that it is when whole."""
        name = f"{self._turn:04}_{n}_{digest(self._seen.body)}"
        match block:
            case Text():
                part: JsonObject = {"type": "output_text", "text": block.text, "annotations": []}
                return {**_message(f"msg_{name}"), "content": [part]}
            case Thinking():
                summary = [{"type": "summary_text", "text": block.thinking}] if block.thinking else []
                return self._reasoning(f"rs_{name}", summary, block.signature)
            case RedactedThinking():
                return self._reasoning(f"rs_{name}", [], block.data)
            case ToolUse():
                call_id = block.id or f"call_{self._turn:04}_{n}"
                named = {"id": f"fc_{name}", "type": "function_call", "call_id": call_id}
                return {**named, "name": block.name, "arguments": block.raw, "status": "completed"}
            case _:
                return dict(block)

    def _reasoning(self, name: str, summary: Sequence[JsonObject], sealed: str) -> JsonObject:
        item: JsonObject = {"id": name, "type": "reasoning", "summary": list(summary)}
        if "reasoning.encrypted_content" not in as_list(self._body.get("include")):
            return item
        return {**item, "encrypted_content": sealed or f"sealed.{name}"}

    def _block(self, n: int, block: Block, item: JsonObject) -> list[bytes]:
        emptied: JsonObject
        inner: Inner
        match item.get("type"):
            case "message":
                emptied, inner = {"status": "in_progress", "content": []}, _message_events(block, item)
            case "reasoning":
                emptied, inner = {"summary": []}, _reasoning_events(block, item)
            case "function_call":
                emptied, inner = {"status": "in_progress", "arguments": ""}, _call_events(block, item)
            case _:
                emptied, inner = {}, []
        place = {"item_id": item.get("id"), "output_index": n}
        return [
            self._event("response.output_item.added", output_index=n, item={**item, **emptied}),
            *(self._event(f"response.{kind}", **place, **fields) for kind, fields in inner),
            self._event("response.output_item.done", output_index=n, item=item),
        ]

    def _closing(self, answer: Answer, items: list[JsonObject], usage: Usage) -> list[bytes]:
        reason = answer.stop_reason or "completed"
        fields: JsonObject = {"status": reason, "output": items, "usage": _usage(usage)}
        if reason in _INCOMPLETE:
            fields |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
        if reason == "failed":
            fields |= {"error": dict(answer.stop_details or {}), "usage": None}
        return [self._event(f"response.{fields['status']}", response=self._response(**fields))]

    def _response(self, **fields: object) -> JsonObject:
        body = self._body
        echoed = {key: body.get(key) for key in ("model", "instructions", "reasoning", "max_output_tokens")}
        return {
            "id": f"resp_{digest(self._seen.body)}",
            "object": "response",
            "created_at": CREATED,
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            **echoed,
            "output": [],
            "parallel_tool_calls": True,
            "previous_response_id": None,
            "store": body.get("store", True),
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": body.get("tool_choice", "auto"),
            "tools": body.get("tools", []),
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": None,
            "metadata": {},
            **fields,
        }

    def _error(self, fault: ErrorEvent) -> bytes:
        return self._event("error", code=fault.code or fault.type, message=fault.message, param=None)

    def _event(self, kind: str, **fields: object) -> bytes:
        data = {"type": kind, "sequence_number": next(self._numbers), **fields}
        return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


Inner = list[tuple[str, JsonObject]]
"""Events between the first and the last of an item: kind and fields."""


def _message(name: str) -> JsonObject:
    return {"id": name, "type": "message", "status": "completed", "role": "assistant"}


def _message_events(block: Block, item: JsonObject) -> Inner:
    deltas = block.deltas if isinstance(block, Text) else 1
    found: Inner = []
    for n, part in enumerate(map(as_object, as_list(item.get("content")))):
        whole = part or {}
        kind = "refusal" if whole.get("type") == "refusal" else "output_text"
        key = "refusal" if kind == "refusal" else "text"
        text, place = str(whole.get(key)), {"content_index": n}
        found += [
            ("content_part.added", {**place, "part": {**whole, key: ""}}),
            *((f"{kind}.delta", {**place, "delta": piece}) for piece in pieces(text, deltas)),
            (f"{kind}.done", {**place, key: text}),
            ("content_part.done", {**place, "part": whole}),
        ]
    return found


def _reasoning_events(block: Block, item: JsonObject) -> Inner:
    deltas = block.deltas if isinstance(block, Thinking) else 1
    found: Inner = []
    for n, part in enumerate(map(as_object, as_list(item.get("summary")))):
        whole = part or {}
        text, place = str(whole.get("text")), {"summary_index": n}
        found += [
            ("reasoning_summary_part.added", {**place, "part": {**whole, "text": ""}}),
            *(("reasoning_summary_text.delta", {**place, "delta": piece}) for piece in pieces(text, deltas)),
            ("reasoning_summary_text.done", {**place, "text": text}),
            ("reasoning_summary_part.done", {**place, "part": whole}),
        ]
    return found


def _call_events(block: Block, item: JsonObject) -> Inner:
    deltas = block.deltas if isinstance(block, ToolUse) else 1
    raw = str(item.get("arguments"))
    parts = pieces(raw, deltas) if raw else []
    kind = "function_call_arguments"
    return [
        *((f"{kind}.delta", {"delta": part}) for part in parts),
        (f"{kind}.done", {"name": item.get("name"), "arguments": raw}),
    ]


def _usage(usage: Usage) -> JsonObject:
    """The input's tokens include those of the cache."""
    written = usage.cache_write_5m + usage.cache_write_1h
    given = usage.input_tokens + usage.cache_read + written
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": written},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
        "total_tokens": given + usage.output_tokens,
    }
