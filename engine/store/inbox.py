"""What others say to a run, on its way there: posted by anybody, without the lease, taken by its driver.

An item is taken in the transaction of the fact that records it, so it counts once, whoever is killed
when. It stays in the store after that: posted again under the same key, it is still known.
"""

import asyncio
import contextlib
import functools
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pydantic import TypeAdapter, ValidationError

if TYPE_CHECKING:
    from .journal import Lease


@dataclass(frozen=True, slots=True)
class Decide:
    """Approves or denies a call."""

    call: str
    approved: bool
    reason: str = ""
    digest: str = ""
    """Of what its author was shown; empty to decide on whatever is asked for the call."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answers a question."""

    call: str
    text: str


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that comes with a message; its bytes are an artifact already."""

    name: str
    ref: str
    mime: str


@dataclass(frozen=True, slots=True)
class Say:
    """A message."""

    text: str
    files: tuple[SentFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Cancel:
    """Asks the run to stop."""

    reason: str = ""
    hard: bool = False


Word = Decide | Answer | Say | Cancel

_KINDS: Mapping[str, type[Word]] = {"decide": Decide, "answer": Answer, "say": Say, "cancel": Cancel}
_NAMES = {kind: name for name, kind in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class Posting:
    """What is put into an inbox."""

    run: str
    """The run it is meant for."""
    kind: str
    body: bytes
    """UTF-8 JSON."""
    who: str
    at: int
    """Microseconds since 1970 in UTC."""
    key: str | None = None
    """A name of the author's choice: posted again under it, the item is there once. None for no name."""


@dataclass(frozen=True, slots=True)
class Item:
    """What is in an inbox."""

    id: int
    """Greater than that of any item posted before to the same stream."""
    run: str
    kind: str
    body: bytes
    who: str
    at: int


@functools.cache
def _adapter(kind: str) -> TypeAdapter[Word]:
    return TypeAdapter(_KINDS[kind])


def posting(run: str, word: Word, who: str, at: int, key: str | None = None) -> Posting:
    """The word as an inbox keeps it."""
    kind = _NAMES[type(word)]
    return Posting(run, kind, _adapter(kind).dump_json(word), who, at, key)


def word_of(item: Item) -> Word | str:
    """What an item says; or, in words, why that cannot be read."""
    if item.kind not in _KINDS:
        return f"this release does not know what {item.kind!r} is"
    try:
        return _adapter(item.kind).validate_json(item.body)
    except (ValidationError, RecursionError) as error:
        return f"it cannot be read: {str(error)[:300]}"


class _Bell(NamedTuple):
    token: int
    tell: Callable[[], object]
    loop: asyncio.AbstractEventLoop


class Bells:
    """Who is told when something is posted, by tenant and stream. Safe from any thread."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._bells: dict[tuple[str, str], _Bell] = {}
        self._rung: dict[tuple[str, str], int] = {}

    def hang(self, tenant: str, lease: "Lease", tell: Callable[[], object]) -> None:
        """From now on `tell` is called in the running loop, in place of what an earlier lease had called."""
        key = (tenant, lease.stream)
        with self._guard:
            self._bells[key] = _Bell(lease.token, tell, asyncio.get_running_loop())
            self._rung.pop(key, None)

    def take_down(self, tenant: str, lease: "Lease") -> None:
        """Whoever had this lease is told no more."""
        key = (tenant, lease.stream)
        with self._guard:
            if key in self._bells and self._bells[key].token == lease.token:
                del self._bells[key]

    def __bool__(self) -> bool:
        return bool(self._bells)

    def ring(self, tenant: str, stream: str, item: int) -> None:
        """Tells who waits that the inbox has this item, once."""
        key = (tenant, stream)
        with self._guard:
            bell = self._bells.get(key)
            if bell is None or self._rung.get(key, 0) >= item:
                return
            self._rung[key] = item
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            bell.loop.call_soon_threadsafe(bell.tell)
