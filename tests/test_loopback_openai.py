"""The loopback server speaks chat completions as documented; what litellm makes of them."""

from __future__ import annotations

import httpx2
import pytest

from litellm_client import HELLO, QUIET, TOOL, Body, Heard, ask, close_clients, litellm, results
from loopback import (
    Answer,
    Dialect,
    Drop,
    ErrorEvent,
    HttpError,
    Loopback,
    NoStop,
    OpenAI,
    RedactedThinking,
    Reply,
    Stall,
    Text,
    Thinking,
    ToolUse,
    Usage,
)
from loopback_openai import DEEPSEEK, LLAMA_CPP, OLLAMA, VLLM

pytestmark = QUIET

USAGE = Usage(input_tokens=5, output_tokens=70, cache_read=3, cache_write_1h=2, thinking_tokens=9)
FULL = Answer(
    [
        Thinking("let me see"),
        RedactedThinking(),
        Text("on it", deltas=2),
        ToolUse("add", {"a": 1}, deltas=1),
        ToolUse("add", {"a": 2}, deltas=1),
    ],
    usage=USAGE,
)
TWO = Answer([Text("ab", deltas=2)])
CALL: Body = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
RESULT: Body = {"role": "tool", "tool_call_id": "call_1", "content": "2"}


def assistant(*calls: Body, **more: object) -> Body:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def body(*messages: Body, **more: object) -> Body:
    return {"model": "x", "stream": True, "messages": list(messages) or [HELLO], **more}


def tool(**function: object) -> Body:
    return body(tools=[{"type": "function", "function": {"name": "add", **function}}])


async def post(server: Loopback, sent: Body) -> httpx2.Response:
    async with httpx2.AsyncClient() as plain:
        url = f"{server.url}/v1/chat/completions"
        return await plain.post(url, json=sent, headers={"authorization": "Bearer k"})


async def heard(reply: Reply, dialect: Dialect | None = None, **more: object) -> Heard:
    with Loopback([reply], wire=OpenAI(dialect or Dialect())) as server:
        found = await ask(server, "openai/x", **more)
        assert len(server.requests) == 1
        assert server.refusals == []
    return found


# What an answer becomes


async def test_every_kind_of_block_arrives_and_openai_keeps_its_thinking() -> None:
    found = await heard(FULL, tools=[TOOL])
    assert found.steps == [
        {"content": ""},
        {"content": "on "},
        {"content": "it"},
        {"tool_calls": [piece("", 0, id="call_0000_0", name="add")]},
        {"tool_calls": [piece('{"a":1}', 0)]},
        {"tool_calls": [piece("", 1, id="call_0000_1", name="add")]},
        {"tool_calls": [piece('{"a":2}', 1)]},
        {"finish_reason": "tool_calls"},
        {
            "usage": {
                "prompt_tokens": 10,
                "completion_tokens": 70,
                "total_tokens": 80,
                "completion_tokens_details": {"audio_tokens": 0, "reasoning_tokens": 9},
                "prompt_tokens_details": {
                    "audio_tokens": 0,
                    "cached_tokens": 3,
                    "cache_write_tokens": 2,
                    "cache_creation_tokens": 2,
                },
            }
        },
    ]


def piece(arguments: str, index: int, **named: str) -> Body:
    name = {"name": named["name"]} if "name" in named else {}
    used = {"id": named["id"]} if "id" in named else {}
    return {"function": {"arguments": arguments, **name}, "type": "function", "index": index, **used}


@pytest.mark.parametrize("dialect", [DEEPSEEK, VLLM, OLLAMA, LLAMA_CPP])
async def test_thinking_arrives_under_one_name_whatever_the_server_calls_it(dialect: Dialect) -> None:
    found = await heard(FULL, dialect)
    assert (found.reasoning, found.text, found.finish) == ("let me see", "on it", ["tool_calls"])


async def test_calls_without_an_index_or_all_at_zero_share_index_zero() -> None:
    assert (await heard(FULL, OLLAMA)).calls == [
        (0, "call_0000_0", "add", '{"a":1}'),
        (0, "call_0000_1", "add", '{"a":2}'),
    ]
    assert (await heard(FULL, LLAMA_CPP)).calls == [
        (0, "", "add", '{"a":1}'),
        (0, "", "add", '{"a":2}'),
    ]
    assert (await heard(FULL, Dialect(index="missing"))).calls == [
        (0, "call_0000_0", "add", ""),
        (0, None, None, '{"a":1}'),
        (0, "call_0000_1", "add", ""),
        (0, None, None, '{"a":2}'),
    ]


async def test_ids_are_passed_on_as_they_are_or_are_not() -> None:
    first = [(await heard(FULL, Dialect(ids="missing"))).calls[0]]
    first.append((await heard(FULL, Dialect(ids="repeated"))).calls[0])
    assert first == [(0, None, "add", ""), (0, "call_0", "add", "")]


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("function_call", "function_call"),
        ("no such reason", "stop"),
    ],
)
async def test_stop_reasons_pass_and_an_unknown_one_becomes_stop(sent: str, got: str) -> None:
    assert (await heard(Answer([Text("x")], stop_reason=sent))).finish == [got]


async def test_a_function_call_of_the_legacy_kind_passes() -> None:
    blocks = [{"function_call": {"name": "add", "arguments": ""}}, {"function_call": {"arguments": "{}"}}]
    found = await heard(Answer(blocks, stop_reason="function_call"))
    assert [step["function_call"] for step in found.steps if "function_call" in step] == [
        {"arguments": "", "name": "add"},
        {"arguments": "{}"},
    ]


async def test_the_words_of_a_refusal_are_lost() -> None:
    found = await heard(Answer([{"refusal": "I cannot"}]))
    assert found.steps[:-1] == [{"content": ""}, {"finish_reason": "stop"}]


async def test_arguments_that_are_cut_off_or_empty_pass_as_they_are() -> None:
    cut = await heard(Answer([ToolUse("add", '{"a": 1, "b', deltas=1)], stop_reason="length"))
    assert [call[3] for call in cut.calls] == ["", '{"a": 1, "b']
    assert [call[3] for call in (await heard(Answer([ToolUse("add", "")]))).calls] == [""]


async def test_usage_that_never_came_is_made_up_and_has_no_details() -> None:
    assert set((await heard(FULL, Dialect(usage="always"))).usage) == {
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
        "prompt_tokens_details",
        "completion_tokens_details",
    }
    assert set((await heard(FULL, Dialect(usage="never"))).usage) == {
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
    }


# Faults


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (HttpError(400, "invalid_request_error", "bad"), "BadRequestError"),
        (HttpError(400, "e", "long", code="context_length_exceeded"), "BadRequestError"),
        (HttpError(400, "e", "This model's maximum context length is 9"), "ContextWindowExceededError"),
        (HttpError(401, "e", "no", code="invalid_api_key"), "AuthenticationError"),
        (HttpError(403, "e", "no"), "APIError"),
        (HttpError(404, "e", "no", code="model_not_found"), "NotFoundError"),
        (HttpError(408, "e", "slow"), "Timeout"),
        (HttpError(409, "e", "no"), "APIError"),
        (HttpError(413, "e", "big"), "APIError"),
        (HttpError(422, "e", "no"), "BadRequestError"),
        (HttpError(429, "insufficient_quota", "no", code="insufficient_quota"), "RateLimitError"),
        (HttpError(500, "server_error", "boom"), "InternalServerError"),
        (HttpError(502, raw="<html>Bad gateway</html>"), "BadGatewayError"),
        (HttpError(503, "e", "busy"), "ServiceUnavailableError"),
        (HttpError(504, "e", "slow"), "Timeout"),
        (HttpError(529, "e", "busy"), "APIError"),
    ],
)
async def test_a_status_has_its_error_and_one_attempt(fault: HttpError, kind: str) -> None:
    assert (await heard(fault)).failure == (kind, fault.status, "")


async def test_the_headers_of_a_status_are_kept() -> None:
    told = {"retry-after": "7", "retry-after-ms": "7123", "x-ratelimit-reset-tokens": "6s"}
    fault = HttpError(429, "tokens", "Rate limit reached", told, code="rate_limit_exceeded")
    error = (await heard(fault)).error
    assert {name: error.litellm_response_headers[name] for name in told} == told
    assert (error.code, error.body["code"]) == ("429", "rate_limit_exceeded")


async def test_an_error_within_the_stream_keeps_its_code_only_in_its_context() -> None:
    found = await heard(ErrorEvent(1, "server_error", "Sorry", TWO, code="overloaded"))
    assert found.failure == ("MidStreamFallbackError", 500, "APIConnectionError")
    assert (found.text, found.error.generated_content, found.error.is_pre_first_chunk) == ("ab", "ab", False)
    assert (found.error.body, found.error.__context__.body["code"]) == (None, "overloaded")


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        (Drop(), ("InternalServerError", 500, "")),
        (Drop(after_events=0), ("MidStreamFallbackError", 500, "APIConnectionError")),
        (Drop(after_events=2, answer=TWO), ("MidStreamFallbackError", 500, "APIConnectionError")),
        (Drop(after_events=4, answer=TWO), ("MidStreamFallbackError", 500, "APIConnectionError")),
        (NoStop(answer=TWO), ("MidStreamFallbackError", 500, "APIConnectionError")),
        (Answer(TWO.blocks, stop_reason=""), ("MidStreamFallbackError", 500, "APIConnectionError")),
        (Stall(), ("Timeout", 408, "")),
        (Stall(after_events=2, answer=TWO), ("Timeout", 408, "")),
    ],
)
async def test_a_stream_that_breaks_is_an_error(fault: Reply, failure: tuple[str, int, str]) -> None:
    assert (await heard(fault, timeout=0.2 if isinstance(fault, Stall) else 10)).failure == failure


async def test_an_empty_stream_is_no_error_and_its_finish_reason_is_made_up() -> None:
    found = await heard(NoStop(after_events=0))
    assert (found.steps, found.error) == ([{"finish_reason": "stop"}], None)


async def test_a_client_that_was_closed_is_used_again() -> None:
    with Loopback(wire=OpenAI()) as server:
        sent = {"model": "openai/x", "messages": [HELLO], "api_base": f"{server.url}/v1", "api_key": "k"}
        more = {"stream": True, "num_retries": 0, "max_retries": 0}
        stream = await litellm().acompletion(**sent, **more)
        assert [chunk async for chunk in stream]
        await litellm().close_litellm_async_clients()
        with pytest.raises(litellm().InternalServerError, match="the client has been closed"):
            await litellm().acompletion(**sent, **more)
        await close_clients()
        assert [chunk async for chunk in await litellm().acompletion(**sent, **more)]
        await close_clients()


# What comes back


async def test_replies_follow_the_position_and_a_plain_replay_is_taken() -> None:
    with Loopback([FULL, Answer([Text("done")])], wire=OpenAI()) as server:
        message = (await ask(server, "openai/x", tools=[TOOL])).message
        again = await ask(server, "openai/x", HELLO, message, *results(message), tools=[TOOL])
    assert (again.text, server.refusals) == ("done", [])


async def test_all_keys_of_a_message_are_sent_so_openai_refuses_those_it_does_not_name() -> None:
    message = assistant(CALL, content="x", reasoning_content="r")
    with Loopback(wire=OpenAI()) as server:
        found = await ask(server, "openai/x", HELLO, message, RESULT)
    assert found.failure == ("BadRequestError", 400, "")
    assert server.refusals == ["Unknown parameter: 'messages[1].reasoning_content'."]


async def test_a_server_that_wants_its_reasoning_back_gets_it_from_the_whole_message() -> None:
    with Loopback([FULL, Answer()], wire=OpenAI(DEEPSEEK)) as server:
        message = (await ask(server, "openai/x")).message
        assert message["reasoning_content"] == "let me see"
        await ask(server, "openai/x", HELLO, message, *results(message))
        del message["reasoning_content"]
        await ask(server, "openai/x", HELLO, message, *results(message))
    assert server.refusals == [
        "Missing `reasoning_content` field in the assistant message at message index 1"
    ]


# What is refused


@pytest.mark.parametrize(
    ("sent", "complaint"),
    [
        (body(thinking={}), "Unrecognized request argument supplied: thinking"),
        (body(model=""), "you must provide a model parameter"),
        (body(messages=[]), "Invalid 'messages': empty array"),
        (body(stream=False), "stream: this server answers streaming requests only"),
        (body(tools=[]), "Invalid 'tools': empty array"),
        (body(tool_choice="auto"), "'tool_choice' is only allowed when 'tools' are specified"),
        (body(tools=[TOOL | {"cache_control": "x"}]), "Unknown parameter: 'tools[0].cache_control'"),
        (tool(name="bank.list"), "does not match pattern"),
        (tool(name="x" * 65), "string too long. Expected a string with maximum length 64"),
        (tool(parameters={"type": "array"}), "schema must be a JSON Schema of 'type: \"object\"'"),
        (
            tool(parameters={"type": "object", "properties": {"a": {"type": "array"}}}),
            "In context=('properties', 'a'), array schema missing items",
        ),
        (tool(strict=True), "'additionalProperties' is required to be supplied and to be false"),
        (body(HELLO, {"role": "robot", "content": "x"}), "Invalid value: 'robot'"),
        (body({"role": "user", "content": None}), "expected a string, got null"),
        (body({"role": "user", "content": []}), "Invalid 'messages[0].content': empty array"),
        (body({"role": "user", "content": [{"type": "tool_result"}]}), "Invalid value: 'tool_result'"),
        (
            body({"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {}}]}),
            "Unknown parameter: 'messages[0].content[0].cache_control'",
        ),
        (body(HELLO, assistant(content="x")), "Invalid 'messages[1].tool_calls': empty array"),
        (body(HELLO, assistant(CALL, thinking_blocks=[]), RESULT), "'messages[1].thinking_blocks'"),
        (body(HELLO, assistant({**CALL, "index": 0}), RESULT), "Unknown parameter: 'messages[1].index'"),
        (body(HELLO, assistant({**CALL, "id": ""}), RESULT), "'messages[1].tool_calls[0].id'"),
        (body(HELLO, assistant({**CALL, "id": "x" * 41}), RESULT), "maximum length 40"),
        (body(HELLO, assistant(CALL, CALL), RESULT), "Duplicate value for 'tool_call_id'"),
        (
            body(HELLO, assistant({**CALL, "function": {"name": "a.b", "arguments": "{}"}}), RESULT),
            "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern",
        ),
        (
            body(HELLO, assistant({**CALL, "function": {"name": "add", "arguments": {}}}), RESULT),
            "expected a string, but got object",
        ),
        (
            body(HELLO, assistant({**CALL, "function": {"name": "add", "arguments": '{"a'}}), RESULT),
            "expected a JSON object",
        ),
        (body(HELLO, assistant(CALL)), "did not have response messages: call_1"),
        (body(HELLO, assistant(CALL), HELLO), "did not have response messages: call_1"),
        (body(HELLO, RESULT), "must be a response to a preceeding message with 'tool_calls'"),
        (body(HELLO, assistant(CALL), {**RESULT, "tool_call_id": "y"}), "'tool_call_id' of 'y' not found"),
        (body(HELLO, assistant(CALL), RESULT, RESULT), "'tool_call_id' of 'call_1' not found"),
    ],
)
async def test_what_openai_refuses(sent: Body, complaint: str) -> None:
    with Loopback(wire=OpenAI()) as server:
        reply = await post(server, sent)
        error = reply.json()["error"]
        assert (reply.status_code, error["type"]) == (400, "invalid_request_error")
        assert server.refusals == [error["message"]]
    assert complaint in error["message"]


@pytest.mark.parametrize(
    "sent",
    [
        body(HELLO, assistant(CALL), RESULT, HELLO),
        body(HELLO, assistant(CALL, {**CALL, "id": "call_2"}), {**RESULT, "tool_call_id": "call_2"}, RESULT),
        body(HELLO, assistant(CALL), RESULT, assistant(CALL), RESULT),
        body({"role": "system", "content": "s"}, HELLO, {"role": "assistant", "content": "x"}, HELLO),
        tool(parameters={"type": "object"}, description="Adds."),
    ],
)
async def test_what_openai_takes(sent: Body) -> None:
    with Loopback(wire=OpenAI()) as server:
        assert (await post(server, sent)).status_code == 200


async def test_other_servers_take_fields_that_openai_does_not_name() -> None:
    with Loopback(wire=OpenAI(VLLM)) as server:
        sent = body(HELLO, assistant(CALL, reasoning_content="r"), RESULT)
        assert (await post(server, sent)).status_code == 200


async def test_another_path_and_a_missing_key_are_refusals_too() -> None:
    with Loopback(wire=OpenAI()) as server:
        async with httpx2.AsyncClient() as plain:
            lost = await plain.post(f"{server.url}/v1/responses", json=body())
            bare = await plain.post(f"{server.url}/v1/chat/completions", json=body())
        assert (lost.status_code, bare.status_code, len(server.refusals)) == (404, 401, 2)
