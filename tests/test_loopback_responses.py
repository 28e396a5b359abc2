"""The loopback server speaks the Responses API as documented; what litellm's bridge makes of it."""

from __future__ import annotations

import httpx2
import pytest

from litellm_client import HELLO, QUIET, TOOL, Body, Heard, ask, results
from loopback import (
    Answer,
    Drop,
    ErrorEvent,
    HttpError,
    Loopback,
    NoStop,
    Reply,
    Responses,
    Stall,
    Text,
    Thinking,
    ToolUse,
    Usage,
)

pytestmark = QUIET

MODEL = "openai/gpt-5.6"
SEALED: Body = {"store": False, "include": ["reasoning.encrypted_content"]}
MIXED = Answer([
    Thinking("t"),
    Text("one", deltas=1),
    ToolUse("add", {"a": 1}, deltas=1),
    Thinking("u"),
    ToolUse("add", {"a": 2}, deltas=1),
])  # fmt: skip
TWO = Answer([Text("ab", deltas=2)])
USER: Body = {"type": "message", "role": "user", "content": "hi"}
CALL: Body = {"type": "function_call", "call_id": "call_1", "name": "add", "arguments": "{}"}
OUTPUT: Body = {"type": "function_call_output", "call_id": "call_1", "output": "2"}
REASONING: Body = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}


def body(*items: Body, **more: object) -> Body:
    return {"model": "x", "stream": True, "input": list(items) or [USER], **more}


async def post(server: Loopback, sent: Body) -> httpx2.Response:
    async with httpx2.AsyncClient() as plain:
        return await plain.post(
            f"{server.url}/v1/responses", json=sent, headers={"authorization": "Bearer k"}
        )


async def bridged(server: Loopback, *messages: Body, **more: object) -> Heard:
    """Tools and an effort: that is what sends this model's requests over the bridge."""
    return await ask(server, MODEL, *messages, tools=[TOOL], reasoning_effort="low", **more)


async def heard(reply: Reply, **more: object) -> Heard:
    with Loopback([reply], wire=Responses()) as server:
        found = await bridged(server, **more)
        assert len(server.requests) == 1
        assert server.refusals == []
    return found


# What an answer becomes


async def test_every_kind_of_block_arrives_and_the_reply_can_be_put_together_again() -> None:
    usage = Usage(input_tokens=5, output_tokens=70, cache_read=3, cache_write_1h=2, thinking_tokens=9)
    found = await heard(Answer(MIXED.blocks, usage=usage), **SEALED)
    assert found.calls == [
        (0, "call_0000_2", "add", ""),
        (0, None, None, '{"a":1}'),
        (1, "call_0000_4", "add", ""),
        (1, None, None, '{"a":2}'),
    ]
    assert (found.text, found.reasoning, found.finish) == ("one", "t u", ["tool_calls"])
    *_, kept, ended, counted = found.steps
    assert [item["encrypted_content"][:11] for item in kept["reasoning_items"]] == ["sealed.rs_0"] * 2
    replay = kept["provider_specific_fields"]["openai_responses_replay"]
    assert [item["type"] for item in replay["items"]] == [
        "reasoning",
        "message",
        "function_call",
        "reasoning",
        "function_call",
    ]
    assert ended == {"finish_reason": "tool_calls"}
    assert counted["usage"].pop("cost") > 0
    assert counted["usage"] == {
        "prompt_tokens": 10,
        "completion_tokens": 70,
        "total_tokens": 80,
        "completion_tokens_details": {"reasoning_tokens": 9},
        "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 2, "cache_creation_tokens": 2},
    }


@pytest.mark.parametrize(
    ("sent", "got"), [("max_output_tokens", "length"), ("content_filter", "content_filter")]
)
async def test_an_incomplete_response_has_its_reason_and_no_replay(sent: str, got: str) -> None:
    found = await heard(Answer([Text("x")], stop_reason=sent))
    assert found.finish == [got]
    assert not any("provider_specific_fields" in step for step in found.steps)


@pytest.mark.parametrize(
    ("code", "status", "inner"),
    [("server_error", 500, "InternalServerError"), ("rate_limit_exceeded", 429, "RateLimitError")],
)
async def test_a_failed_response_and_an_error_event_are_the_same_error(
    code: str, status: int, inner: str
) -> None:
    failed = await heard(Answer(TWO.blocks, "failed", stop_details={"code": code, "message": "no"}))
    event = await heard(ErrorEvent(1, message="no", answer=TWO, code=code))
    assert failed.failure == event.failure == ("MidStreamFallbackError", status, inner)
    assert failed.text == event.text == "ab"


async def test_the_words_of_a_refusal_are_lost() -> None:
    refused = {"type": "refusal", "refusal": "I cannot"}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [refused]}
    found = await heard(Answer([message]))
    assert found.steps[:-1] == [{"finish_reason": "stop"}]


async def test_the_texts_of_two_messages_run_together() -> None:
    assert (await heard(Answer([Text("a."), Text("b.")]))).message["content"] == "a.b."


async def test_a_model_that_litellm_does_not_know_is_not_streamed() -> None:
    with Loopback(wire=Responses()) as server:
        await ask(server, "openai/responses/unheard-of", tools=[TOOL])
    assert server.refusals == ["stream: this server answers streaming requests only"]


# Faults


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (HttpError(400, "invalid_request_error", "bad"), "BadRequestError"),
        (HttpError(400, "e", "long", code="context_length_exceeded"), "ContextWindowExceededError"),
        (HttpError(401, "e", "no", code="invalid_api_key"), "AuthenticationError"),
        (HttpError(404, "e", "no"), "NotFoundError"),
        (HttpError(429, "tokens", "no", {"retry-after": "7"}), "RateLimitError"),
        (HttpError(500, "server_error", "boom"), "InternalServerError"),
        (HttpError(502, raw="<html>"), "BadGatewayError"),
        (HttpError(503, "e", "busy"), "ServiceUnavailableError"),
        (HttpError(529, "e", "busy"), "APIError"),
    ],
)
async def test_a_status_has_its_error_and_its_body_only_as_text(fault: HttpError, kind: str) -> None:
    found = await heard(fault)
    assert (found.failure, found.error.body) == ((kind, fault.status, ""), None)
    assert found.error.litellm_response_headers.get("retry-after") == fault.headers.get("retry-after")
    assert (fault.raw or f'"message": "{fault.message}"') in str(found.error)


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        (Drop(), ("InternalServerError", 500, "")),
        (Drop(after_events=0), ("MidStreamFallbackError", 503, "ReadError")),
        (Drop(after_events=5, answer=TWO), ("MidStreamFallbackError", 500, "APIConnectionError")),
        (NoStop(answer=TWO), ("MidStreamFallbackError", 500, "APIConnectionError")),
        (NoStop(after_events=0), ("MidStreamFallbackError", 500, "APIConnectionError")),
        (Stall(), ("Timeout", 408, "")),
        (Stall(after_events=5, answer=TWO), ("MidStreamFallbackError", 408, "Timeout")),
    ],
)
async def test_a_stream_that_breaks_is_an_error(fault: Reply, failure: tuple[str, int, str]) -> None:
    assert (await heard(fault, timeout=0.2 if isinstance(fault, Stall) else 10)).failure == failure


# What comes back


def kinds(server: Loopback) -> list[str]:
    """What the items of the last request are."""
    return [item["type"] for item in server.requests[-1].json["input"]]


async def replayed(*, without: str = "") -> tuple[list[str], list[str]]:
    """The items of a second request whose message lacks one key, and what was refused."""
    with Loopback([MIXED, Answer()], wire=Responses()) as server:
        message = (await bridged(server, **SEALED)).message
        message.pop(without, None)
        await bridged(server, HELLO, message, *results(message), **SEALED)
        return kinds(server), server.refusals


async def test_a_whole_message_comes_back_as_the_items_that_it_was() -> None:
    made = ["reasoning", "message", "function_call", "reasoning", "function_call"]
    outputs = ["function_call_output", "function_call_output"]
    assert await replayed() == (["message", *made, *outputs], [])


async def test_without_its_provider_specific_fields_the_reasoning_moves_to_the_front() -> None:
    made = ["reasoning", "reasoning", "message", "function_call", "function_call"]
    outputs = ["function_call_output", "function_call_output"]
    assert await replayed(without="provider_specific_fields") == (["message", *made, *outputs], [])


async def test_without_its_reasoning_items_the_reasoning_is_gone_and_nobody_complains() -> None:
    made = ["message", "function_call", "function_call"]
    outputs = ["function_call_output", "function_call_output"]
    assert await replayed(without="reasoning_items") == (["message", *made, *outputs], [])


async def test_reasoning_that_is_neither_stored_nor_sealed_cannot_come_back() -> None:
    with Loopback([MIXED, Answer()], wire=Responses()) as server:
        message = (await bridged(server, store=False)).message
        found = await bridged(server, HELLO, message, *results(message), store=False)
    assert found.failure == ("NotFoundError", 404, "")
    assert "Items are not persisted when `store` is set to false" in server.refusals[0]


# What is refused


@pytest.mark.parametrize(
    ("sent", "complaint"),
    [
        (body(messages=[]), "Unknown parameter: 'messages'"),
        (body(model=""), "Missing required parameter: 'model'"),
        (body(input=[]), "Invalid 'input': empty array"),
        (body(stream=False), "stream: this server answers streaming requests only"),
        (body(tools=[{"type": "function", "name": "a.b"}]), "does not match pattern"),
        (body({"type": "tool_use"}), "Invalid value: 'tool_use'"),
        (body({**USER, "cache_control": {}}), "Unknown parameter: 'input[0].cache_control'"),
        (body(USER, {**CALL, "id": "call_1"}, OUTPUT), "Expected an ID that begins with 'fc'"),
        (body({**USER, "role": "tool"}), "Invalid value: 'tool'"),
        (body({**USER, "content": None}), "Missing required parameter: 'input[0].content'"),
        (body({**USER, "content": [{"type": "output_text", "text": "x"}]}), "Invalid value: 'output_text'"),
        (
            body({**USER, "content": [{"type": "input_text", "text": "x", "cache_control": 1}]}),
            "Unknown parameter: 'input[0].content[0].cache_control'",
        ),
        (body(USER, {**CALL, "call_id": ""}), "Missing required parameter: 'input[1].call_id'"),
        (body(USER, {**CALL, "call_id": "x" * 65}), "maximum length 64"),
        (body(USER, {**CALL, "name": "a b"}, OUTPUT), "does not match pattern"),
        (body(USER, {**CALL, "arguments": {}}, OUTPUT), "expected a string, but got object"),
        (body(USER, CALL), "No tool output found for function call call_1"),
        (body(USER, OUTPUT), "No tool call found for function call output with call_id call_1"),
        (body(USER, CALL, CALL, OUTPUT), "Duplicate function call with call_id call_1"),
        (body(USER, REASONING), "was provided without its required following item"),
        (body(USER, {**REASONING, "summary": None}, CALL, OUTPUT), "'input[1].summary'"),
        (body(USER, {**REASONING, "encrypted_content": None}, CALL, OUTPUT), "'rs_1' not found"),
    ],
)
async def test_what_the_responses_api_refuses(sent: Body, complaint: str) -> None:
    with Loopback(wire=Responses()) as server:
        reply = await post(server, sent)
        error = reply.json()["error"]
        assert reply.status_code in {400, 404}
        assert server.refusals == [error["message"]]
    assert complaint in error["message"]


async def test_its_own_items_come_back_unchanged_and_together() -> None:
    with Loopback([Answer([Thinking("t"), ToolUse("add")]), Answer()], wire=Responses()) as server:
        message = (await bridged(server, **SEALED)).message
        item = message["reasoning_items"][0]
        name = item["id"].replace("rs_0000_0", "fc_0000_1")
        await post(server, body(USER, {**CALL, "id": name}, OUTPUT))
        await post(server, body(USER, {**item, "encrypted_content": "other"}, CALL, OUTPUT))
        assert (await post(server, body(USER, item, {**CALL, "id": name}, OUTPUT))).status_code == 200
    bare, altered = server.refusals
    assert ("required 'reasoning' item" in bare, "could not be verified" in altered) == (True, True)


@pytest.mark.parametrize(
    "sent",
    [
        body(input="hi"),
        body(USER, REASONING, CALL, OUTPUT, USER),
        body(USER, CALL, {**CALL, "call_id": "call_2"}, OUTPUT, {**OUTPUT, "call_id": "call_2"}),
        body(USER, CALL, OUTPUT, CALL, OUTPUT),
        body(tools=[{"type": "function", "name": "add", "parameters": {"type": "object"}, "strict": None}]),
    ],
)
async def test_what_the_responses_api_takes(sent: Body) -> None:
    with Loopback(wire=Responses()) as server:
        assert (await post(server, sent)).status_code == 200
