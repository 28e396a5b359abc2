"""Each way a call through litellm can fail is classified, with what says when to try again."""

from __future__ import annotations

import asyncio

import pytest

from litellm_client import QUIET
from litellm_worlds import BRIDGE, CHAT, CLAUDE, GEMINI, KEY, Route, parts_of, request
from loopback import Answer, Drop, ErrorEvent, HttpError, Loopback, NoStop, Reply, Stall, Text, ToolUse
from offing.engine.errors import FaultKind, ModelFault
from offing.engine.models.litellm import LiteLLMModel, Options
from offing.engine.models.litellm_faults import fault_of
from offing.tracing import Usage

pytestmark = QUIET

DANGEROUS = Answer([Text("I pay."), ToolUse("sys__note", {"amount": 1000})])
"""A reply whose call has to stay undone unless all of it arrives."""
LONG = "The input token count (9) exceeds the maximum number of tokens allowed (5)."

FAULTS: list[tuple[Route, Reply, FaultKind]] = [
    (CHAT, HttpError(400, "invalid_request_error", "bad"), "invalid"),
    (CHAT, HttpError(400, "e", "long", code="context_length_exceeded"), "too long"),
    (CHAT, HttpError(400, "e", "This model's maximum context length is 9"), "too long"),
    (CHAT, HttpError(401, "e", "no", code="invalid_api_key"), "auth"),
    (CHAT, HttpError(402, "e", "no"), "quota"),
    (CHAT, HttpError(403, "e", "no"), "auth"),
    (CHAT, HttpError(404, "e", "no", code="model_not_found"), "invalid"),
    (CHAT, HttpError(408, "e", "slow"), "transient"),
    (CHAT, HttpError(409, "e", "no"), "transient"),
    (CHAT, HttpError(413, "e", "big"), "too long"),
    (CHAT, HttpError(422, "e", "no"), "invalid"),
    (CHAT, HttpError(429, "tokens", "no", code="rate_limit_exceeded"), "rate limited"),
    (CHAT, HttpError(429, "insufficient_quota", "no", code="insufficient_quota"), "quota"),
    (CHAT, HttpError(500, "server_error", "boom"), "transient"),
    (CHAT, HttpError(502, raw="<html>Bad gateway</html>"), "transient"),
    (CHAT, HttpError(503, "e", "busy"), "transient"),
    (CHAT, HttpError(503, "e", "The engine is currently overloaded"), "overloaded"),
    (CHAT, HttpError(504, "e", "slow"), "transient"),
    (CHAT, HttpError(529, "e", "busy"), "overloaded"),
    (CHAT, ErrorEvent(1, "server_error", "Sorry", DANGEROUS, code="overloaded"), "overloaded"),
    (CHAT, ErrorEvent(2, "server_error", "Sorry", DANGEROUS), "transient"),
    (CHAT, ErrorEvent(2, "e", "no", DANGEROUS, code="rate_limit_exceeded"), "rate limited"),
    (CHAT, ErrorEvent(2, "e", "no", DANGEROUS, code="insufficient_quota"), "quota"),
    (CHAT, Drop(), "transient"),
    (CHAT, Drop(after_events=0), "transient"),
    *((CHAT, Drop(events, answer=DANGEROUS), "cut") for events in (2, 5, 7, 8)),
    *((CHAT, NoStop(events, DANGEROUS), "cut") for events in (None, 2, 5, 7)),
    (CHAT, Answer(DANGEROUS.blocks, stop_reason=""), "cut"),
    (CHAT, Stall(), "cut"),
    (CHAT, Stall(5, DANGEROUS), "cut"),
    (BRIDGE, HttpError(400, "invalid_request_error", "bad"), "invalid"),
    (BRIDGE, HttpError(400, "e", "long", code="context_length_exceeded"), "too long"),
    (BRIDGE, HttpError(401, "e", "no", code="invalid_api_key"), "auth"),
    (BRIDGE, HttpError(404, "e", "no"), "invalid"),
    (BRIDGE, HttpError(429, "tokens", "no"), "rate limited"),
    (BRIDGE, HttpError(429, "insufficient_quota", "no", code="insufficient_quota"), "quota"),
    (BRIDGE, HttpError(500, "server_error", "boom"), "transient"),
    (BRIDGE, HttpError(502, raw="<html>"), "transient"),
    (BRIDGE, HttpError(529, "e", "busy"), "overloaded"),
    (BRIDGE, Answer([], "failed", stop_details={"code": "server_error", "message": "no"}), "transient"),
    (BRIDGE, Answer([], "failed", stop_details={"code": "rate_limit_exceeded"}), "rate limited"),
    (BRIDGE, ErrorEvent(1, message="no", answer=DANGEROUS, code="rate_limit_exceeded"), "rate limited"),
    (BRIDGE, Drop(), "transient"),
    (BRIDGE, Drop(after_events=0), "transient"),
    (BRIDGE, Drop(6, answer=DANGEROUS), "cut"),
    (BRIDGE, NoStop(answer=DANGEROUS), "cut"),
    (BRIDGE, Stall(), "cut"),
    (BRIDGE, Stall(6, DANGEROUS), "cut"),
    (GEMINI, HttpError(400, "INVALID_ARGUMENT", "bad"), "invalid"),
    (GEMINI, HttpError(400, "INVALID_ARGUMENT", LONG), "too long"),
    (GEMINI, HttpError(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."), "auth"),
    (GEMINI, HttpError(403, "PERMISSION_DENIED", "no"), "auth"),
    (GEMINI, HttpError(404, "NOT_FOUND", "no"), "invalid"),
    (GEMINI, HttpError(413, "X", "big"), "too long"),
    (GEMINI, HttpError(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota"), "rate limited"),
    (GEMINI, HttpError(500, "INTERNAL", "boom"), "transient"),
    (GEMINI, HttpError(502, raw="<html>"), "transient"),
    (GEMINI, HttpError(503, "UNAVAILABLE", "busy"), "transient"),
    (GEMINI, HttpError(503, "UNAVAILABLE", "The model is overloaded. Try again later."), "overloaded"),
    (GEMINI, HttpError(504, "DEADLINE_EXCEEDED", "slow"), "transient"),
    (GEMINI, HttpError(529, "X", "busy"), "overloaded"),
    (GEMINI, ErrorEvent(0, "RESOURCE_EXHAUSTED", "no", DANGEROUS, code="429"), "rate limited"),
    (GEMINI, Drop(), "transient"),
    (GEMINI, Drop(after_events=1, answer=DANGEROUS), "cut"),
    (GEMINI, Stall(), "cut"),
    (GEMINI, Stall(1, DANGEROUS), "cut"),
    (CLAUDE, HttpError(400, "invalid_request_error", "tools.0: no"), "invalid"),
    (CLAUDE, HttpError(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), "too long"),
    (CLAUDE, HttpError(401, "authentication_error", "invalid x-api-key"), "auth"),
    (CLAUDE, HttpError(402, "billing_error", "no credit"), "quota"),
    (CLAUDE, HttpError(429, "rate_limit_error", "slow"), "rate limited"),
    (CLAUDE, HttpError(529, "overloaded_error", "Overloaded"), "overloaded"),
    (CLAUDE, ErrorEvent(1, "overloaded_error", "Overloaded", DANGEROUS), "overloaded"),
    (CLAUDE, Drop(6, answer=DANGEROUS), "cut"),
    (CLAUDE, Stall(6, DANGEROUS), "cut"),
]


async def fault(route: Route, reply: Reply) -> ModelFault:
    """What the adapter raises after one attempt."""
    options = Options(stall_s=0.3 if isinstance(reply, Stall) else 20)
    async with route.served([reply], options) as (server, model):
        with pytest.raises(ModelFault) as caught:
            await parts_of(model, request(model, effort=route.effort))
        assert (len(server.requests), server.refusals) == (1, [])
    return caught.value


@pytest.mark.parametrize(("route", "reply", "kind"), FAULTS)
async def test_each_failure_is_classified(route: Route, reply: Reply, kind: FaultKind) -> None:
    found = await fault(route, reply)
    assert (found.kind, str(found) != "") == (kind, True), found


@pytest.mark.parametrize("route", [CHAT, BRIDGE, GEMINI, CLAUDE], ids=str)
async def test_the_headers_that_say_when_to_try_again_are_kept(route: Route) -> None:
    headers = {"retry-after": "7", "retry-after-ms": "7123", "x-ratelimit-reset-tokens": "6s"}
    found = await fault(route, HttpError(429, "rate_limit_error", "slow", headers))
    assert {name: found.headers.get(name) for name in headers} == headers


async def test_the_delay_that_google_asks_for_is_in_the_words() -> None:
    delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
    found = await fault(GEMINI, HttpError(429, "RESOURCE_EXHAUSTED", "Quota exceeded", details=(delay,)))
    assert '"retryDelay": "34s"' in str(found)


async def test_a_key_that_a_provider_quotes_is_not_told() -> None:
    found = await fault(CHAT, HttpError(401, "e", f"Incorrect API key provided: {KEY.get_secret_value()}."))
    assert KEY.get_secret_value() not in str(found)
    assert "Incorrect API key provided: [key]." in str(found)


async def test_an_address_where_nobody_listens_is_transient() -> None:
    with Loopback() as server:
        model = LiteLLMModel("openai/x", KEY, base_url=f"{server.url}/v1")
    with pytest.raises(ModelFault) as caught:
        await parts_of(model, request(model))
    await model.close()
    assert caught.value.kind == "transient"


@pytest.mark.parametrize("route", [CHAT, BRIDGE, GEMINI, CLAUDE], ids=str)
async def test_a_request_that_is_given_up_lets_go_of_its_connection(route: Route) -> None:
    async with route.served([Stall(3, DANGEROUS)]) as (server, model):
        task = asyncio.ensure_future(parts_of(model, request(model, effort=route.effort)))
        await server.until(lambda server: len(server.requests) == 1)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        await model.close()
        await server.until(lambda server: server.departures == 1)


def test_what_is_not_litellms_error_is_a_request_that_cannot_be_sent() -> None:
    assert fault_of(TypeError("no"), begun=False, usage=Usage()).kind == "invalid"
    assert fault_of(ConnectionError(), begun=False, usage=Usage()).kind == "transient"
    assert fault_of(ConnectionError(), begun=True, usage=Usage()).kind == "cut"
