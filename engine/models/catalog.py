"""What is known of a model: window, prices, capabilities.

Read from the price map that litellm ships as a file, without importing litellm. What is not in it is
unknown, and unknown is None, never 0 (WIRE.md, section 2).
"""

import importlib.util
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast, get_args

from .model import Effort


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars a token; None where unknown."""

    input: Decimal | None = None
    output: Decimal | None = None
    cache_read: Decimal | None = None
    cache_write_5m: Decimal | None = None
    cache_write_1h: Decimal | None = None
    reasoning: Decimal | None = None
    """Of those tokens of output that are reasoning; None where they cost what output does."""


@dataclass(frozen=True, slots=True)
class Tier:
    """Prices of a whole request whose prompt is longer than so many tokens."""

    above: int
    prices: Prices


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model."""

    window: int | None = None
    """Tokens of prompt that it takes; None when unknown."""
    max_output: int | None = None
    """Tokens of one reply; None when unknown."""
    prices: Prices = Prices()
    """The provider's standard ones: no batch, priority, off-peak or regional ones."""
    tiers: tuple[Tier, ...] = ()
    """Ascending. What a tier leaves open is unknown there: it is not the price below it."""
    adaptive_thinking: bool = False
    """Whether it decides by itself how much to think; False also when unknown."""
    efforts: tuple[Effort, ...] = ()
    """Those it takes, ascending; empty when it takes none or it is unknown."""
    cache_minimum: int | None = None
    """Tokens below which a prefix is not cached; None when unknown."""


class Asked(NamedTuple):
    """A configured name, taken apart."""

    wire: str
    """`anthropic` or `litellm`."""
    provider: str
    model: str

    @property
    def prefix(self) -> str:
        """What the provider's names begin with."""
        return "anthropic:" if self.wire == "anthropic" else f"litellm:{self.provider}/"


def info_of(name: str) -> ModelInfo:
    """What is known of a model by its configured name, such as `anthropic:claude-opus-5-5`.

    A name that the map has only with another date, or none, is that model where all dates of it agree.
    """
    asked = taken_apart(name)
    return ModelInfo() if asked is None else _found(asked) or ModelInfo()


def is_known(name: str) -> bool:
    """Whether the map has the model."""
    asked = taken_apart(name)
    return asked is not None and _found(asked) is not None


def taken_apart(name: str) -> Asked | None:
    """The parts of a configured name; None for a name of another kind, such as a scripted model's."""
    wire, _, rest = name.partition(":")
    if wire == "anthropic" and rest:
        return Asked(wire, "anthropic", rest)
    provider, _, model = rest.partition("/")
    return Asked(wire, provider, model) if wire == "litellm" and provider and model else None


def known_names(asked: Asked) -> tuple[str, ...]:
    """The configured names of all chat models that the map has of a provider, in its order."""
    return _names(asked, _map().rows)


def latest_names(asked: Asked) -> tuple[str, ...]:
    """Those of them that the map calls the latest of their line."""
    latest = _names(asked, _map().latest)
    return latest or tuple(name for name in known_names(asked) if name.endswith("-latest"))


@cache
def known_providers() -> frozenset[str]:
    """The providers that litellm has; empty without litellm."""
    listed = _mapping(_read("provider_endpoints_support_backup.json").get("providers"))
    owners = (row.get("litellm_provider") for row in _map().rows.values())
    return frozenset((*listed, *(owner for owner in owners if isinstance(owner, str))))


_Row = Mapping[str, object]


class _Map(NamedTuple):
    """The price map by model, with only what is read of it."""

    rows: Mapping[str, _Row]
    aliases: Mapping[str, str]
    """Of names such as `claude-opus-latest`: which row they mean."""

    @property
    def latest(self) -> tuple[str, ...]:
        """The rows that have such a name."""
        return tuple(dict.fromkeys(self.aliases.values()))

    def row(self, key: str) -> _Row | None:
        """The row of a model or of what an alias stands for."""
        return self.rows.get(self.aliases.get(key, key))


@cache
def _map() -> _Map:
    rows: dict[str, _Row] = {}
    aliases: dict[str, str] = {}
    for key, row in _read("model_prices_and_context_window_backup.json").items():
        fields = _mapping(row)
        if isinstance(meant := fields.get("alias_of"), str):
            aliases[key] = meant
        else:
            rows[key] = {field: value for field, value in fields.items() if _WANTED.fullmatch(field)}
    return _Map(rows, aliases)


def _read(file: str) -> Mapping[str, object]:
    """A file of litellm's; empty when it is not there or cannot be read."""
    try:
        spec = importlib.util.find_spec("litellm")
        if spec is None or spec.origin is None:
            return {}
        text = Path(spec.origin).with_name(file).read_text(encoding="utf-8")
        return _mapping(json.loads(text, parse_float=Decimal))
    except (ImportError, OSError, ValueError, ArithmeticError, RecursionError):
        return {}


@cache
def _found(asked: Asked) -> ModelInfo | None:
    owners = (asked.provider, *_ALSO_UNDER.get(asked.provider, ()))
    for key in (*(f"{owner}/{asked.model}" for owner in owners), asked.model):
        row = _map().row(key)
        if row is not None and _serves(row, asked.provider):
            return _info(row, asked)
    return _but_for_the_date(asked)


def _but_for_the_date(asked: Asked) -> ModelInfo | None:
    """Prices have changed from date to date: where the dates differ, none is taken."""
    undated = _undated(asked.model)
    same = (
        row
        for key, row in _map().rows.items()
        if _undated(_bare(key, asked)) == undated and _serves(row, asked.provider)
    )
    infos = {_info(row, asked) for row in same}
    return infos.pop() if len(infos) == 1 else None


_DATE = re.compile(r"[-@](\d{8}|\d{4}-\d{2}-\d{2})$")


def _undated(model: str) -> str:
    return _DATE.sub("", model)


def _bare(key: str, asked: Asked) -> str:
    return key.removeprefix(f"{asked.provider}/")


def _names(asked: Asked, keys: Iterable[str]) -> tuple[str, ...]:
    rows = _map().rows
    served = (key for key in keys if key in rows and _chats(rows[key]) and _serves(rows[key], asked.provider))
    return tuple(dict.fromkeys(f"{asked.prefix}{_bare(key, asked)}" for key in served))


def _chats(row: _Row) -> bool:
    return row.get("mode") in {"chat", "responses"}


_ALSO_UNDER: Mapping[str, tuple[str, ...]] = {
    "bedrock": ("bedrock_converse",),
    "cohere": ("cohere_chat",),
    "ollama_chat": ("ollama",),
    "openai": ("text-completion-openai",),
}
"""Per provider: under which other names the map has models of it."""


def _serves(row: _Row, provider: str) -> bool:
    """Whether the row is of a provider; the map divides some, as in `vertex_ai-mistral_models`."""
    owner = str(row.get("litellm_provider"))
    return owner == provider or owner.startswith(f"{provider}-") or owner in _ALSO_UNDER.get(provider, ())


_KEYS: Mapping[str, str] = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cache_read": "cache_read_input_token_cost",
    "cache_write_5m": "cache_creation_input_token_cost",
    "cache_write_1h": "cache_creation_input_token_cost_above_1hr",
    "reasoning": "output_cost_per_reasoning_token",
}
"""Per price: its key. Of a tier, `_above_272k_tokens` follows."""
_ABOVE = re.compile(rf"(?:{'|'.join(_KEYS.values())})_above_(\d+)k_tokens")
_WANTED = re.compile(
    rf"(?:{'|'.join(_KEYS.values())})(?:_above_\d+k_tokens)?|tiered_pricing|litellm_provider|mode|"
    r"max_(?:in|out)put_tokens|prompt_cache_min_tokens|reasoning_effort_levels|"
    r"supports_(?:\w+_effort|reasoning|adaptive_thinking|output_config)"
)


def _info(row: _Row, asked: Asked) -> ModelInfo:
    tiers = tuple(_tiers(row))
    first = tiers[0] if tiers and tiers[0].above == 0 else None
    return ModelInfo(
        window=_count(row.get("max_input_tokens")),
        max_output=_count(row.get("max_output_tokens")),
        prices=_prices(row) if first is None else first.prices,
        tiers=tiers if first is None else tiers[1:],
        adaptive_thinking=row.get("supports_adaptive_thinking") is True,
        efforts=_efforts(row, asked),
        cache_minimum=_count(row.get("prompt_cache_min_tokens")),
    )


def _prices(row: _Row, suffix: str = "") -> Prices:
    return Prices(**{field: _price(row.get(f"{key}{suffix}")) for field, key in _KEYS.items()})


def _tiers(row: _Row) -> Iterator[Tier]:
    """Ascending. A table of ranges gives all prices, those from 0 on too."""
    table = row.get("tiered_pricing")
    if isinstance(table, list):
        yield from sorted(_ranges(cast("list[object]", table)), key=lambda tier: tier.above)
        return
    inclusive = row.get("litellm_provider") == "xai"  # its tiers begin at the bound, not above it
    for thousands in sorted({int(found[1]) for field in row if (found := _ABOVE.fullmatch(field))}):
        prices = _prices(row, f"_above_{thousands}k_tokens")
        yield Tier(thousands * 1000 - inclusive, prices)


def _ranges(table: list[object]) -> Iterator[Tier]:
    for entry in map(_mapping, table):
        bounds = entry.get("range")
        above = _count(cast("list[object]", bounds)[0]) if isinstance(bounds, list) and bounds else None
        if above is not None:
            yield Tier(above, _prices(entry))


_TAKES_AN_EFFORT = re.compile(
    r"(anthropic|gemini|vertex_ai-(anthropic_|language-)models)/.*"
    r"|vertex_ai/gemini.*"
    r"|(openai|azure)/(\w+/)?(o\d|gpt-(?!.*chat|daybreak)).*"
    r"|bedrock\w*/.*claude.*"
)
"""Which reasoning models, as OWNER/MODEL, take low, medium and high without the map's saying so for each."""


def _efforts(row: _Row, asked: Asked) -> tuple[Effort, ...]:
    """As the map lists them; else the usual three, where told, and each that it adds or denies."""
    listed = row.get("reasoning_effort_levels")
    if isinstance(listed, list):
        return tuple(effort for effort in get_args(Effort) if effort in listed)
    if asked.wire == "anthropic":  # whose own wire knows no budget in place of an effort
        takes = row.get("supports_output_config") is True
    else:
        takes = row.get("supports_reasoning") is True and _takes_any(row, asked.model)
    return tuple(effort for effort in get_args(Effort) if takes and _takes(row, effort))


def _takes_any(row: _Row, model: str) -> bool:
    said = any(row.get(f"supports_{effort}_reasoning_effort") is True for effort in get_args(Effort))
    return said or _TAKES_AN_EFFORT.fullmatch(f"{row.get('litellm_provider')}/{model}") is not None


def _takes(row: _Row, effort: Effort) -> bool:
    said = row.get(f"supports_{effort}_reasoning_effort")
    return said is True if effort in {"xhigh", "max"} else said is not False


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _price(value: object) -> Decimal | None:
    """A price as it is written; what is no amount is no price."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or value < 0:
        return None
    return Decimal(value)


def _count(value: object) -> int | None:
    return None if (number := _price(value)) is None else int(number)
