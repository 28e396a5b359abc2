"""What a run may spend and what it has spent: plain amounts, compared by pure functions.

`breakers.py` decides by it. This file knows nothing of runs, so that limits, and with them facts, can hold
a budget.
"""

import math
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Literal

from .errors import ConfigurationError

Kind = Literal["tokens", "cost", "model_calls", "tool_calls", "wall_s", "retries", "questions"]
Amount = int | float | Decimal

_UNITS: dict[Kind, str] = {
    "tokens": "tokens",
    "cost": "US dollars",
    "model_calls": "model calls",
    "tool_calls": "tool calls",
    "wall_s": "seconds",
    "retries": "retries",
    "questions": "questions to people",
}
"""What an amount of each kind is called in a sentence."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one run may spend in all. None sets no limit; 0 allows none.

    Tokens, cost and time are known once they are spent, so they may be exceeded by what one iteration
    takes: a model call and the calls of tools that it asks for.
    """

    tokens: int | None = None
    """Of all model calls, failed ones too: prompts, cached or not, and what the model wrote."""
    cost: Decimal | None = None
    """US dollars of all model calls. A call whose cost is not known stops the run as if it were used up."""
    model_calls: int | None = None
    """Model calls, failed ones too."""
    tool_calls: int | None = None
    """Calls of tools; further ones are not executed, and the model is told so."""
    wall_s: float | None = None
    """Seconds of work; not those in which the run was stopped, waited for people or was not driven."""
    retries: int | None = None
    """Times that a failed model call is tried again, over the whole run."""
    questions: int | None = None
    """Questions that the model may ask people."""

    def __post_init__(self) -> None:
        """Refuses what bounds nothing.

        Raises:
            ConfigurationError: an amount is negative or no number.
        """
        for each in fields(self):
            amount: Amount | None = getattr(self, each.name)
            if amount is not None and not (math.isfinite(amount) and amount >= 0):
                raise ConfigurationError(f"the budget's {each.name} cannot be {amount!r}: 0 or more, or None")

    def __add__(self, more: "Budget") -> "Budget":
        """With more granted. Where there is no limit, none is set."""
        return Budget(
            _sum(self.tokens, more.tokens),
            None if self.cost is None else self.cost + (more.cost or 0),
            _sum(self.model_calls, more.model_calls),
            _sum(self.tool_calls, more.tool_calls),
            None if self.wall_s is None else self.wall_s + (more.wall_s or 0),
            _sum(self.retries, more.retries),
            _sum(self.questions, more.questions),
        )


def _sum(granted: int | None, more: int | None) -> int | None:
    return None if granted is None else granted + (more or 0)


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has spent, in the units of `Budget`."""

    tokens: int = 0
    cost: Decimal = Decimal(0)
    """As far as it is known."""
    model_calls: int = 0
    tool_calls: int = 0
    wall_s: float = 0.0
    retries: int = 0
    questions: int = 0
    unpriced: int = 0
    """Model calls of unknown cost since somebody last granted money."""

    def __add__(self, other: "Spent") -> "Spent":
        """What both have spent."""
        return Spent(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass(frozen=True, slots=True)
class Share:
    """How much of one kind is spent, of how much."""

    kind: Kind
    spent: Amount
    granted: Amount

    @property
    def left(self) -> Amount:
        """What is left; never less than 0."""
        return 0 if self.is_used else self.granted - self.spent  # type: ignore[operator]  # of one kind

    @property
    def is_used(self) -> bool:
        """Whether nothing is left."""
        return self.spent >= self.granted

    @property
    def unit(self) -> str:
        """What the amounts are called in a sentence, such as "tool calls"."""
        return _UNITS[self.kind]

    def told(self, amount: Amount) -> str:
        """An amount of this kind as it is written: money whole, seconds to a tenth."""
        match amount:
            case Decimal():
                return f"{amount:,f}"
            case float():
                return f"{amount:,.1f}".removesuffix(".0")
            case _:
                return f"{amount:,}"


def shares(budget: Budget, spent: Spent) -> tuple[Share, ...]:
    """Each kind that has a limit, in the order of `Budget`."""
    made: list[Share] = []
    for kind in _UNITS:
        granted: Amount | None = getattr(budget, kind)
        if granted is not None:
            made.append(Share(kind, getattr(spent, kind), granted))
    return tuple(made)


def over(budget: Budget, spent: Spent, *kinds: Kind) -> Share | None:
    """The first of the kinds that is used up; None when none is. Unknown costs are not looked at here."""
    used = (each for each in shares(budget, spent) if each.kind in kinds and each.is_used)
    return next(used, None)
