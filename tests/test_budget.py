"""What a run may spend is kept to on every path, and a run that has spent it goes on when more is granted."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopback import Answer, Attempts, HttpError, Loopback, Text
from offing.compaction.conversation import Message, ToolCall, ToolResult
from offing.compaction.conversation import Text as Words
from offing.engine import Budget, Call, Engine, Limits, MemoryStore, Result, Scripted, Session, Step
from offing.engine.breakers import spent_of
from offing.engine.budget import Spent
from offing.engine.errors import ConfigurationError, NotOpen
from offing.engine.models.model import Reply
from offing.engine.models.retry import RetryPolicy
from offing.engine.prompts import prompt
from offing.engine.state import State, apply
from offing.engine.steps import Ask, Execute, Wait, next_step
from offing.engine.steps import Step as NextStep
from offing.engine.store.codec import unrecordable
from offing.engine.store.facts import (
    Began,
    Fact,
    Faulted,
    Noted,
    Opened,
    Replied,
    Resumed,
    Settled,
    Stopped,
    Waited,
)
from offing.engine.store.journal import Row
from offing.namespaces import Effect, FunctionNamespace, tool
from offing.tracing import Usage
from people import LOOK, People, pay, resumed
from worlds import Claude, HandClock, outside, state_of

PRICED = "anthropic:claude-opus-5-5"  # 4 dollars a million tokens of prompt, 20 of output
SECOND = 1_000_000
USER = Message("user", (Words("Why?"),))
QUARTER = Step(calls=[LOOK], usage=Usage(input=62_500))
"""A quarter of a dollar."""


@asynccontextmanager
async def working(
    budget: Budget, *steps: Step | str, name: str = PRICED, clock: HandClock | None = None, slow_us: int = 0
) -> AsyncGenerator[tuple[Engine, Session, Scripted]]:
    """Session `s` with a tool that looks, each time `slow_us` microseconds long."""
    clock = clock or HandClock()

    @tool(effect=Effect.READ)
    async def look() -> str:
        """Looks."""
        clock.at += slow_us
        return "seen"

    model, system = Scripted(steps, name=name), FunctionNamespace("sys", [look])
    async with Engine(model, [system], limits=Limits(budget=budget), outside=outside(clock)) as engine:
        yield engine, engine.session("s"), model


def stop_of(result: Result) -> tuple[str, str]:
    return result.why, result.detail.partition(":")[0]


def notes_of(state: State) -> list[str]:
    return [message.text for message in state.conversation.messages if message.role == "note"]


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        (Budget(model_calls=2), "the budget of 2 model calls is used up (2 spent)"),
        (Budget(cost=Decimal("0.40")), "the budget of 0.40 US dollars is used up (0.500000 spent)"),
        (Budget(tokens=125_000), "the budget of 125,000 tokens is used up (125,000 spent)"),
        (Budget(wall_s=7.5), "the budget of 7.5 seconds is used up (8 spent)"),
    ],
    ids=["model calls", "cost", "tokens", "time"],
)
async def test_a_run_stops_before_the_call_that_its_budget_does_not_cover(budget: Budget, told: str) -> None:
    steps = (QUARTER, QUARTER, QUARTER, "never said")
    async with working(budget, *steps, slow_us=4 * SECOND) as (engine, session, model):
        result = await session.ask("Go.")
        assert (stop_of(result), result.iterations) == (("budget", told), 2)
        again = await resumed(session)  # grants nothing, and asks nobody
        assert (stop_of(again), len(model.requests)) == (("budget", told), 2)
        state = await state_of(engine, "s")
    assert len([one for message in state.conversation.messages for one in message.results]) == 2


@pytest.mark.parametrize(
    ("budget", "more"),
    [
        (Budget(model_calls=2), Budget(model_calls=1)),
        (Budget(cost=Decimal("0.5")), Budget(cost=Decimal("0.1"))),
        (Budget(tokens=125_000), Budget(tokens=1)),
        (Budget(wall_s=8), Budget(wall_s=0.5)),
    ],
    ids=["model calls", "cost", "tokens", "time"],
)
async def test_a_run_goes_on_with_what_is_granted_on_top(budget: Budget, more: Budget) -> None:
    clock = HandClock()
    steps = (QUARTER, QUARTER, "It ties.")
    async with working(budget, *steps, clock=clock, slow_us=4 * SECOND) as (_, session, _model):
        assert (await session.ask("Go.")).why == "budget"
        clock.at += 86_400 * SECOND  # a day in which nobody works on it
        result = await (await session.resume("s.1", more=more)).result()
    assert (result.why, result.answer) == ("answered", "It ties.")


async def test_an_answer_that_uses_the_last_of_a_budget_is_an_answer() -> None:
    async with working(Budget(model_calls=1), "It ties.") as (_, session, _model):
        assert (await session.ask("Go.")).answered


async def test_an_answer_in_doubt_is_not_sent_back_when_nothing_is_left_to_correct_it() -> None:
    model, limits = Scripted(["It closed at 12.50 GBP."]), Limits(budget=Budget(model_calls=1))
    async with Engine(model, limits=limits, check="required", outside=outside()) as engine:
        result = await engine.ask("What did it close at?")
    assert (result.why, [figure.text for figure in result.unlinked]) == ("answered", ["12.50 GBP"])


async def test_verification_time_counts_from_the_first_answer_in_doubt_on() -> None:
    clock = HandClock()

    @tool(effect=Effect.READ)
    async def look() -> str:
        """Looks, for four seconds."""
        clock.at += 4 * SECOND
        return "seen"

    doubtful = "It closed at 12.50 GBP."
    looks = Step(calls=[LOOK])
    model, limits = Scripted([looks, doubtful, looks, "It ties."]), Limits(budget=Budget(verify_s=3))
    system = [FunctionNamespace("sys", [look])]
    async with Engine(model, system, limits=limits, check="required", outside=outside(clock)) as engine:
        session = engine.session("s")
        stopped = await session.ask("What did it close at?")
        clock.at += 86_400 * SECOND  # a day in which nobody works on it
        result = await (await session.resume("s.1", more=Budget(verify_s=2))).result()
    assert stop_of(stopped) == ("budget", "the budget of 3 seconds of verification is used up (4 spent)")
    assert (result.why, result.answer) == ("answered", "It ties.")


async def test_without_verification_time_an_answer_in_doubt_is_not_sent_back() -> None:
    steps = [Step(calls=[Call("tasks", {"items": []})]), "It closed at 12.50 GBP."]
    model, limits = Scripted(steps), Limits(budget=Budget(verify_s=0))
    async with Engine(model, limits=limits, check="required", outside=outside()) as engine:
        result = await engine.ask("What did it close at?")
    assert (result.why, [figure.text for figure in result.unlinked]) == ("answered", ["12.50 GBP"])


async def test_an_unknown_cost_stops_a_run_with_a_budget_of_money_until_somebody_lets_it_pass() -> None:
    steps = (QUARTER, QUARTER, "Done.")
    async with working(Budget(cost=Decimal(5)), *steps, name="homemade") as (
        _,
        session,
        model,
    ):
        result = await session.ask("Go.")
        assert (result.why, len(model.requests)) == ("budget", 1)
        assert "the cost of 1 model calls is not known, so the budget of 5 US dollars" in result.detail
        assert (await resumed(session)).why == "budget"
        result = await (await session.resume("s.1", more=Budget(cost=Decimal(1)))).result()
        assert (result.why, len(model.requests)) == ("budget", 2)  # the next one is not known either
        result = await (await session.resume("s.1", more=Budget(cost=Decimal(0)))).result()
        assert (result.answer, result.cost) == ("Done.", None)


async def test_calls_beyond_the_budget_are_not_executed_and_each_has_its_result() -> None:
    steps = (Step(calls=[LOOK] * 2), Step(calls=[LOOK] * 3), Step(calls=[LOOK]), "Done.")
    async with working(Budget(tool_calls=3), *steps) as (engine, session, _):
        assert (await session.ask("Go.")).answered
        state = await state_of(engine, "s")
    results = [one for message in state.conversation.messages for one in message.results]
    refused = prompt("no_calls", granted="3")
    assert [(one.call, one.content) for one in results] == [
        ("1.1", "seen"),
        ("1.2", "seen"),
        ("2.1", "seen"),
        ("2.2", refused),
        ("2.3", refused),
        ("3.1", refused),
    ]
    assert spent_of(state).tool_calls == 3


async def test_the_calls_of_a_reply_that_was_cut_use_nothing_up() -> None:
    steps = (Step(calls=[LOOK] * 2, stop="length"), Step(calls=[LOOK] * 2), "Done.")
    async with working(Budget(tool_calls=2), *steps) as (engine, session, _):
        assert (await session.ask("Go.")).answered
        state = await state_of(engine, "s")
    results = [one for message in state.conversation.messages for one in message.results]
    assert [one.content == "seen" for one in results] == [False, False, True, True]


async def test_calls_granted_on_top_are_executed_and_refused_ones_used_nothing_up() -> None:
    calls = Step(calls=[LOOK] * 3)
    async with working(Budget(tool_calls=1, model_calls=1), calls, calls, "Done.") as (engine, session, _):
        assert (await session.ask("Go.")).why == "budget"
        more = Budget(tool_calls=2, model_calls=5)
        assert (await (await session.resume("s.1", more=more)).result()).answered
        state = await state_of(engine, "s")
    results = [one for message in state.conversation.messages for one in message.results]
    assert [one.content == "seen" for one in results] == [True, False, False, True, True, False]


async def test_questions_beyond_the_budget_are_not_put_to_anybody() -> None:
    asks = [Call("ask_user", {"question": f"Which month, {n}?"}) for n in range(3)]
    steps = [Step(calls=asks), Step(calls=asks[:1]), "Done."]
    people = People(steps, limits=Limits(budget=Budget(questions=2)))
    async with people.session() as session:
        result = await session.ask("Go.")
        assert [one.call for one in result.questions] == ["1.1", "1.2"]
        for call in ("1.1", "1.2"):
            await session.answer(call, f"to {call}")
        assert (await resumed(session)).answered
    told = prompt("no_questions")
    assert await people.contents() == ["to 1.1", "to 1.2", told, told]


async def test_time_in_which_a_person_is_waited_for_is_not_spent() -> None:
    people = People([Step(calls=[pay("Acme")]), "Paid."], limits=Limits(budget=Budget(wall_s=60)))
    async with people.session() as session:
        assert (await session.ask("Pay.")).why == "waiting"
        people.clock.at += 86_400 * SECOND
        await session.approve("1.1")
        assert (await resumed(session)).answered
    assert spent_of(await people.state()).wall_s == 0


@pytest.mark.parametrize("retries", [0, 2])
async def test_failed_calls_are_tried_again_as_often_as_the_budget_says(retries: int) -> None:
    script = Attempts([HttpError(529)] * (retries + 2) + [Answer([Text("Done.")])])
    with Loopback([script]) as server:
        limits = Limits(budget=Budget(retries=retries), retry=RetryPolicy(attempts=20))
        async with Engine(Claude(server), limits=limits, outside=outside()) as engine:
            session = engine.session("s")
            seen = [await session.ask("Go."), await resumed(session)]
            told = f"the budget of {retries} retries is used up ({retries} spent)"
            assert [(stop_of(one), one.retries) for one in seen] == [(("budget", told), retries + 1)] * 2
            last = await (await session.resume("s.1", more=Budget(retries=2))).result()
    assert (last.answer, last.retries) == ("Done.", retries + 2)


async def test_what_is_left_is_told_at_a_half_a_quarter_and_a_tenth_once_each() -> None:
    steps = [*(Step(calls=[LOOK]) for _ in range(10)), "Done."]
    async with working(Budget(tool_calls=10, model_calls=11), *steps) as (engine, session, _):
        assert (await session.ask("Go.")).answered
        notes = notes_of(await state_of(engine, "s"))
    calls = [note for note in notes if "tool calls" in note]
    assert calls == [
        f"{left} of 10 tool calls are left. Plan for an answer within them." for left in (5, 2, 1)
    ]
    assert [note.split()[0] for note in notes if "model calls" in note] == ["5", "2", "1"]


async def test_the_words_of_the_person_who_resumes_are_the_next_that_the_model_reads() -> None:
    async with working(Budget(model_calls=1), QUARTER, "Done.") as (_, session, model):
        await session.ask("Go.")
        more = Budget(model_calls=1)
        going = await session.resume("s.1", more=more, guidance="Look at fees only.", by="ann")
        assert (await going.result()).answered
        users = [message.text for message in model.requests[-1].view if message.role == "user"]
        assert users[-1] == "Look at fees only."
        with pytest.raises(NotOpen, match="it has answered"):
            await session.resume("s.1", guidance="And the rest?")


async def test_what_was_granted_outlives_a_kill() -> None:
    store = MemoryStore()
    limits = Limits(budget=Budget(model_calls=1))
    system = FunctionNamespace("sys", People([]).till.tools())
    steps = [Step(calls=[LOOK]), Step(calls=[LOOK]), "Done."]
    async with Engine(Scripted(steps), [system], store=store, limits=limits, outside=outside()) as engine:
        await engine.session("s").ask("Go.")
        more = Budget(model_calls=1)
        assert (await (await engine.resume("s.1", more=more)).result()).why == "budget"
        state = await state_of(engine, "s")
    assert (state.current.budget, spent_of(state).model_calls) == (Budget(model_calls=2), 2)


@pytest.mark.parametrize("wrong", [{"tokens": -1}, {"cost": Decimal("NaN")}, {"wall_s": float("inf")}])
def test_a_budget_that_bounds_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=f"the budget's {next(iter(wrong))} cannot be"):
        Budget(**wrong)


def test_more_is_added_only_where_something_is_limited() -> None:
    granted = Budget(tokens=5, cost=Decimal("1.5")) + Budget(tokens=2, model_calls=7)
    assert granted == Budget(tokens=7, cost=Decimal("1.5"))


# Any run.

BUDGETS = st.builds(
    Budget,
    tokens=st.none() | st.integers(0, 300),
    cost=st.none() | st.decimals(0, 3, places=2),
    model_calls=st.none() | st.integers(0, 8),
    tool_calls=st.none() | st.integers(0, 8),
    wall_s=st.none() | st.floats(0, 60, allow_nan=False),
    retries=st.none() | st.integers(0, 3),
)
"""What any host may say."""


class Said(NamedTuple):
    """What a model call comes to."""

    calls: int
    usage: Usage
    cost: Decimal
    fails: bool


SAID = st.builds(
    Said,
    calls=st.integers(0, 4),
    usage=st.builds(Usage, st.integers(0, 60)),
    cost=st.decimals(0, 1, places=2),
    fails=st.integers(0, 3).map(lambda chance: chance == 0),
)


class Told:
    """A run of a model that says what hypothesis says."""

    def __init__(self, budget: Budget, says: st.DataObject) -> None:
        limits = Limits(iterations=1_000, budget=budget, freeze_at=None)
        self.state, self._says = State(), says
        self.asked: list[Spent] = []
        """What was spent each time the model was asked."""
        self.take(Opened("m", "f", "s", "c", {}), Began(USER, limits), Resumed("me"))

    def take(self, *facts: Fact, after_s: int = 0) -> None:
        at = (self.state.at or HandClock().at) + after_s * SECOND
        for fact in facts:
            assert unrecordable(fact) == ""
            apply(self.state, Row(self.state.seq + 1, "s.1", at, fact))

    def drive(self) -> Stopped:
        for _ in range(40):
            step = next_step(self.state)
            if isinstance(step, Stopped):
                self.take(step)
                return step
            self._follow(step)
        return Stopped("answered")

    def _follow(self, step: NextStep) -> None:
        took = self._says.draw(st.integers(0, 20))
        match step:
            case Ask():
                self.asked.append(spent_of(self.state))
                self.take(self._said(), after_s=took)
            case Execute(calls):
                beyond = self.state.current.beyond
                for call in calls:
                    result = ToolResult(call.id, f"x{call.id}", error=call.id in beyond)
                    self.take(Settled(result, "sys__it"), after_s=took)
            case Wait():
                self.take(Waited(), after_s=took)
            case Noted():
                self.take(step)
            case _:
                raise AssertionError(step)

    def _said(self) -> Replied | Faulted:
        said = self._says.draw(SAID)
        if said.fails:
            return Faulted("transient", "busy", usage=said.usage, cost=said.cost)
        turn = self.state.turn + 1
        calls = tuple(ToolCall(f"{turn}.{n}", "it", {"turn": turn}) for n in range(1, said.calls + 1))
        words = () if calls else (Words("So."),)
        reply = Reply(Message("assistant", (*words, *calls)), "tools" if calls else "end", said.usage)
        return Replied(reply, said.cost)


@given(BUDGETS, st.data())
def test_no_model_is_asked_once_a_budget_is_used_up(budget: Budget, says: st.DataObject) -> None:
    told = Told(budget, says)
    told.drive()
    for spent in told.asked:
        assert budget.tokens is None or spent.tokens < budget.tokens
        assert budget.cost is None or spent.cost < budget.cost
        assert budget.model_calls is None or spent.model_calls < budget.model_calls
        assert budget.wall_s is None or spent.wall_s < budget.wall_s
        assert budget.retries is None or spent.retries <= budget.retries
    assert budget.tool_calls is None or spent_of(told.state).tool_calls <= budget.tool_calls


@given(BUDGETS, st.data())
def test_each_call_has_one_result_and_those_within_the_budget_were_made(
    budget: Budget, says: st.DataObject
) -> None:
    told = Told(budget, says)
    told.drive()
    messages = told.state.conversation.messages
    asked = [call.id for message in messages for call in message.calls]
    results = [one for message in messages for one in message.results]
    if not told.state.current.calls:
        assert [one.call for one in results] == asked
        assert sum(not one.error for one in results) == spent_of(told.state).tool_calls


@given(BUDGETS, st.data())
def test_any_budget_stop_repeats_itself_without_more_and_ends_with_more(
    budget: Budget, says: st.DataObject
) -> None:
    told = Told(budget, says)
    stop = told.drive()
    if stop.why != "budget":
        return
    asked = len(told.asked)
    told.take(Resumed("me"), after_s=86_400)
    assert (told.drive(), len(told.asked)) == (stop, asked)
    plenty = Budget(10_000, Decimal(1_000), 1_000, 1_000, 1e6, 1_000, 1_000)
    told.take(Resumed("me", 0, plenty))
    told.drive()
    assert len(told.asked) > asked
