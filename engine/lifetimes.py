"""How long the first two layers are to stay in the provider's cache: a pure function of state.

An hour costs more to write than five minutes, twice the price of plain tokens and not 1.25 times, and pays
where people pause: to write the layers anew costs as much as reading them a dozen times. So it is planned
where a pause is likely. What was planned holds for as long as the cache is warm: another lifetime would be
another write. The plan is part of each reply's fact, so a resume plans the same.

Rules, the first that fits:

1. the host has said it;
2. calls of the connected systems may need a person's approval: an hour;
3. of the session's pauses of more than five minutes at least half ended within the hour: an hour;
4. five minutes.

That the model may ask a person at any time is no rule: it seldom does, and once it has, the third one knows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from ..namespaces.meta_tools import Connected
from .approvals import ApprovalPolicy
from .errors import ConfigurationError
from .models.model import Model, Request, TakesMarkers
from .state import State
from .store.cached import Lifetime
from .warmth import is_frame_cold

_FRAME = 2
"""Marks of a request that stand at the ends of the first two layers; they are its first ones."""


@dataclass(frozen=True, slots=True)
class KeepWarm:
    """Reading the prompt of a session that waits once more before its lifetime runs out.

    Each time costs what reading the whole prompt from the cache does, a tenth of its price, and is recorded
    with the run that waits. It pays where the wait ends before a dozen of these. It is done by the open
    session: in a process that has ended, or closed it, nothing is kept warm.
    """

    times: int = 6
    """How often for one wait. Six times keep it warm for half an hour."""
    cost: Decimal | None = Decimal("0.50")
    """US dollars that one wait may take; None for no limit. One of unknown cost is the last one then."""

    def __post_init__(self) -> None:
        """Refuses what keeps nothing warm.

        Raises:
            ConfigurationError: an amount is not more than 0.
        """
        if self.times <= 0 or (self.cost is not None and not self.cost > 0):
            raise ConfigurationError(f"what is kept warm takes times and cost of more than 0; got {self!r}")


@dataclass(frozen=True, slots=True)
class Caching:
    """How the host wants the provider's cache used."""

    lifetime: Lifetime | Literal["auto"] = "auto"
    """Of the first two layers, for providers that take markers; "auto" plans it by the rules above."""
    keep_warm: KeepWarm | None = None
    """For sessions that wait, with a model that can do it, as Claude; None for not at all."""


@dataclass(frozen=True, slots=True)
class LifetimeChoice:
    """Who decides the lifetime of a session's first two layers."""

    fixed: Lifetime | None = None
    """The host's choice; None for none."""
    takes_markers: bool = False
    """Whether the provider can be told at all."""
    needs_people: bool = False
    """Whether calls of the connected systems may need a person's approval."""

    def of(self, state: State) -> Lifetime:
        """The lifetime that the next request asks for."""
        if not self.takes_markers:
            return "5m"
        if state.prefix is not None and not is_frame_cold(state):
            return state.prefix.cached.lifetime
        if self.fixed is not None:
            return self.fixed
        return "1h" if self.needs_people or _pauses(state) else "5m"


def lifetime_choice(
    caching: Caching, model: Model, approvals: ApprovalPolicy, connected: Sequence[Connected]
) -> LifetimeChoice:
    """Who decides for a session of this model and these systems."""
    tools = ((f"{one.name}__{name}", known.tool) for one in connected for name, known in one.tools.items())
    needs_people = any(approvals.may_ask(name, destructive=tool.destructive) for name, tool in tools)
    takes_markers = isinstance(model, TakesMarkers) and model.takes_markers
    fixed = None if caching.lifetime == "auto" else caching.lifetime
    return LifetimeChoice(fixed, takes_markers, needs_people)


def with_lifetime(request: Request, state: State, lifetime: Lifetime) -> Request:
    """The request with what it asks of the provider's cache: nothing of it is part of the prompt."""
    prefix = state.prefix
    is_its_own = prefix is not None and prefix.cached.model == state.model
    former = prefix.reply if prefix is not None and is_its_own else ""
    return replace(request, hour_marks=_FRAME if lifetime == "1h" else 0, former=former)


def _pauses(state: State) -> bool:
    """Whether this session's pauses are such as an hour would bridge; the one before now counts too."""
    pauses = state.pauses
    if state.prefix is not None:
        pauses = pauses.after(state.at - state.prefix.asked_at)
    return pauses.bridged > 0 and pauses.bridged >= pauses.longer
