"""The service: its routes, and what each does. `service` makes it."""

import logging
import mimetypes
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict

from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from offing.engine import Engine
from offing.engine.errors import ConfigurationError, LeaseHeld, NotFound, NotOpen, OffingError, StoreError
from offing.engine.store.people import Questioned, Requested
from offing.namespaces.tool import Attachment

from .asked import Answer, Approval, Cancel, Denial, Sent, SentFile, asked, body_of
from .bounds import Bounds
from .desk import Desk, TooMany
from .people import People, Person
from .stream import Stream, after, events

_log = logging.getLogger("chat_service")

_STATUS: Mapping[type[Exception], int] = {
    NotFound: 404,
    NotOpen: 409,
    LeaseHeld: 409,
    ConfigurationError: 400,
    TooMany: 429,
    OffingError: 503,
}


def service(engine: Engine, people: People, bounds: Bounds | None = None) -> Starlette:
    """The application. It owns the engine: it goes on with interrupted runs at its start, and closes it."""
    made = _Service(engine, people, bounds or Bounds())
    post: Mapping[str, Callable[[Request], Awaitable[Response]]] = {
        "/sessions/{session}/messages": made.message,
        "/runs/{run}/approve": made.approve,
        "/runs/{run}/deny": made.deny,
        "/runs/{run}/answer": made.answer,
        "/runs/{run}/cancel": made.cancel,
        "/files": made.keep_file,
    }
    get = {
        "/sessions/{session}/events": made.events,
        "/runs/{run}/waiting": made.waiting,
        "/files/{ref}": made.file,
    }
    return Starlette(
        routes=[
            *(Route(path, endpoint, methods=["POST"]) for path, endpoint in post.items()),
            *(Route(path, endpoint, methods=["GET"]) for path, endpoint in get.items()),
        ],
        exception_handlers={HTTPException: _refused, **dict.fromkeys(_STATUS, _failed)},
        lifespan=made.lifespan,
    )


class _Service:
    """What each route does. Every one begins by asking who it is: all else is reached through that person."""

    def __init__(self, engine: Engine, people: People, bounds: Bounds) -> None:
        self._engine, self._people, self._bounds = engine, people, bounds
        self._desk = Desk(engine, bounds)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncGenerator[None]:
        """From start to end."""
        async with self._engine:
            await self._desk.go_on_with_all(self._people.customers.values())
            yield

    async def message(self, request: Request) -> Response:
        """Says something in a session. Under one `Idempotency-Key` a run at work hears it once."""
        person = self._who(request)
        sent = await asked(request, Sent, self._bounds)
        artifacts = self._desk.engine(person.customer).store.artifacts
        files = [_attached(each, await artifacts.get(each.ref)) for each in sent.files]
        key = request.headers.get("idempotency-key", "")[:200]
        run = await self._desk.say(person, request.path_params["session"], sent.text, files, key)
        return _json({"run": run}, 202)

    async def events(self, request: Request) -> Response:
        """What happens in a session, from after the last event that the client has seen."""
        person, last = self._who(request), after(request)
        seat = await self._desk.watched(person.customer, request.path_params["session"])
        return Stream(events(seat, last), ping=15, send_timeout=self._bounds.slow_s)

    async def waiting(self, request: Request) -> Response:
        """What a run waits for from people."""
        inbox = self._desk.engine(self._who(request).customer).inbox
        return _json([_shown(each) for each in await inbox.open(request.path_params["run"])])

    async def approve(self, request: Request) -> Response:
        """Lets a call run, as it was shown."""
        person, run = self._who(request), request.path_params["run"]
        given = await asked(request, Approval, self._bounds)
        inbox = self._desk.engine(person.customer).inbox
        await inbox.approve(run, given.call, by=person.name, digest=given.digest)
        return await self._gone_on(person, run)

    async def deny(self, request: Request) -> Response:
        """Keeps a call from running."""
        person, run = self._who(request), request.path_params["run"]
        given = await asked(request, Denial, self._bounds)
        inbox = self._desk.engine(person.customer).inbox
        await inbox.deny(run, given.call, reason=given.reason, by=person.name)
        return await self._gone_on(person, run)

    async def answer(self, request: Request) -> Response:
        """Answers a question of a run."""
        person, run = self._who(request), request.path_params["run"]
        given = await asked(request, Answer, self._bounds)
        await self._desk.engine(person.customer).inbox.answer(run, given.call, given.text, by=person.name)
        return await self._gone_on(person, run)

    async def cancel(self, request: Request) -> Response:
        """Asks a run to stop."""
        person, run = self._who(request), request.path_params["run"]
        given = await asked(request, Cancel, self._bounds)
        await self._desk.engine(person.customer).inbox.cancel(run, reason=given.reason, by=person.name)
        return await self._gone_on(person, run)

    async def keep_file(self, request: Request) -> Response:
        """Keeps a file, to be named in a message."""
        person = self._who(request)
        data = await body_of(request, self._bounds.file_bytes, self._bounds)
        return _json({"ref": await self._desk.engine(person.customer).store.artifacts.put(data)}, 201)

    async def file(self, request: Request) -> Response:
        """A file as it was sent up; never as something that a browser would show or run."""
        person = self._who(request)
        data = await self._desk.engine(person.customer).store.artifacts.get(request.path_params["ref"])
        headers = {"content-disposition": "attachment", "x-content-type-options": "nosniff"}
        return Response(data, media_type="application/octet-stream", headers=headers)

    async def _gone_on(self, person: Person, run: str) -> Response:
        await self._desk.go_on(person.customer, run)
        return _json({"run": run}, 202)

    def _who(self, request: Request) -> Person:
        person = self._people.of(request.headers.get("authorization", ""))
        if person is None:
            raise HTTPException(401, "who are you?", {"www-authenticate": "Bearer"})
        return person


def _attached(file: SentFile, data: bytes) -> Attachment:
    return Attachment(file.name, data, mimetypes.guess_type(file.name)[0] or "application/octet-stream")


_PRIVATE = {"state", "other_than"}
"""What a call holds for its tool, and who may not approve: nothing for a client."""


def _shown(asked_for: Requested | Questioned) -> dict[str, object]:
    shown = {name: value for name, value in asdict(asked_for).items() if name not in _PRIVATE}
    return {"kind": "approval" if isinstance(asked_for, Requested) else "question", **shown}


def _json(value: object, status: int = 200) -> Response:
    return Response(to_json(value), status, media_type="application/json")


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = _json({"error": error.detail}, error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _failed(_: Request, error: Exception) -> Response:
    """What the engine refuses, in its words; of what failed, and who else is at work, no word gets out."""
    status = next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)
    is_ours = isinstance(error, StoreError) and not isinstance(error, NotFound)
    if is_ours:
        _log.warning("%s", error)
    return _json({"error": "not now: try again" if is_ours else str(error)}, status)
