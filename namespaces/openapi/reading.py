"""The bytes of a document as plain JSON values, whatever they hold.

OpenAPI restricts YAML to what JSON can say, so that is how it is read: `no` is a word, `2026-09-14` a text,
and there are no merge keys. A document comes from elsewhere: what it may cost is bounded here.
"""

import functools
import json
import re
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from ..errors import NamespaceError

if TYPE_CHECKING:
    from yaml import SafeLoader, ScalarNode

MAX_BYTES = 20_000_000
"""Size of the largest document that is read; the largest public ones have 10 MB."""
_MOST = 3_000_000
"""Values that a document may have with its aliases written out."""
_DEEPEST = 200
"""Levels of nesting."""
_TAG = "tag:yaml.org,2002:"
_SCALARS = (
    ("null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    ("bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    ("int", re.compile(r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"), list("-+0123456789")),
    (
        "float",
        re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"),
        list("-+.0123456789"),
    ),
)
"""The core schema of YAML 1.2, without what JSON has no number for; tried in this order."""


def read(data: bytes) -> JsonValue:
    """The values of a JSON or YAML document.

    Raises:
        NamespaceError: it is too large or damaged, or cannot be said in JSON.
    """
    if len(data) > MAX_BYTES:
        raise NamespaceError(f"the document has {len(data):,} bytes; at most {MAX_BYTES:,} are read")
    try:
        text = data.decode("utf-8-sig")
        loaded = _json(text) if text.lstrip().startswith(("{", "[")) else _yaml(text)
        return _Copy().of(loaded)
    except UnicodeDecodeError as error:
        raise NamespaceError(f"the document is not UTF-8: {error}") from error
    except RecursionError as error:
        raise NamespaceError(f"the document is nested more than {_DEEPEST} levels deep") from error
    except ValueError as error:
        raise NamespaceError(f"the document cannot be read: {error}") from error


def _json(text: str) -> object:
    try:
        return cast("object", json.loads(text, parse_constant=_no_number))
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error}") from error


def _no_number(word: str) -> object:
    raise ValueError(f"{word} is no number of JSON")


def _yaml(text: str) -> object:
    import yaml

    try:
        return cast("object", yaml.load(text, _loader()))
    except yaml.YAMLError as error:
        raise ValueError(f"it is no YAML: {' '.join(str(error).split())}") from error


@functools.cache
def _loader() -> "type[SafeLoader]":
    """Makes plain values only, by the core schema. With libyaml, where PyYAML has it, five times as fast."""
    import yaml

    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    core = cast("type[SafeLoader]", type("Core", (base,), {}))
    core.yaml_implicit_resolvers = {}
    for kind, pattern, begins in _SCALARS:
        core.add_implicit_resolver(_TAG + kind, pattern, begins)  # pyright: ignore[reportUnknownMemberType]
    core.add_constructor(f"{_TAG}int", _whole)
    return core


def _whole(loader: "SafeLoader", node: "ScalarNode") -> int:
    text = cast("str", node.value)
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    return int(text, base)


class _Copy:
    """A copy in values of JSON: keys are texts, and an alias is one shared value."""

    def __init__(self) -> None:
        self._done: dict[int, tuple[JsonValue, int]] = {}
        """By identity, what a value became and how many values it holds."""
        self._open: set[int] = set()
        self._count = 0

    def of(self, value: object, depth: int = 0) -> JsonValue:
        if isinstance(value, (dict, list)):
            return self._holding(cast("dict[object, object] | list[object]", value), depth)
        self._counted(1)
        if value is None or isinstance(value, (str, bool, int, float)):
            return value
        raise NamespaceError(f"the document holds {value!r}, which JSON cannot say")

    def _holding(self, value: dict[object, object] | list[object], depth: int) -> JsonValue:
        if depth > _DEEPEST:
            raise NamespaceError(f"the document is nested more than {_DEEPEST} levels deep")
        identity = id(value)
        if identity in self._open:
            raise NamespaceError("the document has an alias inside of what it stands for")
        if identity in self._done:
            copied, size = self._done[identity]
            self._counted(size)
            return copied
        before = self._count
        self._counted(1)
        self._open.add(identity)
        copied = self._inside(value, depth + 1)
        self._open.discard(identity)
        self._done[identity] = (copied, self._count - before)
        return copied

    def _inside(self, value: dict[object, object] | list[object], depth: int) -> JsonValue:
        if isinstance(value, list):
            return [self.of(item, depth) for item in value]
        return {_key(key): self.of(item, depth) for key, item in value.items()}

    def _counted(self, size: int) -> None:
        self._count += size
        if self._count > _MOST:
            raise NamespaceError(f"the document has more than {_MOST:,} values, aliases written out")


def _key(key: object) -> str:
    if key == "<<":
        raise NamespaceError("the document uses merge keys (<<), which OpenAPI does not have; write them out")
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, (bool, int, float)):
        return json.dumps(key)
    raise NamespaceError(f"the document has {key!r} as a key; keys are texts")
