"""SKILL.md files: YAML frontmatter with name and description, then Markdown (agentskills.io).

Read tolerantly in form and strictly in meaning: a byte-order mark, Windows line ends, or a colon inside
an unquoted description have one plain meaning; a frontmatter that never ends has none. What limits a
skill closes: one whose `allowed-tools` or feature flag cannot be read is not used.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, cast

from .errors import DocumentError
from .frontmatter import fields as read_fields
from .frontmatter import shown, split
from .standard import problems

FILE = "SKILL.md"
MOST_BYTES = 100_000
"""Size of a SKILL.md up to which it is read: it may go into a context whole, as some 25,000 tokens."""
BODY_LINES = 500
BODY_CHARS = 20_000
"""What the standard advises at most, taking 5,000 tokens for so many characters; more is a finding."""

_LIMITS = frozenset({"allowedtools", "feature"})
_LIST = "allowed-tools is a list; the standard wants one text, separated by spaces"
_TOOL = re.compile(r"[^\s,()]+(?:\([^()]*\))?")
_BETWEEN = re.compile(r"[\s,]*")


@dataclass(frozen=True, slots=True)
class Document:
    """One SKILL.md."""

    path: Path
    name: str
    description: str
    body: str
    """The Markdown after the frontmatter; never empty."""
    license: str = ""
    compatibility: str = ""
    """What it needs around it, in words; empty when it does not say."""
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    allowed_tools: tuple[str, ...] | None = None
    """Tools that the author considers safe to use with it; None when it does not say. They are told
    and grant nothing: approval comes from the host's policy alone."""
    findings: tuple[str, ...] = ()
    """What was mended in reading it and what is not as the standard wants it, in words."""


class _Text(NamedTuple):
    text: str
    findings: tuple[str, ...]


def read_document(path: Path) -> Document:
    """Reads a SKILL.md.

    Raises:
        DocumentError: it is missing, too large or no UTF-8, its frontmatter is missing, never ends, is
            no YAML mapping or has a field twice, it has no name or description, its limits cannot be
            read, or its body is empty.
    """
    try:
        return _document(path)
    except DocumentError as error:
        raise DocumentError(f"{path}: {error}") from error


def validate(folder: Path) -> list[str]:
    """What a skill's folder has that is not as the standard wants it, one sentence each; none is right.

    One thing is asked for beyond the standard: that something stands after the frontmatter.
    """
    try:
        read = read_text(folder / FILE)
        head, body = split(read.text)
        found = read_fields(head)
    except DocumentError as error:
        return [str(error)]
    empty = [] if body.strip() else ["nothing stands after the frontmatter"]
    return [*read.findings, *found.findings, *problems(found.values, folder.absolute().name), *empty]


def _document(path: Path) -> Document:
    read = read_text(path)
    head, body = split(read.text)
    fields, mended = read_fields(head)
    _check_limits(fields)
    name, description = (_needed(fields, field) for field in ("name", "description"))
    if not body.strip():
        raise DocumentError("nothing stands after the frontmatter")
    tools = _tools(fields)
    listed = isinstance(fields.get("allowed-tools"), list)
    plain = {**fields, "allowed-tools": " ".join(tools)} if tools and listed else fields
    return Document(
        path,
        name,
        description,
        body.strip(),
        license=_optional(fields, "license"),
        compatibility=_optional(fields, "compatibility"),
        metadata=_metadata(fields.get("metadata")),
        allowed_tools=tools,
        findings=(
            *read.findings,
            *mended,
            *((_LIST,) if listed else ()),
            *problems(plain, path.absolute().parent.name),
            *_length(body.strip()),
        ),
    )


def read_text(path: Path) -> _Text:
    """The text of a file, its line ends made plain.

    Raises:
        DocumentError: it cannot be read, is too large or is no UTF-8; the message does not name it.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise DocumentError(f"is larger than {MOST_BYTES} bytes: put details into references")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError(f"is not UTF-8: {error}") from error
    findings: list[str] = []
    if text.startswith("\ufeff"):
        text = text.removeprefix("\ufeff")
        findings.append("a byte-order mark was left out")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        findings.append("line ends were made plain")
    return _Text(text, tuple(findings))


def _length(body: str) -> Iterator[str]:
    lines = body.count("\n") + 1
    if lines > BODY_LINES or len(body) > BODY_CHARS:
        yield (
            f"its body has {lines} lines and {len(body)} characters; what is more than {BODY_LINES} or "
            f"{BODY_CHARS} belongs into references"
        )


def _check_limits(fields: Mapping[str, object]) -> None:
    for name in fields:
        plain = re.sub(r"[\W_]", "", str(name)).lower()
        if plain in _LIMITS and name != "allowed-tools":
            right = "metadata.feature" if plain == "feature" else "allowed-tools"
            raise DocumentError(f"{shown(name)} is no field of the standard; did you mean {right}?")
    given: object = fields.get("metadata", "")
    if given != "" and not isinstance(given, dict):
        raise DocumentError(f"metadata is {shown(given)}; it has to be a mapping of texts")
    for key, value in cast("Mapping[object, object]", given or {}).items():
        if str(key).strip().lower() != "feature":
            continue
        if key != "feature" or not isinstance(value, str) or not value.strip():
            raise DocumentError(f"metadata.{key} is {shown(value)}; metadata.feature has to name a flag")


def _needed(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise DocumentError(f"{name} is {shown(value)}; it has to be a text")
    return value.strip()


def _optional(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    return value.strip() if isinstance(value, str) else ""


def _metadata(value: object) -> Mapping[str, str]:
    found = cast("Mapping[object, object]", value if isinstance(value, dict) else {})
    return {str(key): each for key, each in found.items() if isinstance(each, str)}


def _tools(fields: Mapping[str, object]) -> tuple[str, ...] | None:
    """The patterns of `allowed-tools`; a list of them is as plain as a text."""
    if "allowed-tools" not in fields:
        return None
    value = fields["allowed-tools"]
    each = cast("Sequence[object]", value if isinstance(value, list) else [value])
    patterns = [pattern for text in each for pattern in _patterns(text)]
    if not patterns or any(not pattern for pattern in patterns):
        raise DocumentError(
            f"allowed-tools is {shown(fields['allowed-tools'])}; it has to name tools, separated by spaces, "
            "as in `Read Bash(git:*)`"
        )
    return tuple(patterns)


def _patterns(text: object) -> list[str]:
    """The patterns of a text; an empty one stands for what cannot be read."""
    if not isinstance(text, str):
        return [""]
    found: list[str] = []
    place = _end(_BETWEEN, text, 0)
    while place < len(text):
        end = _end(_TOOL, text, place)
        found.append(text[place:end])
        if end == place:
            break
        place = _end(_BETWEEN, text, end)
    return found


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    match = pattern.match(text, place)
    return match.end() if match else place
