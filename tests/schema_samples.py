"""Calls that fit a schema of the wild, and some that do not: small, and the same each time.

No library of the kind works with today's hypothesis, and the few words that schemas of tools use fit on a
page. What is made here is never its own judge: tests ask jsonschema.
"""

import copy
from collections.abc import Iterator, Mapping
from functools import cache
from random import Random
from typing import Any, Literal, TypeAlias, cast

from hypothesis import Phase, find, settings
from hypothesis import strategies as st

Schema: TypeAlias = Mapping[str, Any]
DEEPEST = 6
FORMATS = {
    "date": "2026-09-14",
    "date-time": "2026-09-14T08:00:00Z",
    "email": "a@example.com",
    "uri": "https://example.com/",
    "uuid": "12345678-1234-4234-8234-123456789abc",
}
WRONG: tuple[Any, ...] = (None, True, 7.5, "wrong", [], {}, "x" * 5000)
"""One of these is of a wrong type or size wherever there is one."""


def sample(schema: Schema, *, full: bool) -> Any:  # noqa: ANN401  whatever fits
    """A value that fits: with every property, or with the required ones alone."""
    return _Sampler(schema, full=full).value(schema, 0)


class _Sampler:
    def __init__(self, root: Schema, *, full: bool) -> None:
        self._root = root
        self._full = full

    def value(self, schema: Schema | Literal[True], depth: int) -> Any:  # noqa: ANN401
        if schema is True or not schema:
            return "any"
        if "$ref" in schema:
            return self.value(self._at(schema["$ref"]), depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        for word in ("anyOf", "oneOf"):
            if word in schema and "properties" not in schema:
                return self.value(min(schema[word], key=self._cost), depth)
        return self._typed(schema, depth)

    def _typed(self, schema: Schema, depth: int) -> Any:  # noqa: ANN401
        kinds = schema.get("type", "object" if "properties" in schema else "string")
        kind = kinds if isinstance(kinds, str) else kinds[0]
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                one = self.value(schema.get("items", True), depth + 1)
                return [copy.deepcopy(one) for _ in range(schema.get("minItems", int(depth < DEEPEST)))]
            case "string":
                return text(schema)
            case "integer" | "number":
                return number(schema)
            case "boolean":
                return True
            case _:
                return None

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        wanted = [name for name in properties if (self._full and depth < DEEPEST) or name in required]
        made = {name: self.value(properties[name], depth + 1) for name in wanted}
        made |= {name: "any" for name in required if name not in properties}
        inside: Any = schema.get("additionalProperties")
        if self._full and depth < DEEPEST and isinstance(inside, dict) and not properties:
            inside = cast("Schema", inside)
            name = self.value({"type": "string", **schema.get("propertyNames", {})}, depth)
            made[name] = self.value(inside, depth + 1)
        return made

    def _cost(self, schema: Schema) -> int:
        """The simplest alternative first, so that what is recursive ends."""
        return len(str(schema)) + (10_000 if "$ref" in str(schema) else 0)

    def _at(self, reference: str) -> Schema:
        node: Any = self._root
        for step in reference.removeprefix("#").split("/")[1:]:
            node = cast("Any", node[int(step)] if isinstance(node, list) else node[step])
        return node


def text(schema: Schema) -> str:
    if "pattern" in schema:
        return _matching(schema["pattern"])
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    return "a" * max(1, schema.get("minLength", 1))


@cache
def _matching(pattern: str) -> str:
    plainly = settings(phases=[Phase.generate], database=None)
    found = st.from_regex(pattern, fullmatch=True)
    return find(found, lambda _: True, settings=plainly, random=Random(0))


def number(schema: Schema) -> int | float:
    least = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    return min(max(least, 1), schema.get("maximum", max(least, 1)))


def mutated(schema: Schema, fitting: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The call with something left out, something more, or something else, one at a time."""
    for name in schema.get("required", []):
        yield {key: item for key, item in fitting.items() if key != name}
    for name in fitting:
        yield from ({**fitting, name: wrong} for wrong in WRONG)
    yield {**fitting, "never heard of": 1}
