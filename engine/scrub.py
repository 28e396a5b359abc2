"""Text that every wire and store can carry.

Lone surrogates are no Unicode text and cannot be encoded; NUL and most other control characters are
refused by providers and databases, or steer the terminal that shows them. A tool that returns half a
smiley must not end a run, and again on each resume. So text is scrubbed when it comes in, from tools,
models and users, and when it goes out; artifacts keep the bytes.
"""

import dataclasses
import json
import re
from typing import TypeVar, cast

from pydantic import JsonValue

_UNFIT = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f]")
_REPLACEMENT = "\ufffd"

_DEEPEST = 100
"""Levels of nesting; the journal's reader goes to 200, and a fact adds some of its own."""

T = TypeVar("T")


def scrub(text: str) -> str:
    """The text with each character that no wire can carry replaced by U+FFFD."""
    return _UNFIT.sub(_REPLACEMENT, text)


def scrub_json(value: JsonValue) -> JsonValue:
    """A JSON value with all its texts scrubbed, keys included."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, list):
        return [scrub_json(item) for item in value]
    if isinstance(value, dict):
        return {scrub(key): scrub_json(item) for key, item in value.items()}
    return value


def scrub_fields(value: T) -> T:
    """A copy of a dataclass with all texts in it scrubbed, however deep; other types as they are."""
    return cast("T", _scrub_any(value))


def _scrub_any(value: object) -> object:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, (list, tuple)):
        items = cast("list[object] | tuple[object, ...]", value)
        return type(items)(_scrub_any(item) for item in items)
    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value)
        return {_scrub_any(key): _scrub_any(item) for key, item in pairs.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [item.name for item in dataclasses.fields(value) if item.init]
        return dataclasses.replace(value, **{n: _scrub_any(getattr(value, n)) for n in names})
    return value


def json_bytes(value: JsonValue) -> bytes:
    """Compact UTF-8 JSON that any wire can carry: the one encoder of what providers are sent."""
    return json.dumps(scrub_json(value), ensure_ascii=False, separators=(",", ":")).encode()


def json_object(text: str) -> dict[str, JsonValue] | None:
    """The object that the text holds, or None when it is no JSON object that can be stored and resent.

    Stricter than `json.loads`: NaN and infinite numbers are no JSON, `1e999` is no number, and what
    is nested deeper than JSON readers go is refused.
    """
    try:
        value = cast("JsonValue", json.loads(text, parse_constant=_refuse, parse_float=_finite))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _depth_left(value, _DEEPEST) >= 0 else None


def _depth_left(value: JsonValue, left: int) -> int:
    if left < 0 or not isinstance(value, (dict, list)):
        return left
    inside = value.values() if isinstance(value, dict) else value
    return min((_depth_left(item, left - 1) for item in inside), default=left - 1)


def _refuse(constant: str) -> float:
    raise ValueError(constant)


def _finite(digits: str) -> float:
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise ValueError(digits)
    return number
