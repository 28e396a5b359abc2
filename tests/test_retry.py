"""A failed model call is tried again by one policy, and each attempt is a fact."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopback import (
    Answer,
    Attempts,
    Drop,
    ErrorEvent,
    HttpError,
    Loopback,
    NoStop,
    Reply,
    Stall,
    Text,
    Usage,
)
from offing.engine import Engine, Limits, MemoryStore
from offing.engine.errors import FaultKind
from offing.engine.events import Delta, ModelFailed, ReplyFinished
from offing.engine.models.anthropic import Options
from offing.engine.models.retry import Decision, RetryPolicy, decide, told_wait_us
from offing.engine.store.facts import Faulted, Waited
from worlds import Claude, HandClock, outside

S = 1_000_000
NOW = HandClock().at  # Monday, 2026-09-14, 08:00 UTC
DAY = 86_400 * S


@pytest.mark.parametrize(
    ("headers", "message", "told"),
    [
        ({}, "", None),
        ({"retry-after": "30"}, "", 30 * S),
        ({"retry-after": "0"}, "", 0),
        ({"retry-after": "1.5"}, "", 1_500_000),
        ({"retry-after-ms": "250"}, "", 250_000),
        ({"retry-after-ms": "250", "retry-after": "9"}, "", 250_000),
        ({"retry-after-ms": "soon", "retry-after": "9"}, "", 9 * S),
        ({"retry-after": "259200"}, "", 3 * DAY),
        ({"retry-after": "Mon, 14 Sep 2026 08:01:30 GMT"}, "", 90 * S),
        ({"retry-after": "Monday, 14-Sep-26 08:01:30 GMT"}, "", 90 * S),
        ({"retry-after": "Thu, 17 Sep 2026 08:00:00 GMT"}, "", 3 * DAY),
        ({"retry-after": "Mon, 14 Sep 2026 07:59:00 GMT"}, "", 0),
        ({"retry-after": "2d"}, "", 2 * DAY),
        ({"retry-after": "1m30s"}, "", 90 * S),
        ({"retry-after": "500ms"}, "", 500_000),
        ({"retry-after": "-5"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "inf"}, "", None),
        ({"retry-after": "tomorrow"}, "", None),
        ({"retry-after": "9" * 400}, "", 366 * DAY),
        ({}, 'quota: {"retryDelay": "38s"}', 38 * S),
        ({}, 'quota: {"retryDelay":"0.5s"}', 500_000),
        ({"retry-after": "7"}, '{"retryDelay": "38s"}', 7 * S),
    ],
)
def test_every_form_of_a_wish_to_wait_is_read(
    headers: dict[str, str], message: str, told: int | None
) -> None:
    assert told_wait_us(headers, message, NOW) == told


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=60))
def test_whatever_a_provider_writes_there_is_a_bounded_wait_or_none(ms: str, after: str, text: str) -> None:
    told = told_wait_us({"retry-after-ms": ms, "retry-after": after}, text, NOW)
    assert told is None or 0 <= told <= 366 * DAY


POLICY = RetryPolicy(attempts=3, first_wait_s=1, most_wait_s=3, jitter=0.5, cap_s=60)


@pytest.mark.parametrize(
    ("fault", "failed", "told", "chance", "decision"),
    [
        ("transient", 1, None, 0.0, Decision("again", 1 * S)),
        ("transient", 2, None, 0.0, Decision("again", 2 * S)),
        ("transient", 3, None, 0.0, Decision("again", 3 * S)),
        ("transient", 3, None, 1.0, Decision("again", 1_500_000)),
        ("transient", 4, None, 0.0, Decision("later")),
        ("overloaded", 1, 30 * S, 0.0, Decision("again", 30 * S)),
        ("rate limited", 1, 60 * S, 0.0, Decision("again", 60 * S)),
        ("rate limited", 1, 61 * S, 0.0, Decision("later", 61 * S)),
        ("rate limited", 1, 3 * DAY, 0.0, Decision("later", 3 * DAY)),
        ("rate limited", 4, 5 * S, 0.0, Decision("later", 5 * S)),
        ("cut", 2, 0, 0.0, Decision("again", 2 * S)),
        ("too long", 1, None, 0.0, Decision("window")),
        ("invalid", 1, 5 * S, 0.0, Decision("never")),
        ("auth", 1, None, 0.0, Decision("never")),
        ("quota", 1, 5 * S, 0.0, Decision("never")),
    ],
)
def test_the_decision_about_a_failure(
    fault: FaultKind, failed: int, told: int | None, chance: float, decision: Decision
) -> None:
    assert decide(POLICY, fault, failed=failed, told_us=told, chance=chance) == decision


DONE = Answer([Text("Done.")])
HALF = Answer([Text("Half of an answer that never", deltas=8)], usage=Usage(input_tokens=50, output_tokens=9))


@pytest.mark.parametrize(
    "fault",
    [
        HttpError(529, "overloaded_error", "Overloaded"),
        HttpError(500),
        ErrorEvent(1, "overloaded_error", "Overloaded", HALF),
        Drop(),
        Drop(6, answer=HALF),
        NoStop(6, HALF),
        NoStop(None, HALF),
    ],
)
async def test_a_call_that_fails_twice_is_answered_in_the_third_attempt(fault: Reply) -> None:
    clock = HandClock()
    with Loopback([Attempts([fault, fault, DONE])]) as server:
        async with Engine(Claude(server), outside=outside(clock)) as engine:
            result = await engine.session("s").ask("Go.")
            facts = [row.fact async for row in engine.store.journal.read("s")]
    assert (result.answer, result.iterations, result.retries) == ("Done.", 1, 2)
    assert [type(fact) for fact in facts[3:7]] == [Faulted, Waited, Faulted, Waited]
    assert clock.slept == [500_000, 1 * S]
    assert len(server.requests) == 3
    assert len({request.body for request in server.requests}) == 1


async def test_a_half_streamed_answer_is_taken_back_before_the_next_attempt() -> None:
    with Loopback([Attempts([NoStop(6, HALF), DONE])]) as server:
        engine = Engine(Claude(server), outside=outside())
        async with engine, engine.session("s").run("Go.") as run:
            events = [event async for event in run]
    told = [e for e in events if isinstance(e, (Delta, ModelFailed, ReplyFinished))]
    kinds = [e.kind if isinstance(e, Delta) else type(e).__name__ for e in told]
    at = kinds.index("restart")
    assert set(kinds[:at]) == {"text"}
    assert kinds[at + 1 :][0] == "ModelFailed"
    assert kinds[-1] == "ReplyFinished"
    assert "restart" not in kinds[at + 1 :]
    after = [e.text for e in told[at + 2 :] if isinstance(e, Delta)]
    assert "".join(after) == "Done."


async def test_a_failure_before_anything_was_streamed_takes_nothing_back() -> None:
    with Loopback([Attempts([HttpError(529), DONE])]) as server:
        engine = Engine(Claude(server), outside=outside())
        async with engine, engine.session("s").run("Go.") as run:
            kinds = [event.kind async for event in run if isinstance(event, Delta)]
    assert "restart" not in kinds


async def test_what_failed_attempts_cost_is_counted() -> None:
    usage = Usage(input_tokens=10, output_tokens=4)
    with Loopback([Attempts([NoStop(6, HALF), Answer([Text("Done.")], usage=usage)])]) as server:
        async with Engine(Claude(server), outside=outside()) as engine:
            result = await engine.session("s").ask("Go.")
            (fault,) = [
                row.fact async for row in engine.store.journal.read("s") if isinstance(row.fact, Faulted)
            ]
    assert fault.usage.input == 50
    assert result.usage.input == 60
    assert result.cost is not None
    assert fault.cost is not None
    assert Decimal(0) < fault.cost < result.cost


async def test_a_short_wish_to_wait_is_obeyed_and_a_long_one_pauses_the_run_until_it_is_resumed() -> None:
    clock, store = HandClock(), MemoryStore()
    asks = [HttpError(429, "rate_limit_error", "slow", {"retry-after": after}) for after in ("30", "259200")]
    with Loopback([Attempts([*asks, DONE])]) as server:
        async with Engine(Claude(server), store=store, outside=outside(clock)) as engine:
            result = await engine.session("s").ask("Go.")
            assert clock.slept == [30 * S]
            assert (result.why, len(server.requests)) == ("unavailable", 2)
            assert result.detail.startswith(
                "the model is not available after 2 attempts; it asks to come back at "
                "2026-09-17 08:00:30 UTC: "
            )
            again = await (await engine.resume("s.1")).result()
    assert (again.answer, again.retries, len(server.requests)) == ("Done.", 2, 3)


async def test_an_answer_in_between_starts_the_count_of_failures_anew() -> None:
    bad = HttpError(529)
    with Loopback([Attempts([bad, bad, Answer([Text("")]), DONE])]) as server:
        limits = Limits(retry=RetryPolicy(attempts=2))
        async with Engine(Claude(server), limits=limits, outside=outside()) as engine:
            result = await engine.ask("Go.")
    assert (result.answer, result.retries) == ("Done.", 2)


async def test_a_stalled_stream_is_given_up_after_its_deadline_and_tried_again() -> None:
    with Loopback([Attempts([Stall(3, HALF), Stall(), DONE])]) as server:
        model = Claude(server, options=Options(stall_s=0.2))
        async with Engine(model, outside=outside()) as engine:
            result = await engine.session("s").ask("Go.")
            kinds = [
                row.fact.fault
                async for row in engine.store.journal.read("s")
                if isinstance(row.fact, Faulted)
            ]
    assert (result.answer, kinds) == ("Done.", ["cut", "transient"])


async def test_a_run_killed_while_it_waits_asks_again_at_once_when_resumed() -> None:
    store = MemoryStore()
    with Loopback([Attempts([HttpError(529), DONE])]) as server:
        patient = Limits(retry=RetryPolicy(first_wait_s=3600, most_wait_s=3600))
        engine = Engine(Claude(server), store=store, limits=patient)
        async with engine.session("s").run("Go.") as run:
            events = aiter(run)
            while not isinstance(await anext(events), ModelFailed):
                pass
        await engine.close()
        async with Engine(Claude(server), store=store, limits=patient) as other:
            result = await (await other.resume(run.id)).result()
    assert (result.answer, result.retries) == ("Done.", 1)
