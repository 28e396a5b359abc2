"""The kept segments: what was sent stays as it was sent.

Each part of the prompt is encoded once. A request joins the kept bytes with those of the messages
that came since, so between two passes every request extends the former one byte for byte. After a pass
only what stands behind the first message that it changed is encoded anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..compaction.conversation import Conversation, Message, unpaired
from .layers import Chain, Layers
from .models.model import Model, Request

HEAD = 2
"""Segments before the first message: the layers of the frame."""
LOOK_BACK = 20
"""Content blocks that a cache marker looks back over, itself counted (WIRE.md, section 1)."""


@dataclass(slots=True)
class Wire:
    """The encoded session for one model."""

    model: Model
    segments: list[bytes] = field(default_factory=list[bytes])
    """The frame's two layers, then a segment a message."""
    _chain: Chain = field(default_factory=Chain, init=False, repr=False)
    _view: Sequence[Message] = field(default=(), init=False, repr=False)
    """The messages behind the segments."""
    _passes: int = field(default=0, init=False, repr=False)

    def request(self, said: Conversation, turn: int) -> Request:
        """The request for reply `turn`.

        Raises:
            ValueError: calls and results do not stand one to one. Nothing is sent then.
        """
        view = said.view()
        if len(said.passes) != self._passes:
            self._forget(HEAD + _same(self._view, view))
        self._view, self._passes = view, len(said.passes)
        known = len(self.segments) - HEAD
        for problem in unpaired(view, known):
            raise ValueError(problem)
        for place in range(known, len(view)):
            before = view[place - 1] if place else None
            self.segments.append(self.model.encode(view[place], before))
        return Request(self.segments[:], marks(view), turn, view, said=said.messages)

    @property
    def digest(self) -> str:
        """The prompt of the newest request in one number: a chain of SHA-256, in hexadecimal.

        Markers, effort and max_tokens are no part of it. Each segment is hashed once.
        """
        self._chain.follow(self.segments)
        return self._chain.digest.hex()

    def layers(self, before: int) -> Layers:
        """Digests of the layers of the newest request, where the one before had `before` segments."""
        self._chain.follow(self.segments)
        return self._chain.layers(before)

    def _forget(self, kept: int) -> None:
        """Forgets all segments but the first so many."""
        del self.segments[kept:]


def _same(before: Sequence[Message], now: Sequence[Message]) -> int:
    """How many messages from the first on are the same."""
    pairs = zip(before, now, strict=False)
    return next((at for at, (old, new) in enumerate(pairs) if old != new), min(len(before), len(now)))


def marks(view: Sequence[Message]) -> tuple[int, ...]:
    """Which segments' ends are worth a cache marker: at most four.

    The ends of the two layers of the frame, the end of the last message, and, where more was added
    since the former request than a marker looks back over, the place where that request's last
    marker stood.
    """
    last = _last_markable(view, len(view))
    former = _last_markable(view, _former_length(view))
    added = sum(map(_most_blocks, view[former + 1 : last + 1]))
    spliced = (former,) if former >= 0 and added >= LOOK_BACK else ()
    return (0, 1, *(HEAD + place for place in (*spliced, last) if place >= 0))


def _most_blocks(message: Message) -> int:
    """How many blocks a message has on the wire at most: one that is not known here counts too."""
    return max(len(message.blocks), message.raw.body.count(b'"type":') if message.raw else 0)


def _former_length(view: Sequence[Message]) -> int:
    """How many messages the former request had: all before the newest reply."""
    for place in range(len(view) - 1, -1, -1):
        if view[place].role == "assistant":
            return place
    return 0


def _last_markable(view: Sequence[Message], end: int) -> int:
    """The last message before `end` that a marker can stand on; -1 when there is none.

    Replies are resent as they came, so no marker is put into them.
    """
    for place in range(end - 1, -1, -1):
        if view[place].role != "assistant":
            return place
    return -1
