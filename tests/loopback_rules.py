"""What the API refuses with 400 invalid_request_error: each test also checks our wire.

Each rule is a pure function from a request to a complaint, worded as the API words it where its
wording is known. Stricter than the API in one place: NUL characters are refused everywhere.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from loopback_cache import ttl_of
from loopback_prompt import (
    THINKING,
    Binding,
    JsonObject,
    Placed,
    as_list,
    as_object,
    blocks_of,
    canonical,
    digest,
    turns,
)

MAX_MARKERS = 4
STABLE_KEYS = frozenset({
    "model", "max_tokens", "messages", "system", "cache_control", "container", "diagnostics",
    "inference_geo", "metadata", "output_config", "service_tier", "speed", "stop_sequences",
    "stream", "thinking", "tool_choice", "tools", "user_profile_id", "workspace_id",
})  # fmt: skip
BETA_KEYS = frozenset({
    "context_management", "compaction", "mcp_servers", "fallbacks", "fallback_credit_token",
    "thread", "billing_policy",
})  # fmt: skip
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_USER_ONLY = ("tool_result", "image", "document")
_ASSISTANT_ONLY = (*THINKING, "tool_use", "server_tool_use")
_EITHER = frozenset({"text", "search_result", "container_upload", "compaction", "fallback", "mcp_tool_use"})
_SCHEMA_UNIONS = ("oneOf", "allOf", "anyOf")

_BOUND = (
    "Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
    'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
_BINDING_BETA = "thinking-binding-controls-2026-08-01"
_LATE_HOUR = (
    "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
    "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
)
_PREFILL = (
    "This model does not support assistant message prefill. The conversation must end with a user message."
)
_UNION = "input_schema does not support oneOf, allOf, or anyOf at the top level"
_NO_RESULT = "`tool_use` ids were found without `tool_result` blocks immediately after"
_NEEDS_RESULT = "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
_NO_CALL = "unexpected `tool_use_id` found in `tool_result` blocks"
_NEEDS_CALL = "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."


@dataclass(slots=True)
class Memory:
    """What the server has to remember of its own replies; entries are only ever added."""

    paused: set[str] = field(default_factory=set[str])
    """Digests of contents that stopped with pause_turn."""
    types: set[str] = field(default_factory=set[str])
    """Block types it has sent, known or not."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as the rules see it."""

    headers: Mapping[str, str]
    body: JsonObject
    placed: list[Placed]
    memory: Memory

    @property
    def messages(self) -> list[JsonObject]:
        """The messages that are objects."""
        return [as_object(message) or {} for message in as_list(self.body.get("messages"))]


Rule: TypeAlias = Callable[[Request], str | None]


def parsed(body: bytes) -> JsonObject:
    """The body as a JSON object.

    Raises:
        ValueError: It is none, or holds what no wire may carry; the message says which.
    """
    try:
        value: object = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"The request body is not valid UTF-8: {error.reason} at byte {error.start}"
        ) from None
    except ValueError as error:
        raise ValueError(f"The request body is not valid JSON: {error}") from None
    found = as_object(value)
    if found is None:
        raise ValueError("The request body is not a JSON object")
    if rb"\u" in body:
        for text in _strings(found):
            _check_text(text)
    return found


def refusal(request: Request) -> str | None:
    """The first complaint about a request, None if the API would take it."""
    complaints = (rule(request) for rule in RULES)
    return next((complaint for complaint in complaints if complaint), None)


def paused_content(blocks: Iterable[JsonObject]) -> str:
    """What identifies a reply that stopped with pause_turn."""
    return digest(*map(canonical, blocks))


def unknown_key(request: Request) -> str | None:
    """Only documented parameters; those in beta need a beta header."""
    allowed = STABLE_KEYS | BETA_KEYS if "anthropic-beta" in request.headers else STABLE_KEYS
    unknown = next((key for key in request.body if key not in allowed), None)
    return f"{unknown}: Extra inputs are not permitted" if unknown is not None else None


def missing_key(request: Request) -> str | None:
    """The three required parameters, and a stream where anything is to be said."""
    body = request.body
    for key in ("model", "max_tokens", "messages"):
        if key not in body:
            return f"{key}: Field required"
    if not isinstance(body["model"], str) or not body["model"]:
        return "model: Input should be a valid string"
    if type(body["max_tokens"]) is not int or body["max_tokens"] < 0:
        return "max_tokens: Input should be a valid integer, greater than or equal to 0"
    if not as_list(body["messages"]):
        return "messages: at least one message is required"
    if body.get("stream") is True or body["max_tokens"] == 0:
        return None
    return "stream: this server answers streaming requests only"


def thinking_budget(request: Request) -> str | None:
    """A manual budget is at least 1024 and below max_tokens."""
    thinking = as_object(request.body.get("thinking")) or {}
    if thinking.get("type") != "enabled":
        return None
    budget = thinking.get("budget_tokens")
    if not isinstance(budget, int) or budget < 1024:
        return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
    return (
        None
        if budget < request.body["max_tokens"]
        else "`max_tokens` must be greater than `thinking.budget_tokens`"
    )


def tool_definitions(request: Request) -> str | None:
    """Names and schemas of our tools; server tools carry a versioned type and no schema."""
    names: Counter[object] = Counter()
    for tool in (block for block in request.placed if block.role == "tools"):
        names[tool.value.get("name")] += 1
        custom = tool.kind in {"", "custom", "None"}
        complaint = _tool_name(tool) or (_tool_schema(tool) if custom else None)
        if complaint:
            return complaint
    return "tools: Tool names must be unique." if any(count > 1 for count in names.values()) else None


def tool_choice(request: Request) -> str | None:
    """A choice needs tools, and a forced tool has to be one of them."""
    choice = as_object(request.body.get("tool_choice"))
    if choice is None:
        return None
    names = {block.value.get("name") for block in request.placed if block.role == "tools"}
    if not names:
        return "tool_choice: may only be specified while providing tools"
    forced = choice.get("name")
    if choice.get("type") == "tool" and forced not in names:
        return f"tool_choice: Tool '{forced}' not found in provided tools"
    return None


def message_shape(request: Request) -> str | None:
    """Roles, content that is there, and a first message of the user."""
    for n, message in enumerate(request.messages):
        if message.get("role") not in {"user", "assistant", "system"}:
            return f"messages.{n}.role: Input should be 'user', 'assistant' or 'system'"
        if not isinstance(message.get("content"), (str, list)):
            return f"messages.{n}.content: Field required"
        if not message["content"]:
            return f"messages.{n}: all messages must have non-empty content"
    first = request.messages[0]
    compacted = any(block.get("type") == "compaction" for block in blocks_of(first["content"])[:1])
    if first["role"] != "user" and not compacted:
        return "messages.0: first message must use the 'user' role"
    return None


def block_types(request: Request) -> str | None:
    """Each block has a type that its role may carry."""
    for block in request.placed:
        if block.role != "tools":
            complaint = _block_type(block, request.memory)
            if complaint:
                return f"{block.path}: {complaint}"
    return None


def empty_text(request: Request) -> str | None:
    """No text block is empty, in tool results neither, nor only white space in messages."""
    for block in request.placed:
        inner = _inner(block)
        texts = [part.get("text") for part in [block.value, *inner] if part.get("type") == "text"]
        whole = isinstance(request.body.get("system"), str) and block.role == "system"
        if "" in texts and not whole:
            where = "system" if block.role == "system" else "messages"
            return f"{where}: text content blocks must be non-empty ({block.path})"
        if block.kind == "text" and block.message >= 0 and not str(block.value.get("text")).strip():
            return f"messages: text content blocks must contain non-whitespace text ({block.path})"
    return None


def system_placement(request: Request) -> str | None:
    """A system message follows the user and precedes the assistant, or ends the array."""
    roles = [str(message["role"]) for message in request.messages]
    for n, role in enumerate(roles):
        if role != "system":
            continue
        before = n and (roles[n - 1] in {"user", "system"} or _ends_in_server_result(request.messages[n - 1]))
        if not before:
            rest = "or an 'assistant' message ending in a server tool result"
            return f"messages.{n}: role 'system' must follow a 'user' message {rest}"
        if roles[n + 1 : n + 2] == ["user"]:
            return f"messages.{n}: role 'system' must precede an 'assistant' message or end the array"
    return None


def tool_pairs(request: Request) -> str | None:
    """Each call has exactly one result, first in the next turn; each result has a call."""
    calls: list[str] = []
    grouped = turns(request.placed)
    for n, turn in enumerate(grouped):
        complaint = _results(turn, calls) or _calls(turn)
        if complaint:
            return complaint
        calls = [str(block.value.get("id")) for block in turn if block.kind == "tool_use"]
        if calls and n + 1 < len(grouped):
            complaint = _unanswered(calls, turn, grouped[n + 1])
            if complaint:
                return complaint
    return None


def last_message(request: Request) -> str | None:
    """The assistant is never last (no prefill), but for a paused reply, unchanged."""
    last = request.messages[-1]
    if last["role"] != "assistant" or paused_content(blocks_of(last["content"])) in request.memory.paused:
        return None
    return _PREFILL


def cache_markers(request: Request) -> str | None:
    """Number, place and order of cache_control markers."""
    found = list(_markers(request))
    if len(found) > MAX_MARKERS:
        most = f"A maximum of {MAX_MARKERS} blocks with cache_control may be provided."
        return f"{most} Found {len(found)}."
    short = False
    for path, kind, marker in found:
        ttl = ttl_of(marker)
        if kind in THINKING:
            return f"{path}.{kind}.cache_control: Extra inputs are not permitted"
        if marker.get("type") != "ephemeral" or ttl not in {"5m", "1h"}:
            return f"{path}.cache_control: Input should be ephemeral, with ttl '5m' or '1h'"
        if short and ttl == "1h":
            return f"{path}.cache_control.ttl: {_LATE_HOUR}"
        short = short or ttl == "5m"
    return None


def bound_thinking(request: Request) -> str | None:
    """A thinking block issued here comes back with nothing before it changed, unless it is to be dropped."""
    thinking = as_object(request.body.get("thinking")) or {}
    binding = as_object(thinking.get("block_binding"))
    if binding is not None and _BINDING_BETA not in request.headers.get("anthropic-beta", ""):
        return f"thinking.{thinking.get('type')}.block_binding: Extra inputs are not permitted"
    if binding is not None and binding.get("prefix_mismatch_behavior") == "drop_block":
        return None
    if not any(block.kind in THINKING for block in request.placed):
        return None
    broken = next(Binding().read(request.placed), None)
    return None if broken is None else f"{broken.path}: {_BOUND}"


RULES: tuple[Rule, ...] = (
    unknown_key,
    missing_key,
    thinking_budget,
    tool_definitions,
    tool_choice,
    message_shape,
    block_types,
    empty_text,
    system_placement,
    tool_pairs,
    last_message,
    cache_markers,
    bound_thinking,
)


def _inner(block: Placed) -> list[JsonObject]:
    content = block.value.get("content")
    return blocks_of(content) if block.kind == "tool_result" and as_list(content) else []


def _tool_name(tool: Placed) -> str | None:
    name = tool.value.get("name")
    if isinstance(name, str) and _TOOL_NAME.fullmatch(name):
        return None
    pattern = "^[a-zA-Z0-9_-]{1,128}$"
    return f"{tool.path}.custom.name: String should match pattern '{pattern}', not {name!r}"


def _tool_schema(tool: Placed) -> str | None:
    schema = as_object(tool.value.get("input_schema"))
    if schema is None:
        return f"{tool.path}.custom.input_schema: Field required"
    if schema.get("type") != "object":
        return f"{tool.path}.custom.input_schema.type: Input should be 'object'"
    if any(union in schema for union in _SCHEMA_UNIONS):
        return f"{tool.path}.custom.input_schema: {_UNION}"
    return None


def _block_type(block: Placed, memory: Memory) -> str | None:
    kind, role = block.kind, block.role.removeprefix("messages:")
    if role == "system" and kind != "text":
        return f"system content may only hold text blocks, not {kind!r}"
    if (kind in _USER_ONLY and role != "user") or (kind in _ASSISTANT_ONLY and role != "assistant"):
        return f"`{kind}` blocks are not allowed in `{role}` messages"
    known = kind in _EITHER or kind in _USER_ONLY or kind in _ASSISTANT_ONLY or kind.endswith("_tool_result")
    if known or kind in memory.types:
        return None
    return f"Input tag '{kind}' found using 'type' does not match any of the expected tags"


def _ends_in_server_result(message: JsonObject) -> bool:
    last = blocks_of(message.get("content"))[-1:]
    return message["role"] == "assistant" and any(
        str(block.get("type")).endswith("_tool_result") for block in last
    )


def _calls(turn: list[Placed]) -> str | None:
    seen: set[object] = set()
    for block in turn:
        if block.kind != "tool_use":
            continue
        if as_object(block.value.get("input")) is None:
            return f"{block.path}.tool_use.input: Input should be a valid dictionary"
        if not isinstance(block.value.get("id"), str) or not _TOOL_NAME.fullmatch(block.value["id"]):
            return f"{block.path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        if block.value["id"] in seen:
            return f"{block.path}: `tool_use` ids must be unique"
        seen.add(block.value["id"])
    return None


def _results(turn: list[Placed], calls: list[str]) -> str | None:
    seen: set[str] = set()
    late = False
    for block in turn:
        if block.kind != "tool_result":
            late = True
            continue
        used = str(block.value.get("tool_use_id"))
        if used not in calls:
            return f"{block.path}: {_NO_CALL}: {used}. {_NEEDS_CALL}"
        if used in seen:
            found = f"Found multiple `tool_result` blocks with id: {used}"
            return f"{block.path}: each tool_use must have a single result. {found}"
        if late:
            return f"{block.path}: `tool_result` blocks must come first in the content of the message"
        seen.add(used)
    return None


def _unanswered(calls: list[str], turn: list[Placed], after: list[Placed]) -> str | None:
    given = {block.value.get("tool_use_id") for block in after if block.kind == "tool_result"}
    missing = [call for call in calls if call not in given]
    if not missing:
        return None
    return f"messages.{turn[-1].message}: {_NO_RESULT}: {', '.join(missing)}. {_NEEDS_RESULT}"


def _markers(request: Request) -> Iterator[tuple[str, str, JsonObject]]:
    for block in request.placed:
        inner = _inner(block)
        for part in [*inner, block.value]:
            marker = as_object(part.get("cache_control"))
            if marker is not None:
                yield block.path, str(part.get("type")), marker
    automatic = as_object(request.body.get("cache_control"))
    if automatic is not None:
        yield "", "automatic", automatic


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in as_list(value):  # pyright: ignore[reportUnknownArgumentType]
            yield from _strings(part)
    elif (found := as_object(value)) is not None:
        yield from found
        for part in found.values():
            yield from _strings(part)


def _check_text(text: str) -> None:
    if "\x00" in text:
        raise ValueError(f"The request body is not valid: a string holds a NUL character: {text[:40]!r}")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError(f"The request body is not valid JSON: no low surrogate in string: {text[:40]!r}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
