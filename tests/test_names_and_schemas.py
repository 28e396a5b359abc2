"""Any name becomes a legal one that leads back; any schema is whole, or set aside with the reason."""

import json
import random
from collections.abc import Mapping
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from offing.namespaces import Tool, ToolContext, ToolOutput
from offing.namespaces.arguments import Arguments, nearest
from offing.namespaces.errors import NamespaceError
from offing.namespaces.meta_tools import Call, Connected, Wrong
from offing.namespaces.names import MAX_LENGTH, aliases, is_legal
from offing.namespaces.schemas import plain_root, whole

names = st.text(st.characters(), max_size=80) | st.text("ab._/ ä-", max_size=6) | st.text("ab", min_size=60)


@given(st.sets(names))
def test_aliases_are_legal_distinct_and_independent_of_order(given_names: set[str]) -> None:
    found = aliases(sorted(given_names, key=repr))
    shuffled = sorted(given_names, key=repr)
    random.Random(7).shuffle(shuffled)
    assert found == aliases(shuffled)
    assert set(found) == given_names
    assert len(set(found.values())) == len(given_names)
    assert all(is_legal(alias) for alias in found.values())
    assert all(found[name] == name for name in given_names if is_legal(name))


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("list", "list"),
        ("bank.list_tx", "bank_list_tx"),
        ("bank/list tx", "bank_list_tx"),
        ("bänk_list", "b_nk_list"),
        ("", "_"),
        ("x" * 72, f"{'x' * 55}_ec2b7f1e"),
    ],
)
def test_an_alias_keeps_what_can_be_kept(name: str, alias: str) -> None:
    found = aliases([name])[name]
    assert (found if len(name) <= MAX_LENGTH else found[:56]) == alias[:56]


def tool(name: str, schema: object = None) -> Tool:
    shape = {"type": "object"} if schema is None else schema
    return Tool(name, f"Does {name}.", cast("Mapping[str, JsonValue]", shape), _call)


async def _call(arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
    return ToolOutput("ok")


@given(st.sets(names.filter(bool), min_size=1, max_size=6))
def test_every_tool_is_reached_by_its_own_name_and_by_its_alias(given_names: set[str]) -> None:
    connected = Connected("sys", [tool(name) for name in given_names])
    for name in given_names:
        expected = Call(connected.tools[name].tool, {}, f"sys__{name}", "sys")
        assert connected.resolve("sys__invoke_tool", {"tool": name, "arguments": {}}) == expected
        alias = connected.direct_name(name)
        assert is_legal(alias)
        if alias not in {"sys__invoke_tool", "sys__get_tool_schema"}:
            assert connected.resolve(alias, {}) == expected


# Schemas.

OBJECT: dict[str, JsonValue] = {"type": "object"}
SAME: dict[str, JsonValue] = {"is": "as given"}
TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/Node"}},
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {"next": {"$ref": "#/$defs/Node"}, "name": {"$ref": "#/$defs/a~1b~0"}},
        },
        "a/b~": {"type": "string", "nullable": True},
    },
}


def test_references_stay_with_their_definitions_and_a_recursive_one_stays_finite() -> None:
    made = whole(TREE)
    assert made["$defs"]["Node"] == TREE["$defs"]["Node"]  # type: ignore[index,call-overload]
    assert made["$defs"]["a/b~"] == {"type": ["string", "null"]}  # type: ignore[index,call-overload]
    checked = Arguments(tool("t", made))
    good: JsonValue = {"next": {"next": {"name": None}}}
    bad: JsonValue = {"next": {"next": {"name": 3}}}
    assert checked.problems({"root": good}) == []
    assert checked.problems({"root": bad}) == ['root.next.next.name: got 3; expected type ["string", "null"]']


@pytest.mark.parametrize(
    ("schema", "made"),
    [
        ({}, {"type": "object"}),
        ({"type": ["object", "null"]}, {"type": "object"}),
        (
            {"properties": {"a": {"type": "integer", "nullable": True}}},
            {"properties": {"a": {"type": ["integer", "null"]}}, "type": "object"},
        ),
        (
            {"properties": {"a": {"type": "string", "enum": ["x"], "nullable": True}}},
            {
                "properties": {"a": {"anyOf": [{"type": "string", "enum": ["x"]}, {"type": "null"}]}},
                "type": "object",
            },
        ),
        (
            {
                "properties": {"a": {"items": {"$ref": "#/definitions/x"}, "nullable": True}},
                "definitions": {"x": {}},
            },
            {
                "properties": {"a": {"anyOf": [{"items": {"$ref": "#/definitions/x"}}, {"type": "null"}]}},
                "definitions": {"x": {}},
                "type": "object",
            },
        ),
        ({"properties": {"nullable": {"type": "boolean"}}, **OBJECT}, SAME),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}], **OBJECT}, SAME),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}, **OBJECT}, SAME),
    ],
    ids=range(8),
)
def test_a_schema_of_the_wild_is_made_to_say_the_same_in_plain_words(
    schema: Mapping[str, JsonValue], made: Mapping[str, JsonValue]
) -> None:
    before = json.dumps(schema)
    assert whole(schema) == (schema if made is SAME else made)
    assert json.dumps(schema) == before


def _bottomless() -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(5_000):
        schema = {"properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "string"}, "the root of its schema has type 'string'; arguments are an object"),
        ({"type": ["string", "null"]}, "the root of its schema has type ['string', 'null']"),
        ({"properties": {"a": {"$ref": "#/$defs/A"}}}, "its schema refers to '#/$defs/A', which it does not"),
        ({"properties": {"a": {"$ref": "https://example.com/a.json"}}}, "refers to 'https://example.com/a.json'"),
        ({"properties": {"a": {"$ref": "other.json#/A"}}}, "its schema refers to 'other.json#/A'"),
        (_bottomless(), "its schema cannot be read: "),
        (7, "its schema cannot be read: "),
        (None, ""),
    ],
)  # fmt: skip
def test_one_tool_that_cannot_be_used_is_set_aside_with_the_reason_and_the_others_work(
    schema: object, reason: str
) -> None:
    connected = Connected("sys", [tool("bad", schema), tool("good")])
    if schema is None:
        assert connected.set_aside == {}
        return
    assert list(connected.tools) == ["good"]
    assert reason in connected.set_aside["bad"]
    assert isinstance(connected.resolve("sys__good", {}), Call)
    answer = connected.resolve("sys__bad", {})
    assert isinstance(answer, Wrong)
    assert answer.message == f"'bad' of sys is not usable: {connected.set_aside['bad']}"
    assert "- bad: not usable, " in connected.meta_tools()[0].summary


def test_no_reference_of_a_schema_is_ever_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a test reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    remote: dict[str, JsonValue] = {"properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}
    with pytest.raises(NamespaceError):
        whole(remote)
    with pytest.raises(Exception, match="Unresolvable"):
        Arguments(tool("t", remote)).problems({"a": 1})


@pytest.mark.parametrize("word", ["anyOf", "oneOf", "allOf"])
def test_a_root_that_providers_refuse_is_shown_plain_and_checked_as_it_is(word: str) -> None:
    options: list[JsonValue] = [
        {"properties": {"id": {"type": "integer"}}, "required": ["id"]},
        {"properties": {"name": {"type": "string"}}, "required": ["name"]},
        True,
    ]
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"x": {}},
        word: options[: 2 + (word == "allOf")],
    }
    assert plain_root(whole(schema)) == {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "x": {}},
    }
    problems = Arguments(tool("t", whole(schema))).problems({"x": 1})
    assert len(problems) >= 1


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({}, ["arguments: got {}; 'account' is a required property"]),
        (
            {"account": 7, "limit": 1000, "x": 1},
            [
                'arguments: got {"account": 7, "limit": 1000, "x": 1}; Additional properties are not '
                "allowed ('x' was unexpected)",
                "limit: got 1000; expected maximum 100",
                'account: got 7; expected type "string"',
            ],
        ),
        (
            {"account": "a" * 1000, "days": ["mon", "xyz"]},
            ['days.1: got "xyz"; expected enum ["mon", "tue"]'],
        ),
        ({"account": "a", "limit": 5, "days": []}, []),
    ],
)
def test_a_problem_names_place_value_and_expectation(
    arguments: Mapping[str, JsonValue], problems: list[str]
) -> None:
    schema = {
        "type": "object",
        "properties": {
            "account": {"type": "string"},
            "limit": {"type": "integer", "maximum": 100},
            "days": {"type": "array", "items": {"enum": ["mon", "tue"]}},
        },
        "required": ["account"],
        "additionalProperties": False,
    }
    found = Arguments(tool("t", schema)).problems(arguments)
    assert sorted(found) == sorted(problems)


def test_the_nearest_name_is_offered_and_none_when_none_is_near() -> None:
    known = ["list_transactions", "list_accounts", "get_balance"]
    assert [nearest(name, known) for name in ("list_transaction", "balance", "qqq", "")] == [
        "list_transactions",
        "get_balance",
        None,
        None,
    ]


LEAF: dict[str, object] = {"type": "string"}


@pytest.mark.parametrize(
    ("properties", "definitions", "kept"),
    [
        ({"a": {"type": "string"}}, {"x": LEAF, "y": LEAF}, set()),
        ({"a": {"$ref": "#/$defs/x"}}, {"x": LEAF, "y": LEAF}, {"x"}),
        # one that another one needs, and one that needs itself
        (
            {"a": {"$ref": "#/$defs/x"}},
            {"x": {"items": {"$ref": "#/$defs/y"}}, "y": LEAF, "z": LEAF},
            {"x", "y"},
        ),
        ({"a": {"$ref": "#/$defs/x"}}, {"x": {"items": {"$ref": "#/$defs/x"}}, "y": LEAF}, {"x"}),
        # a part of one, and a name that is escaped
        ({"a": {"$ref": "#/$defs/x/properties/b"}}, {"x": {"properties": {"b": LEAF}}, "y": LEAF}, {"x"}),
        ({"a": {"$ref": "#/$defs/x~1y"}}, {"x/y": LEAF, "x": LEAF}, {"x/y"}),
        # what may be meant by another name stays
        ({"a": {"$dynamicRef": "#node"}}, {"x": {"$dynamicAnchor": "node"}}, {"x"}),
    ],
)
def test_a_schema_shows_the_definitions_that_it_uses_and_no_others(
    properties: dict[str, object], definitions: dict[str, object], kept: set[str]
) -> None:
    shown = whole({"type": "object", "properties": properties, "$defs": definitions})  # type: ignore[dict-item]
    assert set(shown.get("$defs", {})) == kept  # type: ignore[arg-type]
    assert ("$defs" in shown) == bool(kept)
