"""The loopback server behaves as the API is documented to, seen through the real SDK."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, TypeAlias

import anthropic
import anyio
import httpx2
import pytest
from anthropic import AsyncStream
from anthropic.types import Message, RawMessageStreamEvent

from loopback import (
    Answer,
    Attempts,
    Block,
    Drop,
    ErrorEvent,
    HttpError,
    Loopback,
    NoStop,
    PromptCache,
    RedactedThinking,
    Reply,
    Seen,
    Stall,
    Text,
    Thinking,
    ToolUse,
    Usage,
    in_order,
)

Body: TypeAlias = dict[str, Any]

pytestmark = pytest.mark.anyio

TOOL: Body = {"name": "add", "description": "Adds.", "input_schema": {"type": "object"}}
MARK_5M: Body = {"type": "ephemeral"}
MARK_1H: Body = {"type": "ephemeral", "ttl": "1h"}


def user(*content: object) -> Body:
    return {"role": "user", "content": list(content)}


def assistant(*content: object) -> Body:
    return {"role": "assistant", "content": list(content)}


def text(words: str, **more: object) -> Body:
    return {"type": "text", "text": words, **more}


def call(number: int = 1, **more: object) -> Body:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "add", "input": {}, **more}


def result(number: int = 1, **more: object) -> Body:
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "2", **more}


def body(*messages: Body, **more: object) -> Body:
    asked = list(messages) or [user(text("hi"))]
    return {"model": "claude-opus-5-5", "max_tokens": 99, "stream": True, "messages": asked, **more}


def client_of(server: Loopback, key: str = "k") -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(api_key=key, base_url=server.url, max_retries=0)


async def events_of(
    client: anthropic.AsyncAnthropic, content: bytes
) -> AsyncGenerator[RawMessageStreamEvent, None]:
    """Bytes that were built outside the SDK, sent through it."""
    stream = await client.post(
        "/v1/messages",
        content=content,
        cast_to=Message,
        stream=True,
        stream_cls=AsyncStream[RawMessageStreamEvent],
        options={"headers": {"content-type": "application/json"}},
    )
    async with stream:
        async for event in stream:
            yield event


async def send(
    server: Loopback, sent: Body | bytes, got: list[RawMessageStreamEvent] | None = None
) -> list[Body]:
    """The events of one request, as plain objects; `got` has those before an error too."""
    content = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    events = [] if got is None else got
    async with client_of(server) as client:
        async for event in events_of(client, content):
            events.append(event)
    return [event.to_dict(warnings=False) for event in events]


async def refused(sent: Body | bytes) -> str:
    """What the server says to a request that it is to refuse."""
    with Loopback() as server:
        with pytest.raises(anthropic.BadRequestError) as caught:
            await send(server, sent)
        assert caught.value.type == "invalid_request_error"
        assert server.refusals == [caught.value.api_message]
    return server.refusals[0]


async def accepted(*sent: Body) -> None:
    with Loopback() as server:
        for one in sent:
            await send(server, one)


async def finished(
    client: anthropic.AsyncAnthropic, messages: list[Any], headers: dict[str, str] | None = None
) -> Message:
    async with client.messages.stream(
        model="claude-opus-5-5", max_tokens=99, messages=messages, extra_headers=headers
    ) as stream:
        return await stream.get_final_message()


async def final(server: Loopback) -> Message:
    async with client_of(server) as client:
        return await finished(client, [user(text("hi"))])


# What an answer looks like


async def test_every_kind_of_block_arrives_as_it_was_scripted() -> None:
    usage = Usage(input_tokens=5, output_tokens=70, cache_read=3, cache_write_1h=2, thinking_tokens=9)
    blocks: list[Block] = [
        Thinking("let me see", signature="sig"),
        RedactedThinking("opaque"),
        Text("on it — now"),
        ToolUse("add", {"a": [1, "ü"]}, id="toolu_x"),
        {"type": "weird_block", "payload": 1},
    ]
    with Loopback([Answer(blocks, usage=usage)]) as server:
        message = await final(server)
    assert message.to_dict(warnings=False) == {
        "id": message.id,
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [
            {"type": "thinking", "thinking": "let me see", "signature": "sig"},
            {"type": "redacted_thinking", "data": "opaque"},
            {"type": "text", "text": "on it — now"},
            {"type": "tool_use", "id": "toolu_x", "name": "add", "input": {"a": [1, "ü"]}},
            {"type": "weird_block", "payload": 1},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "stop_details": None,
        "usage": {
            "input_tokens": 5,
            "cache_creation_input_tokens": 2,
            "cache_read_input_tokens": 3,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 2},
            "output_tokens": 70,
            "output_tokens_details": {"thinking_tokens": 9},
            "service_tier": "standard",
        },
    }


async def test_a_text_comes_in_as_many_deltas_as_asked_for() -> None:
    with Loopback([Answer([Text("abcdefgh", deltas=4)])]) as server:
        events = await send(server, body())
    assert [event["type"] for event in events] == [
        "message_start",
        "content_block_start",
        *["content_block_delta"] * 4,
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert [event["delta"]["text"] for event in events[2:6]] == ["ab", "cd", "ef", "gh"]


async def test_omitted_thinking_has_a_signature_and_no_text() -> None:
    with Loopback([Answer([Thinking("", signature="sig"), Text("x")])]) as server:
        events = await send(server, body())
        message = await final(server)
    assert [event["delta"]["type"] for event in events[:4] if "delta" in event] == ["signature_delta"]
    thinking = {"type": "thinking", "thinking": "", "signature": "sig"}
    assert message.content[0].to_dict() == thinking


async def test_usage_of_message_delta_is_cumulative() -> None:
    with Loopback([Answer(usage=Usage(input_tokens=7, output_tokens=40))]) as server:
        events = await send(server, body())
    started, ended = events[0]["message"]["usage"], events[-2]["usage"]
    assert (started["input_tokens"], started["output_tokens"]) == (7, 1)
    assert (ended["input_tokens"], ended["output_tokens"]) == (7, 40)


async def test_a_refusal_carries_its_details() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "no"}
    answer = Answer([Text("I")], stop_reason="refusal", stop_details=details)
    with Loopback([answer]) as server:
        message = await final(server)
    assert message.stop_reason == "refusal"
    assert message.stop_details is not None
    assert message.stop_details.to_dict() == details


@pytest.mark.parametrize("raw", ["", "{}"])
async def test_a_call_without_arguments_has_an_empty_input(raw: str) -> None:
    with Loopback([Answer([ToolUse("add", raw)])]) as server:
        message = await final(server)
    assert [block.to_dict() for block in message.content] == [
        {"type": "tool_use", "id": "toolu_0000_0", "name": "add", "input": {}}
    ]


async def test_input_that_is_cut_off_is_half_parsed_without_an_error() -> None:
    cut = Answer([ToolUse("add", '{"a": 1, "b": "tw')], stop_reason="max_tokens")
    with Loopback([cut]) as server:
        message = await final(server)
    assert message.content[0].to_dict()["input"] == {"a": 1}


async def test_input_that_is_no_json_raises_inside_the_sdk_and_passes_as_raw_events() -> None:
    with Loopback([Answer([ToolUse("add", "{a: 1}", deltas=1)])]) as server:
        with pytest.raises(ValueError, match="Unable to parse tool parameter JSON"):
            await final(server)
        events = await send(server, body())
    assert [e["delta"]["partial_json"] for e in events if e["type"] == "content_block_delta"] == [
        "",
        "{a: 1}",
    ]


# Which reply a request gets


async def test_the_position_in_the_conversation_decides_and_not_the_number_of_requests() -> None:
    with Loopback([Answer([Text("first")]), Answer([Text("second")])]) as server:
        for _ in range(2):
            assert (await send(server, body()))[2]["delta"]["text"] == "fi"
        later = body(user(text("hi")), assistant(text("first")), user(text("go on")))
        assert (await send(server, later))[2]["delta"]["text"] == "se"
        assert [seen.json for seen in server.requests] == [body(), body(), later]


async def test_attempts_follow_each_other_at_one_position() -> None:
    with Loopback([Attempts([HttpError(529, "overloaded_error"), Answer()])]) as server:
        with pytest.raises(anthropic.OverloadedError):
            await final(server)
        assert (await final(server)).stop_reason == "end_turn"
        assert (await final(server)).stop_reason == "end_turn"


async def test_replies_in_order_ignore_the_position() -> None:
    with Loopback(in_order([Answer([Text("a")]), Answer([Text("b")])])) as server:
        said = [(await final(server)).content[0].to_dict()["text"] for _ in range(2)]
    assert said == ["a", "b"]


async def test_a_function_sees_the_request_and_chooses() -> None:
    def script(seen: Seen) -> Reply:
        assert seen.headers["authorization"] == "Bearer k"
        return Answer([Text(f"{seen.path} {seen.json['max_tokens']}")])

    with Loopback(script) as server:
        assert (await final(server)).content[0].to_dict()["text"] == "/v1/messages 99"


async def test_an_error_of_the_script_reaches_the_test_that_owns_it() -> None:
    with (
        pytest.raises(LookupError, match="the script has 0 replies"),
        Loopback([]) as server,
        pytest.raises(anthropic.BadRequestError, match="the script failed"),
    ):
        await final(server)


async def test_bytes_are_sent_as_they_are() -> None:
    content = b'{ "model":"m","max_tokens":1,"stream":true,"messages":[{"role":"user","content":"x"}]}'
    with Loopback() as server:
        await send(server, content)
    assert server.requests[0].body == content


async def test_one_connection_serves_many_requests() -> None:
    with Loopback() as server:
        async with client_of(server) as client:
            for _ in range(3):
                await finished(client, [user(text("hi"))])
    assert (server.connections, len(server.requests)) == (1, 3)


# Faults


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (400, "invalid_request_error", anthropic.BadRequestError),
        (402, "billing_error", anthropic.PaymentRequiredError),
        (403, "permission_error", anthropic.PermissionDeniedError),
        (413, "request_too_large", anthropic.ContentTooLargeError),
        (429, "rate_limit_error", anthropic.RateLimitError),
        (500, "api_error", anthropic.InternalServerError),
        (529, "overloaded_error", anthropic.OverloadedError),
    ],
)
async def test_a_status_raises_the_sdks_error_with_type_and_headers(
    status: int, kind: str, error: type[anthropic.APIStatusError]
) -> None:
    fault = HttpError(status, kind, "no", {"retry-after": "3600", "request-id": "req_x"})
    with Loopback([fault]) as server, pytest.raises(error) as caught:
        await final(server)
    found = caught.value
    assert (found.status_code, found.type, found.api_message) == (status, kind, "no")
    assert (found.request_id, found.response.headers["retry-after"]) == ("req_x", "3600")


@pytest.mark.parametrize("kind", ["overloaded_error", "rate_limit_error", "api_error"])
async def test_an_error_event_is_a_plain_status_error_with_status_200(kind: str) -> None:
    answer = Answer([Text("one"), Text("two")])
    got: list[RawMessageStreamEvent] = []
    fault = ErrorEvent(1, kind, "Sorry", answer)
    with Loopback([fault]) as server, pytest.raises(anthropic.APIStatusError) as caught:
        await send(server, body(), got)
    assert type(caught.value) is anthropic.APIStatusError
    assert (caught.value.status_code, caught.value.type) == (200, kind)
    assert caught.value.api_message == "Sorry"
    assert [event.type for event in got] == [
        "message_start",
        "content_block_start",
        *["content_block_delta"] * 3,
        "content_block_stop",
    ]


@pytest.mark.parametrize("fault", [Drop(after_events=0), Drop(after_events=3), Drop(after_bytes=150)])
async def test_a_cut_stream_raises_a_raw_protocol_error(fault: Drop) -> None:
    with Loopback([fault]) as server, pytest.raises(httpx2.RemoteProtocolError) as caught:
        await final(server)
    assert not isinstance(caught.value, anthropic.AnthropicError)


async def test_a_cut_before_any_byte_raises_a_connection_error() -> None:
    with Loopback([Drop()]) as server, pytest.raises(anthropic.APIConnectionError):
        await final(server)


async def test_a_stalled_stream_raises_a_raw_read_timeout() -> None:
    with Loopback([Stall(after_events=3)]) as server:
        client = client_of(server).with_options(timeout=httpx2.Timeout(5, read=0.05))
        async with client:
            with pytest.raises(httpx2.ReadTimeout) as caught:
                await finished(client, [user(text("hi"))])
        await server.until(lambda it: it.departures == 1)
    assert not isinstance(caught.value, anthropic.AnthropicError)


async def test_silence_before_any_byte_raises_a_timeout_error() -> None:
    with Loopback([Stall()]) as server:
        client = client_of(server).with_options(timeout=httpx2.Timeout(5, read=0.05))
        async with client:
            with pytest.raises(anthropic.APITimeoutError):
                await finished(client, [user(text("hi"))])


async def test_the_server_sees_a_client_leave_a_stalled_stream() -> None:
    with Loopback([Stall(after_events=3)]) as server:
        async with client_of(server) as client:
            events = events_of(client, json.dumps(body()).encode())
            assert (await anext(events)).type == "message_start"
            await events.aclose()
            await server.until(lambda it: it.departures == 1)


async def test_leaving_the_server_ends_a_stalled_stream() -> None:
    async with anyio.create_task_group() as tasks:
        with Loopback([Stall(after_events=3)]) as server:

            async def wait() -> None:
                with pytest.raises(httpx2.RemoteProtocolError):
                    await final(server)

            tasks.start_soon(wait)
            await server.until(lambda it: len(it.requests) == 1)


async def test_a_stream_that_ends_without_message_stop_raises_nothing() -> None:
    answer = Answer([ToolUse("add", {"a": 1, "b": 2}, deltas=2)])
    with Loopback([NoStop(answer=answer)]) as server:
        message = await final(server)
    assert (message.stop_reason, message.content[0].to_dict()["input"]) == (None, {"a": 1, "b": 2})
    with Loopback([NoStop(after_events=0)]) as server:
        assert await send(server, body()) == []
    with Loopback([NoStop(after_events=4, answer=answer)]) as server:
        message = await final(server)
    assert (message.stop_reason, message.content[0].to_dict()["input"]) == (None, {})


# What is refused


async def test_no_bearer_token_is_401() -> None:
    with Loopback() as server:
        async with httpx2.AsyncClient() as plain:
            reply = await plain.post(f"{server.url}/v1/messages", json=body())
            assert (reply.status_code, reply.json()["error"]["type"]) == (
                401,
                "authentication_error",
            )
        async with client_of(server) as client:
            with pytest.raises(anthropic.AuthenticationError) as caught:
                await finished(client, [user(text("hi"))], {"authorization": "Basic k"})
    assert caught.value.type == "authentication_error"


async def test_another_path_is_404() -> None:
    with Loopback() as server, pytest.raises(anthropic.NotFoundError):
        async with client_of(server) as client:
            await client.models.retrieve("claude-opus-5-5")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"{", "not valid JSON"),
        (b"[]", "not a JSON object"),
        (b'{"model": "\xff"}', "not valid UTF-8"),
        (b'{"model": "\xed\xa0\x80"}', "not valid UTF-8"),
        (json.dumps(body(user(text("a\ud800b")))).encode(), "no low surrogate in string"),
        (json.dumps(body(user(text("a\x00b")))).encode(), "NUL"),
        (json.dumps(body(system="a\x00b")).encode(), "NUL"),
        (b'{"max_tokens": NaN}', "not valid JSON"),
    ],
)
async def test_what_no_wire_can_carry_is_refused(content: bytes, complaint: str) -> None:
    assert complaint in await refused(content)


async def test_text_that_only_looks_like_an_escape_is_accepted() -> None:
    await accepted(body(user(text("\\u0000 \\ud800 \U0001f600"))))


@pytest.mark.parametrize("key", ["model", "max_tokens", "messages"])
async def test_a_missing_key_is_refused(key: str) -> None:
    sent = body()
    del sent[key]
    assert await refused(sent) == f"{key}: Field required"


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"temperature": 0.5}, "temperature: Extra inputs are not permitted"),
        ({"top_k": 1}, "top_k: Extra inputs are not permitted"),
        ({"context_management": {}}, "context_management: Extra inputs are not permitted"),
        ({"max_tokens": True}, "max_tokens: "),
        ({"messages": []}, "messages: at least one message is required"),
        ({"stream": False}, "stream: "),
        ({"thinking": {"type": "enabled", "budget_tokens": 1000}}, "greater than or equal to 1024"),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "`max_tokens` must be greater"),
        ({"tool_choice": {"type": "auto"}}, "only be specified while providing tools"),
        ({"tool_choice": {"type": "tool", "name": "sub"}, "tools": [TOOL]}, "Tool 'sub' not found"),
    ],
)
async def test_a_wrong_parameter_is_refused(more: Body, complaint: str) -> None:
    assert complaint in await refused(body(**more))


async def test_a_beta_header_admits_beta_parameters() -> None:
    with Loopback() as server:
        async with client_of(server) as client:
            await client.beta.messages.create(
                model="claude-opus-5-5",
                max_tokens=9,
                messages=[{"role": "user", "content": "hi"}],
                betas=["context-management-2025-06-27"],
                context_management={"edits": []},
                stream=True,
            )
    assert server.requests[0].headers["anthropic-beta"] == "context-management-2025-06-27"


PATTERN = "tools.0.custom.name: String should match pattern"
WRONG_TOOLS: list[tuple[Body, str]] = [
    ({**TOOL, "name": "bank.list"}, PATTERN),
    ({**TOOL, "name": "a" * 129}, PATTERN),
    ({"name": "add"}, "tools.0.custom.input_schema: Field required"),
    ({**TOOL, "input_schema": {}}, "tools.0.custom.input_schema.type"),
    ({**TOOL, "input_schema": {"type": "object", "anyOf": [{}]}}, "at the top level"),
    ({**TOOL, "input_schema": {"type": "object", "oneOf": [{}]}}, "at the top level"),
    ({**TOOL, "input_schema": {"type": "object", "allOf": [{}]}}, "at the top level"),
]


@pytest.mark.parametrize(("tool", "complaint"), WRONG_TOOLS)
async def test_a_wrong_tool_definition_is_refused(tool: Body, complaint: str) -> None:
    assert complaint in await refused(body(tools=[tool]))


async def test_two_tools_of_one_name_are_refused() -> None:
    assert await refused(body(tools=[TOOL, TOOL])) == "tools: Tool names must be unique."


async def test_a_server_tool_needs_no_schema() -> None:
    found = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
    await accepted(body(tools=[found, TOOL]))


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([assistant(text("hi")), user(text("hi"))], "first message must use the 'user' role"),
        ([user(text("hi")), {"role": "tool", "content": "x"}], "messages.1.role"),
        ([user()], "messages.0: all messages must have non-empty content"),
        ([{"role": "user", "content": ""}], "messages.0: all messages must have non-empty content"),
        ([{"role": "user"}], "messages.0.content: Field required"),
        ([user(text(""))], "text content blocks must be non-empty"),
        ([user(text(" \n"))], "text content blocks must contain non-whitespace text"),
        ([user(call())], "`tool_use` blocks are not allowed in `user` messages"),
        ([user(text("hi")), assistant(result()), user(text("x"))], "not allowed in `assistant`"),
        ([user({"type": "weird_block"})], "Input tag 'weird_block'"),
        ([user(text("hi")), assistant(text("The answer is ("))], "message prefill"),
    ],
)
async def test_a_wrong_message_is_refused(messages: list[Body], complaint: str) -> None:
    assert complaint in await refused(body(*messages))


async def test_an_empty_text_in_a_tool_result_or_the_system_prompt_is_refused() -> None:
    inner = [user(text("hi")), assistant(call()), user(result(content=[text("")]))]
    assert "messages.2.content.0" in await refused(body(*inner))
    assert "system: text content blocks" in await refused(body(system=[text("")]))
    await accepted(body(user(text("hi")), assistant(call()), user(result(content=""))), body(system=""))


async def test_system_messages_stand_where_they_may() -> None:
    note = {"role": "system", "content": "Budget: half is left."}
    hi, hello = user(text("hi")), assistant(text("hello"))
    await accepted(body(hi, note), body(hi, note, hello, user(text("x")), note))
    follow, precede = "role 'system' must follow", "role 'system' must precede"
    assert follow in await refused(body(hi, hello, note, user(text("x"))))
    assert precede in await refused(body(hi, note, user(text("x"))))
    assert "first message" in await refused(body(note, hi))


@pytest.mark.parametrize(
    ("tail", "complaint"),
    [
        ([assistant(call()), user(text("x"))], "messages.1: `tool_use` ids were found without"),
        ([assistant(call(1), call(2)), user(result(1))], "immediately after: toolu_2. Each"),
        ([assistant(call()), user(result(1), result(1))], "each tool_use must have a single"),
        ([assistant(call()), user(text("x"), result())], "must come first"),
        ([assistant(call()), user(result(1), result(2))], "blocks: toolu_2. Each `tool_result`"),
        ([user(result())], "unexpected `tool_use_id` found in `tool_result` blocks: toolu_1"),
        ([assistant(call(), call()), user(result())], "`tool_use` ids must be unique"),
        ([assistant(call(input="{}")), user(result())], "tool_use.input: Input should be a valid"),
        ([assistant(call(id="a b")), user(result())], "tool_use.id: String should match pattern"),
    ],
)
async def test_calls_and_results_that_do_not_pair_are_refused(tail: list[Body], complaint: str) -> None:
    assert complaint in await refused(body(user(text("hi")), *tail))


async def test_results_may_be_spread_over_neighbouring_user_messages() -> None:
    calls = [user(text("hi")), assistant(call(1), call(2))]
    await accepted(
        body(*calls, user(result(1)), user(result(2), text("x"))),
        body(*calls, user(result(2), result(1))),
    )


async def test_a_paused_reply_comes_back_as_the_last_message_if_it_is_unchanged() -> None:
    searching: Body = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web", "input": {}}
    paused = Answer([Thinking("hm"), Text("searching"), searching], stop_reason="pause_turn")
    with Loopback([paused, Answer([Text("found")])]) as server:
        async with client_of(server) as client:
            messages: list[Any] = [user(text("hi"))]
            first = await finished(client, messages)
            messages.append(first.to_param())
            assert (await finished(client, messages)).stop_reason == "end_turn"
            messages[-1] = assistant(text("searching"))
            with pytest.raises(anthropic.BadRequestError, match="prefill"):
                await finished(client, messages)


async def test_an_unknown_block_is_taken_back_by_the_server_that_sent_it() -> None:
    weird: Body = {"type": "weird_block", "payload": [1]}
    later = body(user(text("hi")), assistant(weird), user(text("x")))
    with Loopback([Answer([weird]), Answer()]) as server:
        await send(server, body())
        await send(server, later)
    assert "Input tag 'weird_block'" in await refused(later)


# Cache markers


async def test_five_markers_are_refused_wherever_they_stand() -> None:
    marked = text("x", cache_control=MARK_5M)
    tool = {**TOOL, "cache_control": MARK_5M}
    four = body(user(marked, marked), tools=[tool], system=[marked])
    await accepted(four)
    refusal = "A maximum of 4 blocks with cache_control may be provided. Found 5."
    assert await refused({**four, "cache_control": MARK_5M}) == refusal
    assert await refused(body(user(*[marked] * 5))) == refusal
    nested = user(*[marked] * 4), assistant(call()), user(result(content=[marked]))
    assert await refused(body(*nested)) == refusal


async def test_a_key_of_that_name_inside_tool_input_is_no_marker() -> None:
    argued = call(input={"cache_control": {"type": "odd"}})
    await accepted(body(user(text("hi")), assistant(argued), user(result())))


@pytest.mark.parametrize(
    "block",
    [
        {"type": "thinking", "thinking": "x", "signature": "s", "cache_control": MARK_5M},
        {"type": "redacted_thinking", "data": "x", "cache_control": MARK_5M},
    ],
)
async def test_a_marker_on_thinking_is_refused(block: Body) -> None:
    sent = body(user(text("hi")), assistant(block, text("x")), user(text("y")))
    assert "cache_control: Extra inputs are not permitted" in await refused(sent)


async def test_one_hour_after_five_minutes_is_refused_in_render_order() -> None:
    short, long = text("x", cache_control=MARK_5M), text("x", cache_control=MARK_1H)
    await accepted(body(user(short), system=[long]))
    assert "must not come after a ttl='5m'" in await refused(body(user(long), system=[short]))
    late = body(user(text("x")), tools=[{**TOOL, "cache_control": MARK_5M}], system=[long])
    assert (await refused(late)).startswith("system.0.cache_control.ttl: a ttl='1h'")


async def test_an_unknown_lifetime_is_refused() -> None:
    odd = text("x", cache_control={"type": "ephemeral", "ttl": "2h"})
    assert "messages.0.content.0.cache_control" in await refused(body(user(odd)))


# Preserved thinking

Edit: TypeAlias = Callable[[Body], None]


def _edit_system(sent: Body) -> None:
    sent["system"] = "Be brief. Today is Tuesday."


def _edit_tools(sent: Body) -> None:
    sent["tools"][0]["description"] = "Adds two numbers."


def _edit_first_message(sent: Body) -> None:
    sent["messages"][0]["content"][0]["text"] = "hello"


def _edit_result(sent: Body) -> None:
    sent["messages"][2]["content"][0]["content"] = "[cleared]"


def _edit_thinking(sent: Body) -> None:
    sent["messages"][1]["content"][0]["thinking"] = "other"


def _drop_middle_thinking(sent: Body) -> None:
    del sent["messages"][3]["content"][0]


def _swap_thinking(sent: Body) -> None:
    first, second = sent["messages"][1]["content"], sent["messages"][3]["content"]
    first[0], second[0] = second[0], first[0]


def _drop_first_thinking(sent: Body) -> None:
    del sent["messages"][1]["content"][0]


def _drop_all_thinking_and_edit(sent: Body) -> None:
    for n in (1, 3, 5):
        del sent["messages"][n]["content"][0]
    _edit_first_message(sent)


def _move_markers(sent: Body) -> None:
    sent["system"] = [text("Be brief.", cache_control=MARK_1H)]
    sent["messages"][4]["content"][0]["cache_control"] = MARK_5M


def _append(sent: Body) -> None:
    sent["messages"].append({"role": "system", "content": "Today is Tuesday."})
    sent["max_tokens"] = 500


def _defer_a_tool(sent: Body) -> None:
    sent["tools"].append({**TOOL, "name": "later", "defer_loading": True})


async def conversation(server: Loopback) -> Body:
    """Three calls with thinking, each answered."""
    sent = body(tools=[copy.deepcopy(TOOL)], system="Be brief.")
    async with client_of(server) as client:
        for _ in range(3):
            async with client.messages.stream(
                model=sent["model"],
                max_tokens=sent["max_tokens"],
                messages=sent["messages"],
                tools=sent["tools"],
                system=sent["system"],
            ) as stream:
                message = await stream.get_final_message()
            content: list[Body] = [block.to_dict() for block in message.content]
            sent["messages"].append(assistant(*content))
            sent["messages"].append(user({**result(), "tool_use_id": content[1]["id"]}))
    return sent


THREE_CALLS = (
    Answer([Thinking("one"), ToolUse("add", {"a": 1})]),
    Answer([RedactedThinking(), ToolUse("add")]),
    Answer([Thinking("three"), ToolUse("add", {"a": 3})]),
    Answer([Text("done")]),
)


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        (_edit_system, "messages.1.content.0"),
        (_edit_tools, "messages.1.content.0"),
        (_edit_first_message, "messages.1.content.0"),
        (_edit_thinking, "messages.1.content.0"),
        (_edit_result, "messages.3.content.0"),
        (_swap_thinking, "messages.1.content.0"),
        (_drop_middle_thinking, "messages.5.content.0"),
    ],
)
async def test_thinking_whose_prefix_changed_is_refused(edit: Edit, path: str) -> None:
    with Loopback(THREE_CALLS) as server:
        sent = await conversation(server)
        edit(sent)
        with pytest.raises(anthropic.BadRequestError) as caught:
            await send(server, sent)
    assert caught.value.api_message == (
        f"{path}: Invalid `signature` in `thinking` block. The block is bound to a different "
        "conversation. Remove the block, or set "
        '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
    )


@pytest.mark.parametrize(
    "edit",
    [_append, _move_markers, _drop_first_thinking, _drop_all_thinking_and_edit, _defer_a_tool],
)
async def test_thinking_survives_what_does_not_change_its_prefix(edit: Edit) -> None:
    with Loopback(THREE_CALLS) as server:
        sent = await conversation(server)
        edit(sent)
        assert (await send(server, sent))[-1]["type"] == "message_stop"


async def test_malformed_input_comes_back_as_an_empty_object() -> None:
    answer = Answer([Thinking("a"), ToolUse("add", "{a: 1", id="toolu_1"), Thinking("b")])
    with Loopback([answer, Answer()]) as server:
        events = await send(server, body())
        signatures = [e["delta"]["signature"] for e in events if "signature" in str(e.get("delta"))]
        first, second = (
            {"type": "thinking", "thinking": words, "signature": signature}
            for words, signature in zip("ab", signatures, strict=True)
        )
        returned = assistant(first, call(1), second)
        await send(server, body(user(text("hi")), returned, user(result(1))))


async def test_a_signature_holds_across_servers() -> None:
    with Loopback(THREE_CALLS) as first:
        sent = await conversation(first)
    with Loopback(THREE_CALLS) as second:
        await send(second, sent)
        _edit_system(sent)
        with pytest.raises(anthropic.BadRequestError, match="different conversation"):
            await send(second, sent)


# The simulated cache


def cached(events: list[Body]) -> tuple[int, int, int]:
    """Tokens read, written and neither."""
    usage = events[-2]["usage"]
    names = ("cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens")
    return usage[names[0]], usage[names[1]], usage[names[2]]


async def test_a_prefix_is_written_once_and_then_read() -> None:
    system = [text("s" * 400, cache_control=MARK_1H)]
    with Loopback(cache=True) as server:
        first = await send(server, body(user(text("a" * 400)), system=system))
        second = await send(server, body(user(text("b" * 400)), system=system))
        changed = await send(server, body(system=[text("t" * 400, cache_control=MARK_1H)]))
    wrote, left = cached(first)[1:]
    assert cached(first) == (0, wrote, left)
    assert wrote > 100
    assert left > 100
    assert cached(second) == (wrote, 0, left)
    assert cached(changed)[:2] == (0, wrote)
    creation = first[0]["message"]["usage"]["cache_creation"]
    assert creation == {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": wrote}


async def test_a_growing_conversation_reads_what_it_wrote_as_far_as_the_look_back_goes() -> None:
    first = [text(f"{n}", cache_control=MARK_5M) if n == 9 else text(f"{n}") for n in range(10)]
    near = [*map(text, map(str, range(28))), text("end", cache_control=MARK_5M)]
    far = [*map(text, map(str, range(29))), text("end", cache_control=MARK_5M)]
    spliced = copy.deepcopy(far)
    spliced[9]["cache_control"] = MARK_5M
    for grown, hits in [(near, True), (far, False), (spliced, True)]:
        with Loopback(cache=True) as server:
            wrote = cached(await send(server, body(user(*first))))[1]
            assert cached(await send(server, body(user(*grown))))[0] == (wrote if hits else 0)


async def test_the_cache_expires_and_has_a_minimum() -> None:
    cache = PromptCache(minimum_tokens=50)
    marked = body(user(text("x" * 400, cache_control=MARK_5M)))
    with Loopback(cache=cache) as server:
        small = cached(await send(server, body(user(text("x", cache_control=MARK_5M)))))
        wrote = cached(await send(server, marked))[1]
        cache.expire("1h")
        kept = cached(await send(server, marked))
        cache.expire("5m")
        lost = cached(await send(server, marked))
    assert small[:2] == (0, 0)
    assert kept == (wrote, 0, 0)
    assert lost == (0, wrote, 0)


# As a process


async def test_it_runs_as_a_process_from_a_script_file(tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": "hm", "deltas": 1}
    calls = {"type": "tool_use", "name": "add", "input": {"a": 1}}
    replies = [
        {"blocks": [thought, calls], "usage": {"output_tokens": 3}},
        {"attempts": [{"fault": "http_error", "status": 529}, {"blocks": [text("done")]}]},
        {"fault": "no_stop", "answer": {"blocks": [text("cut")]}},
    ]
    script = tmp_path / "script.json"
    script.write_text(json.dumps(replies))
    program = [
        sys.executable,
        str(Path(__file__).with_name("loopback.py")),
        "--script",
        str(script),
    ]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:  # noqa: ASYNC220
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        async with anthropic.AsyncAnthropic(api_key="k", base_url=url, max_retries=0) as client:
            messages: list[Any] = [user(text("hi"))]
            first = await finished(client, messages)
            assert (first.stop_reason, first.usage.output_tokens) == ("tool_use", 3)
            messages.append(first.to_param())
            messages.append(user({**result(), "tool_use_id": first.content[1].to_dict()["id"]}))
            with pytest.raises(anthropic.InternalServerError):
                await finished(client, messages)
            second = await finished(client, messages)
            assert second.content[0].to_dict() == text("done")
            messages += [second.to_param(), user(text("go on"))]
            assert (await finished(client, messages)).stop_reason is None
        process.terminate()
