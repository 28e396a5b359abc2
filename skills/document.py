"""SKILL.md files: YAML frontmatter with name and description, then Markdown (agentskills.io).

Read tolerantly in form and strictly in meaning: a byte-order mark, Windows line ends, or a colon inside
an unquoted description have one plain meaning; a frontmatter that never ends has none.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

_FENCE = "---"
_PLAIN = re.compile(r"^([A-Za-z][\w-]*):\s+(\S.*)$")


class DocumentError(Exception):
    """A SKILL.md that cannot be read; names the file and says what would be right."""


@dataclass(frozen=True, slots=True)
class Document:
    """One SKILL.md."""

    path: Path
    name: str
    description: str
    body: str
    """The Markdown after the frontmatter; never empty."""
    findings: tuple[str, ...] = ()
    """What was mended in reading it, in words."""


def read_document(path: Path) -> Document:
    """Reads a SKILL.md.

    Raises:
        DocumentError: it is missing or no UTF-8, its frontmatter is missing, never ends or is no YAML
            mapping, it has no name or description, or its body is empty.
    """
    text, findings = _text(path)
    head, body = _split(path, text)
    fields, mended = _fields(path, head)
    name, description = (_field(path, fields, field) for field in ("name", "description"))
    if not body.strip():
        raise DocumentError(f"{path}: nothing stands after the frontmatter")
    return Document(path, name, description, body.strip(), (*findings, *mended))


def _text(path: Path) -> tuple[str, tuple[str, ...]]:
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: is not UTF-8: {error}") from error
    findings: list[str] = []
    if text.startswith("\ufeff"):
        text = text.removeprefix("\ufeff")
        findings.append("a byte-order mark was left out")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        findings.append("line ends were made plain")
    return text, tuple(findings)


def _split(path: Path, text: str) -> tuple[str, str]:
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        raise DocumentError(f"{path}: has no frontmatter: its first line has to be {_FENCE!r}")
    for place, line in enumerate(lines[1:], start=1):
        if line.rstrip() == _FENCE:
            return "\n".join(lines[1:place]), "\n".join(lines[place + 1 :])
    raise DocumentError(f"{path}: its frontmatter never ends: close it with a line {_FENCE!r}")


def _fields(path: Path, head: str) -> tuple[Mapping[str, object], tuple[str, ...]]:
    import yaml

    try:
        fields: object = yaml.safe_load(head)
        mended: tuple[str, ...] = ()
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        fields, mended = _plain_fields(head), ("unquoted text with a colon was read as it stands",)
        if fields is None:
            raise DocumentError(f"{path}: its frontmatter is no YAML: {error}") from error
    if not isinstance(fields, dict):
        raise DocumentError(f"{path}: its frontmatter has to be a mapping, such as `name: ...`")
    return cast("Mapping[str, object]", fields), mended


def _plain_fields(head: str) -> dict[str, str] | None:
    """Fields of one line each, whatever stands after the first colon; None when it is not that."""
    fields: dict[str, str] = {}
    for line in filter(str.strip, head.split("\n")):
        found = _PLAIN.match(line)
        if found is None:
            return None
        fields[found[1]] = found[2].strip()
    return fields


def _field(path: Path, fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise DocumentError(f"{path}: {name} is {value!r}; it has to be a text")
    return value.strip()
