"""Digests of a prompt's parts, each hashed once: what an audit compares to say which layer changed."""

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

SHOWN = 16
"""Hexadecimal digits of a digest that are kept with a request: 64 bits."""


class Layers(NamedTuple):
    """The layers of one prompt in short digests."""

    tools: str
    context: str
    history: str
    """Of the prompt as far as the one before reached; empty when it does not reach so far."""


class Chain:
    """Digests of a growing list of segments.

    A segment is hashed when it is new or not the one that stood there last time. The usual case takes one
    comparison of two lists of the same objects.
    """

    def __init__(self) -> None:
        """Follows nothing yet."""
        self._segments: list[bytes] = []
        self._own: list[bytes] = []
        self._chained: list[bytes] = []

    def follow(self, segments: list[bytes]) -> None:
        """Takes the list as it is now."""
        same = len(self._segments)
        if self._segments != segments[:same]:
            same = _same(self._segments, segments)
        del self._segments[same:], self._own[same:], self._chained[same:]
        for segment in segments[same:]:
            own = sha256(segment).digest()
            self._chained.append(sha256(self.digest + own).digest())
            self._own.append(own)
            self._segments.append(segment)

    @property
    def digest(self) -> bytes:
        """Of all segments, a chain of SHA-256; empty when there are none."""
        return self._chained[-1] if self._chained else b""

    def layers(self, before: int) -> Layers:
        """The layers of a prompt of at least two segments; the one before it had `before`, 0 for none."""
        history = self._chained[before - 1] if 0 < before <= len(self._chained) else b""
        return Layers(short(self._own[0]), short(self._own[1]), short(history))


def short(digest: bytes) -> str:
    """A digest as it is kept with a request."""
    return digest.hex()[:SHOWN]


def _same(known: Sequence[bytes], segments: Sequence[bytes]) -> int:
    """How many segments both lists begin with alike."""
    pairs = zip(known, segments, strict=False)
    return next((n for n, (one, other) in enumerate(pairs) if one != other), min(len(known), len(segments)))
