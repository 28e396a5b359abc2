"""A call as the request that is sent for it."""

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from pydantic import JsonValue

from ..errors import NamespaceError
from ..tool import ToolContext
from .bodies import encoded
from .operations import BODY, SAFE, Argument, IdempotencyKey, Operation
from .security import Given, given
from .styles import Shape, in_cookie, in_header, in_path, in_query

_TEMPLATE = re.compile(r"\{([^{}]*)\}")
_ACCEPT = "application/json, */*;q=0.8"
_PATH = "/:@!$&'()*+,;=-._~%"
"""What may stand in a path (RFC 3986, section 3.3)."""
_DOTS = re.compile(r"(^|/)(\.|%2e){1,2}(/|$)", re.IGNORECASE)
"""A segment that leads to another path than the one that was meant."""
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request, whole."""

    method: str
    url: str
    headers: tuple[tuple[str, bytes], ...]
    content: bytes
    secrets: tuple[str, ...] = ()
    """What is not to be told of it."""


async def outgoing(
    operation: Operation, arguments: Mapping[str, JsonValue], context: ToolContext
) -> Outgoing:
    """The request for a call.

    Raises:
        NamespaceError: an argument or a credential cannot be sent as it is.
    """
    proof = given(operation.ways, context.credentials)
    values = [
        (one, arguments[one.name]) for one in operation.arguments if arguments.get(one.name) is not None
    ]
    headers = {"Accept": _ACCEPT.encode()}
    headers |= {one.shape.name: _header(one, value) for one, value in values if one.place == "header"}
    if context.traceparent:
        headers["traceparent"] = context.traceparent.encode()
    headers |= {name: value.encode() for name, value in proof.headers}
    cookies = [
        pair for one, value in values if one.place == "cookie" for pair in in_cookie(*_told(one, value))
    ]
    if cookies or proof.cookies:
        headers["Cookie"] = "; ".join([*cookies, *proof.cookies]).encode()
    if operation.key is not None and operation.method not in SAFE:
        headers[operation.key.header] = key_of(operation.key, context.idempotency_key).encode()
    content = b""
    if operation.body is not None and BODY in arguments:
        boundary = context.idempotency_key[:32]
        made = await encoded(operation.body, arguments[BODY], context.read, boundary)
        content, headers["Content-Type"] = made.content, made.content_type.encode()
    url = _url(operation, values, proof)
    return Outgoing(operation.method, url, tuple(headers.items()), content, proof.secrets)


def key_of(key: IdempotencyKey, value: str) -> str:
    """The engine's key as the API wants to have it."""
    written = str(uuid.UUID(hex=value[:32], version=4)) if key.uuid else value
    return written[: key.longest] if key.longest else written


def _told(one: Argument, value: JsonValue) -> tuple[Shape, JsonValue]:
    """How a value is written, and what: of a parameter with `content`, its JSON."""
    return one.shape, json.dumps(value, separators=(",", ":")) if one.as_json else value


def _header(one: Argument, value: JsonValue) -> bytes:
    text = in_header(*_told(one, value))
    if _CONTROL.search(text):
        raise NamespaceError(
            f"{one.name}: a header cannot hold control characters or line breaks; got {text!r}"
        )
    return text.strip().encode()


def _url(operation: Operation, values: Sequence[tuple[Argument, JsonValue]], proof: Given) -> str:
    written = {one.shape.name: _segment(one, value) for one, value in values if one.place == "path"}
    missing = [name for name in _TEMPLATE.findall(operation.path) if not written.get(name)]
    if missing:
        raise NamespaceError(f"{missing[0]}: it is part of the path, so it cannot be empty")
    pieces = enumerate(_TEMPLATE.split(operation.path))  # every second one is the name of a parameter
    path = "".join(written[piece] if place % 2 else quote(piece, safe=_PATH) for place, piece in pieces)
    if _DOTS.search(path):
        raise NamespaceError(
            f"the path would become {path!r}: `.` and `..` cannot stand alone between slashes"
        )
    pairs = [pair for one, value in values if one.place == "query" for pair in in_query(*_told(one, value))]
    query = "&".join([*pairs, *proof.query])
    return f"{operation.base_url}{path}{'?' if query else ''}{query}"


def _segment(one: Argument, value: JsonValue) -> str:
    return in_path(*_told(one, value))
