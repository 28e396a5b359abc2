"""The engine without an event loop: one background thread with one loop, for as long as it is used."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self, TypeVar, overload

from pydantic import BaseModel

from .answer import Result
from .errors import Interrupted
from .files import File

R = TypeVar("R")
T = TypeVar("T", bound=BaseModel)


class Asks(Protocol):
    """An engine, as far as it is used here."""

    @overload
    async def ask(self, text: str, *, files: Sequence[File] = ()) -> Result: ...

    @overload
    async def ask(self, text: str, *, files: Sequence[File] = (), output: type[T]) -> T: ...

    async def close(self) -> None:
        """Closes it."""
        ...


_GRACE_S = 1.0
"""Seconds that calls at work have to end once the engine is closed."""


@dataclass(slots=True)
class Background:
    """The thread's loop; None as long as there is none."""

    loop: asyncio.AbstractEventLoop | None = None
    guard: threading.Lock = field(default_factory=threading.Lock)


class Blocking:
    """The synchronous face. An engine is used through it or directly, not both."""

    def __init__(self, engine: Asks, beside: "Blocking | None" = None) -> None:
        """Starts nothing yet. `beside` is the face of the same engine for another tenant."""
        self._engine = engine
        self._background: Background = Background() if beside is None else beside._background

    @overload
    def ask(self, text: str, *, files: Sequence[File] = ()) -> Result: ...

    @overload
    def ask(self, text: str, *, files: Sequence[File] = (), output: type[T]) -> T: ...

    def ask(self, text: str, *, files: Sequence[File] = (), output: type[T] | None = None) -> Result | T:
        """Asks one question and waits. Raises as `Session.ask` says.

        Raises:
            Interrupted: the engine was closed meanwhile.
        """
        if output is None:
            return self._wait(self._engine.ask(text, files=files))
        return self._wait(self._engine.ask(text, files=files, output=output))

    def close(self) -> None:
        """Closes the engine and ends the thread."""
        self._wait(self._engine.close())
        with self._background.guard:
            loop, self._background.loop = self._background.loop, None
            if loop is not None:
                loop.call_soon_threadsafe(loop.stop)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait(self, work: Coroutine[object, object, R]) -> R:
        future = asyncio.run_coroutine_threadsafe(work, self._running())
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise
        except concurrent.futures.CancelledError:
            raise Interrupted("the engine was closed before there was an answer") from None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._background.guard:
            loop = self._background.loop
            if loop is None:
                loop = self._background.loop = asyncio.new_event_loop()
                threading.Thread(target=_serve, args=(loop,), name="offing-loop", daemon=True).start()
            return loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
        loop.run_until_complete(_end_the_rest())
    finally:
        loop.close()


async def _end_the_rest() -> None:
    """A caller in another thread waits for as long as its task neither ends nor is cancelled."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        await asyncio.wait(left, timeout=_GRACE_S)
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
