"""924 tools of 21 real servers: each loads, describes itself, and takes a right call and no wrong one."""

import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, cast

import pytest
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for  # pyright: ignore[reportUnknownVariableType]
from mcp.types import Tool as Listed

from offing.namespaces.arguments import Arguments
from offing.namespaces.errors import NamespaceError
from offing.namespaces.mcp.tools import described
from offing.namespaces.meta_tools import Call, Connected, Wrong
from offing.namespaces.names import is_legal
from offing.namespaces.schemas import plain_root
from offing.namespaces.tool import Effect, Tool
from schema_samples import mutated, sample


class Judge(Protocol):
    """The library's validator, as far as it is asked here."""

    def iter_errors(self, instance: object) -> Iterable[Exception]: ...

    def is_valid(self, instance: object) -> bool: ...


CATALOGS = Path(__file__).parents[2] / "shared" / "data" / "mcp-catalogs"
TOOLS = {
    "antv__mcp-server-chart": 27,
    "azure__mcp-linux-x64": 235,
    "chrome-devtools-mcp": 32,
    "currents__mcp": 8,
    "larksuiteoapi__lark-mcp": 19,
    "mcp-atlassian": 98,
    "mcp-server-fetch": 1,
    "mcp-server-git": 12,
    "mcp-server-time": 2,
    "modelcontextprotocol__server-everything": 13,
    "modelcontextprotocol__server-filesystem": 14,
    "modelcontextprotocol__server-github": 26,
    "modelcontextprotocol__server-memory": 9,
    "modelcontextprotocol__server-sequential-thinking": 1,
    "mongodb-mcp-server": 27,
    "notionhq__notion-mcp-server": 24,
    "playwright__mcp": 71,
    "sentry__mcp-server": 22,
    "shortcut__mcp": 56,
    "wonderwhy-er__desktop-commander": 26,
    "zereight__mcp-gitlab": 201,
}
"""As the data's own page counts them."""


@pytest.mark.skipif(not CATALOGS.is_dir(), reason="the catalogues of real servers are not here")
@pytest.mark.parametrize("catalog", sorted(TOOLS))
def test_each_tool_of_a_real_server_is_usable(catalog: str) -> None:
    listed: list[dict[str, Any]] = json.loads((CATALOGS / f"{catalog}.json").read_text("utf-8"))["tools"]
    tools = [described(Listed.model_validate(one, by_name=False)) for one in listed]
    connected = Connected("sys", tools)
    assert (len(connected.tools), connected.set_aside) == (TOOLS[catalog], {})
    get, invoke = connected.meta_tools()
    assert is_legal(get.name)
    assert is_legal(invoke.name)
    head, *lines = get.summary.splitlines()
    assert head == "Gives the full input schema of one tool of sys. Its tools:"
    assert [line[2:].partition(": ")[0] for line in lines] == sorted(connected.tools)
    assert all(10 < len(line) < 250 for line in lines)
    direct = [connected.direct_name(name) for name in connected.tools]
    assert (len({*direct}), all(map(is_legal, direct))) == (len(direct), True)
    for one in listed:
        check_tool(connected, one)


def check_tool(connected: Connected, listed: Mapping[str, Any]) -> None:
    name, wild = listed["name"], listed["inputSchema"]
    about: Any = connected.schema_of(name).content
    assert about["input_schema"] == json.loads(json.dumps(about["input_schema"]))
    assert about["summary"] == (listed.get("description") or "").strip() or listed.get("title") or name
    assert about["input_schema"].get("properties", {}).keys() == wild.get("properties", {}).keys(), name
    assert plain_root(about["input_schema"])["type"] == "object"
    judge = cast("Judge", validator_for(wild, default=Draft202012Validator)(wild))
    for fitting in (sample(wild, full=True), sample(wild, full=False)):
        assert [*judge.iter_errors(fitting)] == [], name
        call = connected.resolve("sys__invoke_tool", {"tool": name, "arguments": fitting})
        assert isinstance(call, Call), (name, call)
        assert call.arguments == fitting
    full = sample(wild, full=True)
    unfit: Any = next((one for one in mutated(wild, full) if not judge.is_valid(one)), ["no object"])
    refused = connected.resolve("sys__invoke_tool", {"tool": name, "arguments": unfit})
    assert isinstance(refused, Wrong), (name, unfit)
    assert "schema" in refused.message or "expected an object" in refused.message


# Schemas that are made to hurt.


async def _nothing(arguments: object, context: object) -> None:
    """Is never called here."""


def problems(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    return Arguments(Tool("t", "T.", schema, _nothing)).problems(arguments)  # type: ignore[arg-type]


BACKTRACKING = "^(a|a)*$"


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a" * 40 + "!": {"pattern": BACKTRACKING}}},
        {"additionalProperties": {"pattern": BACKTRACKING}},
        {"patternProperties": {BACKTRACKING: {"type": "integer"}}},
        {"patternProperties": {BACKTRACKING: {}}, "additionalProperties": False},
        {"patternProperties": {BACKTRACKING: {}}, "unevaluatedProperties": False},
        {"propertyNames": {"pattern": BACKTRACKING}},
    ],
)
def test_a_pattern_that_takes_for_ever_is_left_to_the_system(schema: Mapping[str, Any]) -> None:
    word = "a" * 40 + "!"
    began = time.process_time()
    assert problems({"type": "object", **schema}, {word: word}) == []
    assert time.process_time() - began < 5  # by backtracking it would be days


def test_many_patterns_of_one_call_share_one_bound() -> None:
    schema = {"type": "object", "additionalProperties": {"pattern": BACKTRACKING}}
    began = time.process_time()
    assert problems(schema, {str(place): "a" * 40 + "!" for place in range(1000)}) == []
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not"),
    [
        ("^[A-Z]{2}$", "DE", "de"),
        (r"^\p{L}+$", "Zürich", "12"),
        (r"^[\w-.]+$", "a-b.c", "a b"),
        (r"^(?<year>\d{4})$", "2026", "26"),
    ],
)
def test_a_pattern_in_the_dialect_of_javascript_is_checked(pattern: str, fits: str, does_not: str) -> None:
    schema = {"type": "object", "properties": {"word": {"pattern": pattern}}}
    assert problems(schema, {"word": fits}) == []
    assert problems(schema, {"word": does_not}) == [
        f'word: got "{does_not}"; expected pattern {json.dumps(pattern, ensure_ascii=False)}'
    ]


def test_a_pattern_that_cannot_be_read_is_left_to_the_system() -> None:
    schema = {"type": "object", "properties": {"word": {"pattern": "(["}, "n": {"type": "integer"}}}
    assert problems(schema, {"word": "x"}) == []
    assert problems(schema, {"word": "x", "n": "1"}) == ['n: got "1"; expected type "integer"']


def test_properties_beside_patterns_are_still_refused() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a": {}},
        "patternProperties": {"^x_": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert problems(schema, {"a": 1, "x_1": 2}) == []
    assert problems(schema, {"b": 1, "x_1": "2"}) == [
        'arguments: got {"b": 1, "x_1": "2"}; Additional properties are not allowed (\'b\' was unexpected)',
        'x_1: got "2"; expected type "integer"',
    ]


def test_references_that_double_at_each_step_end() -> None:
    levels = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(60)}
    schema = {"type": "object", "$defs": {**levels, "l60": {}}, "$ref": "#/$defs/l0"}
    with pytest.raises(NamespaceError, match="follows more than 20,000 references"):
        problems(schema, {})


def test_a_remote_reference_is_never_fetched() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}
    connected = Connected("sys", [Tool("t", "T.", schema, _nothing)])  # type: ignore[arg-type]
    assert connected.set_aside == {
        "t": "its schema refers to 'http://127.0.0.1:9/schema.json', which it does not define"
    }


def test_a_schema_too_deep_to_be_read_is_set_aside_and_the_others_work() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"type": "object", "properties": {"a": deep}}
    tools = [Tool("deep", "D.", deep, _nothing), Tool("plain", "P.", {}, _nothing)]  # type: ignore[arg-type]
    connected = Connected("sys", tools)
    assert [*connected.tools] == ["plain"]
    assert [*connected.set_aside] == ["deep"]


# Hints of effects, as the specification gives their defaults.


@pytest.mark.parametrize(
    ("hints", "effect", "destructive"),
    [
        (None, Effect.ONCE, True),
        ({}, Effect.ONCE, True),
        ({"readOnlyHint": True}, Effect.READ, False),
        ({"readOnlyHint": True, "destructiveHint": True}, Effect.READ, False),
        ({"idempotentHint": True}, Effect.REPEATABLE, True),
        ({"idempotentHint": True, "destructiveHint": False}, Effect.REPEATABLE, False),
        ({"readOnlyHint": False, "idempotentHint": False, "destructiveHint": False}, Effect.ONCE, False),
        ({"readOnlyHint": True, "idempotentHint": True}, Effect.READ, False),
    ],
)
def test_a_tools_hints_say_its_effect(
    hints: Mapping[str, bool] | None,
    effect: Effect,
    destructive: bool,  # noqa: FBT001
) -> None:
    listed = {"name": "it", "inputSchema": {"type": "object"}, "annotations": hints}
    tool = described(Listed.model_validate(listed, by_name=False))
    assert (tool.effect, tool.destructive) == (effect, destructive)
