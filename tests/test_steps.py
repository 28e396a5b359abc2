"""What a run does next is decided by its state alone."""

import datetime
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from loopback import Answer, Loopback, Text, in_order
from offing.compaction.conversation import Message, Raw, ToolCall, ToolResult
from offing.compaction.conversation import Text as Words
from offing.engine import Engine, Limits, MemoryStore, Scripted, Step
from offing.engine.answer.typed import unfit
from offing.engine.errors import AnswerInvalid
from offing.engine.models.model import Reply, StopReason
from offing.engine.prompts import prompt
from offing.engine.state import State, apply
from offing.engine.steps import Ask, Check, Execute, next_step
from offing.engine.store.facts import (
    Began,
    Checked,
    Fact,
    Faulted,
    Noted,
    Opened,
    Replied,
    Resumed,
    Settled,
    Started,
    Stopped,
    StopWhy,
)
from offing.engine.store.journal import Row
from offing.engine.window import Compact
from offing.namespaces import Effect, FunctionNamespace, ToolContext, ToolOutput
from offing.tracing import Usage
from worlds import DAY_US, Claude, Given, HandClock, World, async_tool, invoke, outside

SCHEMA: dict[str, Any] = {"type": "object", "required": ["total"]}
FEW = Limits(iterations=4, unfinished_replies=2, pauses=2, same_failures=2)
USER = Message("user", (Words("Why?"),))


def began(limits: Limits = FEW, output: dict[str, Any] | None = None) -> list[Fact]:
    return [Opened("m", "f", "s", "c", {}), Began(USER, limits, output), Resumed("me")]


def said(stop: StopReason, text: str = "", *calls: str, detail: str = "", turn: int = 1) -> Replied:
    blocks = (
        *((Words(text),) if text else ()),
        *(ToolCall(f"{turn}.{n}", c, {}) for n, c in enumerate(calls, 1)),
    )
    return Replied(Reply(Message("assistant", blocks), stop, Usage(), detail))


def result(call: str = "1.1", content: str = "x", *, error: bool = False) -> Settled:
    return Settled(ToolResult(call, content, error=error), "sys__it")


def after(*facts: Fact, at: int = HandClock().at, days: int = 0) -> State:
    state = State()
    for seq, fact in enumerate(facts, start=1):
        late = days * DAY_US if seq == len(facts) else 0
        apply(state, Row(seq, "s.1", at + late, fact))
    return state


LENGTH, EMPTY = (prompt(name) for name in ("note_length", "note_empty"))
BOTH = (ToolCall("1.1", "a", {}), ToolCall("1.2", "b", {}))


@pytest.mark.parametrize(
    ("facts", "step"),
    [
        (began(), Ask()),
        ([*began(), said("end", "So.")], Stopped("answered")),
        ([*began(), said("tools", "", "a", "b")], Execute(BOTH, (), executable=True)),
        ([*began(), said("tools", "", "a", "b"), result("1.2")], Execute(BOTH[:1], (), executable=True)),
        (
            [*began(), said("tools", "", "a", "b"), Started("1.1", "sys__it", "k")],
            Execute(BOTH[1:], BOTH[:1], executable=True),
        ),
        ([*began(), said("tools", "", "a", "b"), result("1.2"), result("1.1")], Ask()),
        ([*began(), said("end", "So.", "a", "b")], Execute(BOTH, (), executable=False)),
        ([*began(), said("length", "So", "a", "b")], Execute(BOTH, (), executable=False)),
        ([*began(), said("refusal", "", "a", "b")], Execute(BOTH, (), executable=False)),
        ([*began(), said("pause", "", "a", "b")], Execute(BOTH, (), executable=False)),
        ([*began(), said("end", "So.", "a"), result()], Ask()),
        ([*began(), said("length", "So", "a"), result()], Ask()),
        ([*began(), said("length", "So far")], Noted("length:1", LENGTH)),
        ([*began(), said("length", "So far"), Noted("length:1", LENGTH)], Ask()),
        ([*began(), said("end")], Noted("empty:1", EMPTY)),
        ([*began(), said("end", " \n")], Noted("empty:1", EMPTY)),
        ([*began(), said("tools")], Noted("empty:1", EMPTY)),
        ([*began(), said("tools", "So.")], Stopped("answered")),
        ([*began(), said("pause", "Wait")], Ask()),
        ([*began(), said("refusal")], Stopped("refused", "the model declined to answer")),
        ([*began(), said("refusal", "No.", detail="cyber: no")], Stopped("refused", "cyber: no")),
        (
            [*began(), said("window", "So")],
            Compact("refused", used=21, target=10, bound=16),  # half, and four fifths of what was refused
        ),
        (
            [*began(), Faulted("auth", "no key")],
            Stopped("fault", "the model could not be asked: (auth) no key"),
        ),
        ([*began(output=SCHEMA), said("end", "{}")], Check("{}", SCHEMA)),
        ([*began(output=SCHEMA), said("end", "{}"), Checked()], Stopped("answered")),
        (
            [*began(output=SCHEMA), said("end", "{}"), Checked("no total")],
            Noted("unfit:1", prompt("note_unfit", problem="no total")),
        ),
        ([*began(), said("end", "So."), Stopped("answered")], Stopped("answered")),
        ([*began(), Stopped("limit", "x")], Stopped("limit", "x")),
        ([*began(), Stopped("limit", "x"), Resumed("me", 4)], Ask()),
    ],
    ids=range(29),
)  # fmt: skip
def test_each_state_has_its_next_step(facts: Sequence[Fact], step: object) -> None:
    state = after(*facts)
    assert next_step(state) == step
    assert next_step(state) == step  # and asking changes nothing


def test_a_used_up_limit_stops_before_the_next_call_and_a_resume_grants_as_many_again() -> None:
    facts = began()
    for turn in range(1, 5):
        facts += [said("tools", "", "a", turn=turn), result(f"{turn}.1", f"x{turn}")]
    stop = next_step(after(*facts))
    assert stop == Stopped("limit", "all 4 iterations are used; a resume grants as many again")
    assert isinstance(stop, Stopped)
    facts += [stop, Resumed("me", 4)]
    assert next_step(after(*facts)) == Ask()
    for turn in range(5, 9):
        facts += [said("tools", "", "a", turn=turn), result(f"{turn}.1", f"x{turn}")]
    assert next_step(after(*facts)) == Stopped(
        "limit", "all 8 iterations are used; a resume grants as many again"
    )


def test_an_answer_at_the_last_iteration_is_an_answer() -> None:
    facts = began(Limits(iterations=1))
    assert next_step(after(*facts, said("end", "So."))) == Stopped("answered")


def _failing(times: int, *, error: str = "no such account") -> list[Fact]:
    facts: list[Fact] = []
    for turn in range(1, times + 1):
        facts += [said("tools", "", "a", turn=turn), result(f"{turn}.1", error, error=True)]
    return facts


def test_a_call_that_keeps_failing_the_same_way_is_named_to_the_model_then_stopped() -> None:
    start = began(Limits(same_failures=2))
    assert next_step(after(*start, *_failing(1))) == Ask()
    named = next_step(after(*start, *_failing(2)))
    assert isinstance(named, Noted)
    assert named.text == prompt("note_repeated", tool="sys__it", times="2")
    assert next_step(after(*start, *_failing(2), named)) == Ask()
    assert next_step(after(*start, *_failing(2), named, *_retold(3))) == Ask()
    stopped = next_step(after(*start, *_failing(2), named, *_retold(3), *_retold(4)))
    told = "sys__it was called 4 times with the same arguments and failed each time in the same way"
    assert stopped == Stopped("repeating", told)
    assert isinstance(stopped, Stopped)
    again = after(*start, *_failing(2), named, *_retold(3), *_retold(4), stopped, Resumed("me"))
    assert next_step(again) == Ask()


def _retold(turn: int) -> list[Fact]:
    return _failing(turn)[-2:]


def test_a_call_that_fails_otherwise_or_succeeds_meanwhile_is_not_repeating() -> None:
    start = began(Limits(same_failures=2))
    other = [said("tools", "", "a", turn=2), result("2.1", "another error", error=True)]
    fine = [said("tools", "", "a", turn=2), result("2.1", "fine")]
    for between in (other, fine):
        assert next_step(after(*start, *_failing(1), *between, *_retold(3))) == Ask()


def test_each_call_that_keeps_failing_is_named_also_with_the_same_error_and_after_a_resume() -> None:
    start = [*began(Limits(same_failures=2)), *_failing(1), *_failing(2)]
    named = next_step(after(*start))
    assert isinstance(named, Noted)
    other = [said("tools", "", "b", turn=3), result("3.1", "no", error=True)]
    other += [said("tools", "", "b", turn=4), result("4.1", "no", error=True)]
    second = next_step(after(*start, named, *other))
    assert isinstance(second, Noted)
    assert second.key != named.key
    stop = Stopped("repeating", "x")
    third = next_step(after(*start, named, stop, Resumed("me"), *_failing(6)[-4:]))
    assert isinstance(third, Noted)
    assert third.key not in {named.key, second.key}


def test_a_resume_asks_the_model_again_whether_the_stop_was_recorded_or_not() -> None:
    fault = Faulted("auth", "no key")
    assert next_step(after(*began(), fault)) == Stopped(
        "fault", "the model could not be asked: (auth) no key"
    )
    for stop in ((), (Stopped("fault", "x"),)):
        assert next_step(after(*began(), fault, *stop, Resumed("me"))) == Ask()


def test_malformed_input_that_is_repeated_counts_as_the_same_call() -> None:
    facts = began(Limits(same_failures=2))
    for turn in (1, 2):
        call = ToolCall(f"{turn}.1", "a", {}, malformed='{"a":')
        reply = Reply(Message("assistant", (call,)), "tools", Usage())
        facts += [Replied(reply), result(f"{turn}.1", "no object", error=True)]
    assert isinstance(next_step(after(*facts)), Noted)


@pytest.mark.parametrize(
    ("stop", "text", "why", "detail"),
    [
        (
            "length",
            "So",
            "length",
            "replies kept being cut off by their length: grant longer ones (max_tokens)",
        ),
        ("end", "", "empty", "replies kept being empty"),
    ],
)
def test_unfinished_replies_are_bounded(stop: StopReason, text: str, why: StopWhy, detail: str) -> None:
    facts = began(Limits(unfinished_replies=2))
    for turn in range(1, 3):
        note = next_step(after(*facts, said(stop, text, turn=turn)))
        assert isinstance(note, Noted)
        facts += [said(stop, text, turn=turn), note]
    assert next_step(after(*facts, said(stop, text, turn=3))) == Stopped(why, detail)
    worked = [said("tools", "", "a", turn=3), result("3.1"), said(stop, text, turn=4)]
    assert isinstance(next_step(after(*facts, *worked)), Noted)  # work in between begins the count anew


def test_replies_that_ask_for_calls_and_end_are_bounded() -> None:
    facts = began(Limits(unfinished_replies=1))
    facts += [said("end", "", "a"), result()]
    assert next_step(after(*facts)) == Ask()
    facts += [said("end", "", "a", turn=2), result("2.1", "y")]
    told = "replies kept asking for calls and ending at the same time"
    assert next_step(after(*facts)) == Stopped("repeating", told)


def test_pauses_are_bounded_and_are_no_unfinished_replies() -> None:
    facts = began(Limits(pauses=3, unfinished_replies=1))
    paused: list[Fact] = [said("pause", "w", turn=turn) for turn in range(1, 5)]
    assert next_step(after(*facts, *paused[:3])) == Ask()
    assert next_step(after(*facts, *paused)) == Stopped(
        "paused", "the provider paused its turn 4 times in a row"
    )
    assert isinstance(next_step(after(*facts, *paused[:3], said("end"))), Noted)


def test_a_paused_turn_is_resent_as_it_is_also_on_a_new_day_and_after_a_stop() -> None:
    facts = [*began(Limits(pauses=1)), said("pause", "w"), said("pause", "w", turn=2)]
    stopped = next_step(after(*facts))
    assert isinstance(stopped, Stopped)
    assert next_step(after(*facts, stopped, Resumed("me"), days=1)) == Ask()
    assert next_step(after(*began(), said("pause", "w"), days=1)) == Ask()


def test_a_paused_turn_of_unknown_blocks_alone_stays_in_the_conversation() -> None:
    message = Message("assistant", (), Raw("anthropic", "m", b'[{"type":"server_tool_use"}]'))
    state = after(*began(), Replied(Reply(message, "pause", Usage())))
    assert state.conversation.messages == [USER, message]
    assert next_step(state) == Ask()


def test_a_new_day_is_told_once_before_the_next_call() -> None:
    told = Noted("date:Tuesday, 2026-09-15", "Today is Tuesday, 2026-09-15 (UTC).")
    worked = [said("tools", "", "a"), result()]
    assert next_step(after(*began(), *worked, days=0)) == Ask()
    assert next_step(after(*began(), *worked, days=1)) == told
    state = after(*began(), *worked, days=1)
    apply(state, Row(state.seq + 1, "s.1", state.at, told))
    assert next_step(state) == Ask()


def test_the_steps_left_are_told_at_a_half_a_quarter_and_a_tenth() -> None:
    facts = began(Limits(iterations=40))
    told: dict[int, str] = {}
    for turn in range(1, 41):
        facts += [said("tools", "", "a", turn=turn), result(f"{turn}.1", f"x{turn}")]
        step = next_step(after(*facts))
        if isinstance(step, Noted):
            told[turn] = step.text
            facts.append(step)
    assert told == {
        20: "20 of 40 steps are left. Plan for an answer within them.",
        30: "10 of 40 steps are left. Plan for an answer within them.",
        36: "4 of 40 steps are left. Plan for an answer within them.",
    }


@pytest.mark.parametrize("stop", ["length", "end"])
def test_after_a_stop_that_left_the_models_own_words_last_it_is_told_to_go_on(stop: StopReason) -> None:
    facts = [*began(Limits(unfinished_replies=0), SCHEMA), said(stop, "{", turn=1)]
    facts += [] if stop == "length" else [Checked("no total")]
    stopped = next_step(after(*facts))
    assert isinstance(stopped, Stopped)
    step = next_step(after(*facts, stopped, Resumed("me")))
    assert isinstance(step, Noted)
    assert step.text == prompt("note_go_on")


# The same, driven.


class Total(BaseModel):
    total: float
    on: datetime.date = datetime.date(2026, 9, 14)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ('{"total": 1}', ""),
        ('```json\n{"total": 1}\n```', ""),
        ('  ```\n{"total": 1}\n```\n', ""),
        ("{}", "$: 'total' is a required property"),
        ('{"total": "x"}', "$.total: 'x' is not of type 'number'"),
        ('{"total": 1, "on": "2026-99-01"}', "$.on: '2026-99-01' is not a 'date'"),
        ("Total: 1", "it is no JSON (Expecting value: line 1 column 1 (char 0))"),
    ],
)
def test_an_answer_is_checked_against_what_was_asked_for(answer: str, problem: str) -> None:
    assert unfit(answer, Total.model_json_schema()) == problem


def test_an_answer_nested_beyond_all_readers_is_no_json() -> None:
    assert unfit("[" * 100_000, Total.model_json_schema()).startswith("it is no JSON (")


async def test_a_typed_answer_that_does_not_fit_is_repaired_in_the_next_reply() -> None:
    model = Scripted(["Total: 12", '{"total": "x"}', '```json\n{"total": 12.5}\n```'])
    async with Engine(model, outside=outside()) as engine:
        assert await engine.ask("What is the total?", output=Total) == Total(total=12.5)
    notes = [message.text for message in model.requests[-1].view if message.role == "note"]
    assert [note.splitlines()[0] for note in notes] == [
        "The answer does not fit what was asked for: it is no JSON (Expecting value: line 1 column 1 "
        "(char 0))",
        "The answer does not fit what was asked for: $.total: 'x' is not of type 'number'",
    ]


async def test_a_typed_answer_that_never_fits_stops_the_run_and_raises_with_the_reason() -> None:
    async with Engine(Scripted(["no"] * 4), outside=outside()) as engine:
        with pytest.raises(AnswerInvalid) as caught:
            await engine.ask("What is the total?", output=Total)
    assert str(caught.value) == (
        "run s1.1 gave no answer (unfit): answers kept not fitting what was asked for: "
        "it is no JSON (Expecting value: line 1 column 1 (char 0))"
    )


async def test_empty_replies_are_asked_again_and_then_stop_the_run() -> None:
    for count, why in ((3, "answered"), (4, "empty")):
        replies = [*([Answer([], "end_turn")] * count), Answer([Text("So.")])]
        with Loopback(in_order(replies)) as server:
            async with Engine(Claude(server), outside=outside()) as engine:
                outcome = await engine.ask("Why?")
        assert (outcome.why, server.refusals) == (why, [])


async def test_a_run_stopped_by_its_limit_goes_on_when_resumed_and_is_counted_as_one() -> None:
    async def it(arguments: Given, context: ToolContext) -> ToolOutput:
        return ToolOutput(context.call)

    model = Scripted([*(Step(calls=[invoke("it")]) for _ in range(5)), "done"])
    namespace = FunctionNamespace("sys", [async_tool(it, effect=Effect.READ)])
    limits = Limits(iterations=2)
    async with Engine(model, [namespace], limits=limits, outside=outside()) as engine:
        outcome = await engine.session("s").ask("Go.")
        seen = [(outcome.why, outcome.iterations)]
        while not outcome.answered:
            outcome = await (await engine.resume(outcome.run)).result()
            seen.append((outcome.why, outcome.iterations))
    assert seen == [("limit", 2), ("limit", 4), ("answered", 6)]


async def test_a_call_that_keeps_failing_stops_a_real_run_with_what_was_said_and_done() -> None:
    async def it(arguments: Given, context: ToolContext) -> ToolOutput:
        raise LookupError("no such account")

    batch = await World([async_tool(it)]).run(*(Step("I try.", [invoke("it")]) for _ in range(6)))
    assert (batch.result.why, batch.result.iterations, batch.result.answer) == ("repeating", 6, "I try.")
    notes = [message.text for message in batch.state.conversation.messages if message.role == "note"]
    assert notes == [prompt("note_repeated", tool="sys__it", times="3")]


async def test_the_fold_of_a_journal_leads_to_the_step_that_the_run_ended_with() -> None:
    store, clock = MemoryStore(), HandClock()
    async with Engine(Scripted(["done"]), store=store, outside=outside(clock)) as engine:
        await engine.session("s").ask("Go.")
        state = State()
        async for row in engine.store.journal.read("s"):
            apply(state, row)
    assert next_step(state) == Stopped("answered")
    assert (state.at, state.seq, state.turn, state.runs) == (clock.at, 5, 1, 1)


async def test_an_answer_that_was_cut_by_its_length_is_delivered_whole() -> None:
    batch = await World().run(Step("First half, ", stop="length"), Step("second ", stop="length"), "half.")
    assert (batch.result.answer, batch.result.why) == ("First half, second half.", "answered")


async def test_a_typed_answer_that_was_cut_is_checked_whole_and_a_repaired_one_stands_alone() -> None:
    class Total(BaseModel):
        total: int

    script = ['{"total"', ": 7}", '{"total": "x"}', '{"total": 8}']
    steps = [Step(script[0], stop="length"), script[1], script[2], script[3]]
    async with Engine(Scripted(steps), outside=outside()) as engine:
        session = engine.session("s")
        assert await session.ask("How much?", output=Total) == Total(total=7)
        assert await session.ask("And now?", output=Total) == Total(total=8)


async def test_words_before_calls_are_no_part_of_the_answer() -> None:
    batch = await World().run(Step("I look.", [invoke("it")]), "It ties.")
    assert batch.result.answer == "It ties."
