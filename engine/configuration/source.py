"""A YAML file as plain values, with the line of each, so that an error can say where it is.

Scalars are read more narrowly than YAML 1.1 has it: only `true` and `false` are truth values, so that a
country stays `NO`, and a day or a time stays the text that it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from pydantic import JsonValue

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from yaml.nodes import MappingNode, Node, ScalarNode

MOST_BYTES = 1_000_000
"""Of a file; a longer one is none that a person wrote."""

Key = tuple[str | int, ...]
"""Where a value is: names and, in lists, places from 0."""


class Problem(NamedTuple):
    """Something that is wrong with the file."""

    line: int
    """From 1."""
    key: str
    """Such as `namespaces.bank.files.0`; empty for the whole file."""
    text: str
    """What it is, and what would be right."""


class Unusable(ConfigurationError):
    """A file that cannot be used: each problem on a line of its own, as `FILE:LINE: KEY: TEXT`."""

    def __init__(self, file: str, problems: tuple[Problem, ...]) -> None:
        """Takes them in the order in which they are told."""
        lines = (": ".join(filter(None, (f"{file}:{line}", key, text))) for line, key, text in problems)
        super().__init__("\n".join(lines))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Source:
    """What a file says."""

    path: Path
    values: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    lines: Mapping[Key, int] = field(default_factory=dict[Key, int])
    """The line of each key, and of each item of a list."""

    @property
    def file(self) -> str:
        """How it is called in a message."""
        return str(self.path)

    def unusable(self, key: Key, text: str) -> Unusable:
        """The error that one value makes."""
        return Unusable(self.file, (self.problem(key, text),))

    def problem(self, key: Key, text: str) -> Problem:
        """What is wrong with a value, at its line; at that of what it is in when it is not there."""
        near = key
        while near and near not in self.lines:
            near = near[:-1]
        return Problem(self.lines.get(near, 1), ".".join(map(str, key)), text)


def read_source(path: Path) -> Source:
    """Reads a file.

    Raises:
        Unusable: it is no YAML, no mapping, or has a key twice.
        ConfigurationError: it cannot be read.
    """
    import yaml

    text = _text(path)
    try:
        node = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise Unusable(str(path), (_not_yaml(error),)) from None
    except RecursionError:
        raise Unusable(str(path), (Problem(1, "", "is nested too deeply"),)) from None
    if node is None:
        return Source(path, {}, {(): 1})
    reading = _Reading(str(path))
    values = reading.value(node, ())
    if not isinstance(values, dict):
        told = "is to be a mapping, such as `model: anthropic:claude-opus-5-5`"
        raise Unusable(str(path), (Problem(1, "", told),))
    if reading.problems:
        raise Unusable(str(path), tuple(reading.problems))
    return Source(path, values, reading.lines)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ConfigurationError(f"{path} is larger than {MOST_BYTES:,} bytes: it is no configuration")
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is no UTF-8 text (byte {error.start}): save it as UTF-8") from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from None


def _not_yaml(error: Exception) -> Problem:
    mark = getattr(error, "problem_mark", None)
    told = str(getattr(error, "problem", None) or error).splitlines()[0]
    hint = _HINTS.get(told, "")
    return Problem(1 if mark is None else mark.line + 1, "", f"is no YAML: {told}{hint}")


_HINTS = {
    "mapping values are not allowed here": "; put a text with a colon in quotes, or mend the indentation",
    "found character '\\t' that cannot start any token": "; indent with spaces, not with tabs",
    "could not find expected ':'": "; a key is followed by a colon and a space",
    "expected <block end>, but found '<block mapping start>'": "; keys of one level begin in one column",
}


class _Reading:
    """A composed document on its way to plain values."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.lines: dict[Key, int] = {}
        self.problems: list[Problem] = []
        self._inside: set[int] = set()

    def value(self, node: "Node", key: Key) -> JsonValue:
        """The value of a node; its line is kept, unless that of its key is already."""
        self.lines.setdefault(key, node.start_mark.line + 1)
        if isinstance(node.value, str):
            return _scalar(cast("ScalarNode", node))
        if id(node) in self._inside:
            self.problems.append(Problem(node.start_mark.line + 1, _shown(key), "is in itself"))
            return None
        self._inside.add(id(node))
        try:
            if node.tag.endswith(":seq"):
                items = cast("list[Node]", node.value)
                return [self.value(item, (*key, place)) for place, item in enumerate(items)]
            return self._mapping(cast("MappingNode", node), key)
        finally:
            self._inside.remove(id(node))

    def _mapping(self, node: "MappingNode", key: Key) -> JsonValue:
        values: dict[str, JsonValue] = {}
        for name_node, value_node in cast("list[tuple[Node, Node]]", node.value):
            line = name_node.start_mark.line + 1
            name = name_node.value if isinstance(name_node.value, str) else ""
            inside = (*key, name)
            if not name:
                self.problems.append(Problem(line, _shown(key), "has a key that is no text"))
            elif name in values:
                told = f"is there twice, first on line {self.lines[inside]}: keep one of them"
                self.problems.append(Problem(line, _shown(inside), told))
            else:
                self.lines[inside] = line
                values[name] = self.value(value_node, inside)
        return values


def _shown(key: Key) -> str:
    return ".".join(map(str, key))


def _scalar(node: "ScalarNode") -> JsonValue:
    text = str(node.value)
    kind = node.tag.rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "bool" and text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if kind in {"int", "float"}:
        return _number(text)
    return text


def _number(text: str) -> JsonValue:
    """The number that JSON would have too; whatever else YAML calls one is left a text."""
    for kind in (int, float):
        try:
            return kind(text.replace("_", ""))
        except ValueError:
            continue
    return text
