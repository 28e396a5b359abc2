"""What the catalog says is what stands in litellm's price map, read here by other means."""

import importlib.util
import json
import os
import subprocess
import sys
import textwrap
from decimal import Decimal
from pathlib import Path

import pytest

from offing.engine.models.catalog import (
    Asked,
    ModelInfo,
    Prices,
    Tier,
    info_of,
    is_known,
    known_names,
    known_providers,
    latest_names,
)


def litellm_folder() -> Path:
    spec = importlib.util.find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


MAP = litellm_folder() / "model_prices_and_context_window_backup.json"
WRITTEN = json.loads(MAP.read_text(), parse_float=str, parse_int=str)


def written(model: str, key: str) -> Decimal:
    """A number as it is written in the map's text."""
    return Decimal(WRITTEN[model][key])


CLAUDE = ModelInfo(
    window=1_000_000,
    max_output=128_000,
    prices=Prices(
        input=Decimal("4e-6"),
        output=Decimal("20e-6"),
        cache_read=Decimal("0.2e-6"),
        cache_write_5m=Decimal("5e-6"),
        cache_write_1h=Decimal("8e-6"),
    ),
    adaptive_thinking=True,
    efforts=("low", "medium", "high", "xhigh", "max"),
    cache_minimum=512,
)


@pytest.mark.parametrize(
    "name",
    [
        "anthropic:claude-opus-5-5",
        "anthropic:claude-opus-latest",
        "anthropic:claude-opus-5-5-20261101",
        "litellm:anthropic/claude-opus-5-5",
    ],
)
def test_claude_is_known_by_each_of_its_names(name: str) -> None:
    assert info_of(name) == CLAUDE
    assert is_known(name)


def test_a_gpt_has_its_tier_and_no_price_for_an_hour_of_cache() -> None:
    assert info_of("litellm:openai/gpt-5.6") == ModelInfo(
        window=922_000,
        max_output=128_000,
        prices=Prices(Decimal("4e-6"), Decimal("20e-6"), Decimal("0.4e-6"), Decimal("5e-6")),
        tiers=(
            Tier(
                above=272_000,
                prices=Prices(Decimal("8e-6"), Decimal("30e-6"), Decimal("0.8e-6"), Decimal("10e-6")),
            ),
        ),
        efforts=("low", "medium", "high", "xhigh"),
    )


@pytest.mark.parametrize(
    ("name", "row", "thousands"),
    [
        ("anthropic:claude-haiku-5-5", "claude-haiku-5-5", 100),
        ("litellm:openai/gpt-5.5", "gpt-5.5", 272),
        ("litellm:gemini/gemini-2.5-pro", "gemini/gemini-2.5-pro", 200),
        ("litellm:vertex_ai/gemini-2.5-pro", "gemini-2.5-pro", 200),
    ],
)
def test_prices_are_exactly_those_of_the_text(name: str, row: str, thousands: int) -> None:
    info = info_of(name)
    (tier,) = info.tiers
    assert tier.above == thousands * 1000
    for prices, suffix in ((info.prices, ""), (tier.prices, f"_above_{thousands}k_tokens")):
        assert prices.input == written(row, f"input_cost_per_token{suffix}")
        assert prices.output == written(row, f"output_cost_per_token{suffix}")
        assert prices.cache_read == written(row, f"cache_read_input_token_cost{suffix}")
    assert info.window == written(row, "max_input_tokens")
    assert info.max_output == written(row, "max_output_tokens")


def test_a_tier_has_its_own_price_for_an_hour_of_cache() -> None:
    (tier,) = info_of("anthropic:claude-haiku-5-5").tiers
    assert tier.prices == Prices(
        Decimal("0.5e-6"), Decimal("2.5e-6"), Decimal("0.05e-6"), Decimal("0.625e-6"), Decimal("1e-6")
    )


def test_a_table_of_ranges_gives_the_tiers_and_the_prices_below_them() -> None:
    info = info_of("litellm:dashscope/qwen3-max")
    assert info.prices == Prices(Decimal("1.2e-6"), Decimal("6e-6"))
    assert info.tiers == (
        Tier(32_000, Prices(Decimal("2.4e-6"), Decimal("12e-6"))),
        Tier(128_000, Prices(Decimal("3e-6"), Decimal("15e-6"))),
    )


def test_the_tiers_of_xai_begin_at_their_bound() -> None:
    (tier,) = info_of("litellm:xai/grok-4.3").tiers
    assert tier.above == 199_999


@pytest.mark.parametrize(
    ("name", "efforts"),
    [
        ("anthropic:claude-sonnet-4-6", ("low", "medium", "high", "max")),
        ("anthropic:claude-opus-4-5", ("low", "medium", "high")),
        ("anthropic:claude-haiku-4-5", ()),  # thinks by a budget, which its own wire does not take from us
        ("litellm:anthropic/claude-haiku-4-5", ("low", "medium", "high")),  # litellm makes a budget of it
        ("litellm:openai/gpt-5", ("low", "medium", "high")),
        ("litellm:openai/gpt-6-sol", ("low", "medium", "high", "xhigh", "max")),
        ("litellm:openai/gpt-5.5-pro", ("medium", "high", "xhigh")),
        ("litellm:openai/gpt-4o", ()),
        ("litellm:openai/gpt-5-chat", ()),
        ("litellm:openai/gpt-sol-latest", ("low", "medium", "high", "xhigh", "max")),
        ("litellm:azure/o3", ("low", "medium", "high")),
        ("litellm:bedrock/anthropic.claude-opus-4-5-20251101-v1:0", ("low", "medium", "high")),
        ("litellm:bedrock/moonshotai.kimi-k2.5", ()),
        ("litellm:openai/chat-latest", ("medium",)),
        ("litellm:gemini/gemini-3.5-flash", ("low", "medium", "high")),
        ("litellm:mistral/devstral-latest", ("high",)),
        ("litellm:xai/grok-4.3", ()),  # reasons, but the map does not say that it takes an effort
        ("litellm:deepseek/deepseek-reasoner", ()),
    ],
)
def test_efforts_are_those_that_the_map_tells_of(name: str, efforts: tuple[str, ...]) -> None:
    assert info_of(name).efforts == efforts


def test_only_models_from_claude_4_6_on_think_adaptively() -> None:
    adaptive = {n for n in known_names(Asked("anthropic", "anthropic", "")) if info_of(n).adaptive_thinking}
    assert {"anthropic:claude-sonnet-4-6", "anthropic:claude-haiku-5-5"} < adaptive
    assert not {name for name in adaptive if "-4-5" in name}


@pytest.mark.parametrize(
    "name",
    [
        "demo",
        "",
        "anthropic:",
        "anthropic:gpt-5.6",  # another provider's
        "anthropic:claude-opus-5-6",  # much like one that is there
        "anthropic:sample_spec",
        "litellm:gpt-5.6",
        "litellm:openai/",
        "litellm:openai/gpt-5.6-mini",
        "litellm:openai/gpt-4o-2024-01-01",  # its dates differ in price
        "litellm:hosted_vllm/gpt-5.6",
        "litellm:azure/claude-opus-5-5",
    ],
)
def test_what_is_not_in_the_map_is_unknown_and_never_guessed(name: str) -> None:
    assert info_of(name) == ModelInfo()
    assert not is_known(name)


def test_every_chat_model_of_the_large_providers_has_a_window_and_prices() -> None:
    for provider in ("anthropic", "openai", "gemini", "xai"):
        asked = Asked("litellm", provider, "")
        names = known_names(asked)
        priced = [name for name in names if info_of(name).prices.input is not None and info_of(name).window]
        assert len(names) > 15
        assert len(priced) > 0.8 * len(names)
        assert {*latest_names(asked)} <= {*names}
        assert latest_names(asked)


def test_the_providers_are_those_of_the_map_and_those_it_has_no_models_of() -> None:
    assert {"anthropic", "openai", "gemini", "hosted_vllm", "openrouter"} <= known_providers()


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "[1, 2]",
        '{"claude-opus-5-5": ',
        "[" * 100_000,
        '{"claude-opus-5-5": {"input_cost_per_token": 1e99999999999999999999}}',
        '{"claude-opus-5-5": 3, "x": null}',
        '{"claude-opus-5-5": {"litellm_provider": 7, "max_input_tokens": 5}}',
    ],
    ids=["no-file", "empty", "a-list", "cut", "deep", "no-number", "no-rows", "no-owner"],
)
def test_without_a_map_or_with_a_broken_one_all_is_unknown(tmp_path: Path, text: str | None) -> None:
    assert asked_of_a_map(tmp_path, text, "anthropic:claude-opus-5-5") == repr(ModelInfo())


def test_a_value_of_the_wrong_kind_is_unknown_and_the_rest_is_kept(tmp_path: Path) -> None:
    row = {
        "litellm_provider": "anthropic",
        "max_input_tokens": "many",
        "max_output_tokens": 7,
        "input_cost_per_token": True,
        "output_cost_per_token": -1,
        "cache_read_input_token_cost": None,
        "cache_creation_input_token_cost": 0.1,
        "supports_adaptive_thinking": "yes",
        "supports_output_config": True,
        "tiered_pricing": 3,
    }
    told = asked_of_a_map(tmp_path, json.dumps({"claude-x": row}), "anthropic:claude-x")
    expected = ModelInfo(
        max_output=7, prices=Prices(cache_write_5m=Decimal("0.1")), efforts=("low", "medium", "high")
    )
    assert told == repr(expected)


def test_a_lone_dated_model_stands_for_its_undated_name_and_for_its_other_dates(tmp_path: Path) -> None:
    rows = json.dumps({"claude-x-20260101": {"litellm_provider": "anthropic", "max_input_tokens": 9}})
    meant = ("claude-x", "claude-x-20270101", "claude-x-2027-01-01", "claude-x@20270101")
    others = ("claude-x-2", "claude-x-20260101-v2", "claude")
    told = asked_of_a_map(tmp_path, rows, *(f"anthropic:{name}" for name in (*meant, *others)))
    expected = [ModelInfo(window=9) for _ in meant] + [ModelInfo() for _ in others]
    assert told.splitlines() == [repr(info) for info in expected]


def test_nothing_is_read_at_import_and_litellm_is_never_imported() -> None:
    script = """
        import sys
        from offing.engine.models import catalog
        assert catalog._map.cache_info().currsize == 0
        catalog.info_of("demo")
        assert catalog._map.cache_info().currsize == 0
        assert catalog.info_of("anthropic:claude-opus-5-5").window
        catalog.info_of("litellm:openai/gpt-5.6"), catalog.known_providers()
        assert catalog._map.cache_info().misses == 1
        assert "litellm" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)


def asked_of_a_map(folder: Path, text: str | None, *names: str) -> str:
    """What an interpreter whose litellm has this map says of the models, a line each."""
    litellm = folder / "litellm"
    litellm.mkdir(exist_ok=True)
    (litellm / "__init__.py").write_text("raise ImportError('it is not to be imported')")
    if text is not None:
        (litellm / MAP.name).write_text(text)
    script = (
        "import sys; from offing.engine.models.catalog import info_of; "
        "print(*map(info_of, sys.argv[1:]), sep='\\n')"
    )
    return subprocess.run(
        [sys.executable, "-c", script, *names],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(folder)},
    ).stdout.strip()
