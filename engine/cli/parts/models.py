"""`offing models`: what is known of models, and whether their keys are there."""

import argparse
import os
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches

from ...configuration.configuration import PLAYBOOK
from ...errors import ConfigurationError
from ...models.catalog import (
    Asked,
    ModelInfo,
    Prices,
    info_of,
    is_known,
    known_names,
    known_providers,
    latest_names,
    taken_apart,
)
from ...models.environment import Variables, missing, variables_of
from ..command import Command
from ..exits import DONE, ExitCode
from ..ground import Ground
from ..screen import Screen
from ..work.run import default_model
from ..work.systems import DEMO_MODEL

_WHERE: Mapping[str, str] = {
    "anthropic": "https://platform.claude.com",
    "gemini": "https://aistudio.google.com/apikey",
    "openai": "https://platform.openai.com/api-keys",
}
"""Where a key comes from."""

_MOST_SHOWN = 6
_MILLION = 1_000_000


async def models(names: Sequence[str], default: str, screen: Screen) -> ExitCode:
    """Shows the models; without names the default one, and which others the keys are there for.

    Raises:
        ConfigurationError: there is no such model.
    """
    for name in names or [default]:
        _check(name)
    for number, name in enumerate(names or [default]):
        if number:
            screen.line()
        for line in _told(name, names):
            screen.line(line)
    if not names:
        for line in _others(default):
            screen.line(line)
    if not known_providers():
        screen.line("Windows and prices are read from litellm's price map, which cannot be found.")
    return DONE


def _check(name: str) -> None:
    """Refuses what can be seen to be wrong; a model that is newer than the map can still be run."""
    asked = taken_apart(name)
    if asked is None and not _is_playbook(name):
        raise ConfigurationError(
            f"no model {name!r}: name one as 'anthropic:MODEL' or 'litellm:PROVIDER/MODEL', for example "
            "'anthropic:claude-opus-5-5' or 'litellm:openai/gpt-5.6'"
        )
    if asked is None or variables_of(asked.provider).own_server or is_known(name):
        return
    providers = known_providers()
    if providers and asked.provider not in providers:
        near = _near(asked.provider, sorted(providers))
        raise ConfigurationError(f"no provider {asked.provider!r} in {name!r}{near}")
    if names := known_names(asked):
        raise ConfigurationError(f"no model {name!r} is known{_near(name, names)}")


def _is_playbook(name: str) -> bool:
    return name == DEMO_MODEL or name.startswith(PLAYBOOK)


def _near(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, n=3, cutoff=0.4)
    return f": nearest are {', '.join(map(repr, close))}" if close else ""


def _told(name: str, names: Sequence[str]) -> Iterator[str]:
    yield name if names else f"{name} (what `offing run` uses)"
    asked = taken_apart(name)
    if asked is None:
        whose = "that comes along" if name == DEMO_MODEL else "of your own"
        yield f"  a playbook {whose}: it needs no key and costs nothing"
        return
    info = info_of(name)
    rows = [
        ("key", _key(asked)),
        ("window", _tokens("{} tokens", info.window)),
        ("reply", _tokens("{} tokens at most", info.max_output)),
        ("thinking", _thinking(info)),
        ("cache", _tokens("prefixes of {} tokens and more", info.cache_minimum)),
        *_price_table(info),
    ]
    width = max(len(label) for label, _ in rows) + 2
    yield from (f"  {label:<{width}}{text}".rstrip() for label, text in rows)


def _others(default: str) -> Iterator[str]:
    """A few models of each provider whose key is there."""
    found = [name for provider in sorted(known_providers()) for name in _latest(provider) if name != default]
    if found:
        yield ""
        yield "Others, by the keys that are set:"
        width = max(map(len, found)) + 2
        for name in found:
            info = info_of(name)
            window = _tokens("{} tokens", info.window)
            prices = f"{_dollars(info.prices.input)} in, {_dollars(info.prices.output)} out"
            yield f"  {name:<{width}}{window:<18}US$ {prices} per million"
    yield ""
    yield "More of any: offing models NAME"


def _latest(provider: str) -> tuple[str, ...]:
    wire = "anthropic" if provider == "anthropic" else "litellm"
    variables = variables_of(provider)
    there = not variables.own_server and not missing(variables)
    return latest_names(Asked(wire, provider, ""))[:_MOST_SHOWN] if there else ()


def _key(asked: Asked) -> str:
    variables = variables_of(asked.provider)
    lacking = missing(variables)
    if not lacking:
        there = _there(variables)
        return f"{' and '.join(there)} {'is' if len(there) == 1 else 'are'} set"
    if variables.usual_address:
        return f"none needed; set {lacking[0]} if the server is not at {variables.usual_address}"
    if variables.own_server:
        return f"none needed, but an address: set {lacking[0]} to the server's"
    where = f" to one from {_WHERE[asked.provider]}" if asked.provider in _WHERE else ""
    return f"missing: set {' and '.join(lacking)}{where}"


def _there(variables: Variables) -> list[str]:
    """The variables that have a value; never the value."""
    used = (next(filter(os.environ.get, names), "") for names in variables.needed)
    return list(dict.fromkeys(used))


def _tokens(text: str, count: int | None) -> str:
    return "unknown" if count is None else text.format(f"{count:,}")


def _thinking(info: ModelInfo) -> str:
    efforts = f"efforts {', '.join(info.efforts)}" if info.efforts else "no efforts known"
    return f"adaptive; {efforts}" if info.adaptive_thinking else efforts


def _price_table(info: ModelInfo) -> Iterator[tuple[str, str]]:
    """Dollars a million tokens, a line per tier."""
    priced = [("", info.prices), *((f"above {tier.above:,}", tier.prices) for tier in info.tiers)]
    apart = any(prices.reasoning not in {None, prices.output} for _, prices in priced)
    heads = ("input", "output", "cache read", "write 5m", "write 1h", *(("reasoning",) if apart else ()))
    lines = [_amounts(prices)[: len(heads)] for _, prices in priced]
    widths = [max(map(len, column)) + 2 for column in zip(heads, *lines, strict=True)]
    yield "US$ per million", "".join(f"{head:<{width}}" for head, width in zip(heads, widths, strict=True))
    for (label, _), line in zip(priced, lines, strict=True):
        yield label, "".join(f"{each:<{width}}" for each, width in zip(line, widths, strict=True))


def _amounts(prices: Prices) -> tuple[str, ...]:
    reasoning = prices.output if prices.reasoning is None else prices.reasoning
    written = (prices.cache_write_5m, prices.cache_write_1h)
    return tuple(map(_dollars, (prices.input, prices.output, prices.cache_read, *written, reasoning)))


def _dollars(price: Decimal | None) -> str:
    return "unknown" if price is None else f"{(price * _MILLION).normalize():f}"


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("names", nargs="*", metavar="NAME", help="such as litellm:openai/gpt-5.6")
    made.add_argument(
        "--config", metavar="FILE", help="the configuration (default: offing.yaml, where it is)"
    )


def _work(given: argparse.Namespace, ground: Ground) -> Awaitable[ExitCode]:
    default = default_model(ground) or ground.configuration.settings.model.name
    return models(given.names, default, ground.screen)


MODELS = Command("models", "windows, prices and keys of models", _arguments, _work, on_store=False)
