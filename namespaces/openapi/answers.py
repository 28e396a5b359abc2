"""An answer as the output of a call: JSON as JSON, text as text, bytes as an attachment."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from http import HTTPStatus
from typing import cast

from pydantic import JsonValue

from ..tool import Attachment, ToolOutput
from .exchange import Answer
from .media import charset, honest, is_json, is_text, plain
from .operations import SAFE, Operation

_SHORTEST = 8
"""Characters from which a secret is looked for: a shorter one would be found in any text."""
_SHOWN = "[secret]"
_FILE_NAME = re.compile(r"filename=\"?([^\";]+)")
_ENDINGS = {"application/pdf": ".pdf", "image/png": ".png", "image/jpeg": ".jpg", "application/zip": ".zip"}


def output_of(operation: Operation, answer: Answer, secrets: Sequence[str]) -> ToolOutput:
    """What the model is told. Secrets that the server says again are taken out, also of attachments."""
    hide = _Hiding(secrets)
    body = hide.bytes(answer.body)
    status = answer.status
    failed = status >= HTTPStatus.BAD_REQUEST or (bool(answer.cut) and operation.method in SAFE)
    headers = {name: value for name, value in answer.headers.items() if name in operation.shown_headers}
    head = _Head(status, {name: hide(value) for name, value in headers.items()}, answer.cut)
    content_type = answer.headers.get("content-type", "")
    media = plain(content_type)
    if not body:
        return ToolOutput(head.with_json(None), error=failed)
    if is_text(media) or (not media and _reads_as_text(body)):
        return ToolOutput(_text(head, body, content_type), error=failed)
    name = _name(operation, answer.headers.get("content-disposition", ""), media)
    attachment = Attachment(name, body, honest(media, body))
    return ToolOutput(head.with_json(f"in the attachment {name}"), error=failed, attachments=(attachment,))


@dataclass(frozen=True, slots=True)
class _Head:
    """What is told beside the body."""

    status: int
    headers: dict[str, str]
    cut: str

    def with_json(self, body: JsonValue) -> JsonValue:
        told: dict[str, JsonValue] = {"status": self.status}
        if self.headers:
            told["headers"] = cast("JsonValue", self.headers)
        if self.cut:
            told["incomplete"] = f"the body is not whole: {self.cut}"
        return told if body is None else {**told, "body": body}

    def with_text(self, body: str) -> str:
        phrase = HTTPStatus(self.status).phrase if self.status in set(HTTPStatus) else ""
        lines = [f"HTTP {self.status} {phrase}".rstrip()]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        lines += [f"(The body is not whole: {self.cut}.)"] if self.cut else []
        return "\n".join([*lines, "", body])


def _text(head: _Head, body: bytes, content_type: str) -> JsonValue:
    text = _decoded(body, charset(content_type))
    if not head.cut and (is_json(plain(content_type)) or not content_type):
        try:
            return head.with_json(_json(text))
        except (ValueError, RecursionError):
            pass
    return head.with_text(text)


def _json(text: str) -> JsonValue:
    """The JSON of a text, where no number of it would become another.

    Raises:
        ValueError: it is no JSON, or a number has more digits than are kept.
    """
    return cast("JsonValue", json.loads(text, parse_float=_exact, parse_constant=_no_number))


def _exact(written: str) -> float:
    number = float(written)
    if Decimal(repr(number)) != Decimal(written):
        raise ValueError(f"{written} has more digits than a number keeps")
    return number


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _decoded(body: bytes, name: str) -> str:
    try:
        return body.decode(name, "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def _reads_as_text(body: bytes) -> bool:
    try:
        return "\x00" not in body.decode()
    except UnicodeDecodeError:
        return False


def _name(operation: Operation, disposition: str, media: str) -> str:
    found = _FILE_NAME.search(disposition)
    said = found[1].strip().rpartition("/")[2].rpartition("\\")[2] if found else ""
    return said[:100] or f"{operation.name}{_ENDINGS.get(media, '.bin')}"


class _Hiding:
    """Takes secrets out of what a server says."""

    def __init__(self, secrets: Sequence[str]) -> None:
        long = [one for one in secrets if len(one) >= _SHORTEST]
        self._secrets = sorted(long, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, _SHOWN)
        return text

    def bytes(self, data: bytes) -> bytes:
        for secret in self._secrets:
            data = data.replace(secret.encode(), _SHOWN.encode())
        return data
