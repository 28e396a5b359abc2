"""An OpenAPI document: its version, and what its references stand for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from pydantic import JsonValue

from ..errors import NamespaceError
from .reading import read

_HOPS = 20
"""References that may lead to one another."""

Object = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Document:
    """The values of a document, by their places."""

    root: Object
    version: Literal["3.0", "3.1"]
    """3.2 only adds to 3.1 and is read as that."""

    def at(self, reference: str) -> JsonValue:
        """What a reference inside the document names.

        Raises:
            NamespaceError: it leads out of the document, or nowhere.
        """
        if not reference.startswith("#/") and reference != "#":
            raise NamespaceError(
                f"{reference!r} leads out of the document, and other documents are not fetched: bundle them"
            )
        node: JsonValue = dict(self.root)
        for step in unquote(reference[1:]).split("/")[1:]:
            node = _inside(node, step.replace("~1", "/").replace("~0", "~"), reference)
        return node

    def resolved(self, node: JsonValue) -> Object:
        """An object of the document, behind its references.

        Raises:
            NamespaceError: a reference leads nowhere or in a circle, or what it names is no object.
        """
        for _ in range(_HOPS):
            if not isinstance(node, dict):
                raise NamespaceError(f"{str(node)[:100]!r} stands where an object has to be")
            reference = node.get("$ref")
            if not isinstance(reference, str):
                return node
            node = self.at(reference)
        raise NamespaceError("a reference leads in a circle")

    def component(self, kind: str) -> Object:
        """The components of one kind, such as `securitySchemes`, by name; empty when there are none."""
        components = self.root.get("components")
        found = components.get(kind) if isinstance(components, dict) else None
        return found if isinstance(found, dict) else {}


def parsed(data: bytes) -> Document:
    """The document in some bytes.

    Raises:
        NamespaceError: it cannot be read, or is no OpenAPI document of a version that is known.
    """
    root = read(data)
    if not isinstance(root, dict):
        raise NamespaceError("the document is no object: an OpenAPI document begins with `openapi: 3.1.0`")
    if "swagger" in root:
        raise NamespaceError(f"it is of Swagger {root['swagger']!r}; convert it to OpenAPI 3.0 or later")
    said = root.get("openapi")
    if not isinstance(said, str) or said.split(".")[:2] not in (["3", "0"], ["3", "1"], ["3", "2"]):
        raise NamespaceError(f"its `openapi` is {said!r}; known are 3.0, 3.1 and 3.2, written as '3.1.0'")
    if not isinstance(root.get("paths", {}), dict):
        raise NamespaceError("its `paths` is no object")
    return Document(root, "3.0" if said.startswith("3.0") else "3.1")


def _inside(node: JsonValue, step: str, reference: str) -> JsonValue:
    if isinstance(node, dict) and step in node:
        return node[step]
    if isinstance(node, list) and step.isdecimal() and int(step) < len(node):
        return node[int(step)]
    raise NamespaceError(f"{reference!r} is nowhere in the document")
