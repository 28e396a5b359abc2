"""Each request extends the former one, byte for byte, whatever is said in between."""

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopback import (
    Answer,
    Block,
    Drop,
    ErrorEvent,
    HttpError,
    Loopback,
    NoStop,
    PromptCache,
    RedactedThinking,
    Reply,
    Text,
    Thinking,
    ToolUse,
    in_order,
)
from loopback_prompt import as_list
from offing.compaction.conversation import Conversation, Message, ToolCall, ToolResult
from offing.compaction.conversation import Text as Words
from offing.engine import About, Engine, Limits, MemoryStore, Scripted, Step
from offing.engine.events import ReplyFinished
from offing.engine.models.model import Request
from offing.engine.wire import Wire, marks
from offing.namespaces import Attachment, FunctionNamespace, Record, ToolContext, ToolOutput
from worlds import DAY_US, Claude, Given, HandClock, async_tool, invoke, outside

BESIDE = re.compile(rb',"cache_control":\{[^}]*\}|,"diagnostics":\{[^}]*\}(?=\}$)')
"""What is no part of the prompt."""
PNG = b"\x89PNG\r\n\x1a\n not much of an image"
LIMITS = Limits(unfinished_replies=1000, pauses=1000, same_failures=2, result_chars=300)


async def _say(arguments: Given, context: ToolContext) -> ToolOutput:
    return ToolOutput(arguments.get("text", ""), (Record("r", text="x"),))


async def _fail(arguments: Given, context: ToolContext) -> ToolOutput:
    raise ValueError(arguments.get("text", ""))


async def _show(arguments: Given, context: ToolContext) -> ToolOutput:
    return ToolOutput(
        ["seen", 1], attachments=(Attachment("a.png", PNG, "image/png"), Attachment("a.bin", b"\x00"))
    )


def sys_namespace() -> FunctionNamespace:
    return FunctionNamespace(
        "sys", [async_tool(_say, "say"), async_tool(_fail, "fail"), async_tool(_show, "show")]
    )


# What a provider sends holds no lone surrogates; what tools and people give may hold anything.
clean = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=30)
words = clean.filter(lambda text: bool(text.strip()))
anything = st.text(st.characters(), max_size=30) | st.just("\ud83d\x00half") | st.just("long " * 200)


def _invoking(name: str, text: str) -> Block:
    return ToolUse("sys__invoke_tool", {"tool": name, "arguments": {"text": text}})


def _saying(text: str) -> Block:
    return ToolUse("sys__say", {"text": text})


CALLS: st.SearchStrategy[Block] = st.one_of(
    st.builds(
        _invoking,
        st.sampled_from(["say", "fail", "show", "sya"]),
        clean | st.just("wide " * 300),
    ),
    st.builds(_saying, clean),
    st.builds(ToolUse, st.just("sys__say"), st.sampled_from(["", "[]", '"x"', '{"a":', "null"])),
    st.just(ToolUse("nowhere__list", {})),
    st.just(ToolUse("calculate", {"expression": "1/0"})),
)
THOUGHTS: st.SearchStrategy[Block] = st.one_of(
    st.builds(Thinking, clean), st.just(Thinking("")), st.just(RedactedThinking())
)
TEXTS: st.SearchStrategy[Block] = st.builds(Text, words)


def blocks(*parts: st.SearchStrategy[Block], most: int = 3) -> st.SearchStrategy[list[Block]]:
    lists = [st.lists(part, max_size=most) for part in parts]
    return st.tuples(*lists).map(lambda found: [block for part in found for block in part])


def _paused(found: list[Block]) -> Answer:
    server: Block = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    return Answer([*found, server], "pause_turn")


def _called(found: list[Block], calls: list[Block]) -> Answer:
    return Answer([*found, *calls])


def _cut(found: list[Block], calls: list[Block]) -> Answer:
    return Answer([*found, *calls], "max_tokens")


def _ended(calls: list[Block]) -> Answer:
    return Answer(calls, "end_turn")


def _whole(working: list[Reply], end: list[Block]) -> list[Reply]:
    return [*working, Answer([*end, Text("So it is.")], "end_turn")]


WORKING: st.SearchStrategy[Reply] = st.one_of(
    st.builds(_called, blocks(THOUGHTS, TEXTS), st.lists(CALLS, min_size=1, max_size=5)),
    st.builds(_cut, blocks(THOUGHTS, TEXTS), st.lists(CALLS)),
    st.builds(_paused, blocks(THOUGHTS, TEXTS, most=1)),
    st.just(Answer([], "end_turn")),
    st.just(Answer([Text("  ")], "end_turn")),
    st.builds(_ended, st.lists(CALLS, min_size=1, max_size=2)),
)
FAULTS: st.SearchStrategy[Reply] = st.sampled_from(
    [HttpError(529), HttpError(429), Drop(3), ErrorEvent(1), NoStop(2), Drop()]
)


@dataclass(frozen=True)
class Turn:
    """One run of a session, and what happens before it."""

    said: str
    files: Sequence[Attachment]
    replies: Sequence[Reply]
    before: Literal["nothing", "reopen", "without sys", "a day passes"]


FILES = st.lists(
    st.sampled_from([Attachment("a.png", PNG, "image/png"), Attachment("b\ud83d.csv", b"1;2")]), max_size=2
)
TURNS = st.builds(
    Turn,
    said=anything.filter(lambda text: bool(text.strip())),
    files=FILES,
    replies=st.builds(
        _whole,
        st.lists(WORKING | FAULTS, max_size=5),
        blocks(THOUGHTS, most=1),
    ),
    before=st.sampled_from(["nothing", "nothing", "reopen", "without sys", "a day passes"]),
)


async def played(turns: Sequence[Turn]) -> tuple[Loopback, list[Request]]:
    """Plays the turns in one session; faults are resumed, from a new engine where one is due."""
    replies = [reply for turn in turns for reply in turn.replies]
    store, clock = MemoryStore(), HandClock()
    sent: list[Request] = []
    with Loopback(in_order(replies)) as server:
        namespaces = [sys_namespace()]
        engine = Engine(Claude(server), namespaces, store=store, limits=LIMITS, outside=outside(clock))
        for turn in turns:
            clock.at += DAY_US if turn.before == "a day passes" else 14_000_000
            namespaces = [] if turn.before == "without sys" else namespaces
            if turn.before in {"reopen", "without sys"}:
                sent += _sent(engine)
                await engine.close()
                model = Claude(server)
                engine = Engine(model, namespaces, store=store, limits=LIMITS, outside=outside(clock))
            result = await engine.session("s").ask(turn.said, files=turn.files)
            while not result.answered:
                assert result.why in {"fault", "repeating"}, result
                result = await (await engine.resume(result.run)).result()
        sent += _sent(engine)
        await engine.close()
        return server, sent


def _sent(engine: Engine) -> list[Request]:
    assert isinstance(engine.model, Claude)
    return engine.model.sent


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(TURNS, min_size=1, max_size=3))
def test_each_request_of_a_session_extends_the_former_one_byte_for_byte(turns: list[Turn]) -> None:
    server, sent = asyncio.run(played(turns))
    assert server.refusals == []
    bodies = [BESIDE.sub(b"", seen.body) for seen in server.requests]
    for former, latter in pairwise(bodies):
        assert latter.startswith(former.removesuffix(b"]}")), (former[-300:], latter[-300:])
    for former, latter in pairwise(sent):
        assert list(latter.segments[: len(former.segments)]) == list(former.segments)
    for seen in server.requests:
        _pairs_and_marks_are_right(seen.json)


def _pairs_and_marks_are_right(body: dict[str, Any]) -> None:
    asked: list[str] = []
    for message in body["messages"]:
        answers = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        assert answers == asked
        asked = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
    assert asked == []
    marked = places_of_marks(body)
    assert marked[:2] == ["system.0", "system.1"]
    assert 3 <= len(marked) <= 4
    users = [n for n, message in enumerate(body["messages"]) if message["role"] == "user"]
    last = body["messages"][users[-1]]["content"]
    assert marked[-1] == f"messages.{users[-1]}.{len(last) - 1}"


def places_of_marks(body: dict[str, Any]) -> list[str]:
    found = [f"tools.{n}" for n, tool in enumerate(body["tools"]) if "cache_control" in tool]
    found += [f"system.{n}" for n, block in enumerate(body["system"]) if "cache_control" in block]
    for n, message in enumerate(body["messages"]):
        found += [f"messages.{n}.{m}" for m, block in enumerate(message["content"]) if _marked(block)]
    return found


def _marked(block: dict[str, Any]) -> bool:
    assert not any("cache_control" in part for part in as_list(block.get("content")))
    return "cache_control" in block


def _many(count: int) -> Answer:
    return Answer([ToolUse("sys__say", {"text": str(n)}) for n in range(count)])


@pytest.mark.parametrize(
    ("reply", "marked"),
    [
        # 9 calls and 9 results are 18 new blocks, the marker's look-back of 20 still covers them
        (_many(9), ["system.0", "system.1", "messages.2.8"]),
        (_many(10), ["system.0", "system.1", "messages.0.0", "messages.2.9"]),
        (_many(60), ["system.0", "system.1", "messages.0.0", "messages.2.59"]),
        # blocks that only the provider knows count like any other
        (
            Answer(
                [
                    *({"type": "web_fetch_tool_result", "tool_use_id": f"s{n}"} for n in range(30)),
                    ToolUse("sys__say", {"text": "x"}),
                ]
            ),
            ["system.0", "system.1", "messages.0.0", "messages.2.0"],
        ),
    ],
)
async def test_the_former_marker_is_kept_where_more_was_added_than_a_marker_looks_back_over(
    reply: Answer, marked: list[str]
) -> None:
    with Loopback([reply, Answer()], cache=PromptCache()) as server:
        async with Engine(Claude(server), [sys_namespace()], outside=outside()) as engine:
            result = await engine.ask("Go.")
            assert result.answered, result
    assert server.refusals == []
    first, second = server.requests
    assert places_of_marks(first.json) == ["system.0", "system.1", "messages.0.0"]
    assert places_of_marks(second.json) == marked


async def test_sixty_blocks_in_one_iteration_leave_the_former_prefix_readable() -> None:
    with Loopback([_many(30), _many(60), Answer()], cache=True) as server:
        model = Claude(server)
        async with Engine(model, [sys_namespace()], outside=outside()) as engine:
            async with engine.session("s").run("Go.") as run:
                events = [event async for event in run]
            assert (await run.result()).answered
    usages = [event.usage for event in events if isinstance(event, ReplyFinished)]
    for former, latter in pairwise(usages):
        assert (latter.cache_read, latter.input) == (former.prompt, 0)
    assert [usage.cache_read > 0 for usage in usages] == [False, True, True]


async def test_a_session_goes_on_with_the_bytes_of_its_frame_after_its_systems_changed() -> None:
    store = MemoryStore()
    with Loopback([Answer(), Answer([ToolUse("sys__say", {"text": "x"})]), Answer()]) as server:
        async with Engine(Claude(server), [sys_namespace()], store=store, outside=outside()) as engine:
            await engine.session("s").ask("First.")
        other = FunctionNamespace("other", [async_tool(_say, "say")])
        async with Engine(Claude(server), [other], store=store, outside=outside()) as engine:
            await engine.session("s").ask("Second.")
    assert server.refusals == []
    heads = {BESIDE.sub(b"", seen.body).partition(b',"messages":')[0] for seen in server.requests}
    assert len(heads) == 1
    last = server.requests[-1].json["messages"][-1]["content"]
    assert [(block["content"], block["is_error"]) for block in last] == [
        ("sys is no longer connected: 'sys__say' cannot be called in this session", True)
    ]


async def test_customers_with_the_same_systems_share_the_first_layer_byte_for_byte() -> None:
    with Loopback() as server:
        async with Engine(Claude(server), [sys_namespace()], outside=outside()) as engine:
            for tenant, company in [("a", "Acme Ltd"), ("b", "Bolt GmbH")]:
                scoped = engine.scoped(tenant)
                await scoped.session("s", about=About(company=company)).ask("Hello.")
        one, other = (request.segments for request in engine.model.sent)  # type: ignore[attr-defined]
    assert one[0] == other[0]
    assert one[1] != other[1]
    assert b"Acme" in one[1]


def test_a_history_whose_calls_and_results_do_not_pair_is_never_sent() -> None:
    model = Scripted([])
    asked = Message("assistant", (ToolCall("1.1", "a", {}), ToolCall("1.2", "b", {})))
    one = Message("tool", (ToolResult("1.1", "x"),))
    wrong = [
        [Message("user", (Words("u"),)), asked, one],
        [Message("user", (Words("u"),)), asked, Message("user", (Words("v"),))],
        [Message("user", (Words("u"),)), one],
        [Message("user", (Words("u"),)), asked, Message("tool", (*one.results, *one.results))],
    ]
    for view in wrong:
        with pytest.raises(ValueError, match="answers calls"):
            Wire(model, [b"", b""]).request(Conversation(view), 1)


def test_markers_stand_on_no_reply() -> None:
    user = Message("user", (Words("u"),))
    reply = Message("assistant", (Words("a"),))
    assert [marks(view) for view in ([user], [user, reply], [user, reply, user], [])] == [
        (0, 1, 2),
        (0, 1, 2),
        (0, 1, 4),
        (0, 1),
    ]


@given(st.lists(st.sampled_from("urtn"), max_size=12))
def test_a_request_with_segments_kept_is_the_request_with_all_encoded_anew(kinds: list[str]) -> None:
    view = [Message("user", (Words("u"),))]
    for kind in kinds:
        if kind == "r":
            view += [Message("assistant", (ToolCall("1.1", "a", {"x": 1}),)), _result()]
        else:
            view.append(Message("note" if kind == "n" else "user", (Words(kind),)))
    model = Scripted([])
    kept = Wire(model, [b"1", b"2"])
    for length in range(1, len(view) + 1):
        if view[length - 1].role != "assistant":
            request = kept.request(Conversation(view[:length]), length)
            assert request == Wire(model, [b"1", b"2"]).request(Conversation(view[:length]), length)


def _result() -> Message:
    return Message("tool", (ToolResult("1.1", "r"),))


async def test_a_scripted_model_is_sent_the_growing_segments_too() -> None:
    model = Scripted([Step(calls=[invoke("say", text="x")]), "done"])
    async with Engine(model, [sys_namespace()], outside=outside()) as engine:
        await engine.ask("Go.")
    first, second = (list(request.segments) for request in model.requests)
    assert second[: len(first)] == first
    assert [json.loads(segment)["role"] for segment in second[2:]] == ["user", "assistant", "tool"]
