"""Effort: rising with what a run shows, never lowered inside it, and said to the model where it counts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopback import Answer, Loopback, Text, ToolUse
from offing.compaction.conversation import Message, ToolCall, ToolResult
from offing.compaction.conversation import Text as Words
from offing.engine import Call, Engine, Limits, MemoryStore, Result, Role, Roles, Scripted, Step
from offing.engine.effort import RULES, EffortChoice, effort_for, thinking_of
from offing.engine.errors import ConfigurationError
from offing.engine.models.anthropic import Options
from offing.engine.models.model import EFFORTS, Effort, Reply, StopReason, Thinking, clamp
from offing.engine.roles import chosen
from offing.engine.state import State, apply
from offing.engine.store.facts import (
    Began,
    Checked,
    Fact,
    Faulted,
    Noted,
    Replied,
    Resumed,
    Settled,
    Stopped,
    Stored,
    Task,
    TasksSet,
)
from offing.engine.store.journal import Row
from offing.namespaces import FunctionNamespace, ToolContext, ToolOutput
from offing.tracing import Usage
from worlds import Claude, Given, World, async_tool, invoke, outside

pytestmark = pytest.mark.anyio

LONG_AGO = "claude-opus-4-5"
"""A model without adaptive thinking that takes low, medium and high."""


# The policy, over facts as they are folded.


@dataclass(frozen=True)
class Turn:
    """A reply and what came of its calls: the operation behind each, and whether it failed."""

    calls: Sequence[tuple[str, bool]] = ()
    text: str = ""
    stop: StopReason = "tools"


def facts_of(turn: Turn, number: int) -> Iterator[Fact]:
    calls = tuple(ToolCall(f"{number}.{place}", name, {}) for place, (name, _) in enumerate(turn.calls))
    blocks = (Words(turn.text), *calls) if turn.text else calls
    yield Replied(Reply(Message("assistant", blocks), turn.stop, Usage()))
    for call, (name, failed) in zip(calls, turn.calls, strict=True):
        yield Settled(ToolResult(call.id, "what it gave", error=failed), name)


def begun(files: int = 0) -> Began:
    stored = tuple(Stored(f"file/{place}", "ref", 1, "text/csv") for place in range(files))
    return Began(Message("user", (Words("Go."),)), Limits(), None, stored)


def efforts(*facts: Fact | Turn, files: int = 0) -> list[Effort]:
    """The effort after the beginning, and after each further fact or turn."""
    state = State()
    told: list[Effort] = []
    for given_ in (begun(files), *facts):
        for fact in facts_of(given_, state.turn + 1) if isinstance(given_, Turn) else (given_,):
            apply(state, Row(state.seq + 1, "s.1", state.seq, fact))
        told.append(effort_for(state))
    return told


LOOK = Turn([("bank__list_transactions", False)])


def test_a_lookup_is_worth_little_thought_to_its_end() -> None:
    schema = Turn([("bank__get_tool_schema", False)])
    assert efforts(schema, LOOK, Turn(text="11,308.44", stop="end"))[:3] == ["low", "low", "low"]


def test_each_reply_more_is_a_sign_that_it_is_none() -> None:
    told = efforts(*[LOOK] * 41)
    assert [told.index(effort) for effort in ("medium", "high", "xhigh")] == [3, 10, 40]


def tasks(count: int, confidence: float | None = None) -> TasksSet:
    return TasksSet(tuple(Task(f"{place}", "pending") for place in range(count)), confidence)


@pytest.mark.parametrize(
    ("shown", "effort"),
    [
        ([Turn([("bank__a", False), ("bank__b", False), ("bank__a", False), ("bank__b", False)])], "low"),
        ([Turn([("bank__a", False), ("bank__b", False), ("bank__c", False), ("tasks", False)])], "medium"),
        ([Turn([(f"bank__{place}", False) for place in range(8)])], "high"),
        ([Turn([("bank__a", False), ("ledger__a", False)])], "medium"),
        ([Turn([(f"{system}__a", False) for system in "abcd"])], "high"),
        ([Turn([("bank__a", True)])], "medium"),
        ([Turn([("bank__a", True)] * 4)], "high"),
        ([Turn([("bank__a", True)] * 10)], "xhigh"),
        ([Turn(text="cut", stop="length")], "medium"),
        ([Turn(stop="end")], "medium"),
        ([Turn(text="an answer", stop="end"), Checked("$: it does not fit")], "medium"),
        ([Turn(text="an answer", stop="end"), Checked("")], "low"),
        ([Turn(text="cut", stop="length")] * 2, "high"),
        ([Turn(text="cut", stop="length")] * 3, "xhigh"),
        ([tasks(2)], "low"),
        ([tasks(3)], "medium"),
        ([tasks(6)], "high"),
        ([tasks(1, 0.9)], "low"),
        ([tasks(1, 0.6)], "medium"),
        ([tasks(1, 0.2)], "high"),
        ([Faulted("overloaded", "later"), Noted("date:x", "It is Tuesday.")], "low"),
    ],
)
def test_each_sign_of_difficulty_asks_for_more(shown: list[Fact | Turn], effort: Effort) -> None:
    assert efforts(*shown)[-1] == effort


@pytest.mark.parametrize(("files", "effort"), [(1, "low"), (2, "medium"), (5, "high")])
def test_files_to_bring_together_are_a_sign_from_the_beginning(files: int, effort: Effort) -> None:
    assert efforts(files=files) == [effort]


def test_a_sign_that_has_gone_is_not_forgotten() -> None:
    assert efforts(tasks(6, 0.2), tasks(1, 1.0)) == ["low", "high", "high"]


def test_the_next_run_begins_as_a_lookup_again() -> None:
    state = State()
    for fact in (begun(), tasks(6, 0.1), Stopped("answered"), begun()):
        apply(state, Row(state.seq + 1, "s.1", 0, fact))
    assert effort_for(state) == "low"


NAMES = st.sampled_from(["bank__a", "bank__b", "ledger__a", "ledger__b", "calculate", "tasks", "none"])
TURNS = st.builds(
    Turn,
    st.lists(st.tuples(NAMES, st.booleans()), max_size=4),
    st.sampled_from(["", "Words."]),
    st.sampled_from(get_args(StopReason)),
)
OTHERS = st.one_of(
    st.builds(tasks, st.integers(0, 8), st.none() | st.floats(0, 1)),
    st.builds(Checked, st.sampled_from(["", "wrong"])),
    st.just(Faulted("overloaded", "later")),
    st.builds(Noted, st.sampled_from(["a", "b"]), st.just("told")),
    st.just(Stopped("limit")),
    st.builds(Resumed, st.just("somebody"), st.integers(0, 150)),
)


@given(st.lists(TURNS | OTHERS, max_size=40), st.integers(0, 6))
def test_it_is_never_lowered_inside_a_run(shown: list[Fact | Turn], files: int) -> None:
    told = [EFFORTS.index(effort) for effort in efforts(*shown, files=files)]
    assert told == sorted(told)


def test_the_efforts_are_all_there_in_order_and_the_rules_rise() -> None:
    assert get_args(Effort) == EFFORTS
    for rule in RULES:
        assert rule.medium < rule.high < (rule.xhigh or float("inf")), rule.why


# What a model takes.


@pytest.mark.parametrize(
    ("wanted", "supported", "effort"),
    [
        ("high", ("low", "high", "max"), "high"),
        ("xhigh", ("low", "high", "max"), "high"),
        ("max", ("high", "low"), "high"),
        ("low", ("high", "medium"), "medium"),
        ("low", (), None),
    ],
)
def test_an_effort_is_brought_down_to_what_there_is(
    wanted: Effort, supported: Sequence[Effort], effort: Effort | None
) -> None:
    assert clamp(wanted, supported) == effort


@given(st.sampled_from(EFFORTS), st.sets(st.sampled_from(EFFORTS), min_size=1))
def test_no_effort_goes_up_unless_there_is_none_below(wanted: Effort, supported: set[Effort]) -> None:
    effort = clamp(wanted, sorted(supported))
    assert effort in supported
    assert EFFORTS.index(effort) <= max(EFFORTS.index(wanted), min(map(EFFORTS.index, supported)))


@pytest.mark.parametrize(
    ("fixed", "thinking", "effort"),
    [
        (None, Thinking(adaptive=True, efforts=EFFORTS), None),
        ("high", Thinking(adaptive=True), "high"),
        ("max", Thinking(efforts=("low",)), "max"),  # its adapter brings it down
        (None, Thinking(efforts=EFFORTS), "low"),
        (None, Thinking(efforts=("medium", "high")), "medium"),
        (None, Thinking(), None),
    ],
)
def test_the_host_decides_then_the_model_then_the_policy(
    fixed: Effort | None, thinking: Thinking, effort: Effort | None
) -> None:
    state = State()
    apply(state, Row(1, "s.1", 0, begun()))
    assert EffortChoice(fixed, thinking).of(state) == effort


class Named:
    """A model that says nothing of how it thinks."""

    encode = Scripted.encode
    stream = Scripted.stream

    def __init__(self, name: str) -> None:
        self.name = name


@pytest.mark.parametrize(
    ("name", "thinking"),
    [
        ("anthropic:claude-opus-5-5", Thinking(adaptive=True, efforts=EFFORTS)),
        ("litellm:gemini/gemini-2.5-pro", Thinking(efforts=("low", "medium", "high"))),
        ("litellm:hosted_vllm/ours", Thinking()),
        ("scripted", Thinking()),
    ],
)
def test_of_a_model_that_does_not_say_the_catalog_tells(name: str, thinking: Thinking) -> None:
    assert thinking_of(Named(name)) == thinking  # type: ignore[arg-type]


# Runs.


async def _fail(arguments: Given, context: ToolContext) -> ToolOutput:
    return ToolOutput("no", error=True)


async def test_each_request_of_a_run_says_the_effort_of_its_time() -> None:
    world = World([async_tool(_fail, "look")])
    plan = Call("tasks", {"items": [{"title": str(place)} for place in range(6)]})
    batch = await world.run(Step(calls=[invoke("look")]), Step(calls=[plan]), "done")
    assert [request.effort for request in batch.model.requests] == ["low", "medium", "high"]


async def test_a_run_that_goes_on_in_another_process_goes_on_with_its_effort() -> None:
    store = MemoryStore()
    world = FunctionNamespace("sys", [async_tool(_fail, "look")])
    limits = Limits(iterations=1)
    async with Engine(
        Scripted([Step(calls=[invoke("look")])]), [world], store=store, limits=limits
    ) as engine:
        stopped = await engine.session("s").ask("Go.")
    assert stopped.why == "limit"
    later = Scripted(["unused", "done"])
    async with Engine(later, [world], store=store) as engine:
        assert (await (await engine.resume("s.1")).result()).answered
    assert [request.effort for request in later.requests] == ["medium"]


async def test_the_host_sets_an_effort_for_the_runs() -> None:
    model = Scripted(["done"])
    async with Engine(Roles(run=Role(model, "max"), digest=Role(effort="low"))) as engine:
        assert engine.model is model
        await engine.ask("Go.")
    assert [request.effort for request in model.requests] == ["max"]


def test_roles_without_a_model_work_with_the_one_of_the_runs_at_their_own_effort() -> None:
    run, other = Scripted([]), Scripted([])
    roles = chosen(Roles(run=Role(run, "high"), planner=Role(other), digest=Role(effort="low")))
    assert dict(roles) == {
        "run": (run, "high"),
        "child": (run, None),
        "digest": (run, "low"),
        "planner": (other, None),
        "verifier": (run, None),
    }


def test_a_model_that_several_roles_name_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    name = "anthropic:claude-opus-5-5"
    roles = chosen(Roles(run=Role(name), child=Role(name), digest=Role("anthropic:claude-haiku-5-5")))
    assert roles["run"].model is roles["child"].model
    assert roles["digest"].model.name == "anthropic:claude-haiku-5-5"


@pytest.mark.parametrize(
    ("roles", "told"),
    [
        (Roles(run=Role(effort="low")), "the role 'run' needs a model: Roles(run=Role('anthropic:...'))"),
        (
            Roles(run=Role(Scripted([])), child=Role(effort="hihg")),  # type: ignore[arg-type]
            "no effort 'hihg': use one of low, medium, high, xhigh, max",
        ),
        (Roles(run=Role(Scripted([])), digest=Role("gpt")), "no model 'gpt'"),
    ],
)
def test_roles_that_cannot_be_used_are_refused(roles: Roles, told: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Engine(roles)
    assert str(caught.value).startswith(told)


class Closing(Scripted):
    def __init__(self, script: Sequence[str]) -> None:
        super().__init__(script)
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


async def test_the_models_of_all_roles_are_closed_once() -> None:
    run, digest = Closing([]), Closing([])
    async with Engine(Roles(run=Role(run), digest=Role(digest))):
        pass
    assert (run.closed, digest.closed) == (1, 1)


# Claude's wire.

SCRIPT = [
    Answer([ToolUse("sys__invoke_tool", {"tool": "look", "arguments": {"n": place}})]) for place in range(4)
]


async def asked(
    options: Options, effort: Effort | None = None, model: str = LONG_AGO
) -> tuple[Result, Loopback]:
    """A run in which four calls fail, and what the server was sent."""
    with Loopback([*SCRIPT, Answer([Text("done")])], cache=True) as server:
        roles = Roles(run=Role(Claude(server, model, options), effort))
        world = FunctionNamespace("sys", [async_tool(_fail, "look")])
        async with Engine(roles, [world], outside=outside()) as engine:
            result = await engine.ask("Go.")
    assert result.answered
    assert server.refusals == []
    return result, server


def told(server: Loopback) -> list[object]:
    """The effort that each request asked for."""
    return [seen.json.get("output_config", {}).get("effort") for seen in server.requests]


async def test_a_model_that_thinks_adaptively_is_told_no_effort() -> None:
    _, server = await asked(Options())
    assert told(server) == [None] * 5


async def test_without_adaptive_thinking_the_effort_rises_beside_the_cached_prefix() -> None:
    rising, server = await asked(Options(thinking="off"))
    assert told(server) == ["low", "medium", "medium", "medium", "high"]
    steady, other = await asked(Options(thinking="off", effort="low"))
    assert told(other) == ["low"] * 5
    assert rising.usage.cache_read == steady.usage.cache_read > 0
    assert rising.usage == steady.usage


@pytest.mark.parametrize(
    ("effort", "model", "sent"),
    [("medium", LONG_AGO, "medium"), ("max", LONG_AGO, "high"), ("max", "claude-opus-5-5", "max")],
)
async def test_the_hosts_effort_goes_before_the_adapters_and_is_brought_down_to_what_the_model_takes(
    effort: Effort, model: str, sent: Effort
) -> None:
    _, server = await asked(Options(effort="low"), effort, model)
    assert told(server) == [sent] * 5


async def test_of_an_unknown_model_the_hosts_effort_is_sent_as_it_is_and_the_policys_is_not() -> None:
    _, server = await asked(Options(thinking="off"), "max", "claude-tomorrow-9")
    assert told(server) == ["max"] * 5
    _, server = await asked(Options(thinking="off"), None, "claude-tomorrow-9")
    assert told(server) == [None] * 5
