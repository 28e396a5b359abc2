"""What became of a request in its provider's cache, as facts keep it."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from ...tracing import Usage

Lifetime = Literal["5m", "1h"]
"""How long a part of a prompt stays in the cache after it was last read."""
LIFETIME_US: Mapping[Lifetime, int] = {"5m": 300_000_000, "1h": 3_600_000_000}
"""In microseconds. A provider that caches by itself promises five minutes at least, and is taken at that."""

Layer = Literal["tools and system", "context", "history"]
"""A part of the prompt, from the most stable one on."""

CacheOutcome = Literal["hit", "first", "small", "untold", "model", "expired", "pass", "changed", "lost"]
"""What became of a request in the cache.

"hit": all that the request before had left there was read. "first": there was none before. "small": the
prompt was below what the provider caches. "untold": the provider tells nothing of a cache. "model": another
model was asked, and each has a cache of its own. "expired": the lifetime was over. "pass": the conversation
was compacted. "changed": the prompt did not begin as the one before, though nothing asked for it. "lost": it
did, and the provider still did not read it all.
"""

UNEXPECTED: frozenset[CacheOutcome] = frozenset({"changed", "lost"})
"""What should not happen: a mistake of ours or of an adapter, and a provider that forgets."""


@dataclass(frozen=True, slots=True)
class Cached:
    """One request in its provider's cache. What was read and written stands in the reply's usage."""

    model: str
    """Name of the model that was asked, as configured."""
    lifetime: Lifetime
    """Planned for the first two layers; the others have five minutes. "5m" where the provider decides."""
    segments: int
    """Parts that the prompt had: the first two layers, then a part a message."""
    layers: tuple[str, str, str]
    """Digests of the tools and system prompt, of the session's context, and of the prompt as far as the one
    before reached. The last is empty where it does not reach so far."""
    outcome: CacheOutcome
    missed: int = 0
    """Tokens that the request before had left in the cache, that this one has too, and that were not read."""
    layer: Layer | None = None
    """The first one that did not begin as before; None when all did."""
    told: str = ""
    """Why the cache was not read, in the provider's words; empty when it does not say."""
    passes: int = 0
    """How often the conversation had been compacted by then."""


@dataclass(frozen=True, slots=True)
class Warmed:
    """The prompt of a run that waits was read in the provider's cache once more, so that it stays there."""

    usage: Usage
    cost: Decimal | None = None
    """In US dollars, by the prices of that day; None where unknown."""


@dataclass(frozen=True, slots=True)
class CacheMiss:
    """A request that did not read all that the one before had left in the cache."""

    reply: int
    """Which reply of the session it asked for, from 1."""
    outcome: CacheOutcome
    tokens: int
    layer: Layer | None
    told: str

    @property
    def is_expected(self) -> bool:
        """Whether it had to be: a pause, a pass, another model."""
        return self.outcome not in UNEXPECTED
