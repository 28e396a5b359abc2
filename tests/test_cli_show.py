"""`offing show` on what the engine did by itself: what left the prompt, what the cache did, what it ended."""

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import get_args

from inline_snapshot import snapshot

from caches import LOOKS, answers, kept
from command import offing_here
from loopback import Reply, Seen
from offing.compaction.conversation import Digest, Message, Pass, Text
from offing.engine import Limits, SqliteStore
from offing.engine.cli.journal.cached import cache_lines
from offing.engine.cli.journal.timeline import UNTOLD, lines_of, tells
from offing.engine.models.model import Reply as ModelReply
from offing.engine.store.cached import Cached, Warmed
from offing.engine.store.facts import Compacted, Fact, Replied
from offing.engine.store.journal import Row
from offing.engine.store.strands import Overdue
from offing.tracing import Usage


async def shown(*arguments: str) -> str:
    """What `offing show` says; it has an event loop of its own."""
    said = await asyncio.to_thread(offing_here, "show", *arguments)
    assert (said.returncode, said.stderr) == (0, "")
    return said.stdout


def test_every_fact_is_told_or_known_to_say_nothing() -> None:
    assert [kind for kind in get_args(Fact) if tells(kind) == (kind in UNTOLD)] == []


def test_what_a_person_did_not_ask_for_is_told_in_a_line_or_two() -> None:
    facts = (
        Warmed(Usage(input=0, output=0, cache_read=12_000), Decimal("0.0060")),
        Overdue(),
        Compacted(
            Pass(40, digest=Digest("...", 30, ())),
            "cold",
            90_000,
            40_000,
            writer="rule",
            problem="the model\ngave none",
            calls=1,
            cost=None,
        ),
    )
    told = [line for fact in facts for line in lines_of(Row(1, "s.1", 0, fact))]
    assert told == snapshot(
        [
            "       kept warm: 12,000 tokens read from the cache, $0.0060",
            "    ! its time is up",
            "       room was made, since the cache was cold anyway: about 90,000 tokens became 40,000, cost unknown",  # noqa: E501
            "       a digest stands for 30 messages, written by rule: the model gave none",
        ]
    )


async def test_what_the_cache_did_is_shown_request_by_request(tmp_path: Path) -> None:
    place = str(tmp_path / "work.db")
    async with kept(LOOKS, answers(), answers(), store=SqliteStore(place)) as world:
        session = world.engine.session("s")
        await session.ask("Go.")
        world.passes(6)
        await session.ask("And now?")
        told = await world.told()
    head, line, total = (await shown("s.2", "--cache", "--store", place)).splitlines()
    assert head.split()[:3] == ["reply", "after", "prompt"]
    assert line.split()[:4] == ["3", "6:00", f"{told[2].prompt:,}", "0"]
    assert line.endswith("the lifetime was over")
    assert total.startswith("1 requests: 0% of ")


async def test_a_pass_is_told_where_it_was_made(tmp_path: Path) -> None:
    place, left = str(tmp_path / "work.db"), iter([LOOKS] * 8)

    def script(seen: Seen) -> Reply:
        return next(left, answers()) if seen.json and seen.json.get("tools") else answers("A digest.")

    limits = Limits(window=8_000, reply_tokens=1_000)
    async with kept(script=script, limits=limits, store=SqliteStore(place)) as world:
        result = await world.engine.session("s").ask("Go.")
    lines = (await shown("s.1", "--store", place)).splitlines()
    assert f"{result.iterations} iterations" in lines[1]
    made = [number for number, line in enumerate(lines) if "room was made, since the window was" in line]
    assert made != []
    assert all("stubs" in lines[number + 1] or "a digest" in lines[number + 1] for number in made)


def test_a_strands_requests_are_compared_with_its_own() -> None:
    def row(seq: int, run: str) -> Row:
        reply = ModelReply(Message("assistant", (Text("x"),)), "end", Usage(input=10, output=1))
        cached = Cached("m", "5m", 3, ("t", "c", "h"), "hit")
        return Row(seq, run, seq * 1_000_000, Replied(reply, cached=cached))

    rows = [row(1, "s.1"), row(2, "s.1.1.1.1"), row(7, "s.1.1.1.1"), row(9, "s.1"), row(19, "s.2")]
    numbered = [line.split()[:2] for line in cache_lines(rows, "s.1.1.1.1")[1:-1]]
    assert numbered == [["1", "10"], ["2", "0:05"]]
    assert [line.split()[:2] for line in cache_lines(rows, "s.2")[1:-1]] == [["3", "0:10"]]
