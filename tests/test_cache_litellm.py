"""Lifetimes and the audit over litellm, for a provider that takes markers and one that does not."""

from collections.abc import Sequence

from inline_snapshot import snapshot
from pydantic import SecretStr

from caches import LOOKS, SYSTEM, answers, markers
from litellm_client import QUIET
from loopback import AutomaticCache, Loopback, OpenAI
from offing.engine import Engine
from offing.engine.lifetimes import Caching
from offing.engine.models.litellm import LiteLLMModel
from offing.engine.store.facts import Replied
from worlds import HandClock, outside

pytestmark = QUIET


async def test_litellm_asks_for_the_same_lifetimes_where_it_marks() -> None:
    with Loopback([answers()]) as server:
        model = LiteLLMModel("anthropic/claude-opus-5-5", SecretStr("k"), base_url=server.url)
        assert model.takes_markers
        async with Engine(model, outside=outside(), caching=Caching("1h")) as engine:
            await engine.ask("Go.")
        request = [markers({"tools": [], **seen.json}) for seen in server.requests]
    assert request == snapshot(["system.0=1h system.1=1h messages.0.0=5m"])
    assert not LiteLLMModel("openai/gpt-5.6").takes_markers


async def test_a_provider_that_caches_by_itself_is_audited_by_its_steps() -> None:
    def letters(text: str) -> Sequence[int]:
        return [ord(letter) for letter in text]

    clock = HandClock()
    cache = AutomaticCache(letters, lambda: clock.at / 1_000_000)
    with Loopback([LOOKS, LOOKS, answers(), answers()], wire=OpenAI(cache=cache)) as server:
        model = LiteLLMModel("openai/gpt-4.1", SecretStr("k"), base_url=f"{server.url}/v1")
        async with Engine(model, [SYSTEM], outside=outside(clock)) as engine:
            session = engine.session("s")
            first = await session.ask("Go.")
            clock.at += 360_000_000
            later = await session.ask("And now?")
            facts = [row.fact async for row in engine.store.journal.read("s")]
            cached = [fact.cached.outcome for fact in facts if isinstance(fact, Replied) and fact.cached]
    assert server.refusals == []
    assert first.answered, first
    assert first.cache.misses == ()
    assert cached == ["first", "hit", "hit", "expired"]
    assert [miss.outcome for miss in later.cache.misses] == ["expired"]
