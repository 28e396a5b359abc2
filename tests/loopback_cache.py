"""A small simulation of the prompt cache: it shows a broken prefix and a look-back too short.

What it does as the API documents it: the key of an entry is everything up to and including a
block; entries are written only where a marker stands; each marker looks for an entry at its own
block and the 19 before it; an entry lives for the lifetime that its marker asked for, from when it was
last read. Time passes where a clock is given; `expire` stands in for it elsewhere. What it leaves out:
a change of tool_choice or thinking does not clear the messages, entries are there at once, and a token
is four characters of JSON unless another measure is given.

`AutomaticCache` is the way of providers that cache by themselves, as OpenAI documents it: what a prompt
has in common with an earlier one, in steps of 128 tokens and from 1,024 on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from threading import Lock

from loopback_answers import Usage
from loopback_prompt import JsonObject, Placed, as_list, as_object, canonical

LOOK_BACK = 20
"""Block positions each marker looks at, its own included."""
SECONDS = {"5m": 300.0, "1h": 3600.0}
STEP = 128
"""Tokens by which an automatic cache counts."""
FIRST = 1024
"""Tokens below which it caches nothing."""


@dataclass(frozen=True, slots=True)
class Step:
    """One block of the rendered prompt."""

    key: str
    """Hash of everything up to and including this block."""
    tokens: int
    """Size of everything up to and including this block."""
    ttl: str | None
    """Lifetime that its marker asks for, if it has one."""


def no_time() -> float:
    """A clock that stands still."""
    return 0.0


def quarter(data: bytes) -> float:
    """Tokens of a piece of JSON: a quarter of its bytes."""
    return len(data) / 4


@dataclass(slots=True)
class Entry:
    """What is kept of one prefix."""

    ttl: str
    read_at: float
    """In seconds; written counts as read."""


@dataclass
class PromptCache:
    """Entries of all requests to one server."""

    minimum_tokens: int = 0
    """A prefix below this is silently not cached."""
    now: Callable[[], float] = no_time
    """Seconds, from any beginning."""
    measure: Callable[[bytes], float] = quarter
    """Tokens of a block's JSON."""
    _entries: dict[str, Entry] = field(default_factory=dict[str, Entry], init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def expire(self, ttl: str | None = None) -> None:
        """Forget the entries of one lifetime ("5m" or "1h"), or all of them."""
        with self._lock:
            self._entries = {key: kept for key, kept in self._entries.items() if ttl and kept.ttl != ttl}

    def account(self, body: JsonObject, placed: list[Placed]) -> Usage:
        """Read and write the cache for one request, and give the input side of its usage."""
        steps = prompt_steps(body, placed, self.measure)
        marked = [n for n, step in enumerate(steps) if step.ttl and step.tokens >= self.minimum_tokens]
        with self._lock:
            self._forget()
            read = self._longest_hit(steps, marked)
            written = {"5m": 0, "1h": 0}
            covered = read
            for n in marked:
                ttl = steps[n].ttl or "5m"
                written[ttl] += max(0, steps[n].tokens - covered)
                covered = max(covered, steps[n].tokens)
                self._entries.setdefault(steps[n].key, Entry(ttl, self.now())).read_at = self.now()
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
                    self._entries[steps[n].key].read_at = self.now()
                    return steps[n].tokens
        return 0

    def _forget(self) -> None:
        now = self.now()
        kept = self._entries.items()
        self._entries = {key: entry for key, entry in kept if now - entry.read_at < SECONDS[entry.ttl]}


@dataclass
class AutomaticCache:
    """What one server keeps of prompts without being told to."""

    encode: Callable[[str], Sequence[int]]
    """Text as tokens."""
    now: Callable[[], float] = no_time
    """Seconds, from any beginning."""
    lifetime: float = SECONDS["5m"]
    """Seconds that a prompt is kept after it was last read."""
    _kept: dict[bytes, float] = field(default_factory=dict[bytes, float], init=False)
    """By the hash of a beginning of a prompt, when it was read last."""

    def __post_init__(self) -> None:
        self._part = lru_cache(maxsize=4096)(lambda text: tuple(self.encode(text)))

    def account(self, body: JsonObject) -> Usage:
        """Read and write the cache for one chat completion, and give the input side of its usage."""
        tokens = [token for part in chat_parts(body) for token in self._part(part)]
        prefix = blake2b(str(body.get("model")).encode(), digest_size=12)
        read, is_read, now = 0, len(tokens) >= FIRST, self.now()
        for end in range(STEP, len(tokens) + 1, STEP):
            prefix.update(repr(tokens[end - STEP : end]).encode())
            key = prefix.digest()
            is_read = is_read and now - self._kept.get(key, -self.lifetime) < self.lifetime
            read = end if is_read else read
            if len(tokens) >= FIRST:
                self._kept[key] = now
        read = read if read >= FIRST else 0
        return Usage(input_tokens=len(tokens) - read, cache_read=read)


def chat_parts(body: JsonObject) -> list[str]:
    """A chat completion's prompt in pieces: the tools, then each message."""
    parts = [*as_list(body.get("tools")), *as_list(body.get("messages"))]
    return [json.dumps(part, ensure_ascii=False, separators=(",", ":")) for part in parts]


def prompt_steps(
    body: JsonObject, placed: list[Placed], measure: Callable[[bytes], float] = quarter
) -> list[Step]:
    """The rendered prompt with running hashes and sizes."""
    prefix = blake2b(str(body.get("model")).encode(), digest_size=12)
    automatic = body.get("cache_control")
    steps: list[Step] = []
    size = 0.0
    for n, block in enumerate(placed):
        data = canonical(block.value)
        prefix.update(block.role.encode() + b"\x00" + data + b"\x00")
        size += measure(data)
        marker = block.value.get("cache_control") or (automatic if n == len(placed) - 1 else None)
        steps.append(Step(prefix.hexdigest(), int(size), ttl_of(marker)))
    return steps


def ttl_of(marker: object) -> str | None:
    """Lifetime of a cache_control value; None when there is none."""
    found = as_object(marker)
    return None if found is None else str(found.get("ttl") or "5m")
