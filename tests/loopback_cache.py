"""A small simulation of the prompt cache: it shows a broken prefix and a look-back too short.

What it does as the API documents it: the key of an entry is everything up to and including a
block; entries are written only where a marker stands; each marker looks for an entry at its own
block and the 19 before it; a read renews nothing that a test can see, since time does not pass
here (`expire` stands in for it). What it leaves out: a change of tool_choice or thinking does not
clear the messages, entries are there at once, and a token is four characters of JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock

from loopback_answers import Usage
from loopback_prompt import JsonObject, Placed, as_object, canonical

LOOK_BACK = 20
"""Block positions each marker looks at, its own included."""


@dataclass(frozen=True, slots=True)
class Step:
    """One block of the rendered prompt."""

    key: str
    """Hash of everything up to and including this block."""
    tokens: int
    """Size of everything up to and including this block."""
    ttl: str | None
    """Lifetime that its marker asks for, if it has one."""


class PromptCache:
    """Entries of all requests to one server."""

    def __init__(self, minimum_tokens: int = 0) -> None:
        """A prefix below `minimum_tokens` is silently not cached."""
        self.minimum_tokens = minimum_tokens
        self._entries: dict[str, str] = {}
        self._lock = Lock()

    def expire(self, ttl: str | None = None) -> None:
        """Forget the entries of one lifetime ("5m" or "1h"), or all of them."""
        with self._lock:
            self._entries = {key: kept for key, kept in self._entries.items() if ttl and kept != ttl}

    def account(self, body: JsonObject, placed: list[Placed]) -> Usage:
        """Read and write the cache for one request, and give the input side of its usage."""
        steps = prompt_steps(body, placed)
        marked = [n for n, step in enumerate(steps) if step.ttl and step.tokens >= self.minimum_tokens]
        with self._lock:
            read = self._longest_hit(steps, marked)
            written = {"5m": 0, "1h": 0}
            covered = read
            for n in marked:
                ttl = steps[n].ttl or "5m"
                written[ttl] += max(0, steps[n].tokens - covered)
                covered = max(covered, steps[n].tokens)
                self._entries.setdefault(steps[n].key, ttl)
        total = steps[-1].tokens if steps else 0
        return Usage(
            input_tokens=total - covered,
            cache_read=read,
            cache_write_5m=written["5m"],
            cache_write_1h=written["1h"],
        )

    def _longest_hit(self, steps: list[Step], marked: list[int]) -> int:
        for marker in reversed(marked):
            for n in range(marker, max(-1, marker - LOOK_BACK), -1):
                if steps[n].key in self._entries:
                    return steps[n].tokens
        return 0


def prompt_steps(body: JsonObject, placed: list[Placed]) -> list[Step]:
    """The rendered prompt with running hashes and sizes."""
    prefix = blake2b(str(body.get("model")).encode(), digest_size=12)
    automatic = body.get("cache_control")
    steps: list[Step] = []
    size = 0
    for n, block in enumerate(placed):
        data = canonical(block.value)
        prefix.update(block.role.encode() + b"\x00" + data + b"\x00")
        size += len(data)
        marker = block.value.get("cache_control") or (automatic if n == len(placed) - 1 else None)
        steps.append(Step(prefix.hexdigest(), size // 4, ttl_of(marker)))
    return steps


def ttl_of(marker: object) -> str | None:
    """Lifetime of a cache_control value; None when there is none."""
    found = as_object(marker)
    return None if found is None else str(found.get("ttl") or "5m")
