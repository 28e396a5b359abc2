"""Which reply a request gets.

By default the position decides: the n-th reply for a request that holds n replies of the model. That
is a pure function of the request, so a client that was killed and goes on gets what it would have
got.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from loopback_answers import (
    Answer,
    Block,
    Drop,
    ErrorEvent,
    HttpError,
    NoStop,
    RedactedThinking,
    Reply,
    Stall,
    Text,
    Thinking,
    ToolUse,
    Usage,
)
from loopback_prompt import JsonObject, as_list, as_object


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    json: Any
    """The parsed body; None when it is no JSON object."""
    answered: int = 0
    """How many replies of the model it holds: the position of the one it asks for."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """Replies to the first, second, ... request at one position; the last one stays."""

    replies: Sequence[Reply]


Script: TypeAlias = Callable[[Seen], Reply]
Replies: TypeAlias = Sequence[Reply | Attempts]


def by_position(replies: Replies) -> Script:
    """The default rule; a position beyond the end is an error of the script."""
    tries: Counter[int] = Counter()

    def choose(seen: Seen) -> Reply:
        position = seen.answered
        if position >= len(replies):
            raise LookupError(
                f"the script has {len(replies)} replies, request asks for number {position + 1}"
            )
        reply = replies[position]
        if not isinstance(reply, Attempts):
            return reply
        tries[position] += 1
        return reply.replies[min(tries[position], len(reply.replies)) - 1]

    return choose


def in_order(replies: Sequence[Reply]) -> Script:
    """The n-th reply for the n-th request, for clients that shorten their history."""
    left = iter(replies)

    def choose(_: Seen) -> Reply:
        reply = next(left, None)
        if reply is None:
            raise LookupError(f"the script has {len(replies)} replies, one more was asked for")
        return reply

    return choose


def read_replies(path: Path) -> Replies:
    """A script file: a JSON array, one object a reply.

    An answer is `{"blocks": [...], "stop_reason", "usage", ...}`, its blocks as on the wire,
    `text`, `thinking` and `tool_use` also with `deltas`, and `input` also as raw text. A fault
    names itself and has the fields of its class: `{"fault": "http_error" | "error_event" | "drop"
    | "stall" | "no_stop", ...}`. `{"attempts": [...]}` is `Attempts`.
    """
    entries = [as_object(entry) or {} for entry in as_list(json.loads(path.read_text("utf-8")))]
    return [_attempts(entry) if "attempts" in entry else _reply(entry) for entry in entries]


_FAULTS: dict[str, Callable[..., Reply]] = {
    "http_error": HttpError,
    "error_event": ErrorEvent,
    "drop": Drop,
    "stall": Stall,
    "no_stop": NoStop,
}
_BLOCKS: dict[str, Callable[..., Block]] = {
    "text": Text,
    "thinking": Thinking,
    "redacted_thinking": RedactedThinking,
    "tool_use": ToolUse,
}


def _attempts(entry: JsonObject) -> Attempts:
    return Attempts([_reply(as_object(one) or {}) for one in as_list(entry["attempts"])])


def _reply(entry: JsonObject) -> Reply:
    fields = dict(entry)
    fault = fields.pop("fault", None)
    if fault is None:
        return _answer(fields)
    if "answer" in fields:
        fields["answer"] = _answer(fields["answer"])
    return _FAULTS[fault](**fields)


def _answer(fields: JsonObject) -> Answer:
    made = dict(fields)
    if "blocks" in made:
        made["blocks"] = [_block(as_object(block) or {}) for block in as_list(made["blocks"])]
    if "usage" in made:
        made["usage"] = Usage(**made["usage"])
    return Answer(**made)


def _block(fields: JsonObject) -> Block:
    make = _BLOCKS.get(str(fields.get("type")))
    return make(**{key: value for key, value in fields.items() if key != "type"}) if make else fields
