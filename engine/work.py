"""One tool call at work, in a task or in a thread, and what it came to.

An asynchronous tool is told to end at its timeout and mostly does. A thread cannot be told: it is
given up, and whoever holds a lock for it waits until it really ends.
"""

import asyncio
import contextvars
import functools
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, cast

from ..namespaces.tool import Arguments, Tool, ToolContext, ToolOutput
from .points import around
from .pool import Pool

_GRACE_S = 1.0
"""Seconds that a task which is told to end has to do so."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a call ended, as far as it did."""

    how: Literal["output", "error", "timeout", "not begun"]
    output: ToolOutput | None = None
    """With "output"."""
    error: str = ""
    """With "error": what the tool raised, as a model can read it."""


class Work:
    """A call that has begun, or is queued for a thread."""

    def __init__(self, ending: "asyncio.Future[object]", give_up: Callable[[], bool]) -> None:
        self._ending = ending
        self._give_up = give_up
        ending.add_done_callback(_look_at)

    def when_ended(self, then: Callable[[], None]) -> None:
        """Calls `then` once the call has really ended; at once when it has."""
        if self._ending.done():
            then()
        else:
            self._ending.add_done_callback(lambda _: then())

    async def ended(self, timeout_s: float) -> Ended:
        """Waits for the end, for so many seconds; a call that is late is told to end."""
        try:
            await asyncio.wait([self._ending], timeout=timeout_s)
            if self._ending.done():
                return self._end()
            if self._give_up():
                return Ended("not begun")
            await asyncio.wait([self._ending], timeout=_GRACE_S)
        except asyncio.CancelledError:
            self._give_up()
            raise
        late = self._end() if self._ending.done() else Ended("timeout")
        return late if late.how == "output" else Ended("timeout")

    def _end(self) -> Ended:
        if self._ending.cancelled():
            return Ended("error", error="the tool cancelled itself")
        error = self._ending.exception()
        if error is not None:
            return Ended("error", error=told(error))
        output = self._ending.result()
        if not isinstance(output, ToolOutput):
            return Ended("error", error=f"the tool gave {type(output).__name__}, not ToolOutput")
        return Ended("output", output)


def begin(tool: Tool, arguments: Arguments, context: ToolContext, pool: Pool) -> Work:
    """Begins a call where it belongs: in a task, or in a thread of the pool."""
    function = functools.partial(around(tool, context), arguments, context)
    if tool.blocking:
        in_context = functools.partial(contextvars.copy_context().run, function)
        job = pool.submit(cast("Callable[[], object]", in_context))
        return Work(job.done, job.withdraw)
    task = asyncio.create_task(_guarded(function))

    def tell_to_end() -> bool:
        task.cancel()
        return False

    return Work(cast("asyncio.Future[object]", task), tell_to_end)


async def _guarded(function: "Callable[[], Awaitable[ToolOutput] | ToolOutput]") -> object:
    try:
        result = function()
        return await result if inspect.isawaitable(result) else result
    except (SystemExit, GeneratorExit) as error:
        raise RuntimeError(told(error)) from error


def _look_at(ending: "asyncio.Future[object]") -> None:
    """Nobody may be left to look at the error of a call that was given up."""
    if not ending.cancelled():
        ending.exception()


def told(error: BaseException) -> str:
    """An exception as a model can read it."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  an error whose text cannot be had is told by its type
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def was_cancelled() -> bool:
    """Whether the running task was told to end, or what it awaits has cancelled itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
