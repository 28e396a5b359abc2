"""A system that describes itself in an OpenAPI document, as a namespace: each operation is a tool."""

import asyncio
import functools
import hashlib
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from http import HTTPStatus
from pathlib import Path

from pydantic import SecretStr

from ..errors import NamespaceError
from ..policy import ToolPolicy, governed, unmet
from ..tool import Arguments, Effect, Inspection, Tool, ToolContext, ToolOutput
from .answers import output_of
from .document import parsed
from .exchange import Broken, Exchange
from .operations import IDEMPOTENT, SAFE, IdempotencyKey, Operation, SetAside, operations
from .reading import MAX_BYTES
from .requests import Outgoing, outgoing
from .servers import Home, checked

_GRACE_S = 5.0
"""Seconds that a call has beyond its timeout to say itself what became of it."""
_FETCH_S = 20.0
"""Seconds in which a document has to be fetched."""

_log = logging.getLogger("offing")


@dataclass(frozen=True, slots=True)
class OpenApi:
    """A namespace made of an OpenAPI document of version 3.0 or later.

    Safe methods read, PUT and DELETE are repeatable, all others run once; DELETE needs approval. Policies
    override each. Credentials are given per session, by the names of the document's security schemes: an
    API key or token as it is, `http` `basic` as `user:password`.

    Raises:
        NamespaceError: `server` is no http or https URL.
    """

    name: str
    source: str | Path
    """Path of the document, or its http or https URL, which is asked without credentials; JSON or YAML."""
    guide: Path | None = None
    """The SKILL.md that says which tool to use when."""
    server: str = ""
    """Base URL of the system in place of those in the document; empty for the document's."""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    """Values of variables in the URL of the document's server, in place of their defaults."""
    policies: Sequence[ToolPolicy] = ()
    """What holds for tools whatever their method, by pattern of their names; the first that says it holds."""
    idempotency: Mapping[str, str] = field(default_factory=dict[str, str])
    """Header in which operations take an idempotency key though the document does not say so, by pattern of
    their names: `{"create_*": "Idempotency-Key"}`. After a kill, such a call is sent again with the same key.
    An empty header says that the system does not keep its word: nothing is sent again."""
    timeout_s: float = 60.0
    """Seconds until a call is given up; a policy may say otherwise."""
    max_bytes: int = 10_000_000
    """How much of a response is read, unpacked; the rest is left out, and the model told so."""
    _mapped: dict[str, list[Operation | SetAside]] = field(
        default_factory=dict[str, list[Operation | SetAside]], init=False, repr=False, compare=False
    )
    """The operations of the document as it was last read, by its digest: each session reads it anew, and a
    large one takes seconds to map."""

    def __post_init__(self) -> None:
        if self.server:
            checked(self.server)

    @asynccontextmanager
    async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
        """Reads the document and yields its operations as tools; connections are made by calls."""
        async with Exchange(self.max_bytes) as exchange:
            data = await self._document()
            found = await asyncio.to_thread(self._operations, data)
            tools = [self._tool(one) for one in found]
            for pattern in unmet(tools, self.policies):
                _log.warning("%s: the policy for %r fits none of its operations", self.name, pattern)
            by_name = {one.name: one for one in found}
            yield [_bound(tool, by_name[tool.name], exchange) for tool in governed(tools, self.policies)]

    async def _document(self) -> bytes:
        if str(self.source).startswith(("http://", "https://")):
            return await _fetched(str(self.source))
        return await asyncio.to_thread(_read, Path(self.source))

    def _operations(self, data: bytes) -> list[Operation | SetAside]:
        digest = hashlib.sha256(data).hexdigest()
        found = self._mapped.get(digest)
        if found is None:
            found = self._map(data)
            self._mapped.clear()
            self._mapped[digest] = found
        return found

    def _map(self, data: bytes) -> list[Operation | SetAside]:
        origin = str(self.source) if str(self.source).startswith(("http://", "https://")) else ""
        home = Home(self.server, self.variables, origin)
        found = [self._keyed(one) for one in operations(parsed(data), home)]
        if not found:
            raise NamespaceError("the document has no operations")
        aside = [one for one in found if isinstance(one, SetAside)]
        if len(aside) == len(found):
            raise NamespaceError(
                f"none of its {len(found)} operations can be used; {aside[0].name}: {aside[0].reason}"
            )
        return found

    def _tool(self, one: Operation | SetAside) -> Tool:
        """The tool of an operation as its document has it, not yet bound to a connection."""
        if isinstance(one, SetAside):
            return Tool(one.name, "Not usable.", {"type": "object"}, _unbound, unusable=one.reason)
        return Tool(
            name=one.name,
            summary=one.summary,
            schema=one.schema,
            call=_unbound,
            effect=_effect(one.method),
            destructive=one.method == "DELETE",
            timeout_s=self.timeout_s,
            inspect=_to_be_sent_again if one.key is not None and self._header(one.name) != "" else None,
            deprecated=one.deprecated,
            description=one.description,
        )

    def _keyed(self, one: Operation | SetAside) -> Operation | SetAside:
        """The operation with the idempotency key that the host says it takes."""
        if isinstance(one, SetAside) or one.key is not None or one.method in SAFE:
            return one
        header = self._header(one.name)
        return replace(one, key=IdempotencyKey(header, 0, uuid=False)) if header else one

    def _header(self, name: str) -> str | None:
        """The header that the host names for an operation's key; None when it says nothing of it."""
        said = (header for pattern, header in self.idempotency.items() if fnmatchcase(name, pattern))
        return next(said, None)


def _effect(method: str) -> Effect:
    if method in SAFE:
        return Effect.READ
    return Effect.REPEATABLE if method in IDEMPOTENT else Effect.ONCE


def _bound(tool: Tool, operation: Operation | SetAside, exchange: Exchange) -> Tool:
    """The tool as it is called: by what the host has said of its effect and time."""
    if isinstance(operation, SetAside):
        return tool
    once = tool.effect is Effect.ONCE
    call = functools.partial(_call, operation, exchange, tool.timeout_s, once=once)
    return replace(tool, call=call, timeout_s=tool.timeout_s + _GRACE_S)


async def _call(
    operation: Operation,
    exchange: Exchange,
    timeout_s: float,
    arguments: Arguments,
    context: ToolContext,
    *,
    once: bool,
) -> ToolOutput:
    try:
        request = await outgoing(operation, arguments, context)
    except (NamespaceError, UnicodeError) as error:
        return ToolOutput(f"Not sent: {error}", error=True)
    try:
        answer = await exchange.ask(request, timeout_s)
    except Broken as broken:
        return _unanswered(broken, once=once)
    return output_of(operation, answer, request.secrets)


def _unanswered(broken: Broken, *, once: bool) -> ToolOutput:
    if not broken.sent:
        return ToolOutput(f"It was not sent: {broken}", error=True)
    if once:
        return ToolOutput(f"it was sent and no answer came: {broken}", error=True, unknown=True)
    return ToolOutput(f"No answer came; it may be called again: {broken}", error=True)


async def _to_be_sent_again(arguments: Arguments, context: ToolContext) -> Inspection:
    """Of a call with an idempotency key: sent again it takes effect once, whatever became of it before."""
    return Inspection("not done")


async def _unbound(arguments: Arguments, context: ToolContext) -> ToolOutput:
    raise NotImplementedError("an operation is called through the connection of a session")


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


async def _fetched(url: str) -> bytes:
    """The document behind a URL.

    Raises:
        NamespaceError: it cannot be had.
    """
    checked(url.partition("?")[0])
    request = Outgoing("GET", url, (("Accept", b"application/json, application/yaml, */*;q=0.8"),), b"")
    async with Exchange(MAX_BYTES) as exchange:
        try:
            answer = await exchange.ask(request, _FETCH_S)
        except Broken as broken:
            raise NamespaceError(f"the document cannot be fetched: {broken}") from broken
    if answer.status != HTTPStatus.OK or answer.cut:
        raise NamespaceError(f"the document cannot be fetched: status {answer.status} {answer.cut}".rstrip())
    return answer.body
