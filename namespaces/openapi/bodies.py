"""Bodies of requests: which type is sent where there are several, and its bytes."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from pydantic import JsonValue

from ..errors import NamespaceError
from .document import Document
from .media import FORM, MULTIPART, is_json, is_text, plain
from .parts import Encoding, MediaType, RequestBody, part
from .schemas import HANDLE, Schemas
from .styles import Shape, in_query
from .styles import plain as text_of

_UNSAID = Encoding.model_validate({})
"""The encoding of a property of which nothing is said."""

Read = Callable[[str], Awaitable[bytes]]
"""The bytes behind a handle; raises KeyError for one that is not there."""


@dataclass(frozen=True, slots=True)
class Body:
    """The body that an operation takes."""

    content_type: str
    schema: JsonValue
    """Of the argument `body`, as the document has it."""
    required: bool
    description: str
    encoding: Mapping[str, Encoding] = field(default_factory=dict[str, Encoding])
    files: frozenset[str] = frozenset()
    """Properties of a multipart body whose values are handles."""


class Encoded(NamedTuple):
    """A body as it is sent."""

    content_type: str
    content: bytes


def body_of(document: Document, schemas: Schemas, node: JsonValue) -> Body:
    """The body of an operation, in the type that is best to write.

    Raises:
        NamespaceError: it has no type that can be written.
    """
    said = part(RequestBody, document.resolved(node), "its body")
    if not said.content:
        raise NamespaceError("its body has no content")
    written = min(said.content, key=_rank)
    if _rank(written) == len(_WRITERS):
        raise NamespaceError(
            f"its body has to be {' or '.join(said.content)}; written are JSON, forms, text and bytes"
        )
    media = part(
        MediaType, document.resolved(cast("JsonValue", said.content[written])), f"its body, {written}"
    )
    schema: JsonValue = cast("JsonValue", media.schema_)
    kind = plain(written)
    files: frozenset[str] = frozenset()
    if kind in {FORM, MULTIPART}:
        properties = schemas.object_of(schema)
        files = frozenset(name for name, inside in properties.items() if schemas.is_file(inside))
    elif not is_json(kind):
        schema = dict[str, JsonValue](type="string", **({} if is_text(kind) else {"description": HANDLE}))
    if kind == FORM and files:
        raise NamespaceError(
            f"its form has files ({', '.join(sorted(files))}), which only multipart can hold"
        )
    return Body(written, schema, said.required, said.description or "", media.encoding, files)


def _is_bytes(kind: str) -> bool:
    return kind in {"application/octet-stream", "application/pdf", "*/*"} or kind.split("/")[0] in {
        "image",
        "audio",
        "video",
    }


_WRITERS: tuple[Callable[[str], bool], ...] = (
    lambda kind: kind == "application/json",
    is_json,
    lambda kind: kind == FORM,
    lambda kind: kind == MULTIPART,
    lambda kind: kind == "text/plain",
    _is_bytes,
)
"""Which types are written, the best first. XML and other text has a form that no schema tells."""


def _rank(content_type: str) -> int:
    kind = plain(content_type)
    return next((rank for rank, writes in enumerate(_WRITERS) if writes(kind)), len(_WRITERS))


async def encoded(body: Body, value: JsonValue, read: Read, boundary: str) -> Encoded:
    """The bytes of a body.

    Raises:
        NamespaceError: a handle names nothing.
    """
    kind = plain(body.content_type)
    if is_json(kind):
        return Encoded(body.content_type, json.dumps(value, separators=(",", ":")).encode())
    if kind == FORM:
        return Encoded(body.content_type, "&".join(_form(body, cast("dict[str, JsonValue]", value))).encode())
    if kind == MULTIPART:
        return await _multipart(body, cast("dict[str, JsonValue]", value), read, boundary)
    if is_text(kind):
        return Encoded("text/plain; charset=utf-8", text_of(value).encode("utf-8", "replace"))
    named = "application/octet-stream" if kind == "*/*" else body.content_type
    return Encoded(named, await _bytes(value, read))


def _form(body: Body, value: Mapping[str, JsonValue]) -> list[str]:
    """The pairs of a form: an object is written as JSON unless the document gives it a style."""
    pairs: list[str] = []
    for name, item in value.items():
        encoding = body.encoding.get(name, _UNSAID)
        styled = encoding.style or encoding.explode is not None or encoding.allow_reserved
        written = json.dumps(item, separators=(",", ":")) if isinstance(item, dict) and not styled else item
        style = encoding.style or "form"
        explode = style == "form" if encoding.explode is None else encoding.explode
        shape = Shape(name, style, explode, bool(encoding.allow_reserved))
        pairs += [pair.replace("%20", "+") for pair in in_query(shape, written)]
    return pairs


async def _multipart(body: Body, value: Mapping[str, JsonValue], read: Read, boundary: str) -> Encoded:
    from httpx2 import Request

    parts: list[tuple[str, tuple[str | None, bytes, str]]] = []
    for name, item in value.items():
        for one in item if isinstance(item, list) else [item]:
            said = body.encoding.get(name, _UNSAID).content_type or ""
            if name in body.files:
                kind = (
                    said
                    if "/" in said and "," not in said and "*" not in said
                    else "application/octet-stream"
                )
                parts.append((name, (str(one).rpartition("/")[2], await _bytes(one, read), kind)))
            elif one is not None:
                kind = said or ("application/json" if isinstance(one, (dict, list)) else "text/plain")
                parts.append((name, (None, text_of(one).encode("utf-8", "replace"), kind)))
    content_type = f"{MULTIPART}; boundary={boundary}"
    made = Request("POST", "http://x/", files=parts, headers={"content-type": content_type})
    return Encoded(content_type, made.read())


async def _bytes(value: JsonValue, read: Read) -> bytes:
    try:
        return await read(str(value))
    except KeyError as error:
        raise NamespaceError(
            f"{value!r} is no handle of this session; a file is named by its handle"
        ) from error
