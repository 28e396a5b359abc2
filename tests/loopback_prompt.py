"""A request as the API renders it: one list of blocks, tools first, then system, then messages.

Everything that looks at a request (the refusals, the signatures of thinking, the simulated cache)
looks at this list.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeAlias, cast

JsonObject: TypeAlias = dict[str, Any]

THINKING = ("thinking", "redacted_thinking")
_ISSUED = "loopback."
_NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Placed:
    """One block and where it stands."""

    path: str
    """As the API's messages name it: `messages.3.content.0`."""
    role: str
    """tools, system (the top-level one), or the role of the message."""
    message: int
    """Index of the message; -1 before the first."""
    value: JsonObject

    @property
    def kind(self) -> str:
        """The block's type; a tool definition has none."""
        return str(self.value.get("type", ""))


def as_object(value: object) -> JsonObject | None:
    """The value if it is a JSON object."""
    return cast("JsonObject", value) if isinstance(value, dict) else None


def as_list(value: object) -> list[Any]:
    """The value if it is a JSON array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []  # type: ignore[redundant-cast]


def blocks_of(content: object) -> list[JsonObject]:
    """Content as blocks: a string is short for one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in map(as_object, as_list(content)) if block is not None]


def rendered(body: JsonObject) -> list[Placed]:
    """The blocks of a request in render order."""
    tools = as_list(body.get("tools"))
    system = blocks_of(body.get("system"))
    found = [Placed(f"tools.{n}", "tools", -1, as_object(tool) or {}) for n, tool in enumerate(tools)]
    found += [Placed(f"system.{n}", "system", -1, block) for n, block in enumerate(system)]
    for index, entry in enumerate(as_list(body.get("messages"))):
        message = as_object(entry) or {}
        role = f"messages:{message.get('role')}"
        found += [
            Placed(f"messages.{index}.content.{n}", role, index, block)
            for n, block in enumerate(blocks_of(message.get("content")))
        ]
    return found


def answered(body: JsonObject) -> int:
    """How many assistant messages the request holds: the position of the reply it asks for."""
    messages = map(as_object, as_list(body.get("messages")))
    return sum(1 for message in messages if message and message.get("role") == "assistant")


def canonical(block: Mapping[str, object]) -> bytes:
    """The block as bytes, without its cache markers and its null keys, its own keys sorted.

    The order of keys inside tool input and schemas does count: it changes what the model reads.
    """
    kept = {key: block[key] for key in sorted(block) if key != "cache_control" and block[key] is not None}
    if isinstance(kept.get("content"), list):
        kept["content"] = [canonical(part).decode() for part in blocks_of(kept["content"])]
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def digest(*parts: bytes) -> str:
    """A short hash of the parts in order."""
    sink = blake2b(digest_size=12)
    for part in parts:
        sink.update(part + b"\x00")
    return sink.hexdigest()


class Binding:
    """Issues and checks what binds a thinking block to its prefix.

    A token holds three hashes: the block's own text, everything before it that is not thinking,
    and the thinking block before it. So a changed prefix shows, and so does a thinking block left
    out of the middle or moved, while leaving out the first ones is allowed, as the API has it.
    Tools with defer_loading are no part of the prefix.
    """

    def __init__(self) -> None:
        self._prefix = blake2b(digest_size=12)
        self._previous = _NOTHING

    def read(self, placed: Iterable[Placed]) -> Iterator[Placed]:
        """Walk a request's blocks; yield each thinking block of ours whose binding is broken."""
        for block in placed:
            token = _token(block.value)
            if token.startswith(_ISSUED) and not self._holds(block.value, token):
                yield block
            self.append(block.role, block.value)

    def issue(self, text: str) -> str:
        """The token for a thinking block that would stand here."""
        return f"{_ISSUED}{digest(text.encode())}.{self._prefix.hexdigest()}.{self._previous}"

    def append(self, role: str, block: JsonObject) -> None:
        """Go past a block."""
        if block.get("type") in THINKING:
            self._previous = digest(_token(block).encode())
        elif not (role == "tools" and block.get("defer_loading") is True):
            self._prefix.update(role.encode() + b"\x00" + canonical(block) + b"\x00")

    def _holds(self, block: JsonObject, token: str) -> bool:
        own, _, bound = token.removeprefix(_ISSUED).partition(".")
        prefix, _, previous = bound.partition(".")
        text = "" if block.get("type") == "redacted_thinking" else str(block.get("thinking", ""))
        unbroken = self._previous in {_NOTHING, previous}
        return own == digest(text.encode()) and prefix == self._prefix.hexdigest() and unbroken


def turns(placed: Sequence[Placed]) -> list[list[Placed]]:
    """The blocks of the messages, in turns: neighbours of the same role are one turn."""
    grouped: list[list[Placed]] = []
    for block in placed:
        if block.message < 0:
            continue
        if grouped and grouped[-1][-1].role == block.role:
            grouped[-1].append(block)
        else:
            grouped.append([block])
    return grouped


def _token(block: JsonObject) -> str:
    if block.get("type") not in THINKING:
        return ""
    return str(block.get("signature") or block.get("data") or "")
