"""The operations of a document, each mapped by itself: one that cannot be is set aside with the reason."""

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from pydantic import JsonValue

from ..errors import NamespaceError
from ..names import aliases
from .bodies import Body, body_of
from .document import Document, Object
from .media import is_json, is_token, plain
from .parts import Parameter, Place, part, style_of
from .schemas import Schema, Schemas
from .security import Way, ways_of
from .servers import Home, base_url
from .styles import Shape

METHODS = ("get", "head", "options", "trace", "put", "delete", "post", "patch")
SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""Methods that change nothing (RFC 9110, section 9.2.1)."""
IDEMPOTENT = frozenset({"PUT", "DELETE"})
"""Methods that may be sent again beside the safe ones (RFC 9110, section 9.2.2)."""
IDEMPOTENCY_KEY = "idempotency-key"
"""Header by which an API says that it takes a key, in lower case."""
_OWN_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "cookie",
        "expect",
        "host",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Parameters that OpenAPI says to ignore, and those by which a message is framed: no arguments."""
_SHOWN_HEADERS = frozenset({"link", "location", "retry-after", "etag", "content-range"})
_TEMPLATE = re.compile(r"\{([^{}]*)\}")
_MOST = 5_000
"""Operations of one document: each is a line of what a model is told first."""
_SAID = 4_000
"""Characters of a description that are kept."""
BODY = "body"


class Argument(NamedTuple):
    """A parameter under the name that the model gives it by."""

    name: str
    place: Place
    shape: Shape
    as_json: bool
    """Whether it is written as JSON: it has `content` and no style."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a document, ready to be called."""

    name: str
    method: str
    path: str
    base_url: str
    summary: str
    description: str
    """All that is said of it."""
    deprecated: bool
    schema: Schema
    """Of all its arguments."""
    arguments: tuple[Argument, ...]
    body: Body | None
    ways: tuple[Way, ...]
    """Of saying who is calling."""
    shown_headers: frozenset[str]
    """Headers of its responses that are told, in lower case."""
    key: "IdempotencyKey | None" = None


class IdempotencyKey(NamedTuple):
    """The header that an idempotency key goes into, and what it may look like there."""

    header: str
    longest: int
    """Characters it may have; 0 for no bound."""
    uuid: bool
    """Whether it has to be written as a UUID."""


class SetAside(NamedTuple):
    """An operation that cannot be called, and why."""

    name: str
    reason: str


class Found(NamedTuple):
    """An operation where it stands in the document."""

    method: str
    path: str
    item: Object
    """The path's own object, which the operation shares with others."""
    said: JsonValue
    problem: str = ""
    """Why the path's object cannot be had; empty when it can."""


def operations(document: Document, home: Home) -> list[Operation | SetAside]:
    """All operations of a document, by legal and distinct names.

    Raises:
        NamespaceError: there are more than are ever listed to a model.
    """
    schemas = Schemas(document)
    found = list(_found(document))
    if len(found) > _MOST:
        raise NamespaceError(f"the document has {len(found):,} operations; at most {_MOST:,} are taken")
    made: list[Operation | SetAside] = []
    for name, one in zip(_names(found), found, strict=True):
        try:
            made.append(_Mapping(document, schemas, home, one).operation(name))
        except NamespaceError as error:
            made.append(SetAside(name, str(error)))
        except (RecursionError, TypeError, ValueError) as error:
            made.append(SetAside(name, f"it cannot be read: {error}"))
    return made


def _found(document: Document) -> Iterator[Found]:
    paths = cast("Object", document.root.get("paths", {}))
    for path, node in paths.items():
        try:
            item = document.resolved(node)
        except NamespaceError as error:
            yield Found("ANY", path, {}, {}, str(error))
            continue
        for method in METHODS:
            if method in item:
                yield Found(method.upper(), path, item, item[method])


def _names(found: Sequence[Found]) -> list[str]:
    """`operationId`, or method and path where there is none or another operation has it too."""
    said = [one.said.get("operationId") if isinstance(one.said, dict) else None for one in found]
    plain_path = [
        f"{one.method.lower()}{re.sub('[^a-zA-Z0-9]+', '_', one.path).rstrip('_')}" for one in found
    ]
    taken: dict[str, None] = {}
    for one, identity, path in zip(found, said, plain_path, strict=True):
        raw = f"{one.method} {one.path}"
        wanted = (identity, path, raw) if isinstance(identity, str) and identity.strip() else (path, raw)
        taken[next((name for name in wanted if name not in taken), raw)] = None
    legal = aliases(taken)
    return [legal[name] for name in taken]


class _Mapping:
    """One operation in the making."""

    def __init__(self, document: Document, schemas: Schemas, home: Home, found: Found) -> None:
        if found.problem or not isinstance(found.said, dict):
            raise NamespaceError(found.problem or "it is no object")
        self._document = document
        self._schemas = schemas
        self._home = home
        self._found = found
        self._said: Object = found.said

    def operation(self, name: str) -> Operation:
        found, said = self._found, self._said
        ways = ways_of(self._document, said.get("security", self._document.root.get("security")))
        body = body_of(self._document, self._schemas, said["requestBody"]) if "requestBody" in said else None
        known, key = self._parameters(ways)
        arguments = _named(known, body)
        self._check_path(arguments)
        schema = self._schema(list(zip(arguments, known, strict=True)), body)
        levels = (said.get("servers"), found.item.get("servers"), self._document.root.get("servers"))
        return Operation(
            name=name,
            method=found.method,
            path=found.path.partition("#")[0],  # some documents tell operations of one path apart by it
            base_url=base_url(self._document, levels, self._home),
            summary=self._summary(),
            description=self._description(),
            deprecated=said.get("deprecated") is True,
            schema=self._schemas.complete(schema),
            arguments=tuple(arguments),
            body=body,
            ways=ways,
            shown_headers=_SHOWN_HEADERS | self._told_headers(),
            key=key,
        )

    def _parameters(self, ways: Sequence[Way]) -> "tuple[list[Parameter], IdempotencyKey | None]":
        """The parameters that the model gives, and the one that it does not."""
        merged: dict[tuple[str, str], Parameter] = {}
        for level in (self._found.item, self._said):
            for node in cast("list[JsonValue]", level.get("parameters", [])):
                one = part(Parameter, self._document.resolved(node), "a parameter")
                merged[one.place, _in(one.place, one.name)] = one
        proofs = {(proof.where, _in(proof.where, proof.key)) for way in ways for proof in way}
        key: IdempotencyKey | None = None
        given: list[Parameter] = []
        for (place, name), one in merged.items():
            if place == "header" and name == IDEMPOTENCY_KEY:
                key = _key(one)
            elif (place, name) not in proofs and not (place == "header" and name in _OWN_HEADERS):
                given.append(one)
        return given, key

    def _check_path(self, arguments: Sequence[Argument]) -> None:
        path = self._found.path
        if not path.startswith("/") or "?" in path:
            raise NamespaceError(f"its path {path!r} has to begin with / and have no query")
        there = {one.shape.name for one in arguments if one.place == "path"}
        missing = [name for name in _TEMPLATE.findall(path) if name not in there]
        if missing:
            raise NamespaceError(f"its path names {missing[0]!r}, which is no parameter of it")

    def _schema(self, known: Sequence[tuple[Argument, Parameter]], body: Body | None) -> Schema:
        properties: Schema = {}
        required: list[JsonValue] = []
        for argument, parameter in known:
            properties[argument.name] = _described(_schema_of(parameter), parameter.description)
            if parameter.required or argument.place == "path":
                required.append(argument.name)
        if body is not None:
            properties[BODY] = _described(body.schema, body.description)
            if body.required:
                required.append(BODY)
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    def _summary(self) -> str:
        said = self._said.get("summary") or self._said.get("description") or ""
        line = " ".join(str(said).split()) or f"{self._found.method} {self._found.path}"
        return f"Deprecated. {line}" if self._said.get("deprecated") is True else line

    def _description(self) -> str:
        told = (self._said.get("summary"), self._said.get("description"))
        said = [one.strip()[:_SAID] for one in told if isinstance(one, str) and one.strip()]
        return "\n".join([*said, f"({self._found.method} {self._found.path})"])

    def _told_headers(self) -> frozenset[str]:
        """Headers that the document tells of some response."""
        responses = self._said.get("responses")
        told: set[str] = set()
        for node in (responses if isinstance(responses, dict) else {}).values():
            with contextlib.suppress(NamespaceError):  # a call does not depend on what is said of its answer
                headers = self._document.resolved(node).get("headers", {})
                told |= {name.lower() for name in headers} if isinstance(headers, dict) else set()
        return frozenset(told - {"content-type"})


def _in(place: str, name: str) -> str:
    """A name as it is told from others: headers go by lower case."""
    return name.lower() if place == "header" else name


def _key(parameter: Parameter) -> IdempotencyKey:
    said = cast("JsonValue", parameter.schema_)
    schema = said if isinstance(said, dict) else {}
    longest = schema.get("maxLength")
    bound = longest if isinstance(longest, int) else 0
    return IdempotencyKey(parameter.name, bound, schema.get("format") == "uuid")


def _named(parameters: Sequence[Parameter], body: Body | None) -> list[Argument]:
    """Each parameter under its own name, with its place before it where that name is taken."""
    taken = {BODY} if body is not None else set[str]()
    named: list[Argument] = []
    for one in parameters:
        name = one.name if one.name not in taken else f"{one.place}_{one.name}"
        if name in taken:
            raise NamespaceError(f"there are two parameters {one.name!r} in its {one.place}")
        taken.add(name)
        named.append(_argument(name, one))
    return named


def _argument(name: str, one: Parameter) -> Argument:
    what = f"parameter {one.name!r}"
    if one.place in {"header", "cookie"} and not is_token(one.name):
        raise NamespaceError(f"{what}: no {one.place} can be called so")
    style = style_of(one.style, one.place, what)
    explode = style == "form" if one.explode is None else one.explode
    shape = Shape(one.name, style, explode, one.allow_reserved)
    if not one.content:
        return Argument(name, one.place, shape, as_json=False)
    (content_type, *others) = one.content
    if others or not is_json(plain(content_type)):
        raise NamespaceError(f"{what} has to be {' or '.join(one.content)}; written is JSON")
    return Argument(name, one.place, shape, as_json=True)


def _schema_of(one: Parameter) -> JsonValue:
    if one.content:
        return cast("JsonValue", next(iter(one.content.values())).schema_)
    return True if one.schema_ is None else cast("JsonValue", one.schema_)


def _described(schema: JsonValue, description: str | None) -> JsonValue:
    """The schema with what is said of the parameter, where the schema says nothing itself."""
    if not description or not isinstance(schema, dict) or "description" in schema:
        return {"description": description[:_SAID]} if description and schema is True else schema
    if "$ref" in schema:
        return {"allOf": [schema], "description": description[:_SAID]}
    return {**schema, "description": description[:_SAID]}
