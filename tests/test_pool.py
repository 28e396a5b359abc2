"""The pool: a bounded number of daemon threads, and whatever happens in one reaches who waits."""

import asyncio
import contextvars
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from offing.engine.pool import Pool

pytestmark = pytest.mark.anyio


class Hall:
    """Jobs that wait until they are let go; counts how many are at work."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.most = 0
        self._now = 0
        self._changed = threading.Condition()

    def job(self) -> str:
        with self._changed:
            self._now += 1
            self.most = max(self.most, self._now)
            self._changed.notify_all()
        assert self.free.wait(30)
        with self._changed:
            self._now -= 1
        return threading.current_thread().name

    async def until(self, at_work: int) -> None:
        def wait() -> bool:
            with self._changed:
                return self._changed.wait_for(lambda: self._now >= at_work, 30)

        assert await asyncio.to_thread(wait)


async def test_no_more_threads_than_its_size_and_no_more_than_are_needed() -> None:
    pool, hall = Pool(3), Hall()
    jobs = [pool.submit(hall.job) for _ in range(10)]
    await hall.until(3)
    hall.free.set()
    names = await asyncio.gather(*(job.done for job in jobs))
    assert (hall.most, len(set(names))) == (3, 3)
    pool.close()


async def test_a_lone_caller_needs_one_thread() -> None:
    pool = Pool(16)
    names = {await pool.submit(lambda: threading.current_thread().name).done for _ in range(20)}
    assert len(names) <= 2  # a thread may still be putting its last job away
    pool.close()


async def test_its_threads_are_daemons_with_a_name() -> None:
    pool = Pool(1)
    thread = await pool.submit(threading.current_thread).done
    assert (thread.name, thread.daemon) == ("offing-tool-1", True)
    pool.close()


async def test_a_job_that_waits_can_be_withdrawn_and_one_that_began_cannot() -> None:
    pool, hall = Pool(1), Hall()
    ran: list[str] = []
    begun, waiting = pool.submit(hall.job), pool.submit(lambda: ran.append("waiting"))
    await hall.until(1)
    assert (begun.withdraw(), waiting.withdraw(), waiting.withdraw()) == (False, True, False)
    assert (begun.done.done(), waiting.done.cancelled()) == (False, True)
    hall.free.set()
    await begun.done
    assert await pool.submit(lambda: "next").done == "next"
    assert ran == []
    pool.close()


def fail(error: BaseException) -> Callable[[], object]:
    def function() -> object:
        raise error

    return function


async def test_an_exception_is_carried_as_it_is() -> None:
    pool, error = Pool(1), ValueError("no such account")
    with pytest.raises(ValueError, match="no such account") as found:
        await pool.submit(fail(error)).done
    assert found.value is error
    pool.close()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt: "),
        (StopIteration("x"), "StopIteration: x"),
        (GeneratorExit(), "GeneratorExit: "),
        (asyncio.CancelledError(), "CancelledError: "),
    ],
)
async def test_what_would_end_more_than_the_job_is_carried_as_an_error(
    error: BaseException, told: str
) -> None:
    pool = Pool(1)
    with pytest.raises(RuntimeError) as found:
        await pool.submit(fail(error)).done
    assert str(found.value) == told
    assert await pool.submit(lambda: "still here").done == "still here"
    pool.close()


async def test_a_job_sees_the_context_of_who_submitted_it() -> None:
    pool, user = Pool(1), contextvars.ContextVar("user", default="nobody")
    user.set("ada")
    assert await pool.submit(user.get).done == "ada"
    pool.close()


def test_a_loop_that_closes_before_its_job_ends_is_no_trouble() -> None:
    pool, hall = Pool(1), Hall()

    async def leave() -> None:
        pool.submit(hall.job)
        await hall.until(1)

    async def next_one() -> str:
        return await pool.submit(lambda: "next").done

    asyncio.run(leave())
    hall.free.set()
    assert asyncio.run(next_one()) == "next"
    pool.close()


async def test_who_stopped_waiting_is_not_told() -> None:
    pool, hall = Pool(1), Hall()
    job = pool.submit(hall.job)
    await hall.until(1)
    job.done.cancel()
    hall.free.set()
    assert await pool.submit(lambda: "next").done == "next"
    assert job.done.cancelled()
    pool.close()


STUCK = """
import asyncio, threading
from offing.engine.pool import Pool

async def main():
    begun = threading.Event()
    def forever():
        begun.set()
        threading.Event().wait()
    Pool().submit(forever)
    await asyncio.to_thread(begun.wait)
    print("leaving", flush=True)

asyncio.run(main())
"""


def test_a_tool_that_never_ends_does_not_keep_the_process_from_ending() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STUCK], check=False, timeout=30, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "leaving\n", "")
