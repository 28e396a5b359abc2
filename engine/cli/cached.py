"""`offing show RUN --cache`: what each prompt of a run did in its provider's cache, a line a request."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...tracing import Usage
from ..store.cached import UNEXPECTED, Cached, Warmed
from ..store.facts import Replied
from ..store.journal import Row

_HEADS = ("reply", "after", "prompt", "read", "written 5m", "written 1h", "plain", "missed", "")
_WIDTHS = (6, 9, 9, 9, 11, 11, 9, 9, 0)
_WORDS = {
    "hit": "read all that was there",
    "first": "the first request",
    "small": "below what the provider caches",
    "untold": "the provider tells nothing of a cache",
    "model": "another model than before",
    "expired": "the lifetime was over",
    "pass": "the conversation was compacted before",
    "changed": "UNEXPECTED: the prompt does not begin as the one before",
    "lost": "UNEXPECTED: the prompt begins as the one before, and was not there",
}


class _Request(NamedTuple):
    """One request that had to do with the cache."""

    reply: int
    """Its number in the session; 0 for one that only kept the prompt warm."""
    row: Row
    usage: Usage
    cached: Cached | None


def cache_lines(rows: Iterable[Row], run: str) -> list[str]:
    """The lines for a run, from the rows of its session: a head, a line a request, and what they come to.

    A request is shown with the time since the one before it, its tokens, and why it missed what it missed.
    """
    shown: list[_Request] = []
    lines = [_columns(_HEADS)]
    before: Row | None = None
    for one in _requests(rows):
        if one.row.run == run:
            shown.append(one)
            lines += _lines(one, before)
        before = one.row
    return [*lines, *_sums(shown)]


def _requests(rows: Iterable[Row]) -> Iterator[_Request]:
    replies = 0
    for row in rows:
        match row.known:
            case Replied(reply, cached=cached):
                replies += 1
                yield _Request(replies, row, reply.usage, cached)
            case Warmed(usage):
                yield _Request(0, row, usage, None)
            case _:
                pass


def _lines(one: _Request, before: Row | None) -> Iterator[str]:
    usage, cached = one.usage, one.cached
    counts = (usage.prompt, usage.cache_read, usage.cache_write_5m, usage.cache_write_1h, usage.input)
    missed = 0 if cached is None else cached.missed
    yield _columns(
        (
            str(one.reply or "-"),
            "" if before is None else _time((one.row.at - before.at) // 1_000_000),
            *map(_count, counts),
            _count(missed),
            _why(one),
        )
    )
    if cached is not None and cached.told:
        yield f"{'':>{sum(_WIDTHS)}}  the provider says: {cached.told}"


def _why(one: _Request) -> str:
    if not one.reply:
        return "kept warm"
    if one.cached is None:
        return "not kept by the release that made it"
    layer = f" (from {one.cached.layer} on)" if one.cached.layer else ""
    return f"{_WORDS[one.cached.outcome]}{layer}"


def _sums(shown: list[_Request]) -> Iterator[str]:
    total = sum((one.usage for one in shown), Usage())
    missed = sum(one.cached.missed for one in shown if one.cached is not None)
    odd = sum(one.cached is not None and one.cached.outcome in UNEXPECTED for one in shown)
    share = f"{total.cache_read / total.prompt:.0%}" if total.prompt else "nothing"
    yield (
        f"{len(shown)} requests: {share} of {total.prompt:,} tokens of prompts read from the cache,"
        f" {missed:,} missed, {odd} unexpected"
    )


def _columns(cells: tuple[str, ...]) -> str:
    *numbers, last = (f"{cell:>{width}}" for cell, width in zip(cells, _WIDTHS, strict=True))
    return f"{''.join(numbers)}  {last}".rstrip()


def _count(tokens: int) -> str:
    return f"{tokens:,}"


def _time(seconds: int) -> str:
    minutes, rest = divmod(max(0, seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
