"""A connected namespace as the model sees it: two tools, however many there are behind them.

`{ns}__get_tool_schema` lists every tool in its description, one line each, and gives one schema on
demand; `{ns}__invoke_tool` runs one. A tool called directly, as `{ns}__{tool}`, is the same call.
"""

import dataclasses
import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from pydantic import JsonValue

from .arguments import Arguments, nearest
from .errors import NamespaceError
from .names import MAX_LENGTH, aliases, is_legal
from .schemas import whole
from .tool import Effect, Tool, ToolContext, ToolOutput

GET_SCHEMA = "get_tool_schema"
INVOKE = "invoke_tool"
_SEPARATOR = "__"
_RESERVED = frozenset({"calc"})
"""Prefixes of records that are not any system's."""
_SUMMARY = 160
"""Characters of a summary that the list shows."""
_SENTENCE = re.compile(r".{16,}?(?<!e\.g)(?<!i\.e)(?<!etc)[.!?](?=\s+[^a-z])")
"""The first sentence, unless it is too short to tell a tool by."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that may run: its tool, and arguments that fit the tool's schema."""

    tool: Tool
    arguments: Mapping[str, JsonValue]
    operation: str
    """What is called, such as `bank__list_transactions`, whichever way it was called."""
    owner: str
    """Name of the namespace; empty for a resident tool."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A call that cannot run, and what would be right."""

    message: str
    operation: str


class Connected:
    """The tools of one namespace, by every name the model may use for them."""

    def __init__(self, name: str, tools: Sequence[Tool]) -> None:
        """Takes the tools of a connected namespace.

        Tools with a schema that cannot be used are set aside with the reason; the others work.

        Raises:
            NamespaceError: the name cannot prefix tool names.
        """
        if not name or not is_legal(f"{name}{_SEPARATOR}{GET_SCHEMA}") or _SEPARATOR in f"{name}_":
            raise NamespaceError(
                f"a namespace cannot be called {name!r}: use letters, digits, '-' and single '_' "
                "between them, "
                f"at most {MAX_LENGTH - len(_SEPARATOR + GET_SCHEMA)} characters"
            )
        if name in _RESERVED:
            raise NamespaceError(f"a namespace cannot be called {name!r}: records of calculations are")
        self.name = name
        self.set_aside: dict[str, str] = {}
        self.tools: dict[str, _Known] = {}
        for tool in sorted(tools, key=lambda tool: (tool.deprecated, tool.name)):
            self._add(tool)
        prefixed = {tool: f"{name}{_SEPARATOR}{tool}" for tool in self.tools}
        legal = aliases(prefixed.values())
        self._direct = {tool: legal[prefixed[tool]] for tool in self.tools}
        self._by_direct = {prefixed[tool]: tool for tool in self.tools}
        self._by_direct |= {alias: tool for tool, alias in self._direct.items()}

    def _add(self, tool: Tool) -> None:
        if tool.unusable:
            self.set_aside[tool.name] = tool.unusable
            return
        if tool.name in {GET_SCHEMA, INVOKE}:
            self.set_aside[tool.name] = "its name is that of a meta-tool"
            return
        if tool.name in self.tools:
            self.set_aside[tool.name] = "there are two tools of this name; the first is used"
            return
        try:
            schema = whole(tool.schema)
            self.tools[tool.name] = _Known(dataclasses.replace(tool, schema=schema))
        except NamespaceError as error:
            self.set_aside[tool.name] = str(error)
        except (RecursionError, TypeError, ValueError) as error:
            self.set_aside[tool.name] = f"its schema cannot be read: {error}"

    def direct_name(self, tool: str) -> str:
        """The legal name under which the tool can be called directly.

        Raises:
            NamespaceError: there is no such tool.
        """
        if tool not in self.tools:
            raise NamespaceError(self._no_such(tool))
        return self._direct[tool]

    def meta_tools(self) -> tuple[Tool, Tool]:
        """The two tools that the model is shown."""
        choose: JsonValue = {"type": "string", "description": "A tool of this system, by name."}
        free: JsonValue = {
            "type": "object",
            "description": "The tool's arguments, as its schema says.",
            "additionalProperties": True,
        }
        get = Tool(
            name=f"{self.name}{_SEPARATOR}{GET_SCHEMA}",
            summary=self._catalogue(),
            schema=_object({"tool": choose}, ["tool"]),
            call=functools.partial(_get_schema, self),
            effect=Effect.READ,
        )
        invoke = Tool(
            name=f"{self.name}{_SEPARATOR}{INVOKE}",
            summary=f"Runs one tool of {self.name}. Its tools: see {get.name}.",
            schema=_object({"tool": choose, "arguments": free}, ["tool", "arguments"]),
            call=_never_called,
        )
        return get, invoke

    def _catalogue(self) -> str:
        lines = [f"- {name}: {_one_line(known.tool.summary)}" for name, known in self.tools.items()]
        aside = [f"- {name}: not usable, {why}" for name, why in sorted(self.set_aside.items())]
        return "\n".join(
            [f"Gives the full input schema of one tool of {self.name}. Its tools:", *lines, *aside]
        )

    def resolve(self, name: str, arguments: Mapping[str, JsonValue]) -> Call | Wrong | None:
        """The call behind a name and its arguments; None when the name is not of this namespace."""
        if name == f"{self.name}{_SEPARATOR}{INVOKE}":
            return self._invoked(name, arguments)
        if name in self._by_direct:
            return self._checked(self._by_direct[name], arguments)
        if name.startswith(f"{self.name}{_SEPARATOR}") and not name.endswith(GET_SCHEMA):
            return Wrong(self._no_such(name.removeprefix(f"{self.name}{_SEPARATOR}")), name)
        return None

    def _invoked(self, name: str, arguments: Mapping[str, JsonValue]) -> Call | Wrong:
        tool, given = arguments.get("tool"), arguments.get("arguments", {})
        beside = sorted(arguments.keys() - {"tool", "arguments"})
        if beside:
            return Wrong(f"{beside[0]}: stands beside `arguments`; the tool's arguments go into it", name)
        if isinstance(given, str):
            given = _parsed(given)
        if not isinstance(tool, str):
            return Wrong(f"tool: got {json.dumps(tool)}; expected the name of a tool", name)
        if not isinstance(given, dict):
            return Wrong(f"arguments: got {json.dumps(given)[:200]}; expected an object", name)
        return self._checked(tool, given)

    def _checked(self, asked: str, arguments: Mapping[str, JsonValue]) -> Call | Wrong:
        name = asked if asked in self.tools else self._by_direct.get(asked, asked)
        operation = f"{self.name}{_SEPARATOR}{name}"
        known = self.tools.get(name)
        if known is None:
            return Wrong(self._no_such(asked), operation)
        problems = known.arguments.problems(arguments)
        if problems:
            return Wrong(explained(name, problems, known.tool.schema), operation)
        return Call(known.tool, arguments, operation, self.name)

    def schema_of(self, asked: str) -> ToolOutput:
        """What the model is told of one tool."""
        name = asked if asked in self.tools else self._by_direct.get(asked, asked)
        known = self.tools.get(name)
        if known is None:
            return ToolOutput(self._no_such(asked), error=True)
        about: dict[str, JsonValue] = {
            "tool": name,
            "summary": known.tool.description or known.tool.summary,
            "effect": known.tool.effect.value,
            "destructive": known.tool.destructive,
            "input_schema": cast("JsonValue", dict(known.tool.schema)),
        }
        return ToolOutput(about)

    def _no_such(self, name: str) -> str:
        if name in self.set_aside:
            return f"{name!r} of {self.name} is not usable: {self.set_aside[name]}"
        meant = nearest(name, self.tools)
        hint = f" Did you mean {meant!r}?" if meant else ""
        return f"{self.name} has no tool {name!r}.{hint} Its tools: {', '.join(self.tools)}"


@dataclass(slots=True)
class _Known:
    tool: Tool
    arguments: Arguments = field(init=False)

    def __post_init__(self) -> None:
        self.arguments = Arguments(self.tool)


async def _get_schema(
    connected: Connected, arguments: Mapping[str, JsonValue], context: ToolContext
) -> ToolOutput:
    return connected.schema_of(str(arguments["tool"]))


async def _never_called(arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolOutput:
    raise NotImplementedError("a call of invoke_tool is resolved to the tool it names")


def _object(properties: dict[str, JsonValue], required: list[JsonValue]) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def explained(name: str, problems: Sequence[str], schema: Mapping[str, JsonValue]) -> str:
    """The answer to a call whose arguments do not fit: what is wrong, and what would be right."""
    told = "\n".join(f"- {problem}" for problem in problems)
    shown = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"The arguments do not fit {name}:\n{told}\nIts schema: {shown}"


def _one_line(summary: str) -> str:
    """The first sentence, or what fits. The list is part of every prompt, the schema tells the rest."""
    line = " ".join(summary.split())
    first = _SENTENCE.match(line)
    line = first[0] if first else line
    return line if len(line) <= _SUMMARY else f"{line[: _SUMMARY - 3]}..."


def _parsed(text: str) -> JsonValue:
    """Some models write the object of arguments as a text that holds it."""
    try:
        return cast("JsonValue", json.loads(text))
    except (ValueError, RecursionError):
        return text
