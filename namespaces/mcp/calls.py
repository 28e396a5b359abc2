"""One call of a server's tool: sent, asked about, sent again where that is safe, and what came of it."""

import asyncio
import functools
from dataclasses import dataclass
from typing import NamedTuple, cast

from mcp import MCPError, types
from pydantic import TypeAdapter, ValidationError

from ..tool import Arguments, ToolContext, ToolOutput
from .elicitation import asked_of, response_to
from .link import Connection, Link, Lost
from .output import output_of, output_of_resource
from .pending import Pending, pending_of

_ROUNDS = 20
"""Times that one attempt goes on without a person: a server may ask for what is known, or for patience."""
_PATIENCE_S = 0.25
"""Seconds until a server that asks for nothing but patience is asked again."""

Result = types.CallToolResult | types.InputRequiredResult

_RESULT: TypeAdapter[Result] = TypeAdapter(Result)
_HTTP_ERROR = "Server returned an error response"
"""What the SDK says of an HTTP status that is an error."""
_NO_SESSION = "Session terminated"
"""What the SDK says of a server that does not know the connection any more."""
_KEY = "offing/idempotency-key"


class Again(NamedTuple):
    """A request whose connection was lost."""

    why: str
    is_safe: bool
    """Whether the server is known not to have taken it."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A tool of a server, as a session may call it."""

    link: Link
    name: str
    may_repeat: bool
    """Whether a call that was sent may be sent again."""

    async def __call__(self, arguments: Arguments, context: ToolContext) -> ToolOutput:
        """Calls it, or goes on with a call that a person has answered for."""
        if context.answer is None:
            return await self._go(Pending(dict(arguments)), context)
        pending = pending_of(context.answer.state)
        asked = pending.open
        if asked is None:
            return await self._go(pending, context)
        response = response_to(asked, context.answer.text)
        if isinstance(response, str):
            return self._asking(pending, response)
        pending = pending.taking(response)
        if pending.open is not None:
            return self._asking(pending)
        if pending.outcome is not None and response.action != "accept":
            return ToolOutput(pending.outcome.text, error=pending.outcome.error)
        return await self._go(pending, context)

    async def _go(self, pending: Pending, context: ToolContext) -> ToolOutput:
        """Works on the call until it has come to its end, or a person has to answer."""
        for _ in range(_ROUNDS):
            came_to = await self._attempt(pending, context)
            if isinstance(came_to, ToolOutput):
                return came_to
            if came_to.open is not None:
                return self._asking(came_to)
            if came_to.request_state is not None and not came_to.asked:
                await asyncio.sleep(_PATIENCE_S)
            pending = came_to
        return ToolOutput(f"The server asked for more {_ROUNDS} times and came to no result.", error=True)

    async def _attempt(self, pending: Pending, context: ToolContext) -> ToolOutput | Pending:
        with self.link.conversations.held(pending.answered) as talk:
            try:
                result = await self._sent(pending, context)
            except Lost as error:
                return ToolOutput(f"{self.link.name} is not connected: {error}", error=True)
        if isinstance(result, types.InputRequiredResult):
            wanted = pending.required(result)
            return ToolOutput(wanted, error=True) if isinstance(wanted, str) else wanted
        if isinstance(result, Pending):
            return result
        output = output_of(result) if isinstance(result, types.CallToolResult) else result
        return pending.dismissed(talk.open, output) if talk.open and not output.unknown else output

    def _asking(self, pending: Pending, problem: str = "") -> ToolOutput:
        question = pending.question(self.name, self.link.name, problem)
        return ToolOutput("The call needs an answer of a person to go on.", question=question)

    async def _sent(self, pending: Pending, context: ToolContext) -> Result | ToolOutput | Pending:
        """What came of sending it; once more after a connection was lost, where that is safe."""
        lost = Again("", is_safe=True)
        for _ in range(2):
            connection = await self.link.connection()
            try:
                result = await _request(connection, self._params(pending, context), context)
            except MCPError as error:
                failed = await _failed(error, connection, pending)
                if not isinstance(failed, Again):
                    return failed
                lost = failed
            except ValidationError as error:
                problem = f"what {self.link.name} answered cannot be read: {error}"
                return ToolOutput(problem, error=True, unknown=True)
            else:
                self.link.worked()
                return result
            if not (self.may_repeat or lost.is_safe):
                break
        told = f"the connection to {self.link.name} was lost: {lost.why}"
        return ToolOutput(told, error=True, unknown=not lost.is_safe)

    def _params(self, pending: Pending, context: ToolContext) -> types.CallToolRequestParams:
        """The request. The key is for servers that know a repeated call by it; others ignore it."""
        meta = {} if self.may_repeat else {_KEY: context.idempotency_key}
        if context.traceparent:
            meta["traceparent"] = context.traceparent
        return types.CallToolRequestParams(
            name=self.name,
            arguments=pending.arguments,
            input_responses=pending.responses() or None,
            request_state=pending.request_state,
            _meta=cast("types.RequestParamsMeta", meta) if meta else None,
        )


async def read(link: Link, arguments: Arguments, context: ToolContext) -> ToolOutput:
    """Reads a resource that a result links to."""
    try:
        connection = await link.connection()
        client = await connection.connected()
        result = await client.read_resource(str(arguments["uri"]))
    except Lost as error:
        return ToolOutput(f"{link.name} is not connected: {error}", error=True)
    except MCPError as error:
        return ToolOutput(_told(error), error=True)
    link.worked()
    return output_of_resource(result.contents)


async def _request(
    connection: Connection, params: types.CallToolRequestParams, context: ToolContext
) -> Result:
    """Sends a call and waits. When the task is cancelled the SDK tells the server.

    Not the SDK's own `call_tool`: it throws a result away that does not fit the schema which the server has
    declared for it, and by then the call has taken effect.
    """
    client = await connection.connected()
    with connection.at_work():
        return await client.session.send_request(
            types.CallToolRequest(params=params),
            _RESULT,
            progress_callback=functools.partial(_told_progress, context),
        )


async def _told_progress(
    context: ToolContext, progress: float, total: float | None, message: str | None
) -> None:
    of = "" if total is None else f" of {total:g}"
    context.progress(f"{message or 'at work'} ({progress:g}{of})")


async def _failed(error: MCPError, connection: Connection, pending: Pending) -> ToolOutput | Pending | Again:
    """What a failed request means for its call."""
    code, message = error.code, error.message
    if code == types.CONNECTION_CLOSED or message == _NO_SESSION:
        await connection.close()
        is_safe = message == _NO_SESSION or connection.was_refused
        return Again(connection.reason or message, is_safe)
    if pending.request_state is not None and code in {types.INVALID_PARAMS, types.INVALID_REQUEST}:
        return pending.anew()
    if code == types.URL_ELICITATION_REQUIRED:
        return _to_open(error, pending)
    if message == _HTTP_ERROR:
        told = f"the server answered HTTP {connection.status}"
        return ToolOutput(told, error=True, unknown=connection.status >= 500)  # noqa: PLR2004
    return ToolOutput(_told(error), error=True, unknown=code == types.PARSE_ERROR)


def _to_open(error: MCPError, pending: Pending) -> ToolOutput | Pending:
    """The pages that a server wants to be opened before it does what was asked (2025-11-25)."""
    output = ToolOutput(_told(error), error=True)
    try:
        wanted = types.ElicitationRequiredErrorData.model_validate(error.error.data).elicitations
    except ValidationError:
        return output
    return pending.dismissed([asked_of("", one) for one in wanted], output) if wanted else output


def _told(error: MCPError) -> str:
    data = "" if error.error.data is None else f" {error.error.data}"
    return f"{error.message} (error {error.code}){data}"
