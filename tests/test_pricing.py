"""Costs: by hand, against litellm's own arithmetic, and by the laws that any bill keeps."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields, replace
from decimal import Decimal, localcontext
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from offing.engine.models.catalog import Asked, ModelInfo, Prices, Tier, info_of, known_names
from offing.engine.models.pricing import cost
from offing.tracing import Usage

CLAUDE = info_of("anthropic:claude-opus-5-5")  # 4, 20, 0.2, 5 and 8 dollars a million
GPT = info_of("litellm:openai/gpt-5.6")  # 4, 20, 0.4, 5; above 272,000: 8, 30, 0.8, 10
NO_PRICES = ModelInfo(window=100_000)


def test_each_kind_of_token_has_its_price() -> None:
    usage = Usage(
        input=1_000, cache_read=50_000, cache_write_5m=2_000, cache_write_1h=3_000, output=700, reasoning=600
    )
    # 0.004 + 0.01 + 0.01 + 0.024 + 0.014
    assert cost(usage, CLAUDE) == Decimal("0.062")


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(input=272_000, output=1_000), "1.108"),  # 1.088 + 0.02
        (Usage(input=272_001, output=1_000), "2.206008"),  # 2.176008 + 0.03
        (Usage(input=1, cache_read=272_000), "0.217608"),  # 0.000008 + 0.2176
        (Usage(cache_write_5m=272_001), "2.72001"),
        (Usage(input=1_000, output=300_000), "6.004"),  # only the prompt counts
    ],
)
def test_a_prompt_above_a_tier_has_its_prices_for_the_whole_request(usage: Usage, dollars: str) -> None:
    assert cost(usage, GPT) == Decimal(dollars)


def test_the_highest_tier_that_is_exceeded_counts() -> None:
    tiers = tuple(Tier(above, Prices(input=Decimal(above))) for above in (10, 20, 30))
    info = ModelInfo(prices=Prices(input=Decimal(1)), tiers=tiers)
    costs = [cost(Usage(input=tokens), info) for tokens in (10, 11, 21, 31)]
    assert costs == [10, 11 * 10, 21 * 20, 31 * 30]


@pytest.mark.parametrize("kind", ["input", "output", "cache_read", "cache_write_5m", "cache_write_1h"])
def test_an_unknown_price_matters_where_tokens_have_it_and_only_there(kind: str) -> None:
    info = replace(CLAUDE, prices=replace(CLAUDE.prices, **{kind: None}))
    every = Usage(1_000, 1_000, 1_000, 1_000, 1_000)
    assert cost(every, info) is None
    without = replace(every, **{kind: 0})
    assert cost(without, info) == cost(without, CLAUDE)


def test_what_a_tier_leaves_open_is_unknown_above_it() -> None:
    info = ModelInfo(
        prices=Prices(input=Decimal(1), cache_read=Decimal("0.1")), tiers=(Tier(9, Prices(input=Decimal(2))),)
    )
    assert cost(Usage(input=5, cache_read=4), info) == Decimal("5.4")
    assert cost(Usage(input=5, cache_read=5), info) is None


def test_no_tokens_cost_nothing_unless_nothing_is_known_of_the_prices() -> None:
    assert cost(Usage(), CLAUDE) == Decimal(0)
    assert cost(Usage(), NO_PRICES) is None
    assert cost(Usage(input=1), NO_PRICES) is None


def test_a_price_of_zero_is_a_price() -> None:
    assert cost(Usage(input=1_000, output=1_000), info_of("litellm:ollama/llama3.1")) == Decimal(0)


def test_reasoning_is_part_of_output_and_has_its_price_where_that_differs() -> None:
    usage = Usage(input=1_000_000, output=1_000_000, reasoning=400_000)
    info = info_of("litellm:dashscope/qwen-turbo")  # 0.05, 0.2 and 0.5 for reasoning
    assert cost(replace(usage, input=100_000), info) == Decimal("0.325")  # 0.005 + 0.12 + 0.2
    assert cost(usage, CLAUDE) == cost(replace(usage, reasoning=0), CLAUDE) == Decimal(24)


def test_it_is_exact_whatever_the_context() -> None:
    usage = Usage(input=123_456_789, cache_read=987_654_321, output=1)
    with localcontext() as context:
        context.prec = 3
        assert cost(usage, CLAUDE) == Decimal("691.3580402")  # 493.827156 + 197.5308642 + 0.00002


ORACLE = """
import json, os, sys
os.environ["LITELLM_OFFLINE_MODE"] = "true"
import litellm
litellm.suppress_debug_info = True  # it prints to where the answer goes
from litellm.types.utils import CacheCreationTokenDetails, CompletionTokensDetailsWrapper
from litellm.types.utils import PromptTokensDetailsWrapper, Usage

def dollars(provider, model, input, cache_read, write_5m, write_1h, output, reasoning):
    prompt = input + cache_read + write_5m + write_1h
    usage = Usage(
        prompt_tokens=prompt,
        completion_tokens=output,
        total_tokens=prompt + output,  # says that reasoning is in output
        prompt_tokens_details=PromptTokensDetailsWrapper(
            cached_tokens=cache_read,
            cache_creation_tokens=write_5m + write_1h,
            cache_creation_token_details=CacheCreationTokenDetails(
                ephemeral_5m_input_tokens=write_5m, ephemeral_1h_input_tokens=write_1h
            ),
        ),
        completion_tokens_details=CompletionTokensDetailsWrapper(reasoning_tokens=reasoning),
        cache_read_input_tokens=cache_read,
        cache_creation_input_tokens=write_5m + write_1h,
    )
    return sum(litellm.cost_per_token(model=model, custom_llm_provider=provider, usage_object=usage))

json.dump([dollars(*case) for case in json.load(sys.stdin)], sys.stdout)
"""


def told_by_litellm(cases: Sequence[tuple[str, Usage]]) -> list[float]:
    """What litellm says that each costs, by the models' configured names."""
    given_ = [(*name.partition(":")[2].split("/", 1), *astuple(usage)) for name, usage in cases]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ORACLE],
        input=json.dumps(given_),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=os.environ,
    )
    return json.loads(done.stdout)


SPREAD = [
    Usage(input=1_234, output=567),
    Usage(input=99_999, cache_read=1, output=1_000),
    Usage(input=100_001, output=1_000, reasoning=900),
    Usage(input=10, cache_read=199_990, output=1_000),
    Usage(input=11, cache_read=199_990, output=1_000),
    Usage(input=3, cache_read=150_000, cache_write_5m=40_000, cache_write_1h=5_000, output=321),
    Usage(input=3, cache_read=250_000, cache_write_5m=40_000, cache_write_1h=5_000, output=321),
    Usage(cache_read=271_000, cache_write_5m=1_000, output=1),
    Usage(cache_read=271_000, cache_write_5m=1_001, output=1),
]
PROVIDERS = ["anthropic", "openai", "gemini", "vertex_ai", "xai", "mistral", "dashscope", "groq", "bedrock"]


def every_known_cost() -> Iterator[tuple[str, Usage, Decimal]]:
    names = [name for provider in PROVIDERS for name in known_names(Asked("litellm", provider, ""))]
    for name, usage in product(names, SPREAD):
        amount = cost(usage, info_of(name))
        if amount is not None:
            yield name, usage, amount


def test_litellm_comes_to_the_same_for_every_model_of_nine_providers() -> None:
    ours = list(every_known_cost())
    theirs = told_by_litellm([(name, usage) for name, usage, _ in ours])
    different = [
        (name, usage, amount, told)
        for (name, usage, amount), told in zip(ours, theirs, strict=True)
        if float(amount) != pytest.approx(told, rel=1e-9)
    ]
    assert different == []
    assert len(ours) > 4_000
    assert {name.partition(":")[2].split("/")[0] for name, _, _ in ours} == {*PROVIDERS}


COUNTS = [field.name for field in fields(Usage) if field.name != "reasoning"]
counts = st.integers(0, 10**7)
usages = st.builds(Usage, **dict.fromkeys(COUNTS, counts))
models = st.sampled_from(
    [CLAUDE, GPT, info_of("anthropic:claude-haiku-5-5"), info_of("litellm:xai/grok-4.3")]
)


def reached(usage: Usage, info: ModelInfo) -> int:
    return sum(usage.prompt > tier.above for tier in info.tiers)


@given(usage=usages, info=models, kind=st.sampled_from(COUNTS), more=counts)
def test_more_tokens_never_cost_less(usage: Usage, info: ModelInfo, kind: str, more: int) -> None:
    larger = replace(usage, **{kind: getattr(usage, kind) + more})
    before, after = cost(usage, info), cost(larger, info)
    if after is not None:
        assert before is not None
        assert before <= after


@given(one=usages, other=usages, info=models)
def test_within_a_tier_costs_add_up(one: Usage, other: Usage, info: ModelInfo) -> None:
    both = one + other
    assume(reached(one, info) == reached(other, info) == reached(both, info))
    apart, together = (cost(one, info), cost(other, info)), cost(both, info)
    assert together == (None if None in apart else sum(each for each in apart if each is not None))


@given(usage=usages, kind=st.sampled_from(COUNTS), info=models)
def test_what_is_known_of_a_part_is_never_more_than_the_whole(
    usage: Usage, kind: str, info: ModelInfo
) -> None:
    alone = replace(Usage(), **{kind: getattr(usage, kind)})
    part, whole = cost(alone, info), cost(usage, info)
    assert whole is None or (part is not None and part <= whole)
