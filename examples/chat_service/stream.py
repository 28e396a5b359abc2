"""The events of a session as server-sent events.

A fact's event has its sequence number as `id`, so that a client that comes back says the last one it saw, as
browsers do by themselves with `Last-Event-ID`, and misses nothing, also after a restart of the service.
Drafts have none: they are made anew.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from pydantic_core import to_json
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from offing.engine.errors import Interrupted, StoreError
from offing.engine.events import Delta, Draft, Event, Progress, RunResumed

from .desk import Seat

_log = logging.getLogger("chat_service")

_LAST = 2**53
"""No sequence number is larger; a client of JavaScript could not tell it."""


def after(request: Request) -> int:
    """The last event that the client has seen; 0 for none.

    Raises:
        HTTPException: it is no number.
    """
    said = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
    if not (said.isascii() and said.isdecimal() and len(said) < len(str(_LAST))):
        raise HTTPException(400, f"the last event's id is a number; got {said[:40]!r}")
    return int(said)


async def events(seat: Seat, last: int) -> AsyncGenerator[ServerSentEvent]:
    """What a client is sent: the facts after `last`, then what happens, without end."""
    seat.watchers += 1
    try:
        async with aclosing(seat.session.events(last)) as told:
            async for event in told:
                yield sent(event)
    except (Interrupted, StoreError) as error:
        _log.warning("the events of %s end: %s", seat.session.id, error)
        yield ServerSentEvent("{}", event="Closed")
    finally:
        seat.watchers -= 1


def sent(event: Event) -> ServerSentEvent:
    """One event: its fields as JSON, in which no text can end the event and begin another.

    Which process drives a run is nothing for a client.
    """
    if isinstance(event, RunResumed):
        event = replace(event, owner="")
    identity = None if isinstance(event, Delta | Draft | Progress) else str(event.seq)
    return ServerSentEvent(to_json(event).decode(), event=type(event).__name__, id=identity)


class Stream(EventSourceResponse):
    """Sends events, and drops a client that does not take them: the run never waits for one."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends until the client leaves, is dropped, or the service ends."""
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            _log.info("a client of %s is too slow: it is dropped", scope["path"])
