"""The arguments that bound what a run may spend."""

import argparse
import contextlib
import functools
from decimal import Decimal, InvalidOperation

from ...budget import Budget

_DIGITS = 10
"""Of a count, fewer than these."""


def add_budget(command: argparse.ArgumentParser, what: str) -> None:
    """Adds them; `what` says what becomes of them."""
    add = functools.partial(command.add_argument, default=None)
    add("--budget-usd", type=_dollars, metavar="AMOUNT", help=f"US dollars of its model calls, {what}")
    add("--max-calls", type=_count, metavar="N", help=f"model calls, {what}")


def budget_of(given: argparse.Namespace) -> Budget:
    """What was said."""
    return Budget(cost=given.budget_usd, model_calls=given.max_calls)


def _dollars(text: str) -> Decimal:
    with contextlib.suppress(InvalidOperation):
        amount = Decimal(text)
        if amount.is_finite() and amount >= 0:
            return amount
    raise argparse.ArgumentTypeError(f"{text!r} is no amount, such as 2.50")


def _count(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < _DIGITS:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no number of calls, such as 40")
