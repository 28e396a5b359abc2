"""What model calls cost, exactly, from token counts and prices a token."""

from collections.abc import Iterator
from decimal import Decimal, localcontext
from typing import NamedTuple

from ...tracing import Usage
from .catalog import ModelInfo, Prices

_DIGITS = 60
"""More than any count times any price has, so that nothing is rounded."""


def cost(usage: Usage, info: ModelInfo) -> Decimal | None:
    """US dollars of one model call; None when they are not known.

    A prompt above a tier has that tier's prices for the whole request, its output too: give each call
    by itself and add up the costs, never one sum of many calls' tokens. A price that is not known
    matters only where tokens have it. No tokens cost 0, but of a model of which no price at all is known
    every cost is unknown.
    """
    if info.prices == Prices():
        return None
    total = Decimal(0)
    with localcontext() as context:
        context.prec = _DIGITS
        for charge in _charges(usage, _prices_of(usage.prompt, info)):
            if charge.price is None:
                return None
            total += charge.tokens * charge.price
    return total


class _Charge(NamedTuple):
    """So many tokens at one price; never none."""

    tokens: int
    price: Decimal | None


def _charges(usage: Usage, prices: Prices) -> Iterator[_Charge]:
    thought = min(usage.reasoning, usage.output) if prices.reasoning is not None else 0
    charges = (
        _Charge(usage.input, prices.input),
        _Charge(usage.cache_read, prices.cache_read),
        _Charge(usage.cache_write_5m, prices.cache_write_5m),
        _Charge(usage.cache_write_1h, prices.cache_write_1h),
        _Charge(usage.output - thought, prices.output),
        _Charge(thought, prices.reasoning),
    )
    return (charge for charge in charges if charge.tokens)


def _prices_of(prompt: int, info: ModelInfo) -> Prices:
    reached = [tier.prices for tier in info.tiers if prompt > tier.above]
    return reached[-1] if reached else info.prices
