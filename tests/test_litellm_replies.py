"""What becomes of a reply on each of litellm's wires: every stop reason, call, text and thought."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from litellm_client import QUIET
from litellm_worlds import BRIDGE, CHAT, CLAUDE, DEEP, GEMINI, OWN, ROUTES, Route, parts_of, reply_to, request
from loopback import Answer, Dialect, NoStop, Text, Thinking, ToolUse
from loopback import Usage as Counted
from loopback_openai import LLAMA_CPP, OLLAMA
from offing.compaction.conversation import Reasoning, ToolCall
from offing.compaction.conversation import Text as Words
from offing.engine.errors import ModelFault
from offing.engine.models import model as wire
from offing.engine.models.litellm_chunks import ReplyReader, usage_of
from offing.tracing import Usage

pytestmark = QUIET

COUNTED = Counted(input_tokens=5, output_tokens=70, cache_read=3, cache_write_1h=2, thinking_tokens=9)
SAID = Text("Yes.")
CALL = ToolUse("sys__note", {"a": 1})
UNKNOWN = "unknown stop reason "


def kept(reply: wire.Reply) -> dict[str, Any]:
    """The message as it goes back."""
    assert reply.message.raw is not None
    return json.loads(reply.message.raw.body)


@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_a_reply_is_read_block_by_block(route: Route) -> None:
    answer = Answer([Thinking("Hm."), SAID, CALL, ToolUse("sys__note", {"a": 2})], usage=COUNTED)
    reply = await reply_to(route, answer)
    blocks = [block for block in reply.message.blocks if not isinstance(block, Reasoning)]
    assert blocks == [Words("Yes."), ToolCall("", "sys__note", {"a": 1}), ToolCall("", "sys__note", {"a": 2})]
    assert (reply.stop, reply.detail) == ("tools", "")
    thoughts = [block.text for block in reply.message.blocks if isinstance(block, Reasoning)]
    assert thoughts == ([] if route is CHAT else ["Hm."])


@pytest.mark.parametrize(
    ("route", "sent", "stop", "detail"),
    [
        (CHAT, None, "end", ""),
        (CHAT, "stop", "end", ""),
        (CHAT, "length", "length", ""),
        (CHAT, "content_filter", "refusal", ""),
        (CHAT, "no such reason", "end", f"{UNKNOWN}'no such reason'"),
        (CHAT, "function_call", "end", f"{UNKNOWN}'function_call'"),
        (BRIDGE, None, "end", ""),
        (BRIDGE, "max_output_tokens", "length", ""),
        (BRIDGE, "content_filter", "refusal", ""),
        (GEMINI, None, "end", ""),
        (GEMINI, "MAX_TOKENS", "length", ""),
        *((GEMINI, one, "refusal", "") for one in ("SAFETY", "RECITATION", "LANGUAGE", "OTHER")),
        (GEMINI, "PROHIBITED_CONTENT", "refusal", ""),
        *((GEMINI, one, "end", "") for one in ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "")),
        (CLAUDE, "end_turn", "end", ""),
        (CLAUDE, "stop_sequence", "end", ""),
        (CLAUDE, "max_tokens", "length", ""),
        (CLAUDE, "refusal", "refusal", ""),
    ],
)
async def test_each_stop_reason_is_read(route: Route, sent: str | None, stop: str, detail: str) -> None:
    reply = await reply_to(route, Answer([SAID], sent))
    assert (reply.stop, reply.detail, reply.message.text) == (stop, detail, "Yes.")


@pytest.mark.parametrize(
    ("route", "answer", "stop"),
    [
        (CHAT, Answer([CALL], "tool_calls"), "tools"),
        (CHAT, Answer([CALL], "stop"), "tools"),
        (CHAT, Answer([CALL], "length"), "length"),
        (CHAT, Answer([CALL], "content_filter"), "refusal"),
        (CHAT, Answer([CALL], "no such reason"), "end"),
        (BRIDGE, Answer([CALL]), "tools"),
        (BRIDGE, Answer([CALL], "max_output_tokens"), "length"),
        (BRIDGE, Answer([CALL], "content_filter"), "refusal"),
        (GEMINI, Answer([CALL]), "tools"),
        (GEMINI, Answer([CALL], "MAX_TOKENS"), "length"),
        (GEMINI, Answer([CALL], "SAFETY"), "refusal"),
        (CLAUDE, Answer([CALL]), "tools"),
        (CLAUDE, Answer([CALL], "max_tokens"), "length"),
        (CLAUDE, Answer([CALL], "refusal"), "refusal"),
    ],
)
async def test_calls_are_wanted_after_tools_only(route: Route, answer: Answer, stop: str) -> None:
    reply = await reply_to(route, answer)
    assert (reply.stop, [call.name for call in reply.message.calls]) == (stop, ["sys__note"])


async def test_a_blocked_prompt_is_a_refusal() -> None:
    reply = await reply_to(GEMINI, Answer([], stop_details={"blockReason": "PROHIBITED_CONTENT"}))
    assert (reply.stop, reply.message.blocks, reply.message.raw) == ("refusal", (), None)


@pytest.mark.parametrize("route", [CHAT, BRIDGE], ids=str)
async def test_a_refusal_whose_words_litellm_loses_is_an_empty_end(route: Route) -> None:
    part = {"type": "refusal", "refusal": "I cannot"}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "content": [part]}
    reply = await reply_to(route, Answer([{"refusal": "I cannot"} if route is CHAT else item], usage=COUNTED))
    assert (reply.stop, reply.message.blocks, reply.message.raw) == ("end", (), None)


@pytest.mark.parametrize("route", [CHAT, BRIDGE, GEMINI], ids=str)
async def test_an_empty_stream_is_one_that_broke(route: Route) -> None:
    with pytest.raises(ModelFault) as caught:
        await reply_to(route, NoStop(after_events=0))
    assert caught.value.kind == ("transient" if route is BRIDGE else "cut")


async def test_an_empty_reply_that_was_counted_is_a_reply() -> None:
    reply = await reply_to(CHAT, Answer([], usage=COUNTED))
    assert (reply.stop, reply.message.blocks, reply.message.raw) == ("end", (), None)


@pytest.mark.parametrize("route", [CHAT, BRIDGE, CLAUDE], ids=str)
@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ("", {}),
        ("  ", {}),
        ('{"a": 1, "b": {"c": []}}', {"a": 1, "b": {"c": []}}),
        ("[]", None),
        ("null", None),
        ('"x"', None),
        ('{"a":', None),
        ('{"a":1}}', None),
        ('{"a": NaN}', None),
        ('{"a": 1e999}', None),
    ],
)
async def test_arguments_that_are_no_json_object_are_told_and_go_back_as_an_empty_one(
    route: Route, raw: str, arguments: dict[str, Any] | None
) -> None:
    reply = await reply_to(route, Answer([ToolUse("sys__note", raw)]))
    (call,) = reply.message.calls
    (goes_back,) = kept(reply)["tool_calls"]
    assert (call.arguments, call.malformed) == (arguments or {}, raw if arguments is None else None)
    assert json.loads(goes_back["function"]["arguments"]) == call.arguments


@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_surrogates_and_nul_go_back_replaced(route: Route) -> None:
    half = r"\u0001" if route is GEMINI else r"\ud83d"  # that server cannot even write half a character
    written = f'{{"a": "{half}", "b\\u0000": 1}}'
    reply = await reply_to(route, Answer([Text("x\x00y"), ToolUse("sys__note", written)]))
    message = kept(reply)
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"a": "�", "b�": 1}
    assert message["content"] == "x�y"


@pytest.mark.parametrize(
    ("dialect", "ids"),
    [
        (Dialect(), ["call_0000_0", "call_0000_1"]),
        (Dialect(index="missing"), ["call_0000_0", "call_0000_1"]),
        (Dialect(index="zero", ids="missing"), ["call_1_1", "call_1_2"]),
        (Dialect(index="zero", ids="empty"), ["call_1_1", "call_1_2"]),
        (Dialect(ids="repeated"), ["call_0", "call_1"]),
        (OLLAMA, ["call_0000_0", "call_0000_1"]),
        (LLAMA_CPP, ["call_1_1", "call_1_2"]),
    ],
)
async def test_calls_are_told_apart_whatever_the_server_numbers(dialect: Dialect, ids: list[str]) -> None:
    reply = await reply_to(CHAT.of(dialect), Answer([CALL, ToolUse("sys__note", {"a": 2})]))
    assert [call.arguments for call in reply.message.calls] == [{"a": 1}, {"a": 2}]
    assert [call["id"] for call in kept(reply)["tool_calls"]] == ids


@pytest.mark.parametrize(
    ("route", "ids"),
    [
        (CHAT, ["same", "call_1_2", "call_1_3"]),
        (CHAT.of(OLLAMA), ["same", "call_1_2", "call_1_3"]),
        (CLAUDE, ["same", "call_1_2", "call_1_3"]),
    ],
)
async def test_ids_that_repeat_in_one_reply_are_told_apart(route: Route, ids: list[str]) -> None:
    reply = await reply_to(route, Answer([ToolUse("sys__note", {"n": n}, "same") for n in range(3)]))
    assert [call.arguments for call in reply.message.calls] == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert [call["id"] for call in kept(reply)["tool_calls"]] == ids


async def test_a_repeated_id_of_gemini_keeps_its_signature() -> None:
    reply = await reply_to(GEMINI, Answer([ToolUse("sys__note", {"n": n}, "same") for n in range(2)]))
    first, second = (call["id"] for call in kept(reply)["tool_calls"])
    assert (first.partition("__thought__")[0], second) == ("same", "same")
    assert len({first, second}) == 2


def piece(arguments: str, index: int = 0, identity: str | None = None, name: str | None = None) -> JsonValue:
    function: JsonValue = {"name": name, "arguments": arguments}
    return {"index": index, "id": identity, "function": function, "type": "function"}


def read(*pieces: JsonValue) -> wire.Reply:
    reader = ReplyReader("openai/x", 1)
    for one in pieces:
        reader.feed({"choices": [{"delta": {"tool_calls": [one]}}]})
    reader.feed({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    return reader.reply()


def test_the_pieces_of_calls_may_interleave() -> None:
    reply = read(
        piece("", 0, "a", "f"),
        piece("", 1, "b", "g"),
        piece('{"n"', 0),
        piece('{"m', 1),
        piece(":1}", 0),
        piece('":2}', 1),
    )
    assert reply.message.calls == (ToolCall("", "f", {"n": 1}), ToolCall("", "g", {"m": 2}))


def test_a_server_that_repeats_id_and_name_with_each_piece_means_one_call() -> None:
    reply = read(piece('{"n"', 0, "a", "f"), piece(":1}", 0, "a", "f"), piece('{"n":2}', 0, "a", "f"))
    assert reply.message.calls == (ToolCall("", "f", {"n": 1}), ToolCall("", "f", {"n": 2}))
    assert [call["id"] for call in kept(reply)["tool_calls"]] == ["a", "call_1_2"]


def test_a_name_that_no_provider_takes_back_goes_out_legal() -> None:
    reply = read(piece("{}", 0, "a", "bank.list it"), piece("{}", 1, "b", ""))
    assert [call.name for call in reply.message.calls] == ["bank.list it", ""]
    assert [call["function"]["name"] for call in kept(reply)["tool_calls"]] == ["bank_list_it", "unnamed"]


@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_empty_text_is_left_out(route: Route) -> None:
    reply = await reply_to(route, Answer([Text(" \n"), CALL]))
    assert [type(block) for block in reply.message.blocks] == [ToolCall]
    assert kept(reply)["content"] is None


async def test_parts_that_are_not_known_are_left_out() -> None:
    odd: list[Any] = [{"weird": {"deep": [1]}}, {"audio": {"id": "x"}}, SAID]
    assert (await reply_to(CHAT, Answer(odd))).message.blocks == (Words("Yes."),)
    item = {"id": "ws_1", "type": "web_search_call", "status": "completed"}
    assert (await reply_to(BRIDGE, Answer([item, SAID]))).message.blocks == (Words("Yes."),)
    part = {"executableCode": {"language": "PYTHON", "code": "1"}}
    assert (await reply_to(GEMINI, Answer([part, SAID]))).message.blocks == (Words("Yes."),)


@pytest.mark.parametrize("route", [CHAT, BRIDGE, GEMINI, CLAUDE, DEEP, OWN], ids=str)
async def test_usage_is_split_once(route: Route) -> None:
    reply = await reply_to(route, Answer([SAID], usage=COUNTED))
    written = {CLAUDE: Usage(cache_write_1h=2), GEMINI: Usage()}.get(route, Usage(cache_write_5m=2))
    assert reply.usage == Usage(input=5, cache_read=3, output=70, reasoning=9) + written


async def test_usage_that_litellm_made_up_counts_nothing() -> None:
    reply = await reply_to(CHAT.of(Dialect(usage="never")), Answer([SAID]))
    assert (reply.usage, reply.message.text) == (Usage(), "Yes.")


def test_usage_never_counts_below_nothing() -> None:
    odd: dict[str, Any] = {"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": 9}}
    assert usage_of(odd) == Usage(cache_read=9)
    assert usage_of({"prompt_tokens": "x", "completion_tokens_details": {}}) == Usage()


async def test_deltas_are_shown_as_they_come() -> None:
    async with OWN.served([Answer([Thinking("Hm."), Text("Yes.", deltas=2)])]) as (_, model):
        parts = await parts_of(model, request(model))
    shown = [(getattr(one, "kind", ""), getattr(one, "text", "")) for one in parts[:-1]]
    assert shown == [("reasoning", "Hm"), ("reasoning", "."), ("text", "Ye"), ("text", "s.")]


ODD: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["", "x", "stop", "tool_calls", "{}"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from([
            "choices", "delta", "tool_calls", "function", "arguments", "name", "id", "index", "usage",
            "content", "finish_reason", "thinking_blocks", "reasoning_items", "provider_specific_fields",
        ]),
        inner,
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@given(st.lists(st.fixed_dictionaries({"choices": st.lists(ODD, max_size=2), "usage": ODD}), max_size=5))
def test_chunks_that_make_no_sense_are_a_classified_fault_or_a_reply(chunks: list[dict[str, Any]]) -> None:
    reader = ReplyReader("openai/x", 1)
    try:
        for chunk in chunks:
            reader.feed(chunk)
        kind: str = reader.reply().stop
    except ModelFault as fault:
        kind = fault.kind
    assert kind in {"cut", "tools", "end"}
