"""`offing namespaces`: what is connected, its tools, a call by hand, and a catalogue of it."""

import argparse
import asyncio
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from ....namespaces.meta_tools import Connected, Wrong
from ....namespaces.tool import Effect, Tool, ToolContext, ToolOutput
from ....namespaces.toolbox import Toolbox
from ...errors import ConfigurationError
from ...redact import Redactor
from ..command import Command, completes_files
from ..exits import DONE, FAILED, ExitCode
from ..ground import Ground
from ..work.delivered import write_files
from .connected import connected, connected_one


async def listed(ground: Ground) -> ExitCode:
    """Lists the namespaces; 1 when one is not connected. Raises as `connected` does."""
    async with connected(ground) as connections:
        for one in connections.connected:
            guide = ", with a guide" if one.name in connections.guides else ""
            ground.screen.line(f"{one.name:<14} {len(one.tools)} tools{guide}")
            for tool, why in one.set_aside.items():
                ground.screen.line(f"    ! {tool} is not used: {why}")
        for missing in connections.disconnected:
            ground.screen.line(f"{missing.name:<14} not connected: {missing.reason}")
        if not connections.connected and not connections.disconnected:
            ground.screen.line(f"{ground.file} names no namespaces")
        return FAILED if connections.disconnected else DONE


async def shown(ground: Ground, name: str, tool: str | None) -> ExitCode:
    """Shows the tools of a namespace, or one of them with its schema. Raises as `connected_one` does."""
    async with connected_one(ground, name) as one:
        for line in _tool_lines(one) if tool is None else _one_tool(_tool(one, tool)):
            ground.screen.line(line)
    return DONE


async def dumped(ground: Ground, name: str, file: Path | None) -> ExitCode:
    """Writes the catalogue of a namespace as JSON.

    Raises:
        ConfigurationError: as `connected_one` says, or the file cannot be written.
    """
    async with connected_one(ground, name) as one:
        tools = [_fields(known.tool) for known in one.tools.values()]
    text = json.dumps({"namespace": name, "tools": tools}, ensure_ascii=False, indent=2)
    if file is None:
        ground.screen.line(text)
        return DONE
    await asyncio.to_thread(write_files, {file.name: f"{text}\n".encode()}, file.parent)
    ground.screen.line(f"{len(tools)} tools written: {file}")
    return DONE


async def called(
    ground: Ground, name: str, tool: str, arguments: Mapping[str, JsonValue], *, is_sure: bool
) -> ExitCode:
    """Calls one tool, as a model would; 1 when the call fails.

    Raises:
        ConfigurationError: the arguments do not fit, or the call changes something and nobody is sure.
    """
    async with connected_one(ground, name) as one:
        call = Toolbox([], [one]).resolve(f"{name}__{tool}", arguments)
        if isinstance(call, Wrong):
            raise ConfigurationError(call.message)
        if call.tool.effect is not Effect.READ and not is_sure:
            raise ConfigurationError(f"{call.operation} may change something: say so with --yes")
        credentials = ground.configuration.credentials().get(name, {})
        redact = Redactor.of(credentials)
        context = ToolContext("", "", "", credentials, lambda text: ground.screen.status(text), _no_handles)
        try:
            given = call.tool.call(call.arguments, context)
            output = await given if inspect.isawaitable(given) else given
        except Exception as error:  # noqa: BLE001  whatever a tool raises is what its call came to
            output = ToolOutput(f"{type(error).__name__}: {error}", error=True)
    ground.screen.done()
    content = output.content
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=2)
    ground.screen.line(redact(text))
    for each in output.attachments:
        ground.screen.line(f"attached: {each.name}, {len(each.data):,} bytes")
    return FAILED if output.error else DONE


async def _no_handles(handle: str) -> bytes:
    raise KeyError(f"there is no handle {handle!r} outside a session")


def _tool_lines(one: Connected) -> Iterator[str]:
    for name, known in one.tools.items():
        yield f"{name:<28} {_kind(known.tool):<22} {known.tool.summary.splitlines()[0]}"


def _kind(tool: Tool) -> str:
    return f"{tool.effect.value}{', needs approval' if tool.destructive else ''}"


def _one_tool(tool: Tool) -> Iterator[str]:
    yield f"{tool.name}: {_kind(tool)}"
    yield tool.summary
    yield json.dumps(tool.schema, ensure_ascii=False, indent=2)


def _tool(one: Connected, name: str) -> Tool:
    if name not in one.tools:
        raise ConfigurationError(f"{one.name} has no tool {name!r}: there are {', '.join(one.tools)}")
    return one.tools[name].tool


def _fields(tool: Tool) -> Mapping[str, object]:
    return {
        "name": tool.name,
        "summary": tool.summary,
        "effect": tool.effect.value,
        "destructive": tool.destructive,
        "input_schema": tool.schema,
    }


def arguments_said(words: Sequence[str]) -> Mapping[str, JsonValue]:
    """One JSON object, or words as `NAME=VALUE`, each value JSON where it is, else a text.

    Raises:
        ConfigurationError: a word is neither.
    """
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        value = _as_json(words[0])
        if isinstance(value, dict):
            return value
        raise ConfigurationError(f"{words[0]!r} is no JSON object")
    given: dict[str, JsonValue] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise ConfigurationError(f"{word!r} is no argument: give NAME=VALUE, or one JSON object")
        given[name] = _as_json(text)
    return given


def _as_json(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text
    return value


def _arguments(made: argparse.ArgumentParser) -> None:
    below = made.add_subparsers(dest="what", required=True, metavar="list|show|call|dump")
    below.add_parser("list", help="what is connected, and why what is not")
    one = below.add_parser("show", help="the tools of a namespace, or one with its schema")
    one.add_argument("name")
    one.add_argument("tool", nargs="?")
    call = below.add_parser("call", help="call one tool by hand")
    call.add_argument("name")
    call.add_argument("tool")
    call.add_argument("words", nargs="*", metavar="NAME=VALUE", help="or one JSON object")
    call.add_argument("--yes", action="store_true", help="also when it may change something")
    dump = below.add_parser("dump", help="the catalogue as JSON")
    dump.add_argument("name")
    completes_files(dump.add_argument("file", nargs="?", help="default: the screen"))


async def _work(given: argparse.Namespace, ground: Ground) -> ExitCode:
    match given.what:
        case "list":
            return await listed(ground)
        case "show":
            return await shown(ground, given.name, given.tool)
        case "dump":
            return await dumped(ground, given.name, Path(given.file) if given.file else None)
        case _:
            said = arguments_said(given.words)
            return await called(ground, given.name, given.tool, said, is_sure=given.yes)


NAMESPACES = Command("namespaces", "connected systems: list, show, call, dump", _arguments, _work)
