"""Models through litellm: named by a string, loaded late, append-only over a whole run, and exchangeable."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from litellm_client import QUIET
from litellm_client import litellm as loaded
from litellm_worlds import (
    BRIDGE,
    CHAT,
    CLAUDE,
    DEEP,
    GEMINI,
    KEY,
    OWN,
    ROUTES,
    Replies,
    Route,
    parts_of,
    request,
    sent,
)
from loopback import Answer, Gemini, Loopback, OpenAI, Responses, Seen, Text, Thinking, ToolUse, Wire
from offing.compaction.conversation import Media, Message, Raw, Reasoning, ToolCall, ToolResult
from offing.compaction.conversation import Text as Words
from offing.engine import Engine, MemoryStore
from offing.engine.answer import Result
from offing.engine.errors import ConfigurationError, ModelNotConfigured
from offing.engine.models import model_named
from offing.engine.models.litellm import LiteLLMModel, Options
from offing.engine.models.litellm_wire import PROVIDER, encode
from offing.engine.models.model import Effort, Model, Reply, Static
from offing.namespaces import FunctionNamespace, ToolContext, ToolOutput
from worlds import Claude, Given, async_tool, outside, state_of

pytestmark = QUIET

ROOT = Path(__file__).parents[1]
ran: list[Mapping[str, object]] = []


async def _note(arguments: Given, context: ToolContext) -> ToolOutput:
    ran.append(arguments)
    return ToolOutput(f"noted {json.dumps(arguments)}")


NOTES = FunctionNamespace("sys", [async_tool(_note, "note")])


def note(n: int, identity: str = "") -> ToolUse:
    return ToolUse("sys__note", {"n": n}, identity)


async def run(route: Route, script: Replies, *questions: str) -> tuple[Loopback, list[Result]]:
    """The server after a session of these questions, and what became of each."""
    ran.clear()
    async with (
        route.served(script) as (server, model),
        Engine(model, [NOTES], outside=outside()) as engine,
    ):
        session = engine.session("s")
        results = [await session.ask(question) for question in questions or ("Go.",)]
    assert (server.refusals, [one.answered for one in results]) == ([], [True] * len(results))
    return server, results


def said(server: Loopback, route: Route) -> list[list[object]]:
    """What of each request has to extend the one before."""
    return [route.said(one.json) for one in server.requests]


def assert_extends(requests: Sequence[list[object]]) -> None:
    for before, after in pairwise(requests):
        assert after[: len(before)] == before
        assert len(after) > len(before)


# A whole run


LONG_RUN = [
    Answer([Thinking("Hm."), Text("I look."), note(1), note(2)]),
    Answer([Thinking("Again."), note(3, "fixed")]),
    Answer([note(4, "fixed")]),
    Answer([Text("Odd:"), ToolUse("sys__note", ""), note(5)]),
    Answer([Thinking("So."), Text("Half an ans")]),
    Answer([Text("One.")]),
    Answer([Thinking("Well."), note(6)]),
    Answer([Text("Two.")]),
]


@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_each_request_of_a_session_extends_the_former_one(route: Route) -> None:
    cut = {GEMINI: "MAX_TOKENS", BRIDGE: "max_output_tokens", CLAUDE: "max_tokens"}.get(route, "length")
    script = [*LONG_RUN[:4], replace(LONG_RUN[4], stop_reason=cut), *LONG_RUN[5:]]
    server, results = await run(route, script, "Go.", "And?")
    assert [one.answer for one in results] == ["Half an ansOne.", "Two."]
    assert [one.get("n") for one in ran] == [1, 2, 3, 4, None, 5, 6]
    assert len(server.requests) == len(script)
    assert_extends(said(server, route))
    tools = [one.json["tools"] for one in server.requests]
    assert all(one == tools[0] for one in tools)


@pytest.mark.parametrize("route", [CHAT, BRIDGE, CLAUDE, DEEP, OWN], ids=str)
async def test_a_call_that_is_malformed_is_told_and_goes_back_empty(route: Route) -> None:
    server, _ = await run(route, [Answer([ToolUse("sys__note", '{"n":')]), Answer()])
    assert ran == []
    assert "The arguments are no JSON object" in server.requests[-1].body.decode()


@pytest.mark.parametrize(
    ("route", "wanted"), [(DEEP, ["Hm.", ""]), (OWN, ["Hm.", None]), (CHAT, [None, None])], ids=str
)
async def test_reasoning_goes_back_to_those_that_want_it_and_to_no_other(
    route: Route, wanted: list[str | None]
) -> None:
    server, _ = await run(route, [Answer([Thinking("Hm."), note(1)]), Answer([note(2)]), Answer()])
    replies = [one for one in sent(server)["messages"] if one["role"] == "assistant"]
    assert [one.get("reasoning_content") for one in replies] == wanted


async def test_the_responses_api_gets_its_items_back_as_they_were() -> None:
    script = [Answer([Thinking("t"), Text("one"), note(1), Thinking("u"), note(2)]), Answer()]
    server, _ = await run(BRIDGE, script)
    made = ["reasoning", "message", "function_call", "reasoning", "function_call"]
    kinds = [item["type"] for item in sent(server)["input"]]
    assert kinds == ["message", "message", *made, "function_call_output", "function_call_output"]
    assert (sent(server)["store"], sent(server)["include"]) == (False, ["reasoning.encrypted_content"])


async def test_a_model_of_both_apis_goes_back_to_the_chat_without_what_that_refuses() -> None:
    with Loopback([Answer([Thinking("t"), note(1)]), Answer()], wire=Responses()) as server:
        model = LiteLLMModel("openai/gpt-5.6", KEY, base_url=f"{server.url}/v1")
        *_, reply = await parts_of(model, request(model, effort="low"))
        await model.close()
    assert isinstance(reply, Reply)
    call = replace(reply.message.calls[0], id="1.1")
    asked = Message("user", (Words("Go."),))
    made = replace(reply.message, blocks=(call,))
    answered = Message("tool", (ToolResult("1.1", "2"),))
    with Loopback(wire=OpenAI()) as chat:
        model = LiteLLMModel("openai/gpt-5.6", KEY, base_url=f"{chat.url}/v1")
        await parts_of(model, request(model, asked, made, answered))
        await model.close()
    assert (chat.refusals, len(chat.requests)) == ([], 1)


async def test_gemini_gets_its_signatures_back_and_no_cached_contents_are_made() -> None:
    script = [Answer([Thinking("t"), Text("one"), note(1), note(2)]), Answer([Text("x")]), Answer()]
    server, _ = await run(GEMINI, script, "word " * 6000, "And?")
    assert len(server.requests) == 3
    parts = [part for content in sent(server)["contents"] for part in content["parts"]]
    signed = [part for part in parts if "thoughtSignature" in part]
    assert ["function_call" in part for part in signed] == [True, False]


async def test_claude_gets_markers_at_the_layers_and_at_the_last_message() -> None:
    server, _ = await run(CLAUDE, [Answer([note(1)]), Answer()])
    body = sent(server)
    assert ["cache_control" in one for one in body["system"]] == [True, True]
    marked = [[("cache_control" in block) for block in one["content"]] for one in body["messages"]]
    assert marked == [[False], [False], [True]]


@pytest.mark.parametrize("route", [CHAT, BRIDGE, GEMINI], ids=str)
async def test_others_get_no_markers(route: Route) -> None:
    server, _ = await run(route, [Answer([note(1)]), Answer()])
    assert not any(b"cache_control" in one.body for one in server.requests)


# Another model


async def test_a_session_goes_on_with_one_model_after_the_other() -> None:
    store = MemoryStore()

    async def ask(model: Model, n: int) -> str:
        async with Engine(model, [NOTES], store=store, outside=outside()) as engine:
            return (await engine.session("s").ask(f"Question {n}.")).answer

    answers: list[str] = []
    with Loopback(lambda seen: script(seen, len(answers))) as server:
        answers.append(await ask(Claude(server), 1))
        for route in (CHAT, GEMINI, BRIDGE, DEEP, CLAUDE, OWN, GEMINI, BRIDGE, CHAT):
            async with route.served(lambda seen: script(seen, len(answers))) as (other, model):
                answers.append(await ask(model, len(answers) + 1))
            assert (other.refusals, len(other.requests)) == ([], 2)
        answers.append(await ask(Claude(server), len(answers) + 1))
        async with Engine(Claude(server), [NOTES], store=store, outside=outside()) as engine:
            state = await state_of(engine, "s")
    assert (server.refusals, answers) == ([], ["Done."] * 11)
    assert state.turn == 22


def script(seen: Seen, n: int) -> Answer:
    """Calls for a request that ends in words of the user, an answer for one that ends in results."""
    last = json.dumps((seen.json.get("messages") or seen.json.get("input") or seen.json["contents"])[-1])
    ends_in_results = any(word in last for word in ("tool_result", '"tool"', "_output", "function_response"))
    turn = [Thinking("Hm."), Text("I note."), note(n), note(n + 100)]
    return Answer([Text("Done.")] if ends_in_results else turn)


def test_another_models_reply_is_told_in_words_and_calls_with_ids_of_ours() -> None:
    raw = Raw(PROVIDER, "openai/other", b'{"role":"assistant","content":"x","reasoning_items":[]}')
    call = ToolCall("17.2", "t", {"a": 1})
    message = Message("assistant", (Reasoning("x"), Words("Yes."), call), raw)
    function = {"name": "t", "arguments": '{"a":1}'}
    assert json.loads(encode(message, None, "openai/x")) == {
        "role": "assistant",
        "content": "Yes.",
        "tool_calls": [{"id": "call_17_2", "type": "function", "function": function}],
    }
    answered = Message("tool", (ToolResult("17.2", "no", error=True),))
    assert json.loads(encode(answered, message, "openai/x")) == {
        "role": "tool",
        "tool_call_id": "call_17_2",
        "content": "Error: no",
    }


# What is said


PNG = Media("image/png", "aGk=", "scan.png")
PDF = Media("application/pdf", "aGk=", "invoice.pdf")


def chat(part: Message, before: Message | None = None, model: str = "openai/x") -> list[Any]:
    return json.loads(b"[%b]" % encode(part, before, model))


def test_images_and_documents_are_shown_or_named() -> None:
    message = Message("user", (Words("See."), PNG, PDF))
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    file = {"filename": "invoice.pdf", "file_data": "data:application/pdf;base64,aGk="}
    text = {"type": "text", "text": "See."}
    assert chat(message) == [{"role": "user", "content": [text, image, {"type": "file", "file": file}]}]
    named = {"type": "text", "text": "(PDF document that this model cannot be shown: invoice.pdf)"}
    assert chat(message, None, "ollama_chat/x") == [{"role": "user", "content": [text, image, named]}]


def test_images_of_results_follow_them_in_a_message_of_the_user() -> None:
    before = Message("assistant", (ToolCall("1.1", "t", {}), ToolCall("1.2", "t", {})))
    message = Message("tool", (ToolResult("1.1", "a", media=(PNG,)), ToolResult("1.2", "")))
    first, second, shown = chat(message, before)
    assert first == {"role": "tool", "tool_call_id": "call_1_1", "content": "a"}
    assert second == {"role": "tool", "tool_call_id": "call_1_2", "content": "(empty)"}
    assert shown["role"] == "user"
    assert [part["type"] for part in shown["content"]] == ["text", "image_url"]


@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_every_wire_takes_images_of_results(route: Route) -> None:
    asked = Message("user", (Words("Go."), PNG))
    called = Message("assistant", (ToolCall("1.1", "sys__note", {"n": 1}),))
    message = Message("tool", (ToolResult("1.1", "a", media=(PNG,)),))
    async with route.served([Answer(), Answer()]) as (server, model):
        await parts_of(model, request(model, asked, called, message, effort=route.effort))
    assert (server.refusals, len(server.requests)) == ([], 1)
    shown, named = server.requests[0].body.count(b"aGk="), server.requests[0].body.count(b"scan.png")
    assert (shown, named) == ((0, 2) if route is DEEP else (2, 0))


def test_notes_are_told_from_what_people_say_and_empty_words_are_left_out() -> None:
    assert chat(Message("note", (Words("Late."),))) == [{"role": "user", "content": "<note>Late.</note>"}]
    assert chat(Message("user", (Words(" "), Words("a"), Words("b")))) == [
        {"role": "user", "content": "a\n\nb"}
    ]
    assert chat(Message("user", ())) == [{"role": "user", "content": "(nothing said)"}]
    assert chat(Message("assistant", (Words(""),))) == [{"role": "assistant", "content": "(nothing said)"}]


def test_surrogates_and_nul_go_out_replaced() -> None:
    call = ToolCall("1.1", "t", {"a\x00": "\ud83d"})
    body = encode(Message("assistant", (Words("x\ud83d"), call)), None, "openai/x").decode()
    arguments = json.loads(json.loads(body)["tool_calls"][0]["function"]["arguments"])
    assert (json.loads(body)["content"], arguments) == ("x�", {"a�": "�"})


async def test_a_session_without_context_or_tools_is_asked_too() -> None:
    async with CHAT.served([Answer()]) as (server, model):
        asked = request(model)
        bare = replace(asked, segments=[model.encode(Static("Hi.", ())), b'" "', *asked.segments[2:]])
        await parts_of(model, bare)
    assert sent(server)["messages"][0] == {"role": "system", "content": "Hi."}
    assert "tools" not in sent(server)


# How it is asked


async def test_a_request_says_the_options_beside_the_prefix() -> None:
    async with CHAT.served([Answer()], Options(max_tokens=99)) as (server, model):
        await parts_of(model, request(model))
    told = {key: value for key, value in sent(server).items() if key not in {"messages", "tools"}}
    assert told == {
        "model": "x",
        "max_tokens": 99,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY.get_secret_value()}"


@pytest.mark.parametrize(
    ("asked", "got"), [("low", "low"), ("high", "high"), ("xhigh", "high"), ("max", "high")]
)
async def test_an_effort_is_brought_down_to_what_the_model_takes(asked: Effort, got: str) -> None:
    async with GEMINI.served([Answer()]) as (server, model):
        await parts_of(model, request(model, effort=asked))
    thinking = sent(server)["generationConfig"]["thinkingConfig"]
    assert (thinking["thinkingLevel"], server.refusals) == (got, [])


async def test_a_model_that_takes_no_effort_is_asked_without_one_from_then_on() -> None:
    route = replace(CHAT, model="openai/gpt-4.1")
    async with route.served([Answer(), Answer()]) as (server, model):
        await parts_of(model, request(model, effort="high"))
        await parts_of(model, request(model, effort="high"))
    assert ["reasoning_effort" in one.json for one in server.requests] == [False, False]


# The environment


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai/gpt-5.6", "OPENAI_API_KEY"),
        ("gemini/gemini-3.1-pro", "GEMINI_API_KEY"),
        ("deepseek/deepseek-chat", "DEEPSEEK_API_KEY"),
        ("anthropic/claude-opus-5-5", "ANTHROPIC_API_KEY"),
        ("hosted_vllm/x", "HOSTED_VLLM_API_BASE"),
    ],
)
def test_a_model_that_lacks_something_says_which_variable_to_set(name: str, variable: str) -> None:
    with pytest.raises(ModelNotConfigured) as caught:
        model_named(f"litellm:{name}")
    assert f"litellm:{name}" in str(caught.value)
    assert str(caught.value).endswith(f"set {variable}")


def test_a_local_server_needs_no_key() -> None:
    assert model_named("litellm:ollama_chat/x").name == "litellm:ollama_chat/x"


@pytest.mark.parametrize("name", ["litellm:", "litellm:gpt-5.6", "litellm:openai/", "litellm:/x"])
def test_a_name_that_leads_nowhere_says_how_one_looks(name: str) -> None:
    with pytest.raises(ConfigurationError, match="'litellm:PROVIDER/MODEL'"):
        model_named(name)


@pytest.mark.parametrize(
    ("name", "key", "base", "make"),
    [
        ("openai/x", "OPENAI_API_KEY", "OPENAI_BASE_URL", OpenAI),
        ("openai/x", "OPENAI_API_KEY", "OPENAI_API_BASE", OpenAI),
        ("gemini/gemini-3.1-pro-preview", "GOOGLE_API_KEY", "GEMINI_API_BASE", Gemini),
        ("hosted_vllm/x", "HOSTED_VLLM_API_KEY", "HOSTED_VLLM_API_BASE", OpenAI),
        ("deepseek/x", "DEEPSEEK_API_KEY", "DEEPSEEK_API_BASE", OpenAI),
    ],
)
async def test_the_environment_gives_key_and_address(
    monkeypatch: pytest.MonkeyPatch, name: str, key: str, base: str, make: Callable[[], Wire]
) -> None:
    with Loopback([Answer([Text("Hi.")])], wire=make()) as server:
        monkeypatch.setenv(key, "secret-key")
        monkeypatch.setenv(base, server.url + ("/v1beta" if make is Gemini else "/v1"))
        async with Engine(f"litellm:{name}", outside=outside()) as engine:
            assert (await engine.ask("Hello.")).answer == "Hi."
    assert "secret-key" in str(server.requests[0].headers)


# Loading and closing


ALONE = """
import asyncio, json, os, sys
sys.path.insert(0, "tests")
from litellm_worlds import CHAT, parts_of, request

late = "litellm" not in sys.modules
longest = 0.0

async def watch():
    global longest
    loop = asyncio.get_running_loop()
    while True:
        before = loop.time()
        await asyncio.sleep(0.01)
        longest = max(longest, loop.time() - before)

async def main():
    watching = asyncio.create_task(watch())
    async with CHAT.served(None) as (server, model):
        await parts_of(model, request(model))
    watching.cancel()

asyncio.run(main())
print(json.dumps([late, "litellm" in sys.modules, longest < 2.0, os.environ["LITELLM_OFFLINE_MODE"]]))
"""
"""The import alone takes longer than that, with the interpreter's lock let go of again and again."""


def test_litellm_is_loaded_with_the_first_request_in_a_thread_and_offline() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=ROOT, check=True, capture_output=True, text=True, timeout=120
    )
    assert json.loads(done.stdout) == [True, True, True, "true"]


async def test_the_last_model_that_is_closed_closes_the_connections() -> None:
    async with CHAT.served([Answer(), Answer(), Answer(), Answer()]) as (server, model):
        other = LiteLLMModel(CHAT.model, KEY, base_url=f"{server.url}/v1")
        await parts_of(model, request(model))
        await parts_of(other, request(other))
        await other.close()
        await parts_of(model, request(model))
        assert server.connections == 1
        await model.close()
        await parts_of(model, request(model))  # a closed model opens new ones
        assert server.connections == 2


def test_a_model_serves_one_loop_after_the_other() -> None:
    with Loopback(wire=OpenAI()) as server:
        model = LiteLLMModel("openai/x", KEY, base_url=f"{server.url}/v1")

        async def ask() -> int:
            parts = await parts_of(model, request(model))
            await model.close()
            return len(parts)

        assert asyncio.run(ask()) == asyncio.run(ask()) > 0


async def test_nothing_of_litellm_is_configured_for_the_process() -> None:
    package = loaded()
    names = ("callbacks", "success_callback", "failure_callback", "drop_params", "modify_params", "api_key")
    before = [getattr(package, name, None) for name in names]
    async with CHAT.served([Answer()]) as (_, model):
        await parts_of(model, request(model))
    assert [getattr(package, name, None) for name in names] == before
