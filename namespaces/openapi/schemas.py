"""Schemas of a document as schemas of arguments: complete, in today's words, and of what is sent.

What a document says of properties that only a server writes is left out. A component becomes a definition
beside the arguments, so one that refers to itself stays finite.
"""

import json
import re
from collections.abc import Mapping
from typing import cast

from pydantic import JsonValue

from ..errors import NamespaceError
from .document import Document
from .media import is_text

_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SCHEMAS = frozenset(
    {
        "additionalProperties",
        "contains",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_LEFT_OUT = frozenset(
    {
        "$anchor",
        "$comment",
        "$defs",
        "$id",
        "$schema",
        "definitions",
        "discriminator",
        "externalDocs",
        "readOnly",
        "writeOnly",
        "xml",
    }
)
_BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_.-]")
_ONE = 1_000_000
"""Characters of definitions that one operation may need; the largest public ones have 100,000."""
_ALL = 50_000_000
"""Characters of definitions that all operations of a document may need together: each has its own copy."""
_DEEPEST = 60
"""Levels of schemas in one another, without references."""
HANDLE = "Handle of a stored file or result, such as result/3.1/report.pdf: its bytes are sent."

Schema = dict[str, JsonValue]


class Schemas:
    """The schemas of one document, each definition made once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._names: dict[str, str] = {}
        """By reference, how the definition is called."""
        self._references: dict[str, str] = {}
        """The same by name."""
        self._made: dict[str, Schema | bool] = {}
        self._uses: dict[str, set[str]] = {}
        self._sizes: dict[str, int] = {}
        """Characters of each definition."""
        self._left = _ALL

    def complete(self, schema: Schema) -> Schema:
        """A schema of arguments with every definition it needs, in the order of their names.

        Raises:
            NamespaceError: a schema cannot be used, or a reference leads nowhere.
        """
        made: set[str] = set()
        changed = cast("Schema", self._changed(schema, made, 0))
        open_, needed, size = set(made), set[str](), 0
        while open_:
            name = open_.pop()
            needed.add(name)
            open_ |= self._definition(name) - needed
            size += self._sizes[name]
            if size > min(_ONE, self._left):
                raise NamespaceError(f"its schema has more than {min(_ONE, self._left):,} characters")
        self._left -= size
        if needed:
            changed["$defs"] = {name: self._made[name] for name in sorted(needed)}
        return changed

    def object_of(self, schema: JsonValue) -> Mapping[str, JsonValue]:
        """The properties of an object, behind references and with those of all its `allOf`."""
        properties: dict[str, JsonValue] = {}
        open_, seen = [schema], set[int]()
        while open_:
            found = self._document.resolved(open_.pop())
            if id(found) in seen:
                continue
            seen.add(id(found))
            own, parts = found.get("properties"), found.get("allOf")
            properties = (own if isinstance(own, dict) else {}) | properties
            open_ += parts if isinstance(parts, list) else []
        return properties

    def is_file(self, schema: JsonValue) -> bool:
        """Whether a property holds bytes: `format: binary`, or as 3.1 says it."""
        if not isinstance(schema, dict):
            return False
        found = self._document.resolved(schema)
        if found.get("type") == "array" and "items" in found:
            return self.is_file(found["items"])
        media = found.get("contentMediaType", "text/plain")
        raw = "contentEncoding" not in found and not is_text(str(media))
        return found.get("type", "string") == "string" and (found.get("format") == "binary" or raw)

    def _definition(self, name: str) -> set[str]:
        if name not in self._made:
            uses: set[str] = set()
            made = self._changed(self._document.at(self._references[name]), uses, 0)
            self._made[name], self._uses[name] = made, uses
            self._sizes[name] = len(json.dumps(made))
        return self._uses[name]

    def _named(self, reference: str) -> str:
        if reference not in self._names:
            plain = _ILLEGAL.sub("_", reference.rpartition("/")[2]) or "root"
            name = plain if plain not in self._references else f"{plain}_{len(self._references)}"
            while name in self._references:
                name += "_"
            self._names[reference], self._references[name] = name, reference
        return self._names[reference]

    def _changed(self, node: JsonValue, uses: set[str], depth: int) -> Schema | bool:
        if isinstance(node, bool):
            return node
        if not isinstance(node, dict):
            raise NamespaceError(f"{str(node)[:100]!r} stands where a schema has to be")
        if depth > _DEEPEST:
            raise NamespaceError(f"a schema is nested more than {_DEEPEST} levels deep")
        result: Schema = {}
        reference = node.get("$ref")
        if isinstance(reference, str):
            name = self._named(reference)
            uses.add(name)
            result["$ref"] = f"#/$defs/{name}"
            if self._document.version == "3.0":
                return result  # what stands beside a reference has no meaning there
        sent = self._without_read_only(node)
        for word, value in sent.items():
            if word not in _LEFT_OUT and word != "$ref" and not word.startswith("x-"):
                result[word] = self._word(word, value, uses, depth + 1)
        return _of_today(result)

    def _word(self, word: str, value: JsonValue, uses: set[str], depth: int) -> JsonValue:
        if word == "$dynamicRef":
            raise NamespaceError("a schema uses $dynamicRef, which is not followed")
        if word in _SCHEMAS:
            return self._changed(value, uses, depth)
        if word in _LISTS and isinstance(value, list):
            return [self._changed(one, uses, depth) for one in value]
        if word in _MAPS and isinstance(value, dict):
            return {name: self._changed(one, uses, depth) for name, one in value.items()}
        return value

    def _without_read_only(self, node: Schema) -> Schema:
        properties = node.get("properties")
        if not isinstance(properties, dict):
            return node
        unsent = {name for name, schema in properties.items() if self._is_read_only(schema)}
        if not unsent:
            return node
        kept: JsonValue = {name: schema for name, schema in properties.items() if name not in unsent}
        required = node.get("required", [])
        asked = [name for name in required if name not in unsent] if isinstance(required, list) else []
        rest = {word: value for word, value in node.items() if word not in {"properties", "required"}}
        return {**rest, "properties": kept, **({"required": asked} if asked else {})}

    def _is_read_only(self, schema: JsonValue) -> bool:
        if not isinstance(schema, dict):
            return False
        return schema.get("readOnly") is True or self._document.resolved(schema).get("readOnly") is True


def _of_today(schema: Schema) -> Schema:
    """3.0's booleans beside a bound become bounds; of bytes it is said how they are given."""
    for word, bound in _BOUNDS.items():
        said = schema.get(word)
        if isinstance(said, bool):
            del schema[word]
            if said and bound in schema:
                schema[word] = schema.pop(bound)
    if schema.get("format") == "binary" and schema.get("type") == "string":
        told = schema.get("description")
        schema["description"] = f"{told} {HANDLE}" if isinstance(told, str) and told else HANDLE
    return schema
