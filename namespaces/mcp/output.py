"""What a server answered to a call, whole, as an output of ours."""

import base64
import binascii
import json
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never, cast
from urllib.parse import urlsplit

from mcp import types
from pydantic import JsonValue

from ..tool import Attachment, ToolOutput

if TYPE_CHECKING:
    from mcp.types import ContentBlock

_NAME = 80
"""Characters of an attachment's name."""


@dataclass(slots=True)
class _Parts:
    texts: list[str] = field(default_factory=list[str])
    attachments: list[Attachment] = field(default_factory=list[Attachment])


def output_of(result: types.CallToolResult) -> ToolOutput:
    """Texts, structured content, links, resources and media of a result, or its error.

    Structured content that a text says as well, as servers do for older clients, is shown once.
    """
    parts = _Parts()
    for block in result.content:
        _take(block, parts)
    structured = cast("JsonValue", result.structured_content)
    content: JsonValue = "\n\n".join(parts.texts)
    if structured is not None and not _is_wrapped(structured, parts.texts):
        texts = [text for text in parts.texts if _read(text) != structured]
        content = "\n\n".join((*texts, _json(structured))) if texts else structured
    return ToolOutput(content, error=result.is_error, attachments=tuple(parts.attachments))


def output_of_resource(
    contents: Sequence[types.TextResourceContents | types.BlobResourceContents],
) -> ToolOutput:
    """What a resource holds."""
    parts = _Parts()
    for one in contents:
        _take_resource(one, parts)
    return ToolOutput("\n\n".join(parts.texts), attachments=tuple(parts.attachments))


def _take(block: "ContentBlock", parts: _Parts) -> None:
    match block:
        case types.TextContent():
            parts.texts.append(block.text)
        case types.ImageContent():
            _attach("image", block.data, block.mime_type, parts)
        case types.AudioContent():
            _attach("audio", block.data, block.mime_type, parts)
        case types.ResourceLink():
            parts.texts.append(_link(block))
        case types.EmbeddedResource():
            _take_resource(block.resource, parts)
        case _ as never:
            assert_never(never)


def _take_resource(resource: types.TextResourceContents | types.BlobResourceContents, parts: _Parts) -> None:
    match resource:
        case types.TextResourceContents():
            parts.texts.append(f"[resource {resource.uri}]\n{resource.text}")
        case types.BlobResourceContents():
            name = urlsplit(resource.uri).path.rpartition("/")[2][-_NAME:] or "resource"
            parts.texts.append(f"[resource {resource.uri}, attached]")
            _attach(name, resource.blob, resource.mime_type or "application/octet-stream", parts)
        case _ as never:
            assert_never(never)


def _attach(name: str, encoded: str, mime: str, parts: _Parts) -> None:
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        parts.texts.append(f"[{name}: {mime}, whose data is no base64 and cannot be shown]")
        return
    if "." not in name:
        name += mimetypes.guess_extension(mime) or ""
    parts.attachments.append(Attachment(name, data, mime))


def _link(link: types.ResourceLink) -> str:
    """A link in one line: it can be read with `read_resource`, where the server has resources."""
    about = [link.title or link.name, link.uri, link.mime_type or ""]
    size = "" if link.size is None else f"{link.size} bytes"
    shown = ", ".join(part for part in (*about, size) if part)
    return f"[link to a resource: {shown}] {link.description or ''}".strip()


def _is_wrapped(structured: JsonValue, texts: Sequence[str]) -> bool:
    """Whether it is an object around nothing but one of the texts, as some SDKs wrap what is no object."""
    if not isinstance(structured, dict) or len(structured) != 1:
        return False
    (inside,) = structured.values()
    return inside in texts or (isinstance(inside, (dict, list)) and inside in map(_read, texts))


def _read(text: str) -> JsonValue:
    try:
        return cast("JsonValue", json.loads(text))
    except (ValueError, RecursionError):
        return text


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
