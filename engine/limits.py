"""The numbers that bound a run. Each can be set by the host; none is told to a model as a rule."""

from dataclasses import dataclass, field

from .budget import Budget
from .models.retry import RetryPolicy


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run and of what enters its context."""

    iterations: int = 150
    """Model calls until the run stops; a resume grants the same number again."""
    parallel_calls: int = 16
    """Tool calls of one run at work at the same time."""
    result_chars: int = 16_000
    """Characters of one tool result that enter the context; the rest is read back by its handle."""
    media_bytes: int = 5_000_000
    """Size of an image or document up to which the model is shown it; larger ones go by handle."""
    unfinished_replies: int = 3
    """Replies in a row that were cut by their length, were empty, or did not fit the wanted type."""
    pauses: int = 10
    """Times in a row that a provider may pause its turn and be asked to go on."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    """How patiently a failed model call is tried again."""
    same_failures: int = 3
    """Identical calls that failed identically until the model is told; after twice as many the run
    stops."""
    cancel_grace_s: float = 5.0
    """Seconds that calls at work have to end once the run is cancelled."""
    budget: Budget = field(default_factory=Budget)
    """What the run may spend; nothing is limited unless it is said. A resume grants more only if told to."""
    window: int | None = None
    """Tokens that the model takes, its reply included; None for what is known of it (`window.py`)."""
    reply_tokens: int | None = None
    """Of these, how many are kept free for the reply; None for what is known of the model."""
    compact_above: float = 0.8
    """Share of the tokens that a prompt may have above which a pass makes room."""
    compact_cold_above: float = 0.6
    """The same where the provider's cache is cold, so that a pass costs nothing that is not lost already."""
    compact_to: float = 0.5
    """Share that a pass brings the prompt down to."""
    freeze_at: float | None = 0.75
    """Score from 0 to 1 of bad signs (`intervention.py`) at which the run stops for a person; None for never.
    At 0.75 it takes a budget of money, since the other signs alone do not come to so much."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much the model that works from here on takes, in tokens."""

    window: int
    """Of prompt and reply together."""
    reply: int
    """Of these, kept free for the reply."""
    frame: int = 0
    """Estimated, of what stands before the messages: system prompt, tools and context."""

    @property
    def most(self) -> int:
        """What a prompt may have."""
        return max(1, self.window - self.reply)
