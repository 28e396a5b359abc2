"""Public tool sets, connected as namespaces: 200 tasks' right calls come to the same end as direct ones.

The Berkeley Function Calling Leaderboard has tool catalogues, the systems behind them in Python, and for each
multi-turn task the calls that solve it. It requires thirty packages that none of this needs, so it is in
no extra but in a folder of its own; BFCL says where.

    pip install --no-deps --target FOLDER -c constraints.txt bfcl-eval
    BFCL=FOLDER pytest tests/test_bfcl.py
"""

import ast
import copy
import datetime
import importlib
import inspect
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, cast

import pytest
from jsonschema import Draft202012Validator
from pydantic import JsonValue

from offing.engine import Engine, Limits, Scripted, Step
from offing.namespaces import FunctionNamespace, Tool, ToolContext, ToolOutput
from offing.namespaces.meta_tools import Connected
from offing.skills import SkillFolders
from worlds import invoke, outside, state_of

FOLDER = Path(os.environ.get("BFCL", "")).resolve() / "bfcl_eval"
TASKS = 200
PARTS = 4
"""So many run side by side."""
KINDS = ("base", "miss_func")
"""Files of tasks; of the second no more is taken than the first falls short of 200."""
SYSTEMS = {
    "GorillaFileSystem": "gorilla_file_system",
    "MessageAPI": "message_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
}
"""The classes of the systems that keep something, and the files they and their catalogues are in."""
TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": None}
"""The catalogues' own words for types of JSON Schema."""
Anything: TypeAlias = Any
"""What a package without types gives."""

NONE = SkillFolders(shipped=False)

pytestmark = pytest.mark.skipif(
    not os.environ.get("BFCL"), reason="BFCL names no folder: see the head of this file"
)


@dataclass(frozen=True)
class Right:
    """One call that belongs to a task's solution."""

    system: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Task:
    """One task: how its systems begin, and its right calls, turn by turn."""

    name: str
    begin: Mapping[str, Any]
    systems: Sequence[str]
    turns: Sequence[Sequence[Right]]

    def instances(self) -> dict[str, object]:
        made: dict[str, object] = {}
        for system in self.systems:
            made[system] = one = backend(system)()
            one._load_scenario(copy.deepcopy(self.begin.get(system, {})), long_context=False)
        return made


@cache
def backend(system: str) -> Anything:
    sys.path.append(str(FOLDER.parent))
    try:
        module = importlib.import_module(
            f"bfcl_eval.eval_checker.multi_turn_eval.func_source_code.{SYSTEMS[system]}"
        )
    finally:
        sys.path.remove(str(FOLDER.parent))
    return getattr(module, system)


@cache
def catalogue(system: str) -> Sequence[Mapping[str, Any]]:
    """The tools of a system as its catalogue has them."""
    return lines(FOLDER / "data" / "multi_turn_func_doc" / f"{SYSTEMS[system]}.json")


@cache
def tasks() -> list[Task]:
    """The first 200 tasks whose solution keeps to the catalogues, in an independent validator's eyes."""
    kept: list[Task] = []
    for kind in KINDS:
        name = f"BFCL_v4_multi_turn_{kind}.json"
        right = lines(FOLDER / "data" / "possible_answer" / name)
        solutions = {one["id"]: one["ground_truth"] for one in right}
        kept += [task(one, solutions[one["id"]]) for one in lines(FOLDER / "data" / name)]
    return list(itertools.islice(filter(keeps_to_the_catalogue, kept), TASKS))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def keeps_to_the_catalogue(one: Task) -> bool:
    return all(
        checker(call.system, call.tool).is_valid(call.arguments)  # pyright: ignore[reportUnknownMemberType]
        for turn in one.turns
        for call in turn
    )


@cache
def checker(system: str, tool: str) -> Draft202012Validator:
    (found,) = [one for one in catalogue(system) if one["name"] == tool]
    return Draft202012Validator(schema(found["parameters"]))


def task(asked: Mapping[str, Any], solution: Sequence[Sequence[str]]) -> Task:
    systems = [one for one in asked["involved_classes"] if one in SYSTEMS]
    owners = {tool["name"]: system for system in systems for tool in catalogue(system)}
    turns = [[call for text in turn for call in right(text, owners)] for turn in solution]
    return Task(asked["id"], asked["initial_config"], systems, turns)


def right(text: str, owners: Mapping[str, str]) -> Iterator[Right]:
    """The call that is written as Python; none where it is of a system that keeps nothing."""
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    if node.func.id not in owners:
        return
    system = owners[node.func.id]
    names = [*inspect.signature(getattr(backend(system), node.func.id)).parameters][1:]
    given = dict(zip(names, map(ast.literal_eval, node.args), strict=False))
    given |= {str(one.arg): ast.literal_eval(one.value) for one in node.keywords}
    yield Right(system, node.func.id, given)


def schema(node: Anything) -> Anything:
    if isinstance(node, list):
        return [schema(item) for item in cast("list[Anything]", node)]
    if not isinstance(node, dict):
        return node
    node = cast("dict[str, Anything]", node)
    changed = {key: schema(item) for key, item in node.items()}
    kind = changed.get("type")
    if isinstance(kind, str) and kind in TYPES:
        changed["type"] = TYPES[kind]
    return {key: item for key, item in changed.items() if key != "type" or item is not None}


def namespace(system: str, instance: object) -> FunctionNamespace:
    tools = [
        Tool(
            one["name"],
            one["description"],
            schema(one["parameters"]),
            running(getattr(instance, one["name"])),
        )
        for one in catalogue(system)
    ]
    return FunctionNamespace(system, tools)


def running(method: Callable[..., Any]) -> Callable[[Mapping[str, JsonValue], ToolContext], Any]:
    async def run(arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolOutput:
        return ToolOutput(told(method, arguments))

    return run


def told(method: Callable[..., Any], arguments: Mapping[str, Any]) -> JsonValue:
    """What a call gives, as JSON."""
    try:
        return cast("JsonValue", json.loads(json.dumps(method(**arguments), default=str)))
    except Exception as error:  # noqa: BLE001  a solution may hold a call that is meant to fail
        return f"{type(error).__name__}: {error}"


def shape(value: Anything, seen: tuple[int, ...] = ()) -> Anything:
    """All that an object holds, in plain values; what leads back to itself is named by how far, and the
    time at which a file was written is left out."""
    if isinstance(value, (str, int, float, bool, datetime.datetime, type(None))):
        return "a time" if isinstance(value, datetime.datetime) else value
    if id(value) in seen:
        return f"^{len(seen) - seen.index(id(value))}"
    inside = (*seen, id(value))
    if isinstance(value, dict):
        return {
            str(key): shape(item, inside) for key, item in cast("dict[Anything, Anything]", value).items()
        }
    if isinstance(value, (list, tuple, set)):
        return [shape(item, inside) for item in cast("list[Anything]", value)]
    held = cast("dict[str, Anything]", getattr(value, "__dict__", {"": repr(value)}))
    return {type(value).__name__: {key: shape(item, inside) for key, item in held.items()}}


async def replayed(one: Task, instances: Mapping[str, object]) -> list[str]:
    """The calls of a task through `invoke_tool`, a turn a reply; what the model read of each."""
    steps = [
        Step(calls=[invoke(call.tool, ns=call.system, **call.arguments) for call in turn])
        for turn in one.turns
        if turn
    ]
    namespaces = [namespace(system, instance) for system, instance in instances.items()]
    model = Scripted([*steps, "Done."])
    limits = Limits(result_chars=1_000_000)
    async with Engine(model, namespaces, limits=limits, skills=NONE, outside=outside()) as engine:
        result = await engine.session("s").ask("Go.")
        assert result.answered, (one.name, result.detail)
        state = await state_of(engine, "s")
    model.check_finished()
    return [found.content for message in state.conversation.messages for found in message.results]


def direct(one: Task, instances: Mapping[str, object]) -> list[str]:
    """The same calls, made on the systems themselves."""
    outputs = [
        told(getattr(instances[call.system], call.tool), call.arguments)
        for turn in one.turns
        for call in turn
    ]
    texts = [
        out if isinstance(out, str) else json.dumps(out, ensure_ascii=False, separators=(",", ":"))
        for out in outputs
    ]
    return [text if text.strip() else "(no output)" for text in texts]


def test_every_tool_of_the_catalogues_is_connected() -> None:
    for system in SYSTEMS:
        tools = namespace(system, backend(system)()).tools
        connected = Connected(system, tools)
        assert (len(connected.tools), connected.set_aside) == (len(catalogue(system)), {})


@pytest.mark.parametrize("part", range(PARTS))
async def test_the_right_calls_of_200_tasks_come_to_the_same_end_as_direct_ones(part: int) -> None:
    chosen = tasks()
    assert len(chosen) == TASKS
    calls = 0
    for one in chosen[part::PARTS]:
        through, by_hand = one.instances(), one.instances()
        assert await replayed(one, through) == direct(one, by_hand), one.name
        assert shape(through) == shape(by_hand), one.name
        calls += sum(map(len, one.turns))
    assert calls > 1_000 / PARTS
