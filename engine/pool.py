"""The bounded pool of threads that synchronous tools run in.

Its threads are daemons: a tool that never ends does not keep the process from ending.
"""

import asyncio
import contextlib
import contextvars
import functools
import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PoolJob(Generic[T]):
    """One function on its way through the pool."""

    def __init__(self, function: Callable[[], T]) -> None:
        self.done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._loop = asyncio.get_running_loop()
        self._function = function
        self._context = contextvars.copy_context()
        self._guard = threading.Lock()
        self._taken = False
        self._tell: Callable[[], object] = self.done.cancel

    def withdraw(self) -> bool:
        """In the loop's thread: takes the job back; False when it has begun or was taken back before."""
        with self._guard:
            begun, self._taken = self._taken, True
        if not begun:
            self.done.cancel()
        return not begun

    def run(self) -> None:
        """In a thread: runs the function unless it was withdrawn."""
        with self._guard:
            withdrawn, self._taken = self._taken, True
        if withdrawn:
            return
        try:
            self._tell = functools.partial(self.done.set_result, self._context.run(self._function))
        except BaseException as error:  # noqa: BLE001  told to who waits; a thread has no caller
            self._tell = functools.partial(self.done.set_exception, _carried(error))

    def tell(self) -> None:
        """In the thread: tells who waits what came of it."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        if not self.done.done():
            self._tell()


class Pool:
    """At most `size` threads, started as they are needed."""

    def __init__(self, size: int = 16) -> None:
        self._size = size
        self._jobs: queue.SimpleQueue[PoolJob[object] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._busy = 0
        self._guard = threading.Lock()

    def submit(self, function: Callable[[], T]) -> PoolJob[T]:
        """Queues a function; its job's `done` resolves in the calling loop."""
        job = PoolJob(function)
        with self._guard:
            self._busy += 1
            if self._busy > len(self._threads) < self._size:
                name = f"offing-tool-{len(self._threads) + 1}"
                thread = threading.Thread(target=self._work, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
        self._jobs.put(job)  # type: ignore[arg-type]  # a job of any type is a job of object here
        return job

    def close(self) -> None:
        """Ends the threads as they become free; does not wait for any."""
        for _ in self._threads:
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job.run()
            with self._guard:
                self._busy -= 1
            job.tell()


def _carried(error: BaseException) -> Exception:
    """A future cannot carry StopIteration, and SystemExit would end the loop that awaits it."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    try:
        return RuntimeError(f"{type(error).__name__}: {error}")
    except Exception:  # noqa: BLE001  an error whose text cannot be had is told by its type
        return RuntimeError(type(error).__name__)
