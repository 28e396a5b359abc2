"""What `POST /v1/responses` refuses: each test also checks our wire.

Each rule is a pure function from a request to a complaint, worded as OpenAI words it where its wording
is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from loopback_answers import HttpError
from loopback_openai_rules import (
    arguments_text,
    empty_array,
    function_definition,
    objects,
    too_long,
    tool_name,
)
from loopback_prompt import JsonObject

KEYS = frozenset({
    "access_programs", "background", "background_options", "context_management", "conversation", "include",
    "input", "instructions", "max_output_tokens", "max_tool_calls", "metadata", "model", "moderation",
    "parallel_tool_calls", "previous_response_id", "prompt", "prompt_cache_key", "prompt_cache_options",
    "prompt_cache_retention", "reasoning", "safety_identifier", "service_tier", "store", "stream",
    "stream_options", "temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation",
    "user",
})  # fmt: skip
_ITEM_KEYS: Mapping[str, frozenset[str]] = {
    "message": frozenset({"type", "role", "content", "id", "status", "phase"}),
    "reasoning": frozenset({"type", "id", "summary", "content", "encrypted_content", "status"}),
    "function_call": frozenset({"type", "id", "call_id", "name", "arguments", "status", "namespace"}),
    "function_call_output": frozenset({"type", "id", "call_id", "output", "status"}),
    "item_reference": frozenset({"type", "id"}),
}
_ID_STARTS: Mapping[str, str] = {"message": "msg", "reasoning": "rs", "function_call": "fc"}
_GIVEN_PARTS = frozenset({"input_text", "input_image", "input_file"})
_MADE_PARTS = frozenset({"output_text", "refusal"})
_PART_KEYS = frozenset({
    "type", "text", "annotations", "logprobs", "refusal", "image_url", "detail", "file_id", "file_data",
    "file_url", "filename", "prompt_cache_breakpoint",
})  # fmt: skip
MAX_ID_CHARS = 64


@dataclass(slots=True)
class Issued:
    """What the server has to remember of its own items; entries are only ever added."""

    sealed: dict[str, object] = field(default_factory=dict[str, object])
    """Encrypted content of each reasoning item by its id."""
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    """The reasoning item that each function_call item followed, by their ids."""

    def add(self, items: Iterable[JsonObject]) -> None:
        """Remember the items of one response."""
        reason = ""
        for item in items:
            if item.get("type") == "reasoning":
                reason = str(item.get("id"))
                self.sealed[reason] = item.get("encrypted_content")
            elif item.get("type") == "function_call" and reason:
                self.reasons[str(item.get("id"))] = reason


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the rules see it."""

    body: JsonObject
    issued: Issued

    @property
    def items(self) -> list[tuple[str, JsonObject]]:
        """The input items, each with its path; a string is one message of the user."""
        return [(path, {"type": "message", **item}) for path, item in input_items(self.body)]


Rule: TypeAlias = Callable[[Asked], str | None]


def refusal(body: JsonObject, issued: Issued) -> HttpError | None:
    """The first complaint about a request, None if the API would take it."""
    asked = Asked(body, issued)
    complaints = (rule(asked) for rule in RULES)
    complaint = next((complaint for complaint in complaints if complaint), None)
    if complaint is None:
        return None
    status = 404 if "not found. Items are not persisted" in complaint else 400
    return HttpError(status, "invalid_request_error", complaint)


def input_items(body: JsonObject) -> list[tuple[str, JsonObject]]:
    """The input items, each with its path; a string is one message of the user."""
    if isinstance(body.get("input"), str):
        return [("input", {"role": "user", "content": body["input"]})]
    return objects(body, "input")


def turn_count(body: JsonObject) -> int:
    """How many runs of items a model made: each was one response."""
    made = [
        item.get("type") in {"reasoning", "function_call"} or item.get("role") == "assistant"
        for _, item in input_items(body)
    ]
    return sum(1 for before, this in zip([False, *made], made, strict=False) if this and not before)


def unknown_key(asked: Asked) -> str | None:
    """Only documented parameters."""
    unknown = next((key for key in asked.body if key not in KEYS), None)
    return None if unknown is None else f"Unknown parameter: '{unknown}'."


def missing_key(asked: Asked) -> str | None:
    """A model, input and a stream."""
    body = asked.body
    if not isinstance(body.get("model"), str) or not body["model"]:
        return "Missing required parameter: 'model'."
    if not body.get("input"):
        return empty_array("input")
    if body.get("stream") is not True:
        return "stream: this server answers streaming requests only"
    return None


def tools(asked: Asked) -> str | None:
    """Names and schemas."""
    for path, tool in objects(asked.body, "tools"):
        if tool.get("type") == "function":
            complaint = function_definition(tool, path)
            if complaint:
                return complaint
    return None


def item_fields(asked: Asked) -> str | None:
    """Types, fields and ids of items."""
    for path, item in asked.items:
        kind = str(item["type"])
        known = _ITEM_KEYS.get(kind)
        if known is None:
            return f"Invalid value: '{kind}'. Supported values are: {list(_ITEM_KEYS)}. ({path})"
        unknown = next((key for key in item if key not in known), None)
        if unknown is not None:
            return f"Unknown parameter: '{path}.{unknown}'."
        start, given = _ID_STARTS.get(kind, ""), item.get("id")
        if isinstance(given, str) and not given.startswith(start):
            return f"Invalid '{path}.id': '{given}'. Expected an ID that begins with '{start}'."
    return None


def messages(asked: Asked) -> str | None:
    """Roles and content of messages."""
    for path, item in asked.items:
        if item["type"] != "message":
            continue
        if item.get("role") not in {"user", "assistant", "system", "developer"}:
            return f"Invalid value: '{item.get('role')}'. ({path}.role)"
        if not isinstance(item.get("content"), (str, list)):
            return f"Missing required parameter: '{path}.content'."
        for part_path, part in objects(item, "content"):
            complaint = _part(item, part, f"{path}.{part_path}")
            if complaint:
                return complaint
    return None


def calls(asked: Asked) -> str | None:
    """Each call has an id of its own, a name and arguments as a string."""
    for path, item in asked.items:
        call_id = item.get("call_id")
        if item["type"] not in {"function_call", "function_call_output"}:
            continue
        if not isinstance(call_id, str) or not call_id:
            return f"Missing required parameter: '{path}.call_id'."
        if len(call_id) > MAX_ID_CHARS:
            return too_long(f"{path}.call_id", call_id, MAX_ID_CHARS)
        if item["type"] == "function_call":
            complaint = tool_name(item.get("name"), f"{path}.name") or arguments_text(
                item.get("arguments"), f"{path}.arguments", parses=False
            )
            if complaint:
                return complaint
    return None


def call_pairs(asked: Asked) -> str | None:
    """Each call has an output somewhere after it, each output a call before it."""
    called: set[str] = set()
    answered: set[str] = set()
    for _, item in asked.items:
        call_id = str(item.get("call_id"))
        if item["type"] == "function_call":
            if call_id in called - answered:
                return f"Duplicate function call with call_id {call_id}."
            called.add(call_id)
            answered.discard(call_id)
        elif item["type"] == "function_call_output":
            if call_id not in called:
                return f"No tool call found for function call output with call_id {call_id}."
            answered.add(call_id)
    missing = next((call_id for call_id in sorted(called - answered)), None)
    return None if missing is None else f"No tool output found for function call {missing}."


def reasoning(asked: Asked) -> str | None:
    """A reasoning item comes back whole, before the item that followed it."""
    items = asked.items
    for n, (path, item) in enumerate(items):
        if item["type"] == "reasoning":
            complaint = _sealed(asked, item, path) or _followed(item, items[n + 1 : n + 2])
        else:
            complaint = _reasoned(asked, item, [before for _, before in items[:n]])
        if complaint:
            return complaint
    return None


RULES: tuple[Rule, ...] = (
    unknown_key,
    missing_key,
    tools,
    item_fields,
    messages,
    calls,
    call_pairs,
    reasoning,
)


def _part(item: JsonObject, part: JsonObject, path: str) -> str | None:
    allowed = _MADE_PARTS if item.get("role") == "assistant" else _GIVEN_PARTS
    if part.get("type") not in allowed:
        return f"Invalid value: '{part.get('type')}'. Supported values are: {sorted(allowed)}. ({path})"
    unknown = next((key for key in part if key not in _PART_KEYS), None)
    return None if unknown is None else f"Unknown parameter: '{path}.{unknown}'."


def _sealed(asked: Asked, item: JsonObject, path: str) -> str | None:
    given, sealed = item.get("id"), item.get("encrypted_content")
    if not isinstance(item.get("summary"), list):
        return f"Missing required parameter: '{path}.summary'."
    if sealed is None and (asked.body.get("store") is False or given not in asked.issued.sealed):
        lost = "Items are not persisted when `store` is set to false."
        advice = "Try again with `store` set to true, or remove this item from your input."
        return f"Item with id '{given}' not found. {lost} {advice}"
    if given in asked.issued.sealed and sealed not in {None, asked.issued.sealed[str(given)]}:
        return f"The encrypted content for item {given} could not be verified."
    return None


def _followed(item: JsonObject, after: list[tuple[str, JsonObject]]) -> str | None:
    made = [
        then
        for _, then in after
        if then["type"] in {"reasoning", "function_call"} or then.get("role") == "assistant"
    ]
    wanted = "was provided without its required following item."
    return None if made else f"Item '{item.get('id')}' of type 'reasoning' {wanted}"


def _reasoned(asked: Asked, item: JsonObject, before: list[JsonObject]) -> str | None:
    reason = asked.issued.reasons.get(str(item.get("id")))
    if reason is None or any(earlier.get("id") == reason for earlier in before):
        return None
    wanted = f"was provided without its required 'reasoning' item: '{reason}'."
    return f"Item '{item.get('id')}' of type 'function_call' {wanted}"
