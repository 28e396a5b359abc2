"""The audit says what the provider's cache did, in the provider's own numbers, and why it missed."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caches import LOOKS, SYSTEM, answers, kept, outcomes
from loopback import Answer, Loopback, PromptCache, Reply, Seen
from loopback_prompt import rendered
from offing.compaction.conversation import Message
from offing.engine import Engine, Limits, MemoryStore
from offing.engine.audit import CacheAudit, Sent, changed_layer, judged
from offing.engine.cli.journal.cached import cache_lines
from offing.engine.events import ReplyFinished
from offing.engine.layers import Chain, Layers
from offing.engine.models.anthropic import Options
from offing.engine.models.model import Part, Request
from offing.engine.models.model import Reply as ModelReply
from offing.engine.prefix_state import Prefix
from offing.engine.state import State
from offing.engine.store.cached import Cached, CacheMiss
from offing.engine.store.facts import Replied
from offing.tracing import Usage as Told
from worlds import Claude, HandClock, outside


async def replied(engine: Engine, session: str = "s") -> list[Replied]:
    facts = [row.fact async for row in engine.store.journal.read(session)]
    return [fact for fact in facts if isinstance(fact, Replied)]


async def lines(engine: Engine, run: str) -> str:
    rows = [row async for row in engine.store.journal.read("s")]
    return "\n".join(cache_lines(rows, run))


async def test_the_audit_of_a_run_is_what_the_server_computed_from_the_bytes() -> None:
    async with kept(LOOKS, LOOKS, answers()) as world:
        async with world.engine.session("s").run("Go.") as run:
            events = [event async for event in run]
        result = await run.result()
        cached = await world.cached()
    again = PromptCache(512)
    computed = [again.account(seen.json, rendered(seen.json)) for seen in world.server.requests]
    assert result.cache == CacheAudit(
        read=sum(usage.cache_read for usage in computed),
        written_5m=sum(usage.cache_write_5m for usage in computed),
        uncached=sum(usage.input_tokens for usage in computed),
    )
    assert outcomes(cached) == ["first", "hit", "hit"]
    assert [one.cached for one in events if isinstance(one, ReplyFinished)] == cached
    told = result.to_json()["cache"]
    assert told == {
        "read": result.cache.read,
        "written_5m": result.cache.written_5m,
        "written_1h": 0,
        "uncached": 0,
        "misses": [],
        "warmed": 0,
        "missed": 0,
    }


async def test_a_pause_is_an_expected_miss_and_a_lost_cache_is_not() -> None:
    async with kept(LOOKS, answers(), answers(), answers()) as world:
        session = world.engine.session("s")
        await session.ask("Go.")
        before = (await world.told())[-1]
        world.passes(6)
        await session.ask("And now?")
        world.cache.expire()
        lost = await session.ask("And now?")
        shown = await lines(world.engine, "s.3")
        told = await world.told()
    cached = await replied(world.engine)
    assert [one.cached.outcome for one in cached if one.cached] == ["first", "hit", "expired", "lost"]
    assert cached[2].cached is not None
    assert cached[2].cached.missed == before.prompt
    miss = CacheMiss(4, "lost", told[2].prompt, None, "")
    assert lost.cache.misses == lost.cache.unexpected == (miss,)
    head, line, total = shown.splitlines()
    assert head.split() == [
        "reply",
        "after",
        "prompt",
        "read",
        "written",
        "5m",
        "written",
        "1h",
        "plain",
        "missed",
    ]
    counts = [f"{told[3].prompt:,}", "0", f"{told[3].cache_write_5m:,}", f"{told[3].cache_write_1h:,}", "0"]
    assert line.split()[:8] == ["4", "0:00", *counts, f"{miss.tokens:,}"]
    assert line.endswith("UNEXPECTED: the prompt begins as the one before, and was not there")
    assert total.endswith(f"{miss.tokens:,} missed, 1 unexpected")


class Clocked(Claude):
    """An adapter that puts the time into the system prompt, as many have done (case 7)."""

    ticks = 0

    def body(self, request: Request) -> bytes:
        Clocked.ticks += 1
        body = super().body(request)
        return body.replace(b"You work on requests", b"At %d you work on requests" % Clocked.ticks, 1)


async def test_a_system_prompt_with_the_time_in_it_is_seen_and_the_provider_names_it() -> None:
    with Loopback([LOOKS, LOOKS, answers()], cache=PromptCache(512)) as server:
        async with Engine(Clocked(server), [SYSTEM], outside=outside()) as engine:
            result = await engine.session("s").ask("Go.")
            shown = await lines(engine, "s.1")
    told = [(miss.outcome, miss.layer, miss.told.partition(" ")[0]) for miss in result.cache.unexpected]
    assert told == [("lost", None, "system_changed"), ("lost", None, "system_changed")]
    assert "the provider says: system_changed" in shown


async def test_the_first_two_layers_are_the_same_bytes_fourteen_seconds_later() -> None:
    """Case 7."""
    async with kept(LOOKS, answers(), answers()) as world:
        session = world.engine.session("s")
        await session.ask("Go.")
        world.clock.at += 14_000_000
        result = await session.ask("And now?")
        heads = {(str(seen.json["tools"]), str(seen.json["system"])) for seen in world.server.requests}
    assert len(heads) == 1
    assert result.cache.missed == 0
    assert result.cache.read > 0


async def test_a_tool_that_is_discovered_changes_no_layer() -> None:
    """Case 8."""
    from loopback import ToolUse

    found = Answer([ToolUse("sys__get_tool_schema", {"tool": "look"})])
    async with kept(found, LOOKS, answers()) as world:
        result = await world.engine.session("s").ask("Go.")
        cached = await world.cached()
    assert outcomes(cached) == ["first", "hit", "hit"]
    assert result.cache.missed == 0
    assert len({one.layers[0] for one in cached}) == 1


class Reworded(Claude):
    """A later release of an adapter that words replies another way."""

    def encode(self, part: Part, before: Message | None = None) -> bytes:
        encoded = super().encode(part, before)
        is_reply = isinstance(part, Message) and part.role == "assistant"
        return encoded.replace(b'"So it is."', b'"So it was."') if is_reply else encoded


@pytest.mark.parametrize(
    ("adapter", "layer", "told"),
    [(Reworded, "history", "messages_changed"), (Claude, None, "")],
)
async def test_a_broken_layer_is_named_after_a_resume(
    adapter: type[Claude], layer: str | None, told: str
) -> None:
    store, clock = MemoryStore(), HandClock()
    with Loopback([answers(), answers(), answers()], cache=PromptCache(512)) as server:
        async with Engine(Claude(server), [SYSTEM], store=store, outside=outside(clock)) as engine:
            await engine.session("s").ask("Go.")
            await engine.session("s").ask("Is it so?")
        async with Engine(adapter(server), [SYSTEM], store=store, outside=outside(clock)) as engine:
            result = await engine.session("s").ask("And now?")
    named = [(miss.layer, miss.told.partition(" ")[0]) for miss in result.cache.unexpected]
    assert named == ([(layer, told)] if layer else [])


async def test_another_model_is_an_expected_miss() -> None:
    store, clock = MemoryStore(), HandClock()
    with Loopback([answers(), answers()], cache=PromptCache(512)) as server:
        async with Engine(Claude(server), [SYSTEM], store=store, outside=outside(clock)) as engine:
            await engine.session("s").ask("Go.")
        other = Claude(server, "claude-sonnet-5-5")
        async with Engine(other, [SYSTEM], store=store, outside=outside(clock)) as engine:
            result = await engine.session("s").ask("And now?")
    assert server.refusals == []
    assert [miss.outcome for miss in result.cache.misses] == ["model"]
    assert result.cache.unexpected == ()


async def test_a_pass_is_an_expected_miss_that_the_frame_survives() -> None:
    left = iter([LOOKS] * 8)

    def script(seen: Seen) -> Reply:
        return next(left, answers()) if seen.json and seen.json.get("tools") else answers("A digest.")

    async with kept(script=script, limits=Limits(window=8_371, reply_tokens=1_000)) as world:
        result = await world.engine.session("s").ask("Go.")
        facts = await replied(world.engine)
    outcomes_of = [one.cached.outcome for one in facts if one.cached]
    assert result.answered, result
    assert "pass" in outcomes_of
    assert set(outcomes_of) == {"first", "hit", "pass"}
    assert result.cache.unexpected == ()
    after = facts[outcomes_of.index("pass")]
    assert after.cached is not None
    assert (after.cached.layer, after.cached.passes) == ("history", 1)
    assert after.reply.usage.cache_read > 0


async def test_a_server_that_refuses_the_question_is_not_asked() -> None:
    with Loopback([LOOKS, answers()]) as server:
        async with Engine(
            Claude(server, options=Options(diagnose=False)), [SYSTEM], outside=outside()
        ) as engine:
            await engine.ask("Go.")
    assert ["diagnostics" in seen.json for seen in server.requests] == [False, False]


DIGESTS = Layers("t" * 16, "c" * 16, "h" * 16)
FORMER = Prefix(
    Cached("m", "5m", 3, ("t" * 16, "c" * 16, ""), "first"),
    Told(0, 0, 900),
    "h" * 64,
    0,
    0,
    is_told=True,
    reply="",
)


@pytest.mark.parametrize(
    ("layers", "changed"),
    [
        (DIGESTS, None),
        (DIGESTS._replace(tools="x", context="x", history="x"), "tools and system"),
        (DIGESTS._replace(context="x", history="x"), "context"),
        (DIGESTS._replace(history="x"), "history"),
        (DIGESTS._replace(history=""), "history"),
    ],
)
def test_the_first_layer_that_changed_is_named(layers: Layers, changed: str | None) -> None:
    assert changed_layer(FORMER, layers) == changed


@pytest.mark.parametrize(
    ("usage", "sent", "outcome", "missed"),
    [
        (Told(100, 900), {}, "hit", 0),
        (Told(100, 899), {}, "lost", 1),
        (Told(300, 700), {"layers": DIGESTS._replace(context="x")}, "changed", 200),
        (Told(300, 700), {"model": "other"}, "model", 200),
        # a prompt that became shorter has less in common with the one before
        (Told(100, 100), {"layers": DIGESTS._replace(history="x")}, "changed", 100),
        (Told(772, 128), {"takes_markers": False, "minimum": 1024}, "hit", 0),
        (Told(900), {"takes_markers": False, "minimum": 1024}, "small", 0),
    ],
)
def test_what_was_missed_is_what_the_request_before_had_left(
    usage: Told, sent: dict[str, object], outcome: str, missed: int
) -> None:
    state = State(model="m", prefix=FORMER)
    request = replace_sent(Sent("m", "5m", 4, DIGESTS, takes_markers=True, minimum=512), sent)
    state.model = request.model
    made = judged(state, request, ModelReply(Message("assistant", ()), "end", usage))
    assert (made.outcome, made.missed) == (outcome, missed)


def replace_sent(sent: Sent, fields: dict[str, object]) -> Sent:
    return sent._replace(**fields)


@given(st.lists(st.binary(max_size=4), min_size=2), st.data())
def test_a_chain_that_was_followed_is_one_that_begins_anew(parts: list[bytes], data: st.DataObject) -> None:
    known = Chain()
    known.follow(parts)
    changed = list(parts)
    place = data.draw(st.integers(0, len(parts) - 1))
    changed[place:] = data.draw(st.lists(st.binary(max_size=4), min_size=2 if place < 2 else 0))
    if len(changed) < 2:
        return
    known.follow(changed)
    anew = Chain()
    anew.follow(changed)
    assert known.digest == anew.digest
    assert known.layers(len(changed)) == anew.layers(len(changed))
    assert known.layers(0).context == sha256(changed[1]).hexdigest()[:16]
