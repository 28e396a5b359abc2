"""Small inputs that broke other engines: for each, the whole kind of it is right here."""

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from loopback import Answer, Attempts, Block, HttpError, Loopback, Text, Thinking, ToolUse
from offing.engine import About, Call, Engine, Limits, MemoryStore, Result, Scripted, SqliteStore, Step
from offing.engine.scrub import scrub
from offing.engine.state import fold
from offing.engine.store.facts import StopWhy
from offing.namespaces import Attachment, Effect, FunctionNamespace, Record, Tool, ToolContext, ToolOutput
from offing.namespaces.meta_tools import Connected
from offing.namespaces.names import is_legal
from offing.skills import DocumentError, read_document
from worlds import ANY, Claude, Given, HandClock, World, async_tool, invoke, outside, state_of


async def _say(arguments: Given, context: ToolContext) -> ToolOutput:
    return ToolOutput(json.dumps(arguments))


SYS = FunctionNamespace("sys", [async_tool(_say, "say", effect=Effect.READ)])


async def run(server: Loopback, *namespaces: FunctionNamespace, pinned: tuple[str, ...] = ()) -> Result:
    """One run over the server's script; nothing it sent was refused."""
    async with Engine(Claude(server), namespaces or (SYS,), pinned=pinned, outside=outside()) as engine:
        result = await engine.ask("Go.")
    assert server.refusals == []
    return result


def layers(server: Loopback) -> list[tuple[str, str]]:
    """Tools and system of each request, as they were sent but for markers, which stay the same here."""
    return [(json.dumps(seen.json["tools"]), json.dumps(seen.json["system"])) for seen in server.requests]


@pytest.mark.parametrize("stop", ["max_tokens", "refusal", "end_turn", "pause_turn"])
async def test_a_call_without_a_result_gets_one_and_the_reply_around_it_is_resent_as_it_came(
    stop: str,
) -> None:
    """case 6"""
    cut = [Thinking("Both, I think."), ToolUse("sys__say", {"n": 1}), ToolUse("sys__say", '{"n":')]
    with Loopback([Answer(cut, stop), Answer([Thinking("Again."), Text("Done.")]), Answer()]) as server:
        async with Engine(Claude(server), [SYS], outside=outside()) as engine:
            session = engine.session("s")
            await session.ask("Go.")
            await session.ask("And now?")  # the server checks each signature against what stands before it
    assert server.refusals == []
    for seen in server.requests[1:]:
        reply, answers = seen.json["messages"][1:3]
        assert [block["type"] for block in reply["content"]] == ["thinking", "tool_use", "tool_use"]
        assert [block["tool_use_id"] for block in answers["content"][:2]] == [
            block["id"] for block in reply["content"][1:]
        ]


RETRY_AFTER: list[tuple[HttpError, list[int], StopWhy]] = [
    (HttpError(429, "rate_limit_error", "slow", {"retry-after": "259200"}), [], "unavailable"),
    (HttpError(429, "rate_limit_error", "slow", {"retry-after": "30"}), [30_000_000], "answered"),
    (
        HttpError(429, "rate_limit_error", "slow", {"retry-after": "Mon, 14 Sep 2026 08:01:00 GMT"}),
        [60_000_000],
        "answered",
    ),
    (HttpError(402, "billing_error", "spent", {"retry-after": "30"}), [], "fault"),
]


@pytest.mark.parametrize(("fault", "slept", "why"), RETRY_AFTER)
async def test_one_layer_of_retries_obeys_up_to_a_cap_then_pauses_and_a_spent_quota_is_permanent(
    fault: HttpError, slept: list[int], why: StopWhy
) -> None:
    """case 16"""
    clock = HandClock()
    with Loopback([Attempts([fault, Answer([Text("Done.")])])]) as server:
        async with Engine(Claude(server), outside=outside(clock)) as engine:
            result = await engine.ask("Go.")
    assert (result.why, clock.slept, len(server.requests)) == (why, slept, 1 + len(slept))


@pytest.mark.parametrize("seconds", [0.000001, 14, 3600, 7 * 3600])
async def test_the_first_two_layers_of_sessions_some_time_apart_are_the_same_bytes(seconds: float) -> None:
    """case 7"""
    clock, results = HandClock(), list[Result]()
    with Loopback(cache=True) as server:
        for tenant in ("a", "b", "a"):
            async with Engine(Claude(server), [SYS], outside=outside(clock)) as engine:
                session = engine.scoped(tenant).session(about=About(company="Acme", user="Ann"))
                results.append(await session.ask("Go."))
            clock.at += int(seconds * 1_000_000)
    assert server.refusals == []
    assert len(set(layers(server))) == 1
    assert [result.usage.cache_read > 0 for result in results] == [False, True, True]


async def test_no_discovery_activation_or_failure_changes_the_tools_of_a_session() -> None:
    """case 8"""
    discovering: list[list[Block]] = [
        [ToolUse("search", {"query": "say"})],
        [ToolUse("sys__get_tool_schema", {"tool": "say"})],
        [ToolUse("sys__invoke_tool", {"tool": "say", "arguments": {}})],
        [ToolUse("sys__say", {}), ToolUse("sys__nothing", {}), ToolUse("gone__x", {})],
        [ToolUse("tasks", {"items": [{"title": "A"}]}), ToolUse("calculate", {"expression": "1+1"})],
    ]
    with Loopback([*(Answer(blocks) for blocks in discovering), Answer()]) as server:
        assert (await run(server)).answered
    assert len(server.requests) == 6
    assert len(set(layers(server))) == 1
    schema = server.requests[-1].json["messages"][4]["content"][0]["content"]
    assert json.loads(schema)["input_schema"] == {"type": "object"}


NAMES = [
    "bank.list_tx",
    "bank/list tx",
    "bänk_list",
    "bank_list_tx",
    "x" * 72,
    "x" * 73,
    "",
    " ",
    "列表",
    "a\ud83d",
]


async def test_tools_of_any_name_are_shown_under_a_legal_one_and_called_by_it_or_by_their_own() -> None:
    """case 9"""
    called: list[str] = []

    def made(name: str) -> Tool:
        async def it(arguments: Given, context: ToolContext) -> ToolOutput:
            called.append(name)
            return ToolOutput("ok")

        return Tool(name, "Does.", ANY, it, Effect.READ)

    tools = [made(name) for name in NAMES]
    connected = Connected("odd", tools)
    aliases = [connected.direct_name(name) for name in NAMES]
    calls: list[Block] = [ToolUse(alias, {}) for alias in aliases]
    calls += [
        ToolUse("odd__invoke_tool", {"tool": name, "arguments": {}}) for name in NAMES if name != "a\ud83d"
    ]
    pinned = tuple(f"odd__{name}" for name in NAMES)
    with Loopback([Answer(calls), Answer()]) as server:
        result = await run(server, FunctionNamespace("odd", tools), pinned=pinned)
    assert result.answered
    assert called == [*NAMES, *NAMES[:-1]]
    shown = [one["name"] for one in server.requests[0].json["tools"]]
    assert all(is_legal(name) for name in shown)
    assert set(aliases) < set(shown)
    assert len(set(shown)) == len(shown)


SCHEMAS: Mapping[str, Any] = {
    "plain": {"type": "object", "properties": {"a": {"type": "integer"}}},
    "referring": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"type": "integer"}, "B": {"$ref": "#/$defs/A"}},
    },
    "recursive": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "in": {"$ref": "#"}, "tree": {"$ref": "#/definitions/T"}},
        "definitions": {"T": {"type": "object", "properties": {"t": {"$ref": "#/definitions/T"}}}},
    },
    "nullable": {"type": "object", "properties": {"a": {"type": "integer", "nullable": True}}},
    "union": {"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {}}}]},
    "untyped": {"properties": {"a": {"type": "integer"}}},
    "empty": {},
    "maybe": {"type": ["object", "null"], "properties": {"a": {"type": "integer"}}},
    "exotic": {"type": "object", "properties": {"a": {"type": "integer", "x-odd": [1]}}, "$schema": "http://json-schema.org/draft-07/schema#"},
}  # fmt: skip
UNUSABLE: Mapping[str, Any] = {
    "text": {"type": "string"},
    "list": {"type": "array", "items": {}},
    "dangling": {"type": "object", "properties": {"a": {"$ref": "#/$defs/Gone"}}},
    "remote": {"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}},
}


async def test_the_model_sees_each_schema_whole_and_cycles_stay_finite() -> None:
    """case 10"""
    tools = [Tool(name, "Does.", schema, _say, Effect.READ) for name, schema in SCHEMAS.items()]
    asks: list[Block] = [ToolUse("odd__get_tool_schema", {"tool": name}) for name in SCHEMAS]
    with Loopback([Answer(asks), Answer()]) as server:
        assert (await run(server, FunctionNamespace("odd", tools))).answered
    shown = [json.loads(one["content"]) for one in server.requests[-1].json["messages"][-1]["content"]]
    for told in shown:
        schema = told["input_schema"]
        assert schema["type"] == "object"
        for reference in _references(schema):
            assert _found(schema, reference) is not None
    by_name = {told["tool"]: told["input_schema"] for told in shown}
    for name in ("referring", "recursive"):
        assert by_name[name] == SCHEMAS[name]


def _references(schema: object) -> list[str]:
    return re.findall(r'"\$ref": "([^"]+)"', json.dumps(schema))


def _found(schema: Mapping[str, Any], reference: str) -> object:
    node: Any = schema
    for step in filter(None, reference.removeprefix("#").split("/")):
        node = node[step]
    return node


@pytest.mark.parametrize("way", ["behind the meta-tools", "pinned"])
async def test_one_tool_with_an_odd_schema_never_breaks_a_request_or_another_tool(way: str) -> None:
    """case 11"""
    tools = [Tool(n, "Does.", schema, _say, Effect.READ) for n, schema in {**SCHEMAS, **UNUSABLE}.items()]
    calls: list[Block] = [ToolUse(f"odd__{name}", {"a": 3}) for name in (*SCHEMAS, *UNUSABLE)]
    wrong: list[Block] = [ToolUse(f"odd__{name}", {"a": "three"}) for name in SCHEMAS]
    pinned = tuple(f"odd__{name}" for name in SCHEMAS) if way == "pinned" else ()
    with Loopback([Answer(calls), Answer(wrong), Answer()]) as server:
        assert (await run(server, FunctionNamespace("odd", tools), pinned=pinned)).answered
    messages = server.requests[-1].json["messages"]
    answers = [one["content"] for one in messages[2]["content"]]
    assert answers[: len(SCHEMAS)] == ['{"a": 3}'] * len(SCHEMAS)
    assert all(
        " of odd is not usable: its schema " in one or "the root of its schema" in one
        for one in answers[len(SCHEMAS) :]
    )
    refused = [one["content"].splitlines()[0] for one in messages[4]["content"] if one.get("is_error")]
    assert refused == [
        f"The arguments do not fit {name}:" for name in SCHEMAS if name not in {"empty", "union"}
    ]
    catalogue = server.requests[0].json["tools"]
    listed = next(one["description"] for one in catalogue if one["name"] == "odd__get_tool_schema")
    assert all(f"- {name}: not usable, " in listed for name in UNUSABLE)


_DEEP = '{"a":' * 300 + "1" + "}" * 300
BROKEN = ["[]", "null", '"x"', "3", "true", '{"a":', "{", "}", '{"a":1}{"b":2}', "a=1", '{"a": NaN}', _DEEP]


@pytest.mark.parametrize("raw", BROKEN, ids=range(len(BROKEN)))
@pytest.mark.parametrize("name", ["sys__say", "sys__invoke_tool", "read", "nowhere"])
async def test_arguments_that_are_no_object_fail_with_what_was_wrong_and_never_poison_a_later_turn(
    raw: str, name: str
) -> None:
    """case 12"""
    store = MemoryStore()
    script = [Answer([ToolUse(name, raw), ToolUse("sys__say", {"n": 1})]), Answer(), Answer([Text("Later.")])]
    with Loopback(script) as server:
        async with Engine(Claude(server), [SYS], store=store, outside=outside()) as engine:
            assert (await engine.session("s").ask("Go.")).answered
        async with Engine(Claude(server), [SYS], store=store, outside=outside()) as engine:
            assert (await engine.session("s").ask("Again.")).answer == "Later."
            state = await state_of(engine, "s")
    assert server.refusals == []
    asked, answered = (message["content"] for message in server.requests[-1].json["messages"][1:3])
    assert asked[0]["input"] == {}
    assert answered[0]["is_error"] is True
    assert answered[0]["content"].startswith("The arguments are no JSON object: ")
    assert answered[1]["content"] == '{"n": 1}'
    (call,) = [call for call in state.conversation.messages[1].calls if call.malformed is not None]
    assert call.malformed == raw  # the journal keeps what was written


@pytest.mark.parametrize(
    "stop",
    [
        "max_tokens",
        "end_turn",
        "stop_sequence",
        "refusal",
        "pause_turn",
        "model_context_window_exceeded",
        "odd",
    ],
)
@pytest.mark.parametrize("effect", list(Effect))
async def test_a_call_of_a_reply_that_ended_for_another_reason_is_never_executed(
    stop: str, effect: Effect
) -> None:
    """case 13"""
    ran: list[str] = []

    async def write(arguments: Given, context: ToolContext) -> ToolOutput:
        ran.append(context.call)
        return ToolOutput("written")

    half = ToolUse("sys__write", {"path": "a", "text": "half a fi"})
    system = FunctionNamespace("sys", [async_tool(write, "write", effect=effect)])
    with Loopback([Answer([Text("I write."), half, half], stop), Answer()]) as server:
        await run(server, system)
    assert ran == []
    for seen in server.requests[1:]:
        results = seen.json["messages"][2]["content"]
        assert [one["content"] for one in results] == [
            "Not executed: the reply that asked for it ended early."
        ] * 2


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("failing", [ValueError("boom"), SystemExit(1), asyncio.CancelledError(), None])
async def test_of_parallel_calls_one_that_fails_leaves_the_others_results_as_they_are(
    place: int, failing: BaseException | None
) -> None:
    """case 14"""

    async def it(arguments: Given, context: ToolContext) -> ToolOutput:
        if arguments["n"] == place:
            if failing is None:
                return ToolOutput("refused", error=True)
            raise failing
        return ToolOutput(str(arguments["n"]))

    results = await World([async_tool(it, effect=Effect.READ)]).told(*(invoke("it", n=n) for n in range(3)))
    assert [result.error for result in results] == [n == place for n in range(3)]
    assert [result.content for result in results if not result.error] == [
        str(n) for n in range(3) if n != place
    ]


UNFIT = [
    "\ud83d",
    "a\ud83dz",
    "\udc00\ud800",
    "\x00",
    "a\x00b",
    "\x1b[2J",
    "\x07\x08",
    "\ufffe\uffff",
    "\U0001f600",
]


@pytest.mark.parametrize("text", UNFIT, ids=range(len(UNFIT)))
async def test_text_that_no_wire_can_carry_is_scrubbed_both_ways_and_its_bytes_are_kept(
    text: str, tmp_path: Path
) -> None:
    """case 15"""

    async def give(arguments: Given, context: ToolContext) -> ToolOutput:
        if arguments.get("raise"):
            raise ValueError(text)
        content: JsonValue = {text: [text]} if arguments.get("json") else f"<{text}>"
        return ToolOutput(content, (Record(f"r{text}", text=text),), attachments=(Attachment(text, b"x"),))

    calls: list[Block] = [ToolUse("sys__it", arguments) for arguments in ({}, {"json": 1}, {"raise": 1})]
    store = SqliteStore(tmp_path / "journal.db")
    with Loopback(
        [Answer([Thinking("Hm."), *calls]), Answer([Text("ok")]), Answer([Text("later")])]
    ) as server:
        model, system = Claude(server), FunctionNamespace("sys", [async_tool(give)])
        async with Engine(model, [system], store=store, outside=outside()) as engine:
            about = About(company=text, user=text)
            assert (await engine.session("s", about=about).ask(f"Go {text}.")).answered
        again = SqliteStore(tmp_path / "journal.db")
        async with Engine(Claude(server), [system], store=again, outside=outside()) as engine:
            assert (await engine.session("s").ask("Again.")).answer == "later"
            state = await state_of(engine, "s")
            stored = state.artifacts.get("result/1.1")
            kept = None if stored is None else await engine.store.artifacts.get(stored.ref)
    assert server.refusals == []
    shown = state.conversation.messages[2].results[0].content.partition("\n")[0]
    assert shown == scrub(f"<{text}>")
    assert kept == (None if shown == f"<{text}>" else f"<{text}>".encode("utf-8", "surrogatepass"))
    assert len(state.records) == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("\ufeff---\nname: a\ndescription: A.\n---\nBody.", "a"),
        ("---\r\nname: a\r\ndescription: A.\r\n---\r\nBody.\r\n", "a"),
        ("---\rname: a\rdescription: A.\r---\rBody.", "a"),
        ("\ufeff---\r\nname: a\r\ndescription: A: with a colon\r\n---\r\nBody.", "a"),
        ("---\nname: a\ndescription: A.\nBody without an end.", None),
        ("---\nname: a\ndescription: A.\n---\n", None),
        ("---\nname: a\ndescription: A.\n---\n \r\n", None),
        ("name: a\ndescription: A.\n---\nBody.", None),
    ],
)
async def test_a_guide_in_any_form_is_read_or_reported_by_name(
    tmp_path: Path, text: str, name: str | None
) -> None:
    """case 20"""
    path = tmp_path / "SKILL.md"
    path.write_bytes(text.encode())
    model = Scripted(["done"])
    system = FunctionNamespace("sys", [async_tool(_say, "say")], path)
    async with Engine(model, [system], outside=outside()) as engine:
        session = engine.session("s")
        assert (await session.ask("Go.")).answered
        reported = [(one.name, str(path) in one.reason) for one in session.disconnected]
    context = json.loads(model.requests[0].segments[1])["context"]
    if name is None:
        with pytest.raises(DocumentError):
            read_document(path)
        assert reported == [("sys guide", True)]
        assert "The system sys guide is not connected: " in context
    else:
        assert (read_document(path).name, read_document(path).body, reported) == (name, "Body.", [])
        assert '<guide namespace="sys">\nBody.\n</guide>' in context


@pytest.mark.parametrize(
    "way", ["raised", "returned as an error", "returned", "raised in a thread", "a wrong call"]
)
async def test_every_result_is_capped_and_kept_whole_errors_too(way: str) -> None:
    """case 21"""
    size = 3_000_000

    def it(arguments: Given, context: ToolContext) -> ToolOutput:
        if way.startswith("raised"):
            raise ValueError("x" * size)
        return ToolOutput("x" * size, error=way == "returned as an error")

    async def later(arguments: Given, context: ToolContext) -> ToolOutput:
        return it(arguments, context)

    threaded = way == "raised in a thread"
    made = Tool("it", "Does.", ANY, it if threaded else later, Effect.READ, blocking=threaded)
    call = Call("x" * size, {}) if way == "a wrong call" else invoke("it")
    world = World([made], Limits(result_chars=5_000, window=1_000_000_000))
    async with world.ran(Step(calls=[call, invoke("it")]), "done") as batch:
        for result in batch.results:
            assert len(result.content) < 5_500
            assert result.handle is not None
            stored = batch.state.artifacts[result.handle]
            assert "x" * size in (await batch.engine.store.artifacts.get(stored.ref)).decode()
        assert batch.results[0].error is (way != "returned")
        notes = [message.text for message in batch.state.conversation.messages if message.role == "note"]
    assert all(len(note) < 10_000 for note in notes)


async def test_large_outputs_of_the_same_call_in_several_sessions_never_overwrite_each_other() -> None:
    """case 24"""
    outputs = {"a": "a" * 9_000, "b": "b" * 9_000, "c": "a" * 9_000}

    async def it(arguments: Given, context: ToolContext) -> ToolOutput:
        return ToolOutput(outputs[context.run[0]])

    made = Tool("it", "Does.", ANY, it, Effect.READ)
    limits, store = Limits(result_chars=2_000), MemoryStore()
    for session in outputs:
        model = Scripted([Step(calls=[invoke("it")]), "done"])
        async with Engine(
            model, [FunctionNamespace("sys", [made])], limits=limits, store=store, outside=outside()
        ) as engine:
            assert (await engine.session(session).ask("Go.")).answered
    scope = store.scoped("local")
    folded = {name: await fold(scope.journal.read(name)) for name in outputs}
    kept = {name: state.artifacts["result/1.1"].ref for name, state in folded.items()}
    for name, ref in kept.items():
        assert await scope.artifacts.get(ref) == outputs[name].encode()
    assert kept["a"] == kept["c"] != kept["b"]
