"""A call may ask a person something: it comes back, and begins anew with the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from pydantic import JsonValue, SecretStr

from offing.compaction.conversation import ToolResult
from offing.engine import Budget, Engine, Limits, MemoryStore, Result, Scripted, Step
from offing.engine.approvals import ApprovalPolicy, ApprovalRule
from offing.engine.events import CallFinished, QuestionAsked
from offing.engine.store import Store
from offing.engine.store.people import Questioned
from offing.namespaces import Effect, FunctionNamespace, Tool, ToolContext, ToolOutput
from offing.namespaces.tool import Question
from worlds import ANY, Given, invoke, outside, state_of

SCHEMA: dict[str, JsonValue] = {"type": "object", "properties": {"day": {"type": "string"}}}


@dataclass
class Booking:
    """A system that asks for a day, as often as it is told to, and does it once."""

    rounds: int = 1
    state: object = None
    done: list[str] = field(default_factory=list[str])
    keys: set[str] = field(default_factory=set[str])

    async def book(self, arguments: Given, context: ToolContext) -> ToolOutput:
        self.keys.add(context.idempotency_key)
        said: list[str] = []
        if context.answer is not None:
            kept = context.answer.state
            assert isinstance(kept, list)
            said = [*map(str, kept), context.answer.text]
        if len(said) < self.rounds:
            state = said if self.state is None else self.state
            question = Question(f"Day {len(said) + 1}?", ("Monday",), SCHEMA, state)  # type: ignore[arg-type]
            return ToolOutput("it has to know the day", question=question)
        self.done.append(f"{dict(arguments)} {said}")
        return ToolOutput(f"booked {', '.join(said)}")

    def engine(self, *steps: Step | str, store: Store, **fields: object) -> Engine:
        tool = Tool("book", "Books.", ANY, self.book, Effect.ONCE)
        system = FunctionNamespace("sys", [tool])
        return Engine(Scripted(steps), [system], store=store, outside=outside(), **fields)  # type: ignore[arg-type]


STEPS = (Step(calls=[invoke("book", what="a room")]), "done")


async def results(engine: Engine) -> Sequence[ToolResult]:
    state = await state_of(engine, "s")
    return [one for message in state.conversation.messages for one in message.results]


async def answered(booking: Booking, store: Store, text: str, **fields: object) -> Result:
    """What the run comes to with an answer, in an engine of its own."""
    async with booking.engine(*STEPS, store=store, **fields) as engine:
        await engine.inbox.answer("s.1", "1.1", text, by="ann")
        return await (await engine.resume("s.1")).result()


async def test_a_call_that_asks_waits_and_goes_on_in_another_engine() -> None:
    booking, store = Booking(rounds=2), MemoryStore()
    async with booking.engine(*STEPS, store=store) as engine:
        result = await engine.session("s").ask("Go.")
        assert (result.why, result.detail) == ("waiting", "waits for an answer to 1.1: Day 1?")
        assert result.questions == (Questioned("1.1", "Day 1?", ("Monday",), SCHEMA, []),)
    second = await answered(booking, store, "Monday")
    assert second.questions == (Questioned("1.1", "Day 2?", ("Monday",), SCHEMA, ["Monday"]),)
    assert (await answered(booking, store, "Friday")).answered
    assert booking.done == ["{'what': 'a room'} ['Monday', 'Friday']"]
    assert len(booking.keys) == 1
    async with booking.engine(store=store) as engine:
        assert await results(engine) == [ToolResult("1.1", "booked Monday, Friday")]


async def test_a_host_that_shows_forms_is_told_the_schema() -> None:
    booking = Booking()
    async with booking.engine(*STEPS, store=MemoryStore()) as engine, engine.session("s").run("Go.") as run:
        asked = [event async for event in run if isinstance(event, QuestionAsked)]
    assert asked == [QuestionAsked(asked[0].seq, "s.1", "1.1", "Day 1?", ("Monday",), SCHEMA)]


async def test_a_call_that_was_approved_is_not_approved_again_when_it_goes_on() -> None:
    booking, store = Booking(), MemoryStore()
    asking = ApprovalPolicy((ApprovalRule("sys__book", "ask"),))
    async with booking.engine(*STEPS, store=store, approvals=asking) as engine:
        session = engine.session("s")
        await session.ask("Go.")
        await session.approve("1.1")
        result = await (await session.resume("s.1")).result()
        assert [one.question for one in result.questions] == ["Day 1?"]
    assert (await answered(booking, store, "Monday", approvals=asking)).answered
    assert booking.done == ["{'what': 'a room'} ['Monday']"]


async def test_two_calls_that_ask_at_once_do_not_ask_beyond_the_budget() -> None:
    booking = Booking()
    calls = [invoke("book", what=str(place)) for place in range(3)]
    limits = Limits(budget=Budget(questions=2))
    store = MemoryStore()
    async with booking.engine(Step(calls=calls), "done", store=store, limits=limits) as engine:
        result = await engine.session("s").ask("Go.")
        assert [one.call for one in result.questions] == ["1.1", "1.2"]
        state = await state_of(engine, "s")
        refused = state.current.results["1.3"]
    assert refused.error
    assert refused.content.startswith("it has to know the day\nNobody was asked: no further questions")


async def test_a_run_that_is_cancelled_while_it_asks_does_not_go_on() -> None:
    booking, store = Booking(), MemoryStore()
    async with booking.engine(*STEPS, store=store) as engine:
        session = engine.session("s")
        await session.ask("Go.")
        await session.cancel()
        assert (await (await session.resume("s.1")).result()).why == "cancelled"
    assert booking.done == []


@pytest.mark.parametrize("state", [object(), "x" * 200_001, {"a": float("nan")}])
async def test_a_question_that_cannot_be_kept_is_an_error_of_the_call(state: object) -> None:
    booking = Booking(state=state)
    async with booking.engine(*STEPS, store=MemoryStore()) as engine:
        assert (await engine.session("s").ask("Go.")).answered
        (result,) = await results(engine)
    assert result.error
    assert result.content.startswith("it has to know the day\nNobody can be asked: ")


async def test_a_question_quotes_no_credential() -> None:
    async def leak(arguments: Given, context: ToolContext) -> ToolOutput:
        secret = context.credentials["token"].get_secret_value()
        return ToolOutput("", question=Question(f"Is {secret} right?", (secret,), None, {"sent": secret}))

    tool = Tool("leak", "Leaks.", ANY, leak, Effect.READ)
    model = Scripted([Step(calls=[invoke("leak")])])
    async with Engine(model, [FunctionNamespace("sys", [tool])], outside=outside()) as engine:
        session = engine.session("s", credentials={"sys": {"token": SecretStr("hush-hush-secret")}})
        result = await session.ask("Go.")
    assert result.questions == (
        Questioned("1.1", "Is [secret] right?", ("[secret]",), None, {"sent": "[secret]"}),
    )


@pytest.mark.parametrize(
    ("effect", "outcome", "content"),
    [
        (
            Effect.ONCE,
            "unknown",
            "Outcome unknown: sys__it was started and did not come to an end (the line broke). It may have "
            "taken effect. Inspect before repeating.",
        ),
        (Effect.REPEATABLE, "failed", "the line broke"),
        (Effect.READ, "failed", "the line broke"),
    ],
)
async def test_a_tool_may_say_that_its_outcome_is_unknown(
    effect: Effect,
    outcome: str,
    content: str,
) -> None:
    async def broken(arguments: Given, context: ToolContext) -> ToolOutput:
        return ToolOutput("the line broke", error=True, unknown=True)

    system = FunctionNamespace("sys", [Tool("it", "Does it.", ANY, broken, effect)])
    model = Scripted([Step(calls=[invoke("it")]), "done"])
    async with (
        Engine(model, [system], outside=outside()) as engine,
        engine.session("s").run("Go.") as run,
    ):
        finished = [event async for event in run if isinstance(event, CallFinished)]
    assert [(one.unknown, one.error, one.content) for one in finished] == [
        (outcome == "unknown", True, content)
    ]
