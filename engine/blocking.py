"""The engine without an event loop: one background thread with one loop, for as long as it is used."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from typing import Protocol, Self, TypeVar, overload

from pydantic import BaseModel

from .answer import Result
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


class Blocking:
    """The synchronous face. An engine is used through it or directly, not both."""

    def __init__(self, engine: Asks) -> None:
        self._engine = engine
        self._loop: asyncio.AbstractEventLoop | None = None
        self._guard = threading.Lock()

    @overload
    def ask(self, text: str, *, files: Sequence[File] = ()) -> Result: ...

    @overload
    def ask(self, text: str, *, files: Sequence[File] = (), output: type[T]) -> T: ...

    def ask(self, text: str, *, files: Sequence[File] = (), output: type[T] | None = None) -> Result | T:
        """Asks one question and waits. Raises as `Session.ask` says."""
        if output is None:
            return self._wait(self._engine.ask(text, files=files))
        return self._wait(self._engine.ask(text, files=files, output=output))

    def close(self) -> None:
        """Closes the engine and ends the thread."""
        self._wait(self._engine.close())
        with self._guard:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None

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

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._guard:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_serve, args=(self._loop,), name="offing-loop", daemon=True).start()
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()
