"""Requests over HTTP, and as much of what comes back as is good to have.

The transport of httpx2 is used without its client: that one logs the URLs it asks, which may hold a
credential, keeps cookies between calls, and unpacks a compressed body whatever its size.
"""

import asyncio
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self
from urllib.parse import urljoin, urlsplit

from .requests import Outgoing
from .unpacking import ACCEPTED, Unpacking

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx2 import AsyncHTTPTransport, Response

_CONNECT_S = 10.0
"""Seconds until a connection that is not made is given up."""
_HOPS = 5
"""Redirects that are followed."""
_SAME = frozenset({307, 308})
"""Redirects that ask for the same request elsewhere (RFC 9110, section 15.4)."""
_MOVED = frozenset({301, 302, 303})
_SENT = "send_request_headers.started"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """By their names in lower case; of several of one name, all with commas between."""
    body: bytes
    cut: str = ""
    """Why the body is not whole; empty when it is."""


class Broken(Exception):
    """No answer came. `sent` is False when the request certainly did not go out."""

    def __init__(self, why: str, *, sent: bool) -> None:
        super().__init__(why)
        self.sent = sent


@dataclass(slots=True)
class _Going:
    """How far one exchange is."""

    sent: bool = False
    status: int = 0
    """0 until the answer has begun."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Unpacking | None = None

    async def trace(self, event: str, info: object) -> None:
        """Told by the transport."""
        self.sent = self.sent or event.endswith(_SENT)

    def answer(self, cut: str) -> Answer:
        unpacked = self.body or Unpacking("", 0)
        return Answer(self.status, self.headers, bytes(unpacked.data), unpacked.problem or cut)


class Exchange:
    """The connections of one session to one system."""

    def __init__(self, most_bytes: int) -> None:
        """Opens nothing; `most_bytes` is how much of a body is read, unpacked."""
        self._most = most_bytes
        self._transport: AsyncHTTPTransport | None = None

    async def __aenter__(self) -> Self:
        from httpx2 import AsyncHTTPTransport

        self._transport = AsyncHTTPTransport(verify=await asyncio.to_thread(_trusted))
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._transport is not None:
            await self._transport.aclose()

    @property
    def _opened(self) -> "AsyncHTTPTransport":
        if self._transport is None:
            raise RuntimeError("an exchange is used inside its `async with`")
        return self._transport

    async def ask(self, request: Outgoing, timeout_s: float) -> Answer:
        """The answer to a request, behind redirects to the same origin.

        Raises:
            Broken: there is none.
        """
        going = _Going()
        try:
            async with asyncio.timeout(timeout_s):
                return await self._followed(request, going)
        except TimeoutError as error:
            late = f"there was no end of it within {timeout_s:g} s"
            if going.status:
                return going.answer(late)
            raise Broken(late, sent=going.sent) from error

    async def _followed(self, request: Outgoing, going: _Going) -> Answer:
        answer = await self._once(request, going)
        for _ in range(_HOPS):
            further = _redirected(request, answer)
            if further is None:
                break
            request, going.status = further, 0
            answer = await self._once(request, going)
        return answer

    async def _once(self, request: Outgoing, going: _Going) -> Answer:
        from httpx2 import HTTPError, InvalidURL, Request, StreamError

        timeouts = {"connect": _CONNECT_S, "pool": None, "read": None, "write": None}
        try:
            made = Request(
                request.method,
                request.url,
                headers=[(name.encode(), value) for name, value in self._headers(request)],
                content=request.content or None,
                extensions={"timeout": timeouts, "trace": going.trace},
            )
            response = await self._opened.handle_async_request(made)
        except InvalidURL as error:
            raise Broken(f"its URL cannot be used: {error}", sent=going.sent) from error
        except HTTPError as error:
            raise Broken(f"{type(error).__name__}: {error}", sent=going.sent) from error
        try:
            await self._read(response, going)
        except (HTTPError, StreamError):
            return going.answer("the connection broke")
        finally:
            await response.aclose()
        return going.answer("")

    async def _read(self, response: "Response", going: _Going) -> None:
        headers: dict[str, str] = {}
        for name, value in response.headers.multi_items():
            headers[name.lower()] = f"{headers[name.lower()]}, {value}" if name.lower() in headers else value
        going.headers, going.status = headers, response.status_code
        going.body = Unpacking(headers.get("content-encoding", ""), self._most)
        async for data in response.aiter_raw():
            if not going.body.takes(data):
                return
        going.body.end()

    def _headers(self, request: Outgoing) -> list[tuple[str, bytes]]:
        host = urlsplit(request.url).netloc.encode()
        length = [("Content-Length", str(len(request.content)).encode())]
        bodied = bool(request.content) or request.method in {"POST", "PUT", "PATCH"}
        named = any(name.lower() == "user-agent" for name, _ in request.headers)
        agent = [] if named else [("User-Agent", b"offing")]
        own = [("Host", host), ("Accept-Encoding", ACCEPTED), *agent, *(length if bodied else [])]
        return [*own, *request.headers]


@functools.cache
def _trusted() -> "SSLContext":
    """The machine's own list of who is trusted; to read it takes part of a second, so once a process."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


def _redirected(request: Outgoing, answer: Answer) -> Outgoing | None:
    """The request that a redirect asks for; None where there is none that is followed.

    Only to the same scheme, host and port, so no credential goes elsewhere, and only where the method stays
    or it is one of reading.
    """
    place = answer.headers.get("location")
    if place is None or answer.status not in _SAME | _MOVED:
        return None
    reads = request.method in {"GET", "HEAD"}
    if not (reads or answer.status in _SAME) or _origin(request.url, place) != _origin(request.url):
        return None
    return replace(request, url=urljoin(request.url, place))


def _origin(url: str, place: str = "") -> tuple[str, str, int | None] | None:
    """Scheme, host and port of a place that is seen from a URL; None for what is no URL."""
    try:
        parts = urlsplit(urljoin(url, place))
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None
    return parts.scheme, parts.hostname or "", port
