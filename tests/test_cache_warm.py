"""A session that waits is kept warm on request, within bounds, and says what that cost."""

from decimal import Decimal

import pytest

from caches import ASKING, LOOKS, Kept, answers, kept
from offing.engine import Engine, Scripted
from offing.engine.errors import ConfigurationError
from offing.engine.events import CacheWarmed, event_of
from offing.engine.lifetimes import Caching, KeepWarm
from offing.engine.store.cached import Warmed
from offing.tracing import Usage
from worlds import outside, state_of


async def warmed(world: Kept) -> list[Warmed]:
    """What was recorded once nothing is kept warm any more."""
    await world.engine.session("s")._warmth.ended()
    facts = [row.fact async for row in world.engine.store.journal.read("s")]
    return [fact for fact in facts if isinstance(fact, Warmed)]


async def test_a_run_that_waits_is_read_again_shortly_before_its_cache_is_cold() -> None:
    keep = Caching(keep_warm=KeepWarm(times=3, cost=None))
    async with kept(LOOKS, answers(), approvals=ASKING, caching=keep) as world:
        waiting = await world.engine.session("s").ask("Go.")
        facts = await warmed(world)
        first, *pings = world.server.requests
        assert [fact.usage for fact in facts] == [Usage(cache_read=facts[0].usage.prompt)] * 3
        assert [ping.json["max_tokens"] for ping in pings] == [0, 0, 0]
        assert {len(ping.json["messages"]) for ping in pings} == {len(first.json["messages"])}
        assert world.clock.slept == [270_000_000] * 3
        await world.engine.inbox.approve(waiting.run, "1.1")
        world.passes(4)
        result = await (await world.engine.resume(waiting.run)).result()
    assert result.answered
    assert result.cache.warmed == 3
    assert result.cache.misses == ()
    # 0.2 US dollars a million tokens read, by the catalog of prices
    assert facts[0].cost == facts[0].usage.cache_read * Decimal("0.0000002")
    assert result.cost is not None
    assert result.cost > sum(fact.cost or 0 for fact in facts)


async def test_keeping_warm_is_off_unless_it_is_asked_for() -> None:
    async with kept(answers()) as world:
        await world.engine.session("s").ask("Go.")
        assert await warmed(world) == []


async def test_money_bounds_it() -> None:
    keep = Caching(keep_warm=KeepWarm(times=50, cost=Decimal("0.0000001")))
    async with kept(answers(), caching=keep) as world:
        await world.engine.session("s").ask("Go.")
        assert len(await warmed(world)) == 1


async def test_what_is_waited_is_no_time_of_the_run() -> None:
    keep = Caching(keep_warm=KeepWarm(times=2, cost=None))
    async with kept(answers(), caching=keep) as world:
        await world.engine.session("s").ask("Go.")
        await warmed(world)
        state = await state_of(world.engine, "s")
    assert state.current.idle_us == 2 * 270_000_000
    assert state.current.warmed == 2


async def test_it_ends_when_another_process_works_on_the_session() -> None:
    keep = Caching(keep_warm=KeepWarm(times=5, cost=None))
    async with kept(answers(), caching=keep) as world:
        session = world.engine.session("s")
        await session.ask("Go.")
        await session._warmth.let_go()
        lease = await world.engine.store.journal.acquire("s")
        session._warmth.keep(session._waiting(), keep.keep_warm, world.clock)
        known = len(await warmed(world))
        await world.engine.store.journal.release(lease)
    assert known == 0


async def test_watchers_are_told() -> None:
    keep = Caching(keep_warm=KeepWarm(times=1))
    async with kept(answers(), caching=keep) as world:
        await world.engine.session("s").ask("Go.")
        (fact,) = await warmed(world)
        rows = [row async for row in world.engine.store.journal.read("s")]
    event = event_of(rows[-1])
    assert event == CacheWarmed(rows[-1].seq, "s.1", fact.usage, fact.cost)


async def test_a_model_that_cannot_do_it_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="cannot keep a prompt warm"):
        Engine(Scripted([]), caching=Caching(keep_warm=KeepWarm()), outside=outside())
