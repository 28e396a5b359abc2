"""What is known of the provider's cache: the part of a session's state that its requests leave there."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from ..tracing import Usage
from .store.cached import LIFETIME_US, UNEXPECTED, Cached, CacheMiss

if TYPE_CHECKING:
    from .state import State
    from .store.facts import Replied


@dataclass(frozen=True, slots=True)
class Prefix:
    """The newest request that got a reply, as the next one can expect to find it in the cache."""

    cached: Cached
    usage: Usage
    digest: str
    """Of its whole prompt, as `Replied.request` has it."""
    asked_at: int
    """When it was sent; microseconds since 1970 in UTC."""
    read_at: int
    """When its prompt was last read in the cache; later than `asked_at` where it was kept warm."""
    is_told: bool
    """Whether the provider has told of its cache in this session."""
    reply: str
    """The provider's id of the reply; empty where there is none."""


class Pauses(NamedTuple):
    """How long a session let its provider wait, counted by what a longer lifetime would have done."""

    bridged: int = 0
    """Pauses of more than five minutes and at most an hour."""
    longer: int = 0

    def after(self, idle_us: int) -> "Pauses":
        """With one more time between two requests."""
        if idle_us < LIFETIME_US["5m"]:
            return self
        if idle_us < LIFETIME_US["1h"]:
            return self._replace(bridged=self.bridged + 1)
        return self._replace(longer=self.longer + 1)


def take_reply(state: "State", replied: "Replied", asked_at: int) -> None:
    """What is in the provider's cache from here on: each request leaves its whole prompt there."""
    cached, reply, former = replied.cached, replied.reply, state.prefix
    if cached is None:
        state.prefix = None
        return
    if former is not None:
        state.pauses = state.pauses.after(asked_at - former.asked_at)
    told = former is not None and former.is_told and former.cached.model == cached.model
    state.prefix = Prefix(
        cached=cached,
        usage=reply.usage,
        digest=replied.request,
        asked_at=asked_at,
        read_at=asked_at,
        is_told=told or reply.usage.cached > 0,
        reply=reply.id,
    )
    if cached.missed or cached.outcome in UNEXPECTED:
        miss = CacheMiss(state.turn + 1, cached.outcome, cached.missed, cached.layer, cached.told)
        state.current.cache_misses.append(miss)


def take_warmed(state: "State") -> None:
    """The prompt of the newest request was read in the cache once more."""
    state.current.warmed += 1
    if state.prefix is not None:
        state.prefix = replace(state.prefix, read_at=state.at)
