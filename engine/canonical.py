"""Arguments with their defaults filled in, and the digest of a call: what an approval is bound to."""

import copy
import hashlib
import json
from collections.abc import Mapping

from pydantic import JsonValue

_DEEPEST = 20
"""Levels of a schema that are followed: it may refer to itself."""


def filled(arguments: Mapping[str, JsonValue], schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A copy of the arguments in which each absent property has the default that the schema gives it."""
    value, root = copy.deepcopy(dict(arguments)), dict(schema)
    _fill(value, root, root, _DEEPEST)
    return value


def digest_of(operation: str, arguments: Mapping[str, JsonValue]) -> str:
    """SHA-256 in hexadecimal: the same for the same operation and arguments, in whatever order they stand."""
    told = json.dumps([operation, arguments], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(told.encode()).hexdigest()


def _fill(value: JsonValue, schema: JsonValue, root: Mapping[str, JsonValue], left: int) -> None:
    here = _followed(schema, root, left)
    if left == 0 or here is None:
        return
    if isinstance(value, list):
        for item in value:
            _fill(item, here.get("items"), root, left - 1)
    properties = here.get("properties")
    if isinstance(value, dict) and isinstance(properties, dict):
        for name, inside in properties.items():
            if name not in value and isinstance(inside, dict) and "default" in inside:
                value[name] = copy.deepcopy(inside["default"])
            if name in value:
                _fill(value[name], inside, root, left - 1)


def _followed(schema: JsonValue, root: Mapping[str, JsonValue], left: int) -> dict[str, JsonValue] | None:
    """The schema of an object or a list behind references, and behind "this or null"."""
    for _ in range(left):
        if not isinstance(schema, dict):
            return None
        reference, variants = schema.get("$ref"), schema.get("anyOf")
        if isinstance(reference, str):
            schema = _target(reference, root)
        elif isinstance(variants, list):
            others = [one for one in variants if one != {"type": "null"}]
            schema = others[0] if len(others) == 1 else None
        else:
            return schema
    return None


def _target(reference: str, root: Mapping[str, JsonValue]) -> JsonValue:
    """What a reference inside the document names; None for any other."""
    if not reference.startswith("#"):
        return None
    found: JsonValue = dict(root)
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, dict) or name not in found:
            return None
        found = found[name]
    return found
