"""Claude's wire: what it says is kept and given back as it came, and whatever fails becomes a stop."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopback import (
    Answer,
    Attempts,
    Drop,
    ErrorEvent,
    HttpError,
    Loopback,
    NoStop,
    RedactedThinking,
    Reply,
    Stall,
    Text,
    Thinking,
    ToolUse,
    in_order,
)
from loopback import Usage as Counted
from offing.compaction.conversation import Message, Raw, Reasoning, ToolCall
from offing.compaction.conversation import Text as Words
from offing.engine import Engine, Limits, MemoryStore
from offing.engine.answer import Result
from offing.engine.errors import ConfigurationError, ModelFault, ModelNotConfigured
from offing.engine.models import model as wire
from offing.engine.models import model_named
from offing.engine.models.anthropic import Options
from offing.engine.models.anthropic_events import ReplyReader
from offing.engine.models.anthropic_wire import PROVIDER, encode
from offing.engine.models.model import Context, Static
from offing.engine.models.retry import RetryPolicy
from offing.namespaces import FunctionNamespace, ToolContext, ToolOutput
from offing.tracing import Usage
from worlds import MODEL, Claude, Given, HandClock, async_tool, outside, state_of

ran: list[Mapping[str, object]] = []


async def _note(arguments: Given, context: ToolContext) -> ToolOutput:
    ran.append(arguments)
    return ToolOutput(f"noted {json.dumps(arguments)}")


NOTES = FunctionNamespace("sys", [async_tool(_note, "note")])


async def reply_to(answer: Reply) -> wire.Reply:
    """What the adapter makes of one reply of the server."""
    with Loopback([answer]) as server:
        model = Claude(server)
        said = Message("user", (Words("Hello."),))
        layers = (Static("Be brief.", ()), Context("It is Monday."))
        segments = [*(model.encode(layer) for layer in layers), model.encode(said)]
        stream = model.stream(wire.Request(segments, (0, 1, 2), 1, [said]))
        parts = [part async for part in stream]
        await model.close()
    assert server.refusals == []
    (reply,) = [part for part in parts if isinstance(part, wire.Reply)]
    assert parts[-1] is reply
    streamed = "".join(part.text for part in parts if isinstance(part, wire.Delta) and part.kind == "text")
    assert streamed == "".join(b.text for b in getattr(answer, "blocks", ()) if isinstance(b, Text))
    return reply


async def asked(*replies: Reply | Attempts, said: str = "Go.") -> tuple[Result, Loopback]:
    """The result of a run over these replies, and the server with what it was sent."""
    ran.clear()
    with Loopback(list(replies)) as server:
        async with Engine(Claude(server), [NOTES], outside=outside()) as engine:
            result = await engine.ask(said)
    assert server.refusals == []
    return result, server


def resent(server: Loopback, message: int = 1) -> list[dict[str, Any]]:
    """An assistant message as the last request carries it."""
    return server.requests[-1].json["messages"][message]["content"]


SIGNED = "sig/+=="
SERVER = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "GBP"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"odd": [1, None]}]}


async def test_a_reply_goes_back_as_it_came_whatever_kinds_of_block_it_holds() -> None:
    said = [
        Thinking("First, the accounts.", SIGNED),
        Thinking("", "signature-of-nothing-shown"),
        RedactedThinking("b64=="),
        Text("I look.  \n"),
        SERVER,
        FOUND,
        {"type": "weird_block", "payload": {"deep": ["é", 1.5, True]}},
        ToolUse("sys__note", {"b": 1, "a": {"é": [1, 2.5, None]}}, "toolu_x"),
    ]
    result, server = await asked(Answer(said), Answer())
    assert result.answered
    assert resent(server) == [
        {"type": "thinking", "thinking": "First, the accounts.", "signature": SIGNED},
        {"type": "thinking", "thinking": "", "signature": "signature-of-nothing-shown"},
        {"type": "redacted_thinking", "data": "b64=="},
        {"type": "text", "text": "I look.  \n"},
        SERVER,
        FOUND,
        {"type": "weird_block", "payload": {"deep": ["é", 1.5, True]}},
        {
            "type": "tool_use",
            "id": "toolu_x",
            "name": "sys__note",
            "input": {"b": 1, "a": {"é": [1, 2.5, None]}},
        },
    ]
    assert b'{"b":1,"a":{' in server.requests[-1].body  # in its own order, which is what was signed


async def test_a_reply_is_read_block_by_block() -> None:
    reply = await reply_to(
        Answer([Thinking("Hm.", "s"), RedactedThinking("x"), Text("Yes."), SERVER, ToolUse("t", {"a": 1})])
    )
    assert reply.message.raw is not None
    assert reply.message.blocks == (
        Reasoning("Hm."),
        Reasoning(""),
        Words("Yes."),
        ToolCall("", "t", {"a": 1}),
    )
    assert (reply.stop, reply.detail) == ("tools", "")


async def test_empty_text_is_left_out_because_the_api_does_not_take_it_back() -> None:
    result, server = await asked(
        Answer([Text(""), Text(" \n"), Text("A."), ToolUse("sys__note", {}, "toolu_x")]), Answer()
    )
    assert result.answered
    assert [block["type"] for block in resent(server)] == ["text", "tool_use"]


async def test_citations_are_kept_with_their_text() -> None:
    cited = {"type": "char_location", "cited_text": "é", "document_index": 0}
    reader = ReplyReader(MODEL)
    events: tuple[dict[str, Any], ...] = (
        {"type": "message_start", "message": {}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        _delta({"type": "text_delta", "text": "It "}),
        _delta({"type": "citations_delta", "citation": cited}),
        _delta({"type": "text_delta", "text": "is."}),
        _delta({"type": "some_future_delta", "x": 1}),
        {"type": "some_future_event"},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    )
    for event in events:
        reader.feed(event)
    raw = reader.reply().message.raw
    assert raw is not None
    assert json.loads(raw.body) == [{"type": "text", "text": "It is.", "citations": [cited]}]


def _delta(delta: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": delta}


@pytest.mark.parametrize(
    ("answer", "stop", "detail"),
    [
        (Answer([Text("a")], "end_turn"), "end", ""),
        (Answer([Text("a")], "stop_sequence", stop_sequence="X"), "end", ""),
        (Answer([ToolUse("t")], "tool_use"), "tools", ""),
        (Answer([Text("a")], "max_tokens"), "length", ""),
        (Answer([SERVER], "pause_turn"), "pause", ""),
        (Answer([], "refusal"), "refusal", ""),
        (
            Answer(
                [Text("No.")],
                "refusal",
                stop_details={"type": "refusal", "category": "cyber", "explanation": "Not this."},
            ),
            "refusal",
            "cyber: Not this.",
        ),
        (Answer([Text("a")], "model_context_window_exceeded"), "window", ""),
        (Answer([Text("a")], "compaction"), "end", "unknown stop reason 'compaction'"),
        (Answer([ToolUse("t")], "who_knows"), "end", "unknown stop reason 'who_knows'"),
    ],
)
async def test_each_stop_reason_is_read(answer: Answer, stop: str, detail: str) -> None:
    reply = await reply_to(answer)
    assert (reply.stop, reply.detail) == (stop, detail)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer([Text("No.")], "refusal"), "refused"),
        (Answer([Text("a")], "model_context_window_exceeded"), "window"),
        (Answer([Text("a")], "stop_sequence"), "answered"),
        (Answer([ToolUse("sys__note", {"a": 1})], "refusal"), "refused"),
        (Answer([ToolUse("sys__note", {"a": 1})], "model_context_window_exceeded"), "window"),
    ],
)
async def test_each_stop_reason_has_its_end_and_calls_run_after_tools_only(answer: Answer, why: str) -> None:
    result, _ = await asked(answer)
    assert result.why == why
    assert ran == []


@pytest.mark.parametrize(
    ("raw", "malformed"),
    [
        ("", None),
        ("  ", None),
        ('{"a": 1, "b": {"c": []}}', None),
        ("[]", "[]"),
        ("null", "null"),
        ('"x"', '"x"'),
        ("3", "3"),
        ('{"a":', '{"a":'),
        ('{"a":1}}', '{"a":1}}'),
        ('{"a": NaN}', '{"a": NaN}'),
        ('{"a": 1e999}', '{"a": 1e999}'),
        ('{"a": ' + "[" * 300 + "]" * 300 + "}", '{"a": ' + "[" * 300 + "]" * 300 + "}"),
    ],
)
async def test_tool_input_that_is_no_json_object_is_told_and_resent_as_an_empty_one(
    raw: str, malformed: str | None
) -> None:
    result, server = await asked(Answer([ToolUse("sys__note", raw, "toolu_x")]), Answer())
    assert result.answered
    (call,) = resent(server)
    (answered,) = resent(server, 2)
    if malformed is None:
        assert ran == [json.loads(raw or "{}") if raw.strip() else {}]
        assert call["input"] == ran[0]
    else:
        assert ran == []
        assert call["input"] == {}
        assert answered["is_error"] is True
        assert answered["content"].startswith("The arguments are no JSON object: ")
        assert answered["content"].endswith(". Not executed.")


async def test_lone_surrogates_and_nul_in_arguments_reach_the_tool_and_the_wire_replaced() -> None:
    result, server = await asked(Answer([ToolUse("sys__note", r'{"a": "\ud83d", "b\u0000": 1}')]), Answer())
    assert result.answered
    assert ran == [{"a": "�", "b�": 1}]
    assert resent(server)[0]["input"] == ran[0]


async def test_the_deltas_of_blocks_may_interleave() -> None:
    reader = ReplyReader(MODEL)
    use: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": "t", "input": {}}
    for index, block in enumerate([use, {**use, "id": "toolu_2"}, {"type": "text", "text": ""}]):
        start: dict[str, Any] = {"type": "content_block_start", "index": index, "content_block": block}
        reader.feed(start)
    for index, piece in [(0, '{"a"'), (1, '{"b'), (0, ":1}"), (1, '":2}')]:
        reader.feed(_delta({"type": "input_json_delta", "partial_json": piece}) | {"index": index})
    reader.feed(_delta({"type": "text_delta", "text": "x"}) | {"index": 2})
    reader.feed({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})
    reader.feed({"type": "message_stop"})
    reply = reader.reply()
    assert reply.message.blocks == (ToolCall("", "t", {"a": 1}), ToolCall("", "t", {"b": 2}), Words("x"))


async def test_call_ids_that_a_server_repeats_in_one_reply_are_told_apart() -> None:
    twice = [ToolUse("sys__note", {"n": n}, "toolu_same") for n in range(3)]
    result, server = await asked(Answer(twice), Answer())
    assert result.answered
    assert ran == [{"n": 0}, {"n": 1}, {"n": 2}]
    ids = [block["id"] for block in resent(server)]
    assert ids == ["toolu_same", "toolu_same_again", "toolu_same_again_again"]
    assert [block["tool_use_id"] for block in resent(server, 2)] == ids


async def test_call_ids_that_a_server_repeats_across_replies_stay_with_their_own_results() -> None:
    same = [Answer([ToolUse("sys__note", {"n": n}, "toolu_same")]) for n in range(3)]
    result, server = await asked(*same, Answer())
    assert result.answered
    results = [resent(server, place)[0]["content"] for place in (2, 4, 6)]
    assert results == [f'noted {{"n": {n}}}' for n in range(3)]


async def test_usage_is_split_so_that_the_input_fields_add_up_to_the_prompt() -> None:
    counted = Counted(
        input_tokens=7, output_tokens=50, cache_read=1000, cache_write_5m=20, cache_write_1h=300,
        thinking_tokens=11,
    )  # fmt: skip
    reply = await reply_to(Answer(usage=counted))
    assert reply.usage == Usage(
        input=7, cache_read=1000, cache_write_5m=20, cache_write_1h=300, output=50, reasoning=11
    )
    assert reply.usage.prompt == 1327


async def test_usage_adds_up_over_a_run() -> None:
    counted = Counted(input_tokens=7, output_tokens=5, cache_read=100, cache_write_5m=20)
    result, _ = await asked(Answer([ToolUse("sys__note", {})], usage=counted), Answer(usage=counted))
    assert result.usage == Usage(input=14, cache_read=200, cache_write_5m=40, output=10)


DANGEROUS = Answer([Text("I pay."), ToolUse("sys__note", {"amount": 1000})])
"""A reply whose call has to stay undone unless all of it arrives. It streams 16 events."""

FAULTS: list[tuple[Reply, str, str]] = [
    (HttpError(400, "invalid_request_error", "tools.0: no"), "invalid", "tools.0: no"),
    (
        HttpError(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
        "too long",
        "prompt is too long",
    ),
    (
        HttpError(400, "invalid_request_error", "Your credit balance is too low to access the API"),
        "quota",
        "credit balance",
    ),
    (HttpError(401, "authentication_error", "invalid x-api-key"), "auth", "invalid x-api-key"),
    (HttpError(402, "billing_error", "no credit"), "quota", "no credit"),
    (HttpError(403, "permission_error", "not yours"), "auth", "not yours"),
    (HttpError(404, "not_found_error", "no such model"), "invalid", "no such model"),
    (HttpError(413, "request_too_large", "too large"), "too long", "too large"),
    (HttpError(429, "rate_limit_error", "slow", {"retry-after": "30"}), "rate limited", "slow"),
    (HttpError(500), "transient", "Internal server error"),
    (HttpError(503), "transient", "Internal server error"),
    (HttpError(504, "timeout_error", "late"), "transient", "late"),
    (HttpError(529, "overloaded_error", "Overloaded"), "overloaded", "Overloaded"),
    (ErrorEvent(0, answer=DANGEROUS), "overloaded", "Overloaded"),
    (ErrorEvent(2, answer=DANGEROUS), "overloaded", "Overloaded"),
    (ErrorEvent(2, "rate_limit_error", "slow", DANGEROUS), "rate limited", "slow"),
    (ErrorEvent(2, "api_error", "oops", DANGEROUS), "transient", "oops"),
    (ErrorEvent(1, "invalid_request_error", "no", DANGEROUS), "invalid", "no"),
    (Drop(), "transient", ""),
    *((Drop(events, answer=DANGEROUS), "cut", "the stream broke") for events in (0, 1, 4, 8, 12, 14)),
    (Drop(after_bytes=700, answer=DANGEROUS), "cut", "the stream broke"),
    *((NoStop(events, DANGEROUS), "cut", "the stream ended") for events in (None, 0, 1, 6, 10, 12)),
]


WHY = {"invalid": "fault", "auth": "fault", "quota": "fault", "too long": "window"}
BACKOFF = [500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000]
"""Half a second, doubled each time, in microseconds; no luck in it."""
IMPATIENT = Limits(retry=RetryPolicy(attempts=0))


@pytest.mark.parametrize(("fault", "kind", "said"), FAULTS)
async def test_a_failed_model_call_stops_the_run_in_data_and_it_goes_on_when_resumed(
    fault: Reply, kind: str, said: str
) -> None:
    ran.clear()
    done = Answer([ToolUse("sys__note", {"amount": 1})])
    with Loopback([Attempts([fault, done]), Answer([Text("Done.")])]) as server:
        async with Engine(Claude(server), [NOTES], limits=IMPATIENT, outside=outside()) as engine:
            result = await engine.session("s").ask("Pay.")
            assert (result.why, result.answer, ran) == (WHY.get(kind, "unavailable"), "", [])
            assert f": ({kind}) " in result.detail
            assert said in result.detail
            again = await (await engine.resume(result.run)).result()
    assert (again.why, again.answer, ran) == ("answered", "Done.", [{"amount": 1}])
    assert server.refusals == []
    assert len(server.requests) == 3  # the adapter and its SDK retry nothing of their own


@pytest.mark.parametrize("after", [None, 0, 3, 9])
async def test_a_run_whose_model_says_nothing_more_can_be_closed_and_resumed(after: int | None) -> None:
    ran.clear()
    store = MemoryStore()
    with Loopback(in_order([Stall(after, DANGEROUS), Answer([Text("Done.")])])) as server:
        engine = Engine(Claude(server), [NOTES], store=store, outside=outside())
        async with engine.session("s").run("Pay.") as run:
            await server.until(lambda server: len(server.requests) == 1)
        await engine.close()
        await server.until(lambda server: server.departures == 1)
        async with Engine(Claude(server), [NOTES], store=store, outside=outside()) as other:
            result = await (await other.resume(run.id)).result()
            facts = [type(row.fact).__name__ async for row in other.store.journal.read("s")]
    assert (result.why, result.answer, ran) == ("answered", "Done.", [])
    assert facts == ["Opened", "Began", "Resumed", "Resumed", "Replied", "Stopped"]


async def test_an_address_where_nobody_listens_stops_the_run() -> None:
    with Loopback() as server:
        model = Claude(server)
    clock = HandClock()
    async with Engine(model, outside=outside(clock)) as engine:
        result = await engine.ask("Hello?")
    assert (result.why, result.retries, clock.slept) == ("unavailable", 7, BACKOFF)
    assert result.detail == "the model is not available after 7 attempts: (transient) Connection error."


KINDS = ("message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "x")
FIELDS: list[tuple[str, list[Any]]] = [
    ("type", [*KINDS, "error", None, 3]),
    ("index", [-1, 0, 1, None, "x", []]),
    ("message", [None, {}, {"usage": {"input_tokens": "x"}}]),
    ("content_block", [None, {}, *({"type": kind} for kind in ("text", "tool_use", "thinking", "y"))]),
    (
        "delta",
        [
            None,
            {"stop_reason": "tool_use"},
            {"type": "text_delta"},
            {"type": "text_delta", "text": "x"},
            {"type": "input_json_delta", "partial_json": 3},
        ],
    ),
    ("usage", [None, [], {"output_tokens": None}]),
]


def _events(kind: str, values: list[int], left_out: set[int]) -> dict[str, Any]:
    chosen = {key: some[n % len(some)] for (key, some), n in zip(FIELDS, values, strict=True)}
    kept = {key: value for n, (key, value) in enumerate(chosen.items()) if n not in left_out}
    return {"type": kind, **kept} if kind else kept


ODD = st.builds(
    _events,
    st.sampled_from([*KINDS, ""]),
    st.lists(st.integers(0, 100), min_size=len(FIELDS), max_size=len(FIELDS)),
    st.sets(st.integers(0, len(FIELDS))),
)


@given(st.lists(ODD, max_size=8))
def test_events_that_make_no_sense_are_a_classified_fault_or_a_reply(events: list[dict[str, Any]]) -> None:
    reader = ReplyReader(MODEL)
    try:
        for event in events:
            reader.feed(event)
        reply = reader.reply()
    except ModelFault as fault:
        kind = fault.kind
    else:
        kind = reply.stop
    assert kind in {"cut", "tools"}


async def test_a_request_says_the_options_beside_the_prefix() -> None:
    options = Options(max_tokens=99, thinking="off", effort="low")
    with Loopback() as server:
        async with Engine(Claude(server, options=options), outside=outside()) as engine:
            await engine.ask("Hello.")
        async with Engine(Claude(server), outside=outside()) as engine:
            await engine.ask("Hello.")
    told = [
        {key: value for key, value in seen.json.items() if key not in {"system", "tools", "messages"}}
        for seen in server.requests
    ]
    assert told == [
        {"model": MODEL, "max_tokens": 99, "stream": True, "output_config": {"effort": "low"}},
        {
            "model": MODEL,
            "max_tokens": 32_000,
            "stream": True,
            "thinking": {"type": "adaptive", "display": "summarized"},
        },
    ]
    headers = [seen.headers["authorization"] for seen in server.requests]
    assert headers == ["Bearer k", "Bearer k"]


async def test_another_models_reply_is_told_in_blocks_without_its_thinking() -> None:
    raw = Raw(PROVIDER, "claude-other", b'[{"type":"thinking","thinking":"x","signature":"s"}]')
    call = ToolCall("1.2", "t", {"a": 1})
    message = Message("assistant", (Reasoning("x"), Words("Yes."), call), raw)
    assert json.loads(encode(message, None, MODEL)) == {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Yes."},
            {"type": "tool_use", "id": "call_1_2", "name": "t", "input": {"a": 1}},
        ],
    }


async def test_a_session_goes_on_with_another_model() -> None:
    store = MemoryStore()
    first = Answer([Thinking("Hm."), Text("I note."), ToolUse("sys__note", {"n": 1})])
    with Loopback([first, Answer([Text("Noted.")]), Answer([Text("Again.")])]) as server:
        async with Engine(Claude(server), [NOTES], store=store, outside=outside()) as engine:
            await engine.session("s").ask("One.")
        other = Claude(server, "claude-sonnet-5-5")
        async with Engine(other, [NOTES], store=store, outside=outside()) as engine:
            result = await engine.session("s").ask("Two.")
            state = await state_of(engine, "s")
    assert (result.answer, server.refusals) == ("Again.", [])
    assert [block["type"] for block in resent(server)] == ["text", "tool_use"]
    assert state.turn == 3


def test_a_model_without_a_key_says_which_variable_to_set() -> None:
    with pytest.raises(ModelNotConfigured) as caught:
        model_named("anthropic:claude-opus-5-5")
    assert str(caught.value) == (
        "anthropic:claude-opus-5-5 needs a key: set ANTHROPIC_API_KEY to one from https://platform.claude.com"
    )
    with pytest.raises(ModelNotConfigured, match="ANTHROPIC_API_KEY"):
        Engine("anthropic:claude-opus-5-5")


@pytest.mark.parametrize("name", ["", "claude-opus-5-5", "anthropic:", "gpt:5"])
def test_a_model_name_that_leads_nowhere_says_how_one_looks(name: str) -> None:
    with pytest.raises(ConfigurationError, match="'anthropic:MODEL'"):
        model_named(name)


def test_the_environment_gives_key_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback([Answer([Text("Hi.")])]) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)

        async def ask() -> str:
            async with Engine(f"anthropic:{MODEL}", outside=outside()) as engine:
                return (await engine.ask("Hello.")).answer

        assert asyncio.run(ask()) == "Hi."
    assert server.requests[0].headers["authorization"] == "Bearer secret-key"
