"""The events of a session that may have been rolled back."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import NamedTuple

from ..events import Event
from ..hub import Hub, events_after
from ..store.journal import Journal
from .streams import head_of


class Source(NamedTuple):
    """Where a session's rows are."""

    journal: Journal
    stream: str
    is_head: bool
    """Whether it is known that the session goes on in this stream."""


async def events_of_head(
    hub: Hub, source: Source, after: int, failed: Callable[[], BaseException | None]
) -> AsyncGenerator[Event]:
    """As `events_after` gives them, of the stream that the session goes on in."""
    journal, stream, is_head = source
    if not is_head:
        stream = await head_of(journal, stream)
    async with aclosing(events_after(hub, journal, stream, after, failed)) as events:
        async for event in events:
            yield event
