"""Values as they stand in a path, a query, a header and a cookie (OpenAPI 3.1.1, "Style Examples").

A scalar, a list of scalars and an object of scalars are what the specification knows. Beyond it, an object
in an object of `deepObject` nests (`a[b][c]`), and any other value in a value is written as JSON.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from pydantic import JsonValue

from .parts import Style

_UNRESERVED = "-._~"
_RESERVED = _UNRESERVED + ":/?@!$'()*,;="
"""What `allowReserved` leaves as it is: the reserved characters of RFC 3986, without those that would end the
query (`#`), the value (`&`), stand for a space in it (`+`) or may not be in it at all (`[`, `]`)."""
_TRIPLET = re.compile(r"(%[0-9a-fA-F]{2})")
_EXACT = 2**53
"""Integers up to here are exact in any reader of JSON."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a value of one parameter is written."""

    name: str
    style: Style
    explode: bool
    allow_reserved: bool = False


Write = Callable[[str], str]
"""Makes a text one that may stand in its place."""


def plain(value: JsonValue) -> str:
    """A value as text, where there is no more to it."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    return json.dumps(value, separators=(",", ":"))


def in_path(shape: Shape, value: JsonValue) -> str:
    """The value in the place of `{name}`; empty when there is nothing to write."""
    items = _items(value, _percent, explode=shape.explode)
    if not items:
        return ""
    if shape.style == "label":
        return "." + ("." if shape.explode else ",").join(items)
    if shape.style == "matrix":
        return _matrix(shape, value, items)
    return ",".join(items)


def in_query(shape: Shape, value: JsonValue) -> list[str]:
    """The pairs `name=value` of the query; none when there is nothing to say."""
    write = _reserved if shape.allow_reserved else _percent
    if shape.style == "deepObject" and isinstance(value, dict):
        return _deep(_percent(shape.name), value, write)
    delimiter = {"spaceDelimited": "%20", "pipeDelimited": "%7C"}.get(shape.style, ",")
    return _pairs(shape, value, write, delimiter)


def in_cookie(shape: Shape, value: JsonValue) -> list[str]:
    """The pairs `name=value` of the Cookie header."""
    return _pairs(shape, value, _percent, ",")


def in_header(shape: Shape, value: JsonValue) -> str:
    """The value of the header."""
    return ",".join(_items(value, str, explode=shape.explode))


def _matrix(shape: Shape, value: JsonValue, items: Sequence[str]) -> str:
    name = _percent(shape.name)
    if shape.explode and isinstance(value, dict):
        return "".join(f";{item}" for item in items)
    if shape.explode or not isinstance(value, (dict, list)):
        return "".join(f";{name}={item}" if item else f";{name}" for item in items)
    return f";{name}={','.join(items)}"


def _pairs(shape: Shape, value: JsonValue, write: Write, delimiter: str) -> list[str]:
    items = _items(value, write, explode=shape.explode)
    if not items or (shape.explode and isinstance(value, dict)):
        return items
    name = _percent(shape.name)
    if shape.explode:
        return [f"{name}={item}" for item in items]
    return [f"{name}={delimiter.join(items)}"]


def _items(value: JsonValue, write: Write, *, explode: bool) -> list[str]:
    """The parts of a value, each ready for its place; what is null is left out."""
    if value is None:
        return []
    if isinstance(value, list):
        return [write(plain(item)) for item in value if item is not None]
    if not isinstance(value, dict):
        return [write(plain(value))]
    pairs = [(write(name), write(plain(item))) for name, item in value.items() if item is not None]
    if explode:
        return [f"{name}={item}" for name, item in pairs]
    return [part for pair in pairs for part in pair]


def _deep(prefix: str, value: JsonValue, write: Write) -> list[str]:
    if value is None:
        return []
    if isinstance(value, list):
        inside = [(str(number), item) for number, item in enumerate(value)]
    elif isinstance(value, dict):
        inside = list(value.items())
    else:
        return [f"{prefix}={write(plain(value))}"]
    return [pair for name, item in inside for pair in _deep(f"{prefix}%5B{_percent(name)}%5D", item, write)]


def _percent(text: str) -> str:
    return quote(text, safe=_UNRESERVED)


def _reserved(text: str) -> str:
    """What is percent-encoded already stays so, as in the reserved expansion of RFC 6570."""
    return "".join(
        part if _TRIPLET.fullmatch(part) else quote(part, safe=_RESERVED) for part in _TRIPLET.split(text)
    )
