"""What `streamGenerateContent` refuses with 400 INVALID_ARGUMENT: each test also checks our wire.

Each rule is a pure function from a request to a complaint, worded as Google words it where its wording
is known. Field names are taken in both spellings, as the API takes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from loopback_prompt import JsonObject, as_list, as_object

SKIP_SIGNATURES = frozenset(
    {
        "skip_thought_signature_validator",
        "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
        "context_engineering_is_the_way_to_go",
    }
)
"""What Google documents for calls that another model made, as it is and in base64."""
KEYS = frozenset({
    "contents", "system_instruction", "tools", "tool_config", "safety_settings", "generation_config",
    "cached_content", "labels", "model", "store", "service_tier",
})  # fmt: skip
_CONTENT_KEYS = frozenset({"parts", "role"})
_PART_KEYS = frozenset({
    "text", "thought", "thought_signature", "function_call", "function_response", "inline_data",
    "file_data", "executable_code", "code_execution_result", "video_metadata", "media_resolution",
    "tool_call", "tool_response",
})  # fmt: skip
_DATA = _PART_KEYS - {"thought", "thought_signature", "video_metadata", "media_resolution"}
_SCHEMA_KEYS = frozenset({
    "type", "format", "title", "description", "nullable", "enum", "max_items", "min_items", "properties",
    "required", "min_properties", "max_properties", "min_length", "max_length", "pattern", "example",
    "any_of", "property_ordering", "default", "items", "minimum", "maximum",
})  # fmt: skip
_DECLARATION_KEYS = frozenset({
    "name", "description", "behavior", "parameters", "parameters_json_schema", "response",
    "response_json_schema",
})  # fmt: skip
_TOOL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")

_COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function call "
    "parts of the function call turn."
)
_AFTER_USER = (
    "Please ensure that function call turn comes immediately after a user turn or after a function "
    "response turn."
)
_AFTER_CALL = "Please ensure that function response turn comes immediately after a function call turn."
_UNSIGNED = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
    "work correctly, and missing thought_signature may lead to degraded model performance. Additional "
    "data, function call `default_api:{}` , position {}."
)
_NAME_RULE = (
    "Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), "
    "dots (.), colons (:), or dashes (-), with a maximum length of 64."
)


@dataclass(slots=True)
class Signed:
    """What the server has to remember of its own signatures; entries are only ever added."""

    calls: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """The signatures of each call by its name and arguments."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the rules see it."""

    body: JsonObject
    signed: Signed

    @property
    def contents(self) -> list[JsonObject]:
        """The contents that are objects, their keys as Google's reference spells them."""
        return [_snake(as_object(content) or {}) for content in as_list(self.body.get("contents"))]


Rule: TypeAlias = Callable[[Asked], str | None]


def refusal(body: JsonObject, signed: Signed) -> str | None:
    """The first complaint about a request, None if the API would take it."""
    asked = Asked(_snake(body), signed)
    complaints = (rule(asked) for rule in RULES)
    return next((complaint for complaint in complaints if complaint), None)


def turn_count(body: JsonObject) -> int:
    """How many turns of the model a request holds; neighbours of its role are one."""
    roles = [(as_object(content) or {}).get("role") for content in as_list(body.get("contents"))]
    pairs = zip([None, *roles], roles, strict=False)
    return sum(1 for before, this in pairs if this == "model" and before != "model")


def call_key(call: JsonObject) -> str:
    """What identifies a call whose id Gemini does not give."""
    return json.dumps([call.get("name"), call.get("args") or {}], sort_keys=True)


def unknown_key(asked: Asked) -> str | None:
    """Only documented fields."""
    unknown = next((key for key in asked.body if key not in KEYS), None)
    return None if unknown is None else _unknown(unknown, "")


def cached_content(asked: Asked) -> str | None:
    """A prefix that was stored apart."""
    return "cached_content: no request may use it" if "cached_content" in asked.body else None


def contents(asked: Asked) -> str | None:
    """Roles, and parts that are there."""
    if not asked.contents:
        return "* GenerateContentRequest.contents: contents is not specified"
    for n, content in enumerate(asked.contents):
        unknown = next((key for key in content if key not in _CONTENT_KEYS), None)
        if unknown is not None:
            return _unknown(unknown, f"contents[{n}]")
        if content.get("role") not in {"user", "model"}:
            return "Please use a valid role: user, model."
        if not as_list(content.get("parts")):
            return f"* GenerateContentRequest.contents[{n}].parts: contents.parts must not be empty."
        for m, part in enumerate(_parts(content)):
            complaint = _part(part, f"contents[{n}].parts[{m}]")
            if complaint:
                return complaint
    return None


def declarations(asked: Asked) -> str | None:
    """Names and schemas of functions."""
    for n, tool in enumerate(as_list(asked.body.get("tools"))):
        found = _snake(as_object(tool) or {}).get("function_declarations")
        for m, declaration in enumerate(map(as_object, as_list(found))):
            complaint = _declaration(_snake(declaration or {}), f"tools[{n}].function_declarations[{m}]")
            if complaint:
                return complaint
    return None


def call_pairs(asked: Asked) -> str | None:
    """A turn of calls follows the user and has as many responses, in order of names, right after it."""
    previous: JsonObject = {}
    turns = _turns(asked.contents)
    for turn in turns:
        called, given = _named(previous, "function_call"), _named(turn, "function_response")
        if given and not called:
            return _AFTER_CALL
        if len(called) != len(given) or sorted(called) != sorted(given):
            return _COUNT
        if _named(turn, "function_call") and previous.get("role") != "user":
            return _AFTER_USER
        previous = turn
    if previous.get("role") == "model":
        return "Please ensure that multiturn requests end with a user role or a function response."
    return None


def signatures(asked: Asked) -> str | None:
    """A call of the current turn that was signed comes back with its signature.

    The current turn begins with the last content of the user that holds more than responses. Gemini
    wants a signature for any first call there; this server only for those that it signed itself.
    """
    for position, content in enumerate(asked.contents):
        for part in _parts(content):
            call = as_object(part.get("function_call"))
            issued = asked.signed.calls.get(call_key(call), set()) if call else set[str]()
            given = part.get("thought_signature")
            if given is not None and issued and given not in issued | SKIP_SIGNATURES:
                return "Thought signature is not valid."
            if call and issued and given is None and _needs_signature(asked.contents, position, part):
                return _UNSIGNED.format(call.get("name"), position + 1)
    return None


RULES: tuple[Rule, ...] = (
    unknown_key,
    cached_content,
    contents,
    declarations,
    call_pairs,
    signatures,
)


def _unknown(name: str, path: str) -> str:
    where = f" at '{path}'" if path else ""
    return f'Invalid JSON payload received. Unknown name "{name}"{where}: Cannot find field.'


def _snake(fields: JsonObject) -> JsonObject:
    return {re.sub(r"(?<=[a-z])([A-Z])", r"_\1", key).lower(): value for key, value in fields.items()}


def _parts(content: JsonObject) -> list[JsonObject]:
    return [_snake(as_object(part) or {}) for part in as_list(content.get("parts"))]


def _part(part: JsonObject, path: str) -> str | None:
    unknown = next((key for key in part if key not in _PART_KEYS), None)
    if unknown is not None:
        return _unknown(unknown, path)
    if len(_DATA & set(part)) != 1:
        wanted = "required oneof field 'data' must have one initialized field"
        return f"* GenerateContentRequest.{path}.data: {wanted}"
    for kind, inner in (("function_call", "args"), ("function_response", "response")):
        found = as_object(part.get(kind))
        if found is not None and as_object(found.get(inner, {})) is None:
            return f"Invalid value at '{path}.{kind}.{inner}' (type.googleapis.com/google.protobuf.Struct)"
    return None


def _declaration(declaration: JsonObject, path: str) -> str | None:
    name = declaration.get("name")
    unknown = next((key for key in declaration if key not in _DECLARATION_KEYS), None)
    if unknown is not None:
        return _unknown(unknown, path)
    if not isinstance(name, str) or _TOOL_NAME.fullmatch(name) is None:
        return f"* GenerateContentRequest.{path}.name: Invalid function name. {_NAME_RULE}"
    parameters = as_object(declaration.get("parameters")) or {}
    return next(_schema_problems(parameters, f"{path}.parameters"), None)


def _schema_problems(schema: JsonObject, path: str) -> Iterator[str]:
    fields = _snake(schema)
    yield from (_unknown(key, path) for key in schema if not set(_snake({key: None})) <= _SCHEMA_KEYS)
    if str(fields.get("type")).lower() == "array" and "items" not in fields:
        yield f"* GenerateContentRequest.{path}.items: missing field."
    inner = {f"properties[{name}]": one for name, one in (as_object(fields.get("properties")) or {}).items()}
    inner |= {f"any_of[{n}]": one for n, one in enumerate(as_list(fields.get("any_of")))}
    for place, found in {**inner, "items": fields.get("items")}.items():
        if found is not None:
            yield from _schema_problems(as_object(found) or {}, f"{path}.{place}")


def _turns(contents: list[JsonObject]) -> list[JsonObject]:
    """Neighbours of the same role are one turn."""
    turns: list[JsonObject] = []
    for content in contents:
        if turns and turns[-1]["role"] == content["role"]:
            turns[-1]["parts"] = [*turns[-1]["parts"], *content["parts"]]
        else:
            turns.append(dict(content))
    return turns


def _named(turn: JsonObject, kind: str) -> list[str]:
    found = (as_object(part.get(kind)) for part in _parts(turn))
    return [str(one.get("name")) for one in found if one is not None]


def _needs_signature(contents: list[JsonObject], position: int, part: JsonObject) -> bool:
    """Whether the part is the first call of its content, in the current turn."""
    calls = [one for one in _parts(contents[position]) if "function_call" in one]
    later = contents[position + 1 :]
    asked_since = any(
        content["role"] == "user" and any("function_response" not in one for one in _parts(content))
        for content in later
    )
    return calls[0] == part and not asked_since
