"""The YAML that a SKILL.md begins with.

Every scalar is a text, as the standard has it: `version: 1.0` is "1.0", `name: on` is "on". Where YAML
refuses the whole because of one unquoted line, such as `description: Reconcile: banks and ledgers`, the
line is read as it stands: its meaning is plain, and the rest, limits above all, is kept.
"""

import re
import reprlib
from collections.abc import Mapping
from typing import NamedTuple, Protocol, cast

from .errors import DocumentError

_FENCE = "---"
_PLAIN = re.compile(r"^([A-Za-z][\w-]*):[ \t]+([^\s\"'|>].*)$")
_BRACKETS = (("[", "]"), ("{", "}"))
MOST_CHARS = 32_000
"""Of a frontmatter: reading YAML takes its time."""
MENDED = "unquoted text with a colon was read as it stands"


class Split(NamedTuple):
    """A SKILL.md in its two parts."""

    head: str
    body: str


class Fields(NamedTuple):
    """The fields of a frontmatter, and what was mended in reading them."""

    values: Mapping[str, object]
    """Texts, lists and mappings; nothing else."""
    findings: tuple[str, ...]


def split(text: str) -> Split:
    """The frontmatter and what stands after it.

    Raises:
        DocumentError: there is no frontmatter, or it never ends.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        raise DocumentError(f"has no frontmatter: its first line has to be {_FENCE!r}")
    for place, line in enumerate(lines[1:], start=1):
        if line.rstrip() == _FENCE:
            return Split("\n".join(lines[1:place]), "\n".join(lines[place + 1 :]))
    raise DocumentError(f"its frontmatter never ends: close it with a line {_FENCE!r}")


def fields(head: str) -> Fields:
    """The fields of a frontmatter.

    Raises:
        DocumentError: it is too long or no YAML mapping, or a field is there twice.
    """
    if len(head) > MOST_CHARS:
        raise DocumentError(f"its frontmatter has more than {MOST_CHARS} characters")
    try:
        return Fields(_mapping(head), ())
    except _NoYaml as error:
        mended = "\n".join(map(_quoted, head.split("\n")))
        try:
            return Fields(_mapping(mended), (MENDED,))
        except _NoYaml:
            raise DocumentError(f"its frontmatter is no YAML: {error}") from error


class _NoYaml(Exception):
    """What a YAML reader has against a text."""


class _Constructor(Protocol):
    """The part of a YAML loader that has no types of its own."""

    def construct_document(self, node: object) -> object: ...


def _mapping(head: str) -> Mapping[str, object]:
    import yaml

    try:
        loader = yaml.BaseLoader(head)
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            raise DocumentError("its frontmatter has to be a mapping, such as `name: ...`")
        _check_once(node)
        return cast("Mapping[str, object]", cast("_Constructor", loader).construct_document(node))
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise _NoYaml(str(error)) from error


def _check_once(node: object) -> None:
    """Readers keep the last of two equal fields in silence, and it may be the wider limit."""
    pairs = cast("list[tuple[object, object]]", getattr(node, "value", []))
    names = [str(getattr(key, "value", "")) for key, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise DocumentError(f"{shown(name)} is there twice: keep one")


def _quoted(line: str) -> str:
    """A line of one plain text, with quotes around the text."""
    found = _PLAIN.match(line)
    if found is None:
        return line
    value = found[2].rstrip()
    if any(value.startswith(begin) and value.endswith(end) for begin, end in _BRACKETS):
        return line
    return f"{found[1]}: '{value.replace(chr(39), chr(39) * 2)}'"


def shown(value: object) -> str:
    """A value as a message can hold it: whoever wrote it may have nested it without end."""
    short = reprlib.Repr()
    short.maxlevel, short.maxstring = 2, 80
    return short.repr(value)
