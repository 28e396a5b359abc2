"""How full the window is: the last count of a provider, and an estimate of what came since.

What was counted once is never counted again, so a step costs the step's size. Pure: a gauge is part of a
session's state, and the same facts give the same gauge.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from .conversation import Message
from .estimate import size

START = 1.15
"""What a model's tokens are to estimated ones before it has shown it: Claude's are more than o200k's."""
_LEAST, _MOST = 0.8, 2.0
_SHARE = 0.3
"""How much one reply moves the factor."""
_TELLING = 200
"""Estimated tokens below which a reply says too little of the factor."""


class Counted(NamedTuple):
    """What a provider counted for a reply, in tokens; 0 where it did not say."""

    prompt: int
    output: int
    """What the model wrote, its reasoning included."""
    reasoning: int
    is_kept: bool = True
    """Whether the reply is a message of the conversation."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """The size of a view."""

    known: int = 0
    """Tokens of the prompt and the reply that were counted last; after a pass, of the view it left. 0 before
    the first reply."""
    covers: int = 0
    """Messages of the conversation that these are of."""
    counted: bool = False
    """Whether a provider counted them; False where they are an estimate."""
    factor: float = START
    """The model's tokens by estimated ones."""
    floor: int = 0
    """Tokens that the newest pass left; 0 before the first."""
    passed: bool = False
    """Whether no reply came since the newest pass: one trigger is one pass."""

    def used(self, messages: Sequence[Message], frame: int) -> int:
        """Tokens of the whole view: of messages behind a frame of so many estimated tokens."""
        return (self.known or self._scaled(frame)) + self._scaled(_sizes(messages[self.covers :]))

    def replied(self, messages: Sequence[Message], frame: int, told: Counted) -> "Gauge":
        """After a reply, the last of the messages unless it said nothing at all."""
        asked = messages[self.covers : len(messages) - told.is_kept]
        if not told.prompt:
            known = self.used(messages, frame)
            return replace(self, known=known, covers=len(messages), counted=False, passed=False)
        fresh, factor = _sizes(asked), self.factor
        if self.counted and fresh >= _TELLING:
            ratio = (told.prompt - self.known) / fresh
            factor = min(_MOST, max(_LEAST, (1 - _SHARE) * factor + _SHARE * ratio))
        known = told.prompt + told.output
        return replace(self, known=known, covers=len(messages), counted=True, factor=factor, passed=False)

    def compacted(self, tokens: int, end: int) -> "Gauge":
        """After a pass over so many messages that left a view of so many tokens."""
        return replace(self, known=tokens, covers=end, counted=False, floor=tokens, passed=True)

    def _scaled(self, tokens: int) -> int:
        return round(self.factor * tokens)


def _sizes(messages: Sequence[Message]) -> int:
    return sum(map(size, messages))
