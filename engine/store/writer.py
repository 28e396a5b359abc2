"""One thread that writes: every change of a database goes through its queue, many in one commit.

While a commit is on its way to the disk, further jobs gather; the next commit takes them all. So the
cost of durability is shared by the runs that work at the same time, and a lone run waits for one
commit a step.
"""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from ..errors import StoreError
from ..points import changing
from .faults import told

T = TypeVar("T")
HEARTBEAT_S = 5.0
"""Seconds between two signs of life for the leases held."""
LOOK_S = 0.5
"""Seconds between two looks for what other processes posted to the streams held here."""

TRIES = 4
"""How often changes are made when the transaction is undone for no fault of theirs."""


class Undone(Exception):
    """A transaction was undone as a whole, and its changes may be made again at once."""


class Database(Protocol):
    """A connection as the writer needs it. All of it is called in the writer's thread."""

    def begin(self) -> None:
        """Begins a transaction that will write.

        Raises:
            Undone: as `attempt` and `commit` may too, when all is to be made again.
        """
        ...

    def commit(self) -> None:
        """Makes the transaction durable."""
        ...

    def rollback(self) -> None:
        """Undoes the transaction; does not raise."""
        ...

    def attempt(self, change: Callable[[], T]) -> T:
        """Runs one change so that, when it raises, only it is undone."""
        ...

    @property
    def holds_leases(self) -> bool:
        """Whether there is a lease to keep alive."""
        ...

    def heartbeat(self) -> None:
        """Says, in a transaction, that the leases held here are alive."""
        ...

    def look(self) -> None:
        """Tells, outside of a transaction, who waits for what was posted to the streams held here."""
        ...

    def close(self) -> None:
        """Closes the connection; does not raise."""
        ...


class _Job(Generic[T]):
    """A change and who waits for it."""

    def __init__(self, change: Callable[[], T], loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.future: asyncio.Future[T] = loop.create_future()
        self._change = change
        self._result: T | None = None
        self._error: Exception | None = None

    def run(self, database: Database) -> None:
        self._error = None
        try:
            self._result = database.attempt(self._change)
        except Undone:
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, it belongs to who waits
            self._error = _told(error)

    def fail(self, error: Exception) -> None:
        self._error = error

    def deliver(self) -> None:
        """In the loop's thread: tells who waits, unless nobody does any more."""
        if self.future.done():
            return
        if self._error is not None:
            self.future.set_exception(self._error)
        else:
            self.future.set_result(self._result)  # type: ignore[arg-type]  # set unless it failed


class Writer:
    """The queue and its thread. The thread starts with the first job."""

    def __init__(self, connect: Callable[[], Database], heartbeat_s: float = HEARTBEAT_S) -> None:
        self._connect = connect
        self._heartbeat_s = heartbeat_s
        self._queue: queue.SimpleQueue[_Job[object] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._beat_at = 0.0
        self._looked_at = 0.0

    def submit(
        self, change: Callable[[], T], name: Callable[[], str] = lambda: "a change"
    ) -> asyncio.Future[T]:
        """Queues a change; the future resolves when it is durable, in the order of submission.

        Args:
            change: Runs in the writer's thread.
            name: What it is, for who listens (`points.py`).
        """
        job = _Job(change, asyncio.get_running_loop())
        if self._closed:
            job.future.set_exception(StoreError("the store is closed"))
            return job.future
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="offing-writer", daemon=True)
            self._thread.start()
        changing(name, job.future)
        self._queue.put(job)  # type: ignore[arg-type]  # a job of any type is a job of object here
        return job.future

    async def close(self) -> None:
        """Writes what was queued, then ends the thread. Later jobs fail."""
        self._closed = True
        if self._thread is not None:
            self._queue.put(None)
            await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        database: Database | None = None
        while True:
            jobs, last = self._gather()
            try:
                database = database or self._connect()
                self._commit(database, jobs)
            except Exception as error:  # noqa: BLE001  told to all who wait; the thread goes on
                _fail(jobs, error)
                if database is not None:
                    database.rollback()
            _deliver(jobs)
            if database is not None:
                self._look(database)
            if last:
                break
        if database is not None:
            database.close()

    def _gather(self) -> "tuple[list[_Job[object]], bool]":
        """What is queued, after waiting for the first; and whether it is the last there will be."""
        jobs: list[_Job[object]] = []
        try:
            job = self._queue.get(timeout=min(self._heartbeat_s, LOOK_S))
            while job is not None:
                jobs.append(job)
                job = self._queue.get_nowait()
        except queue.Empty:
            return jobs, False
        return jobs, True

    def _commit(self, database: Database, jobs: "list[_Job[object]]") -> None:
        due = database.holds_leases and time.monotonic() - self._beat_at >= self._heartbeat_s
        if not jobs and not due:
            return
        for left in reversed(range(TRIES)):
            try:
                self._transact(database, jobs, beat=due)
            except Undone:
                database.rollback()
                if not left:
                    raise
            else:
                return

    def _transact(self, database: Database, jobs: "list[_Job[object]]", *, beat: bool) -> None:
        database.begin()
        if beat:
            database.heartbeat()
            self._beat_at = time.monotonic()
        for job in jobs:
            job.run(database)
        database.commit()

    def _look(self, database: Database) -> None:
        """Looks for posts when it is time to; when that fails, the next look may not."""
        if not database.holds_leases or time.monotonic() - self._looked_at < LOOK_S:
            return
        self._looked_at = time.monotonic()
        with contextlib.suppress(Exception):
            database.look()


def _fail(jobs: "list[_Job[object]]", error: Exception) -> None:
    for job in jobs:
        job.fail(_told(error))


def _told(error: Exception) -> StoreError:
    """What went wrong as who waits is told it: each gets an error of its own."""
    if isinstance(error, StoreError):
        return error
    return told("the store failed", error)


def _deliver(jobs: "list[_Job[object]]") -> None:
    """Resolves the futures, one wake-up a loop, in order."""
    loops: dict[asyncio.AbstractEventLoop, list[_Job[object]]] = {}
    for job in jobs:
        loops.setdefault(job.loop, []).append(job)
    for loop, waiting in loops.items():
        try:
            loop.call_soon_threadsafe(_deliver_all, waiting)
        except RuntimeError:  # the loop is closed: nobody waits any more
            continue


def _deliver_all(jobs: "list[_Job[object]]") -> None:
    for job in jobs:
        job.deliver()
