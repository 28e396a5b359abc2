"""The loopback server speaks Gemini's wire as documented; what litellm makes of it."""

from __future__ import annotations

import httpx2
import pytest

from litellm_client import HELLO, QUIET, TOOL, Body, Heard, ask, results
from loopback import (
    Answer,
    Drop,
    ErrorEvent,
    Gemini,
    HttpError,
    Loopback,
    NoStop,
    RedactedThinking,
    Reply,
    Stall,
    Text,
    Thinking,
    ToolUse,
    Usage,
)

pytestmark = QUIET

MODEL = "gemini/gemini-3.1-pro-preview"
FULL = Answer(
    [
        Thinking("let me see"),
        RedactedThinking(),
        Text("on it"),
        ToolUse("add", {"a": 1}),
        ToolUse("add", {"a": 2}),
    ],
    usage=Usage(input_tokens=5, output_tokens=70, cache_read=3, thinking_tokens=9),
)
TWO = Answer([Text("ab", deltas=2)])
USER: Body = {"role": "user", "parts": [{"text": "hi"}]}
CALL: Body = {"functionCall": {"name": "add", "args": {"a": 1}}}
RESPONSE: Body = {"functionResponse": {"name": "add", "response": {"content": "2"}}}


def model(*parts: Body) -> Body:
    return {"role": "model", "parts": list(parts)}


def user(*parts: Body) -> Body:
    return {"role": "user", "parts": list(parts)}


def body(*contents: Body, **more: object) -> Body:
    return {"contents": list(contents) or [USER], **more}


def declared(**declaration: object) -> Body:
    return body(tools=[{"functionDeclarations": [{"name": "add", **declaration}]}])


def schema(**inner: object) -> Body:
    return declared(parameters={"type": "OBJECT", "properties": {"a": inner}})


async def post(server: Loopback, sent: Body) -> httpx2.Response:
    path = "/v1beta/models/gemini-3:streamGenerateContent?alt=sse"
    async with httpx2.AsyncClient() as plain:
        return await plain.post(server.url + path, json=sent, headers={"x-goog-api-key": "k"})


async def heard(reply: Reply, **more: object) -> Heard:
    with Loopback([reply], wire=Gemini()) as server:
        found = await ask(server, MODEL, tools=[TOOL], **more)
        assert len(server.requests) == 1
        assert server.refusals == []
    return found


# What an answer becomes


async def test_every_kind_of_block_arrives_and_the_first_call_carries_the_signature() -> None:
    found = await heard(FULL)
    assert (found.reasoning, found.text, found.finish) == ("let me see", "on it", ["tool_calls"])
    first, second = (step for step in found.steps if "tool_calls" in step)
    signature = first["provider_specific_fields"]["thought_signatures"][0]
    call = first["tool_calls"][0]
    assert call == {
        "id": call["id"],
        "function": {"name": "add", "arguments": '{"a": 1}'},
        "type": "function",
        "index": 0,
        "provider_specific_fields": {"thought_signature": signature},
    }
    assert call["id"].endswith(f"__thought__{signature}")
    assert ("__thought__" in second["tool_calls"][0]["id"], second["tool_calls"][0]["index"]) == (False, 1)
    assert found.usage.pop("cost") > 0
    assert found.usage == {
        "cost": found.usage["cost"],
        "prompt_tokens": 8,
        "completion_tokens": 70,
        "total_tokens": 78,
        "completion_tokens_details": {"reasoning_tokens": 9, "text_tokens": 61},
        "prompt_tokens_details": {
            "cached_tokens": 3,
            "text_tokens": 8,
            "cached_tokens_details": {"text_tokens": 3},
        },
        "cache_read_input_tokens": 3,
    }


async def test_the_id_of_a_call_is_kept_if_there_is_one() -> None:
    found = await heard(Answer([ToolUse("add", id="fc1")]))
    assert found.calls[0][1].startswith("fc1__thought__")


async def test_a_reply_without_calls_is_signed_at_its_end() -> None:
    found = await heard(TWO)
    assert [sorted(step) for step in found.steps] == [
        ["content"],
        ["content"],
        ["provider_specific_fields"],
        ["finish_reason"],
        ["usage"],
    ]


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("LANGUAGE", "content_filter"),
        ("OTHER", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "stop"),
        ("UNEXPECTED_TOOL_CALL", "stop"),
        ("TOO_MANY_TOOL_CALLS", "stop"),
        ("MISSING_THOUGHT_SIGNATURE", "stop"),
        ("no such reason", "stop"),
        ("", "stop"),
    ],
)
async def test_many_stop_reasons_become_few_and_a_malformed_call_becomes_a_stop(sent: str, got: str) -> None:
    assert (await heard(Answer([Text("x")], stop_reason=sent))).finish == [got]


async def test_a_call_beside_max_tokens_is_a_reply_that_was_cut_off() -> None:
    assert (await heard(Answer([ToolUse("add")], stop_reason="MAX_TOKENS"))).finish == ["length"]


async def test_a_blocked_prompt_is_filtered_content() -> None:
    found = await heard(Answer([], stop_details={"blockReason": "PROHIBITED_CONTENT"}))
    assert (found.text, found.finish, found.error) == ("", ["content_filter"], None)


# Faults


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        (HttpError(400, "INVALID_ARGUMENT", "bad"), ("BadRequestError", 400, "")),
        (
            HttpError(
                400,
                "INVALID_ARGUMENT",
                "The input token count (9) exceeds the maximum number of tokens allowed (5).",
            ),
            ("ContextWindowExceededError", 400, ""),
        ),
        (
            HttpError(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
            ("AuthenticationError", 401, ""),
        ),
        (HttpError(401, "UNAUTHENTICATED", "no"), ("AuthenticationError", 401, "")),
        (HttpError(403, "PERMISSION_DENIED", "no"), ("BadRequestError", 403, "")),
        (HttpError(404, "NOT_FOUND", "no"), ("NotFoundError", 404, "")),
        (HttpError(413, "X", "big"), ("BadRequestError", 413, "")),
        (
            HttpError(429, "RESOURCE_EXHAUSTED", "no", {"retry-after": "7"}),
            ("MidStreamFallbackError", 429, "RateLimitError"),
        ),
        (HttpError(500, "INTERNAL", "boom"), ("MidStreamFallbackError", 500, "InternalServerError")),
        (HttpError(502, raw="<html>"), ("MidStreamFallbackError", 500, "APIConnectionError")),
        (
            HttpError(503, "UNAVAILABLE", "busy", {"retry-after": "2"}),
            ("MidStreamFallbackError", 503, "ServiceUnavailableError"),
        ),
        (
            HttpError(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
            ("MidStreamFallbackError", 500, "InternalServerError"),
        ),
        (HttpError(504, "DEADLINE_EXCEEDED", "slow"), ("MidStreamFallbackError", 504, "Timeout")),
        (HttpError(529, "X", "busy"), ("MidStreamFallbackError", 529, "APIError")),
    ],
)
async def test_a_status_has_its_error_and_one_attempt(
    fault: HttpError, failure: tuple[str, int, str]
) -> None:
    found = await heard(fault)
    assert found.failure == failure
    assert found.error.litellm_response_headers.get("retry-after") == fault.headers.get("retry-after")


async def test_the_delay_that_google_asks_for_is_in_the_text_of_the_error_alone() -> None:
    delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
    found = await heard(HttpError(429, "RESOURCE_EXHAUSTED", "Quota exceeded", details=(delay,)))
    assert '"retryDelay": "34s"' in str(found.error)


async def test_an_error_within_the_stream_keeps_its_status() -> None:
    busy = await heard(ErrorEvent(1, "UNAVAILABLE", "busy", TWO))
    spent = await heard(ErrorEvent(0, "RESOURCE_EXHAUSTED", "no", TWO, code="429"))
    assert busy.failure == ("MidStreamFallbackError", 503, "ServiceUnavailableError")
    assert spent.failure == ("MidStreamFallbackError", 429, "RateLimitError")
    assert (busy.text, spent.text) == ("ab", "")


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        (Drop(), ("MidStreamFallbackError", 500, "APIConnectionError")),
        (Drop(after_events=0), ("MidStreamFallbackError", 500, "APIConnectionError")),
        (Drop(after_events=1, answer=TWO), ("MidStreamFallbackError", 500, "APIConnectionError")),
        (Stall(), ("Timeout", 408, "")),
        (Stall(after_events=1, answer=TWO), ("MidStreamFallbackError", 408, "Timeout")),
    ],
)
async def test_a_stream_that_breaks_is_an_error(fault: Reply, failure: tuple[str, int, str]) -> None:
    assert (await heard(fault, timeout=0.2 if isinstance(fault, Stall) else 10)).failure == failure


async def test_a_stream_that_ends_early_looks_like_one_that_ended() -> None:
    cut = await heard(NoStop(after_events=1, answer=TWO))
    call = await heard(NoStop(answer=Answer([ToolUse("add")])))
    empty = await heard(NoStop(after_events=0))
    assert [(one.text, one.finish, one.error) for one in (cut, call, empty)] == [
        ("a", ["stop"], None),
        ("", ["tool_calls"], None),
        ("", ["stop"], None),
    ]
    assert (bool(cut.usage), empty.usage) == (True, {})


# What comes back


async def test_a_whole_message_comes_back_with_its_signature() -> None:
    with Loopback([FULL, Answer([Text("done")])], wire=Gemini()) as server:
        message = (await ask(server, MODEL, tools=[TOOL])).message
        again = await ask(server, MODEL, HELLO, message, *results(message), tools=[TOOL])
        first, second = server.requests[-1].json["contents"][1]["parts"][-2:]
    assert (again.text, server.refusals) == ("done", [])
    assert (first["thoughtSignature"][:8], "thoughtSignature" in second) == ("c2lnbmVk", False)


async def test_the_id_alone_brings_the_signature_back() -> None:
    with Loopback([FULL, Answer()], wire=Gemini()) as server:
        message = (await ask(server, MODEL, tools=[TOOL])).message
        calls = [{key: call[key] for key in ("id", "type", "function")} for call in message["tool_calls"]]
        await ask(server, MODEL, HELLO, {"role": "assistant", "tool_calls": calls}, *results(message))
        signature = server.requests[-1].json["contents"][1]["parts"][0]["thoughtSignature"]
    assert calls[0]["id"].endswith(signature)
    assert server.refusals == []


async def test_a_call_without_a_signature_goes_out_with_a_dummy() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    message = {"role": "assistant", "content": "x", "tool_calls": [call]}
    with Loopback(wire=Gemini()) as server:
        await ask(server, MODEL, HELLO, message, *results(message), tools=[TOOL])
        part = server.requests[-1].json["contents"][1]["parts"][1]
    assert (part["thoughtSignature"], server.refusals) == ("c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=", [])


async def test_a_signature_that_is_refused_makes_a_second_request_that_nobody_asked_for() -> None:
    with Loopback([FULL, Answer([Text("done")])], wire=Gemini()) as server:
        message = (await ask(server, MODEL, tools=[TOOL])).message
        message["tool_calls"][0]["provider_specific_fields"] = {"thought_signature": "AAAA"}
        again = await ask(server, MODEL, HELLO, message, *results(message), tools=[TOOL])
    assert (again.text, len(server.requests)) == ("done", 3)
    assert server.refusals == ["Thought signature is not valid."]


async def test_a_cache_marker_asks_for_cached_contents_and_is_refused() -> None:
    part = {"type": "text", "text": "word " * 6000, "cache_control": {"type": "ephemeral"}}
    with Loopback(wire=Gemini()) as server:
        await ask(server, MODEL, {"role": "system", "content": [part]}, HELLO)
        assert [seen.path for seen in server.requests] == ["/v1beta/cachedContents"]
    assert server.refusals == ["cachedContents: no request may cause this one"]


# What is refused


@pytest.mark.parametrize(
    ("sent", "complaint"),
    [
        (body(cache_control={}), 'Unknown name "cache_control": Cannot find field.'),
        (body(cachedContent="x"), "cached_content: no request may use it"),
        (body(contents=[]), "contents is not specified"),
        (body({**USER, "name": "x"}), "Unknown name \"name\" at 'contents[0]'"),
        (body({**USER, "role": "assistant"}), "Please use a valid role: user, model."),
        (body(user()), "contents.parts must not be empty"),
        (body(user({"text": "x", "cache_control": {}})), 'Unknown name "cache_control"'),
        (body(user({"thought": True})), "required oneof field 'data' must have one initialized field"),
        (body(USER, model({"functionCall": {"name": "add", "args": "{}"}})), "contents[1].parts[0]"),
        (declared(name="1st"), "Invalid function name"),
        (declared(strict=True), "Unknown name \"strict\" at 'tools[0].function_declarations[0]'"),
        (schema(type="ARRAY"), "parameters.properties[a].items: missing field"),
        (schema(**{"$ref": "#/$defs/a"}), 'Unknown name "$ref"'),
        (schema(type="OBJECT", additionalProperties=False), 'Unknown name "additionalProperties"'),
        (schema(anyOf=[{"const": 1}]), 'Unknown name "const"'),
        (body(USER, model(CALL, CALL), user(RESPONSE)), "number of function response parts is equal"),
        (body(USER, model(CALL), USER), "number of function response parts is equal"),
        (body(user(RESPONSE)), "function response turn comes immediately after a function call turn"),
        (body(model(CALL), user(RESPONSE)), "function call turn comes immediately after a user turn"),
        (body(USER, model({"text": "x"})), "multiturn requests end with a user role"),
    ],
)
async def test_what_gemini_refuses(sent: Body, complaint: str) -> None:
    with Loopback(wire=Gemini()) as server:
        reply = await post(server, sent)
        error = reply.json()["error"]
        assert (reply.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
        assert server.refusals == [error["message"]]
    assert complaint in error["message"]


async def test_a_call_that_was_signed_comes_back_signed_until_the_next_turn_of_the_user() -> None:
    with Loopback([Answer([ToolUse("add", {"a": 1})]), Answer(), Answer()], wire=Gemini()) as server:
        await post(server, body())
        assert (await post(server, body(USER, model(CALL), user(RESPONSE)))).status_code == 400
        later = body(USER, model(CALL), user(RESPONSE), model({"text": "x"}), USER)
        assert (await post(server, later)).status_code == 200
    assert "Function call is missing a thought_signature" in server.refusals[0]
    assert "`default_api:add` , position 2" in server.refusals[0]


@pytest.mark.parametrize(
    "sent",
    [
        body(USER, USER, model({"text": "a"}), model({"text": "b"}), USER),
        body(USER, model({"text": "x"}, CALL, CALL), user(RESPONSE), user(RESPONSE)),
        body(USER, model(CALL), user(RESPONSE, {"text": "and"})),
        declared(parametersJsonSchema={"type": "object", "additionalProperties": False}),
        schema(type="ARRAY", items={"type": "STRING", "nullable": True}),
    ],
)
async def test_what_gemini_takes(sent: Body) -> None:
    with Loopback(wire=Gemini()) as server:
        assert (await post(server, sent)).status_code == 200


async def test_another_path_and_a_missing_key_are_refusals_too() -> None:
    path = "/v1beta/models/gemini-3:generateContent"
    with Loopback(wire=Gemini()) as server:
        async with httpx2.AsyncClient() as plain:
            lost = await plain.post(server.url + path, json=body())
            bare = await plain.post(f"{server.url}{path.replace(':g', ':streamG')}?alt=sse", json=body())
        assert (lost.status_code, bare.status_code, len(server.refusals)) == (404, 403, 2)
