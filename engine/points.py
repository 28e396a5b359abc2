"""Points that a process passes on its way: around each durable change, and around the effect of each tool.

Nothing happens there unless somebody listens, as `crashes/` does, which ends the process at one of them to
see what is lost. The listener is the process's, since it is the process that dies.
"""

import inspect
from asyncio import Future
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from ..namespaces.tool import Arguments, Tool, ToolContext, ToolFunction, ToolOutput
from .models.model import Request


class Listener(Protocol):
    """Who is told. It may not come back."""

    def passing(self, name: str) -> None:
        """The process is at a point. Called in any thread."""
        ...

    def sending(self, request: Request) -> None:
        """A model is about to be asked."""
        ...


class _Heard:
    """Who listens in this process; None for nobody."""

    listener: Listener | None = None


def listen(listener: Listener) -> None:
    """Has the listener told from now on, for as long as the process lives."""
    _Heard.listener = listener


def passing(name: str) -> None:
    """A point of a tool's own, such as between two effects. Nothing happens unless somebody listens."""
    if _Heard.listener is not None:
        _Heard.listener.passing(name)


def sending(request: Request) -> None:
    """A model is about to be asked."""
    if _Heard.listener is not None:
        _Heard.listener.sending(request)


def changing(name: Callable[[], str], durable: "Future[Any]") -> None:
    """A change of a store is about to be made, and `durable` is done once it is."""
    listener = _Heard.listener
    if listener is None:
        return
    told = name()

    def after(done: "Future[Any]") -> None:
        if not done.cancelled() and done.exception() is None:
            listener.passing(f"after {told}")

    listener.passing(f"before {told}")
    durable.add_done_callback(after)


def around(tool: Tool, context: ToolContext) -> ToolFunction:
    """The function of a tool; while somebody listens, with a point before its effect and one after it."""
    listener = _Heard.listener
    if listener is None:
        return tool.call
    name = f"the effect of {tool.name}, call {context.call}"

    async def until(given: Awaitable[ToolOutput]) -> ToolOutput:
        output = await given
        listener.passing(f"after {name}")
        return output

    def call(arguments: Arguments, context: ToolContext) -> "Awaitable[ToolOutput] | ToolOutput":
        listener.passing(f"before {name}")
        given = tool.call(arguments, context)
        if inspect.isawaitable(given):
            return until(given)
        listener.passing(f"after {name}")
        return given

    return call
