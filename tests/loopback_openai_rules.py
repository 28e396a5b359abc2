"""What `POST /v1/chat/completions` refuses with 400: each test also checks our wire.

Each rule is a pure function from a request to a complaint, worded as OpenAI words it where its wording
is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from loopback_prompt import JsonObject, as_list, as_object

Extras: TypeAlias = Literal["refuse", "ignore", "require_reasoning"]
"""Unknown message fields: OpenAI refuses them, others ignore them, and DeepSeek wants
reasoning_content back with each call."""

KEYS = frozenset({
    "messages", "model", "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs",
    "max_completion_tokens", "max_tokens", "metadata", "modalities", "moderation", "n",
    "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_options",
    "prompt_cache_retention", "reasoning_effort", "response_format", "safety_identifier", "seed",
    "service_tier", "stop", "store", "stream", "stream_options", "temperature", "tool_choice", "tools",
    "top_logprobs", "top_p", "user", "verbosity", "web_search_options",
})  # fmt: skip
_MESSAGE_KEYS: Mapping[str, frozenset[str]] = {
    "system": frozenset({"role", "content", "name"}),
    "developer": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset({
        "role", "content", "name", "refusal", "audio", "tool_calls", "function_call",
    }),
    "tool": frozenset({"role", "content", "tool_call_id"}),
    "function": frozenset({"role", "content", "name"}),
}  # fmt: skip
_PARTS: Mapping[str, frozenset[str]] = {
    "user": frozenset({"text", "image_url", "input_audio", "file"}),
    "assistant": frozenset({"text", "refusal"}),
}
_PART_KEYS = frozenset({
    "type", "text", "image_url", "input_audio", "file", "refusal", "prompt_cache_breakpoint",
})  # fmt: skip
MAX_ID_CHARS = 40
MAX_TOOLS = 128
TOOL_NAME = "^[a-zA-Z0-9_-]+$"

_UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: "
)
_NO_CALLS = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
    "'tool_calls'."
)
_NO_REASONING = "Missing `reasoning_content` field in the assistant message at message index"


@dataclass(frozen=True, slots=True)
class Chat:
    """A request as the rules see it."""

    body: JsonObject
    extras: Extras
    parses_arguments: bool

    @property
    def messages(self) -> list[tuple[str, JsonObject]]:
        """The messages, each with its path."""
        return objects(self.body, "messages")


Rule: TypeAlias = Callable[[Chat], str | None]


def refusal(chat: Chat) -> str | None:
    """The first complaint about a request, None if the API would take it."""
    complaints = (rule(chat) for rule in RULES)
    return next((complaint for complaint in complaints if complaint), None)


def unknown_key(chat: Chat) -> str | None:
    """Only documented parameters."""
    unknown = next((key for key in chat.body if key not in KEYS), None)
    return None if unknown is None else f"Unrecognized request argument supplied: {unknown}"


def missing_key(chat: Chat) -> str | None:
    """A model, messages and a stream."""
    body = chat.body
    if not isinstance(body.get("model"), str) or not body["model"]:
        return "you must provide a model parameter"
    if "messages" not in body:
        return "Missing required parameter: 'messages'."
    if not as_list(body["messages"]):
        return empty_array("messages")
    if body.get("stream") is not True:
        return "stream: this server answers streaming requests only"
    return None


def tools(chat: Chat) -> str | None:
    """Names, schemas and the number of tools."""
    given = chat.body.get("tools")
    if given is None:
        return _without_tools(chat.body)
    if not as_list(given):
        return empty_array("tools")
    if len(as_list(given)) > MAX_TOOLS:
        return f"Invalid 'tools': array too long. Expected an array with maximum length {MAX_TOOLS}."
    for path, tool in objects(chat.body, "tools"):
        unknown = next((key for key in tool if key not in {"type", "function"}), None)
        if unknown is not None:
            return f"Unknown parameter: '{path}.{unknown}'."
        complaint = function_definition(as_object(tool.get("function")) or {}, f"{path}.function")
        if complaint:
            return complaint
    return _forced(chat.body)


def message_fields(chat: Chat) -> str | None:
    """Roles and, where they are refused, fields that the reference does not name."""
    for path, message in chat.messages:
        known = _MESSAGE_KEYS.get(str(message.get("role")))
        if known is None:
            return f"Invalid value: '{message.get('role')}'. Supported values are: {list(_MESSAGE_KEYS)}."
        unknown = [key for key in message if key not in known]
        unknown += [key for call in _calls(message) for key in call if key not in {"id", "type", "function"}]
        if unknown and chat.extras == "refuse":
            return f"Unknown parameter: '{path}.{unknown[0]}'."
    return None


def replayed_reasoning(chat: Chat) -> str | None:
    """DeepSeek wants the reasoning of a message that calls tools back."""
    if chat.extras != "require_reasoning":
        return None
    for n, (_, message) in enumerate(chat.messages):
        if _calls(message) and "reasoning_content" not in message:
            return f"{_NO_REASONING} {n}"
    return None


def contents(chat: Chat) -> str | None:
    """Content that is there and of a type that its role may have."""
    for path, message in chat.messages:
        content, role = message.get("content"), str(message.get("role"))
        replaced = any(message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio"))
        if content is None and role == "assistant" and replaced:
            continue
        if not isinstance(content, (str, list)):
            return f"Invalid value for 'content': expected a string, got null. ({path}.content)"
        if content == []:
            return empty_array(f"{path}.content")
        complaint = _parts(chat, path, role, message)
        if complaint:
            return complaint
    return None


def call_shapes(chat: Chat) -> str | None:
    """Each call has an id of its own, a name and arguments as a string."""
    for path, message in chat.messages:
        if message.get("tool_calls") == []:
            return empty_array(f"{path}.tool_calls")
        ids = [call.get("id") for call in _calls(message)]
        for n, call in enumerate(_calls(message)):
            complaint = _call(chat, call, f"{path}.tool_calls[{n}]")
            if complaint:
                return complaint
        if len(set(ids)) < len(ids):
            return f"Invalid parameter: Duplicate value for 'tool_call_id' in {path}.tool_calls: {ids}"
    return None


def call_pairs(chat: Chat) -> str | None:
    """Each call has exactly one tool message, right after it; each tool message has a call."""
    known: set[str] = set()
    missing: list[str] = []
    for _, message in chat.messages:
        if message.get("role") != "tool":
            if missing:
                return _UNANSWERED + ", ".join(missing)
            missing = [str(call.get("id")) for call in _calls(message)]
            known = set(missing)
            continue
        answered = str(message.get("tool_call_id"))
        if not known:
            return _NO_CALLS
        if answered not in missing:
            where = "not found in 'tool_calls' of previous message."
            return f"Invalid parameter: 'tool_call_id' of '{answered}' {where}"
        missing.remove(answered)
    return _UNANSWERED + ", ".join(missing) if missing else None


RULES: tuple[Rule, ...] = (
    unknown_key,
    missing_key,
    tools,
    message_fields,
    replayed_reasoning,
    contents,
    call_shapes,
    call_pairs,
)


def objects(body: JsonObject, name: str) -> list[tuple[str, JsonObject]]:
    """The entries of an array of objects, each with its path."""
    return [(f"{name}[{n}]", as_object(entry) or {}) for n, entry in enumerate(as_list(body.get(name)))]


def empty_array(path: str) -> str:
    """How OpenAI words it."""
    wanted = "Expected an array with minimum length 1, but got an empty array instead."
    return f"Invalid '{path}': empty array. {wanted}"


def too_long(path: str, text: str, most: int) -> str:
    """How OpenAI words it."""
    wanted = f"Expected a string with maximum length {most}, but got a string with length {len(text)}"
    return f"Invalid '{path}': string too long. {wanted} instead."


def tool_name(name: object, path: str) -> str | None:
    """A complaint about the name of a tool."""
    if not isinstance(name, str):
        return f"Missing required parameter: '{path}'."
    if len(name) > 64:
        return too_long(path, name, 64)
    if re.fullmatch(TOOL_NAME, name) is None:
        wanted = f"Expected a string that matches the pattern '{TOOL_NAME}'."
        return f"Invalid '{path}': string does not match pattern. {wanted} Got {name!r}."
    return None


def function_definition(function: JsonObject, path: str) -> str | None:
    """A complaint about the definition of a tool."""
    complaint = tool_name(function.get("name"), f"{path}.name")
    if complaint:
        return complaint
    allowed = {"type", "name", "description", "parameters", "strict"}
    unknown = next((key for key in function if key not in allowed), None)
    if unknown is not None:
        return f"Unknown parameter: '{path}.{unknown}'."
    schema = as_object(function.get("parameters", {"type": "object"})) or {}
    where = f"Invalid schema for function '{function['name']}'"
    if schema.get("type") != "object":
        wanted = "schema must be a JSON Schema of 'type: \"object\"'"
        return f"{where}: {wanted}, got 'type: {schema.get('type')!r}'."
    problem = next(_schema_problems(schema, (), strict=function.get("strict") is True), None)
    return None if problem is None else f"{where}: {problem}"


def _schema_problems(schema: JsonObject, context: tuple[str, ...], *, strict: bool) -> Iterator[str]:
    properties = as_object(schema.get("properties")) or {}
    if schema.get("type") == "array" and "items" not in schema:
        yield f"In context={context}, array schema missing items."
    if strict and schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            yield f"In context={context}, 'additionalProperties' is required to be supplied and to be false."
        if set(as_list(schema.get("required"))) != set(properties):
            yield (
                f"In context={context}, 'required' is required to be supplied and to be an array "
                "including every key in properties."
            )
    for name, inner in properties.items():
        yield from _schema_problems(as_object(inner) or {}, (*context, "properties", name), strict=strict)
    items = as_object(schema.get("items"))
    if items is not None:
        yield from _schema_problems(items, (*context, "items"), strict=strict)


def _without_tools(body: JsonObject) -> str | None:
    for key in ("tool_choice", "parallel_tool_calls"):
        if key in body:
            return f"Invalid value for '{key}': '{key}' is only allowed when 'tools' are specified."
    return None


def _forced(body: JsonObject) -> str | None:
    choice = as_object(body.get("tool_choice"))
    if choice is None:
        return None
    forced = (as_object(choice.get("function")) or choice).get("name")
    names = [(as_object(tool.get("function")) or tool).get("name") for _, tool in objects(body, "tools")]
    if forced in names:
        return None
    return f"Invalid value for 'tool_choice': function '{forced}' not found in 'tools'."


def _calls(message: JsonObject) -> list[JsonObject]:
    return [as_object(call) or {} for call in as_list(message.get("tool_calls"))]


def _call(chat: Chat, call: JsonObject, path: str) -> str | None:
    used, function = call.get("id"), as_object(call.get("function")) or {}
    if not isinstance(used, str) or not used:
        return f"Missing required parameter: '{path}.id'."
    if len(used) > MAX_ID_CHARS:
        return too_long(f"{path}.id", used, MAX_ID_CHARS)
    if call.get("type") != "function":
        return f"Missing required parameter: '{path}.type'."
    unknown = next((key for key in function if key not in {"name", "arguments"}), None)
    if unknown is not None and chat.extras == "refuse":
        return f"Unknown parameter: '{path}.function.{unknown}'."
    return tool_name(function.get("name"), f"{path}.function.name") or arguments_text(
        function.get("arguments"), f"{path}.function.arguments", parses=chat.parses_arguments
    )


def arguments_text(value: object, path: str, *, parses: bool) -> str | None:
    """A complaint about the arguments of a call that comes back."""
    if not isinstance(value, str):
        kind = "object" if isinstance(value, dict) else type(value).__name__
        return f"Invalid type for '{path}': expected a string, but got {kind} instead."
    if not parses:
        return None
    try:
        found: object = json.loads(value)
    except ValueError:
        found = None
    return None if isinstance(found, dict) else f"Invalid '{path}': expected a JSON object, got {value!r}."


def _parts(chat: Chat, path: str, role: str, message: JsonObject) -> str | None:
    for part_path, part in objects(message, "content"):
        allowed = _PARTS.get(role, frozenset({"text"}))
        if part.get("type") not in allowed:
            return f"Invalid value: '{part.get('type')}'. Supported values are: {sorted(allowed)}."
        unknown = next((key for key in part if key not in _PART_KEYS), None)
        if unknown is not None and chat.extras == "refuse":
            return f"Unknown parameter: '{path}.{part_path}.{unknown}'."
    return None
