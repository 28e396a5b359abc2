"""The cache audit: what became of a request in its provider's cache, judged when its reply comes.

Pure. What should have been read is what the request before had read and written; where less was, the digests
of the layers say whether our bytes changed, and time and model whether it had to be.
"""

from dataclasses import dataclass
from typing import NamedTuple

from ..tracing import Usage
from .layers import SHOWN, Layers
from .models.model import Reply
from .prefix_state import Prefix
from .state import State
from .store.cached import Cached, CacheMiss, CacheOutcome, Layer, Lifetime
from .warmth import is_cold

_STEP = 128
"""Tokens by which providers that cache by themselves count: a remainder below it is never cached."""


class Sent(NamedTuple):
    """One request, as far as a cache is concerned."""

    model: str
    lifetime: Lifetime
    segments: int
    layers: Layers
    takes_markers: bool
    minimum: int | None
    """Tokens below which its provider caches no prompt; None when unknown."""


@dataclass(frozen=True, slots=True)
class CacheAudit:
    """What a run's prompts did in its provider's cache, in tokens."""

    read: int = 0
    written_5m: int = 0
    written_1h: int = 0
    uncached: int = 0
    """Neither read nor written."""
    misses: tuple[CacheMiss, ...] = ()
    """Each request that did not read all that the one before had left there."""
    warmed: int = 0
    """How often the prompt was read only to keep it warm."""

    @property
    def missed(self) -> int:
        """Tokens that were there to be read and were not."""
        return sum(miss.tokens for miss in self.misses)

    @property
    def unexpected(self) -> tuple[CacheMiss, ...]:
        """The misses that neither a pause nor a pass nor another model explains."""
        return tuple(miss for miss in self.misses if not miss.is_expected)


def audit_of(state: State) -> CacheAudit:
    """The audit of the current run."""
    run, usage = state.current, state.current.usage
    return CacheAudit(
        read=usage.cache_read,
        written_5m=usage.cache_write_5m,
        written_1h=usage.cache_write_1h,
        uncached=usage.input,
        misses=tuple(run.cache_misses),
        warmed=run.warmed,
    )


def judged(state: State, sent: Sent, reply: Reply) -> Cached:
    """What became of the request that `reply` answers; `state` is still that in which it was asked."""
    former = state.prefix
    layer = None if former is None else changed_layer(former, sent.layers)
    passes = len(state.conversation.passes)
    missed = 0 if former is None else _missed(former, sent, reply.usage)
    outcome: CacheOutcome = "first"
    if former is not None:
        outcome = _broken(former, sent, layer, passes) or _unbroken(state, former, sent, reply.usage)
    return Cached(
        model=sent.model,
        lifetime=sent.lifetime,
        segments=sent.segments,
        layers=(sent.layers.tools, sent.layers.context, sent.layers.history),
        outcome=outcome,
        missed=missed,
        layer=layer,
        told=reply.cache_miss,
        passes=passes,
    )


def changed_layer(former: Prefix, layers: Layers) -> Layer | None:
    """The first layer that does not begin as it did in the request before; None when all do."""
    was = former.cached.layers
    if layers.tools != was[0]:
        return "tools and system"
    if layers.context != was[1]:
        return "context"
    return None if layers.history == former.digest[:SHOWN] else "history"


def _broken(former: Prefix, sent: Sent, layer: Layer | None, passes: int) -> CacheOutcome | None:
    """Why the request could not read what the one before had left; None when it could."""
    if sent.model != former.cached.model:
        return "model"
    if layer == "history" and passes != former.cached.passes:
        return "pass"
    return None if layer is None else "changed"


def _unbroken(state: State, former: Prefix, sent: Sent, usage: Usage) -> CacheOutcome:
    """What became of a request that extends the one before."""
    if _missed(former, sent, usage):
        return "expired" if is_cold(state) else "lost"
    if usage.cached or _expected(former, sent):
        return "hit"
    return "small" if usage.prompt < (sent.minimum or 0) else "untold"


def _missed(former: Prefix, sent: Sent, usage: Usage) -> int:
    """Tokens that this prompt has in common with the one before and that were not read."""
    missed = min(_expected(former, sent), usage.prompt) - usage.cache_read
    return missed if missed >= (1 if sent.takes_markers else _STEP) else 0


def _expected(former: Prefix, sent: Sent) -> int:
    """Tokens that the request before has left in the cache."""
    if sent.takes_markers:
        return former.usage.cached
    if not former.is_told or former.usage.prompt < (sent.minimum or 0):
        return 0
    return former.usage.prompt
