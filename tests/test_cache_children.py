"""Children and the provider's cache: what they share with their run, and who is kept warm while one waits."""

from caches import ASKING, LOOKS, MINUTE_US, answers, kept, outcomes
from families import NO_END, strand
from loopback import Answer, Seen, ToolUse, in_order
from offing.engine.breakers import worked_s
from offing.engine.cli.journal.cached import cache_lines
from offing.engine.history.parts import totals_of
from offing.engine.lifetimes import Caching, KeepWarm
from offing.engine.store.cached import Warmed
from offing.engine.store.facts import Replied
from worlds import HandClock, state_of

DELEGATES = Answer([ToolUse("delegate", {"strands": [dict(strand("Look now"))]})])


async def test_a_child_reads_the_frame_that_its_run_has_left_and_asks_for_the_same_lifetime() -> None:
    replies = (answers(), DELEGATES, LOOKS, answers(), answers())
    async with kept(script=in_order(replies), limits=NO_END) as world:
        session = world.engine.session("s")
        await session.ask("Hello.")
        world.passes(10)
        result = await session.ask("Go.")
        cached, told = await world.cached(), await world.told()
        rows = [row async for row in world.engine.store.journal.read("s")]
    assert [one.lifetime for one in cached] == ["5m", "1h", "1h", "1h", "1h"]
    assert outcomes(cached) == ["first", "expired", "first", "hit", "hit"]
    assert told[2].cache_write_1h == 0
    assert 0 < told[2].cache_read < told[1].cached
    assert result.cache.unexpected == ()
    told_of = {
        run: [line.split()[0] for line in cache_lines(rows, run)[1:-1]] for run in ("s.2", "s.2.2.1.1")
    }
    assert told_of == {"s.2": ["2", "3"], "s.2.2.1.1": ["1", "2"]}


async def test_a_child_that_waits_is_kept_warm_with_its_run_and_the_wait_is_nobodys_time() -> None:
    keep = Caching(keep_warm=KeepWarm(times=2, cost=None))
    replies = (DELEGATES, LOOKS, *[answers()] * 9)  # readings take one each
    async with kept(script=in_order(replies), limits=NO_END, approvals=ASKING, caching=keep) as world:
        session = world.engine.session("s")
        waiting = await session.ask("Go.")
        assert [one.call for one in waiting.approvals] == ["1.1.1.1.1"]
        await session._warmth.ended()  # pyright: ignore[reportPrivateUsage]
        rows = [row async for row in world.engine.store.journal.read("s")]
        state = await state_of(world.engine, "s")
        child = state.children["s.1.1.1.1"]
        idle = (worked_s(state), worked_s(child))
        await world.engine.inbox.approve(waiting.run, "1.1.1.1.1")
        world.passes(4)
        result = await (await world.engine.resume(waiting.run)).result()
        after = await state_of(world.engine, "s")
        cached = await world.cached()
    warmed = [(row.run, row.fact.usage.cache_read > 0) for row in rows if isinstance(row.fact, Warmed)]
    assert warmed == [("s.1", True), ("s.1.1.1.1", True)] * 2
    assert (idle, worked_s(after)) == ((0, 0), 0)
    assert outcomes(cached) == ["first", "first", "hit", "hit"]
    costs = [row.fact.cost for row in rows if isinstance(row.fact, Warmed | Replied)]
    assert result.answered
    assert result.cost is not None
    assert result.cost > sum(cost or 0 for cost in costs)
    assert totals_of(rows, "s.1").cost == sum(cost or 0 for cost in costs)


async def test_a_child_that_waits_is_warm_though_its_run_is_cold_by_then() -> None:
    """A run that has long handed its work on is not read again: there is nothing left to be kept."""
    keep, clock = Caching(keep_warm=KeepWarm(times=1, cost=None)), HandClock()

    def late(seen: Seen) -> Answer:
        is_child = len(seen.json["messages"]) == 1 and "Look now" in str(seen.json["messages"])
        clock.at += 0 if is_child else 6 * MINUTE_US
        return LOOKS if is_child else DELEGATES

    async with kept(script=late, clock=clock, limits=NO_END, approvals=ASKING, caching=keep) as world:
        session = world.engine.session("s")
        await session.ask("Go.")
        await session._warmth.ended()  # pyright: ignore[reportPrivateUsage]
        rows = [row async for row in world.engine.store.journal.read("s")]
    assert [row.run for row in rows if isinstance(row.fact, Warmed)] == ["s.1.1.1.1"]
