"""Children and the provider's cache: what they share with their run, and who is kept warm while one waits."""

from caches import LOOKS, answers, kept, outcomes
from families import NO_END, strand
from loopback import Answer, ToolUse

DELEGATES = Answer([ToolUse("delegate", {"strands": [dict(strand("Look now"))]})])


async def test_a_child_reads_the_frame_that_its_run_has_left_and_asks_for_the_same_lifetime() -> None:
    replies = (answers(), DELEGATES, LOOKS, answers(), answers())
    async with kept(*replies, limits=NO_END) as world:
        session = world.engine.session("s")
        await session.ask("Hello.")
        world.passes(10)
        result = await session.ask("Go.")
        cached, told = await world.cached(), await world.told()
    assert [one.lifetime for one in cached] == ["5m", "1h", "1h", "1h", "1h"]
    assert outcomes(cached) == ["first", "expired", "first", "hit", "hit"]
    assert told[2].cache_write_1h == 0
    assert 0 < told[2].cache_read < told[1].cached
    assert result.cache.unexpected == ()
