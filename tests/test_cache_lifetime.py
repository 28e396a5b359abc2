"""What is cached lives as long as was planned, and the engine knows from time alone when it is cold."""

import pytest
from inline_snapshot import snapshot

from caches import ASKING, LOOKS, Kept, answers, kept, markers, outcomes
from loopback import Answer, ToolUse
from offing.engine import MemoryStore
from offing.engine.errors import ConfigurationError
from offing.engine.lifetimes import Caching, KeepWarm
from offing.engine.state import State
from offing.engine.warmth import is_cold, is_frame_cold
from worlds import HandClock, state_of


def plans(world: Kept) -> list[str]:
    return [markers(seen.json) for seen in world.server.requests]


async def test_markers_ask_for_five_minutes_where_no_pause_is_likely() -> None:
    async with kept(LOOKS, Answer([ToolUse("sys__look", {}) for _ in range(12)]), answers()) as world:
        await world.engine.session("s").ask("Go.")
        assert plans(world) == snapshot(
            [
                "system.0=5m system.1=5m messages.0.0=5m",
                "system.0=5m system.1=5m messages.2.0=5m",
                "system.0=5m system.1=5m messages.2.0=5m messages.4.11=5m",
            ]
        )


async def test_markers_of_the_first_two_layers_ask_for_an_hour_where_calls_need_a_person() -> None:
    async with kept(LOOKS, answers(), approvals=ASKING) as world:
        waiting = await world.engine.session("s").ask("Go.")
        await world.engine.inbox.approve(waiting.run, "1.1")
        world.passes(10)
        await (await world.engine.resume(waiting.run)).result()
        assert plans(world) == snapshot(
            ["system.0=1h system.1=1h messages.0.0=5m", "system.0=1h system.1=1h messages.2.0=5m"]
        )


async def test_a_session_that_has_paused_plans_for_the_next_pause_when_it_writes_anew() -> None:
    async with kept(*[answers()] * 5) as world:
        session = world.engine.session("s")
        for minutes in (0, 4, 6, 50, 70):
            world.passes(minutes)
            await session.ask(f"After {minutes} minutes.")
        heads = [" ".join(plan.split()[:2]) for plan in plans(world)]
        assert heads == snapshot(
            [
                "system.0=5m system.1=5m",
                "system.0=5m system.1=5m",
                "system.0=1h system.1=1h",
                "system.0=1h system.1=1h",
                "system.0=1h system.1=1h",
            ]
        )
        assert outcomes(await world.cached()) == snapshot(["first", "hit", "expired", "expired", "expired"])


@pytest.mark.parametrize(
    ("minutes", "history", "frame"),
    [(4, False, False), (6, True, False), (50, True, False), (70, True, True)],
)
async def test_the_engine_knows_when_a_cache_is_cold_and_the_provider_agrees(
    minutes: int, *, history: bool, frame: bool
) -> None:
    async with kept(LOOKS, answers(), answers(), caching=Caching("1h")) as world:
        session = world.engine.session("s")
        await session.ask("Go.")
        before = (await world.told())[-1]
        world.passes(minutes)
        state = await state_of(world.engine, "s")
        assert not is_cold(state)  # nothing has been recorded since, so that no time has passed for it
        state.at += minutes * 60_000_000
        assert (is_cold(state), is_frame_cold(state)) == (history, frame)
        await session.ask("And now?")
        usage = (await world.told())[-1]
    assert (usage.cache_read < before.cached, usage.cache_read == 0) == (history, frame)


async def test_a_cache_is_cold_for_another_model_and_not_before_the_first_request() -> None:
    async with kept(answers(), answers()) as world:
        await world.engine.session("s").ask("Go.")
        state = await state_of(world.engine, "s")
    assert not is_cold(state)
    state.model = "anthropic:claude-sonnet-5-5"
    assert is_cold(state)
    assert not is_cold(State())


async def test_a_resume_plans_what_was_planned_whatever_the_host_says_by_then() -> None:
    store, clock = MemoryStore(), HandClock()
    async with kept(LOOKS, approvals=ASKING, store=store, clock=clock) as world:
        waiting = await world.engine.session("s").ask("Go.")
        planned = plans(world)
    async with kept(LOOKS, answers(), caching=Caching("5m"), store=store, clock=clock) as world:
        await world.engine.inbox.approve(waiting.run, "1.1")
        world.passes(50)
        await (await world.engine.resume(waiting.run)).result()
        planned += plans(world)
    assert [" ".join(plan.split()[:2]) for plan in planned] == ["system.0=1h system.1=1h"] * 2


def test_keeping_warm_for_nothing_is_refused() -> None:
    for times, cost in [(0, None), (1, 0)]:
        with pytest.raises(ConfigurationError, match="more than 0"):
            KeepWarm(times, cost)  # type: ignore[arg-type]
