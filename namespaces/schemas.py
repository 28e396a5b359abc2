"""Input schemas as they are in the wild, made whole.

A schema reaches the model as data inside a tool result, so it may keep most of what JSON Schema
offers. What it must not do is miss its own definitions, or describe something that is no object.
"""

import copy
from collections.abc import Callable, Mapping
from typing import cast

from pydantic import JsonValue

from .errors import NamespaceError

_COMBINATORS = ("anyOf", "oneOf", "allOf")
_DEFINITIONS = ("$defs", "definitions")
_BY_NAME = frozenset({"$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$id"})
"""Words by which a definition may be meant without its path."""

Schema = dict[str, JsonValue]


def whole(schema: Mapping[str, JsonValue]) -> Schema:
    """A schema that says the same, complete and in today's words.

    `nullable: true` becomes a type that allows null; a root without a type is an object. References
    stay references, so a recursive definition stays finite; each has to be found in the schema. Definitions
    that nothing refers to are left out: servers put all of theirs into each tool's schema.

    Raises:
        NamespaceError: the root is not an object, or a reference leads nowhere.
    """
    copied = copy.deepcopy(dict(schema))
    result = cast("Schema", _rewrite(copied, _allow_null))
    _check_root(result)
    _rewrite(result, lambda node: _check_reference(result, node))
    result.setdefault("type", "object")
    return _without_unused(result)


def plain_root(schema: Mapping[str, JsonValue]) -> Schema:
    """The schema for a provider's tool list, which refuses combinators at the root.

    Anthropic answers 400 to the whole request for a root `anyOf`, `oneOf` or `allOf` (WIRE.md, section
    6). Their properties are offered side by side and none is required but what all alternatives
    require; the arguments are checked against the true schema all the same.
    """
    if not any(word in schema for word in _COMBINATORS):
        return dict(schema)
    merged: Schema = {key: item for key, item in schema.items() if key not in _COMBINATORS}
    properties = dict(cast("Schema", merged.get("properties", {})))
    for word in _COMBINATORS:
        for option in cast("list[JsonValue]", schema.get(word, [])):
            if isinstance(option, dict):
                properties = cast("Schema", option.get("properties", {})) | properties
    merged["type"] = "object"
    merged["properties"] = properties
    return merged


def _rewrite(node: JsonValue, change: Callable[[Schema], Schema]) -> JsonValue:
    if isinstance(node, list):
        return [_rewrite(item, change) for item in node]
    if isinstance(node, dict):
        return change({key: _rewrite(item, change) for key, item in node.items()})
    return node


def _allow_null(node: Schema) -> Schema:
    if node.get("nullable") is not True:
        return node
    rest = {key: item for key, item in node.items() if key != "nullable"}
    kind = rest.get("type")
    if isinstance(kind, str) and "enum" not in rest:
        return {**rest, "type": [kind, "null"]}
    return {"anyOf": [rest, {"type": "null"}]}


def _check_root(schema: Schema) -> None:
    kind = schema.get("type", "object")
    if isinstance(kind, list) and "object" in kind:
        schema["type"] = kind = "object"
    if kind != "object":
        raise NamespaceError(f"the root of its schema has type {kind!r}; arguments are an object")


def _check_reference(root: Schema, node: Schema) -> Schema:
    target = node.get("$ref")
    if isinstance(target, str) and not _leads_somewhere(root, target):
        raise NamespaceError(f"its schema refers to {target!r}, which it does not define")
    return node


def _without_unused(schema: Schema) -> Schema:
    words, references = _used({key: item for key, item in schema.items() if key not in _DEFINITIONS})
    reached: set[str] = set()
    while references - reached:
        path = (references - reached).pop()
        reached.add(path)
        more, inside = _used(_definition(schema, path))
        words, references = words | more, references | inside
    if words & _BY_NAME:
        return schema
    kept: Schema = {}
    for key, item in schema.items():
        if key not in _DEFINITIONS or not isinstance(item, dict):
            kept[key] = item
        elif used := {name: one for name, one in item.items() if _path(key, name) in reached}:
            kept[key] = used
    return kept


def _used(node: JsonValue) -> tuple[set[str], set[str]]:
    """The words of a schema, and the definitions that it refers to, each as `#/$defs/name`."""
    if isinstance(node, list):
        found = [_used(item) for item in node]
    elif isinstance(node, dict):
        target = node.get("$ref")
        mine = {"/".join(target.split("/")[:3])} if isinstance(target, str) else set[str]()
        found = [(set(node), mine), *map(_used, node.values())]
    else:
        found = []
    return set[str]().union(*(words for words, _ in found)), set[str]().union(*(paths for _, paths in found))


def _definition(schema: Schema, path: str) -> JsonValue:
    """The definition at such a path; nothing for one that leads elsewhere."""
    groups = ((word, schema.get(word)) for word in _DEFINITIONS)
    found = (
        (_path(word, name), one)
        for word, each in groups
        if isinstance(each, dict)
        for name, one in each.items()
    )
    return next((one for known, one in found if known == path), None)


def _path(word: str, name: str) -> str:
    return f"#/{word}/{name.replace('~', '~0').replace('/', '~1')}"


def _leads_somewhere(root: Schema, reference: str) -> bool:
    if not reference.startswith("#"):
        return False
    node: JsonValue = root
    for step in reference[1:].split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        inside: Schema = (
            dict(zip(map(str, range(len(node))), node, strict=True)) if isinstance(node, list) else {}
        )
        inside = node if isinstance(node, dict) else inside
        if key not in inside:
            return False
        node = inside[key]
    return True
