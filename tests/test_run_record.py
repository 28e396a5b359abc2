"""`Run.record`: durable, then folded, then published, whatever interrupts it."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bare_run import NOON, RUN, STREAM, bare_run, begun_run
from offing.engine.errors import LeaseLost, StoreError
from offing.engine.events import CallStarted, NoteGiven, RunResumed
from offing.engine.run import Run
from offing.engine.state import fold
from offing.engine.store.facts import Noted, Resumed, Started
from offing.engine.store.journal import Lease, Row, Scope
from offing.engine.store.memory import MemoryArtifacts, MemoryJournal

pytestmark = pytest.mark.anyio

ONE, TWO = Noted("one", "1"), Noted("two", "2")


class SlowJournal(MemoryJournal):
    """A journal whose appends become durable when the test says so, together or one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.slow = False
        self._waiting: deque[tuple[asyncio.Future[None], Lease, Sequence[Row]]] = deque()

    def append(self, lease: Lease, rows: Sequence[Row]) -> Awaitable[None]:
        if not self.slow:
            return super().append(lease, rows)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((future, lease, rows))
        return future

    def commit(self, appends: int = 1) -> None:
        """Makes the oldest waiting appends durable and tells who waits, all in this moment."""
        for _ in range(min(appends, len(self._waiting))):
            future, lease, rows = self._waiting.popleft()
            done = super().append(lease, rows)
            assert isinstance(done, asyncio.Future)
            error = done.exception()
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)

    def fail(self, error: Exception) -> None:
        """Fails the oldest waiting append: nothing of it is kept."""
        self._waiting.popleft()[0].set_exception(error)


async def slow_run() -> tuple[Run, SlowJournal]:
    journal = SlowJournal()
    run = await begun_run(Scope(journal, MemoryArtifacts()))
    journal.slow = True
    return run, journal


async def turns(number: int = 5) -> None:
    """Lets the event loop turn a few times."""
    for _ in range(number):
        await asyncio.sleep(0)


async def assert_state_is_the_fold(run: Run) -> None:
    assert run.state == await fold(run.store.journal.read(STREAM))


async def test_a_fact_is_neither_in_the_state_nor_published_before_it_is_durable() -> None:
    run, journal = await slow_run()
    watcher = run.hub.watch()
    recording = asyncio.create_task(run.record(ONE, TWO))
    await turns()
    assert (run.state.noted, recording.done()) == (set[str](), False)
    journal.commit()
    await recording
    assert run.state.noted == {"one", "two"}
    events = [await watcher.next(), await watcher.next()]
    assert events == [NoteGiven(4, RUN, "1"), NoteGiven(5, RUN, "2")]


async def test_rows_carry_their_place_the_run_and_the_clocks_time() -> None:
    run, _ = await slow_run()
    rows = [row async for row in run.store.journal.read(STREAM)]
    assert [(row.seq, row.run, row.at) for row in rows] == [(n, RUN, NOON) for n in (1, 2, 3)]


async def test_a_cancellation_is_delivered_after_the_facts_are_folded_however_often_it_comes() -> None:
    run, journal = await slow_run()
    recording = asyncio.create_task(run.record(ONE))
    for _ in range(3):
        await turns()
        recording.cancel()
    await turns()
    assert not recording.done()
    journal.commit()
    with pytest.raises(asyncio.CancelledError):
        await recording
    assert run.state.noted == {"one"}
    await assert_state_is_the_fold(run)


async def test_a_failed_append_leaves_the_state_as_it_was() -> None:
    run, journal = await slow_run()
    watcher = run.hub.watch()
    recording = asyncio.create_task(run.record(ONE))
    await turns()
    journal.fail(StoreError("the disk is full"))
    with pytest.raises(StoreError, match="the disk is full"):
        await recording
    assert run.state.noted == set()
    await assert_state_is_the_fold(run)
    run.hub.publish(Row(4, RUN, NOON, Resumed("process 2 on here")))
    assert await watcher.next() == RunResumed(4, RUN, "process 2 on here")


async def test_after_a_failed_append_the_run_can_record_nothing_more() -> None:
    """What comes next would leave a gap: the journal refuses it."""
    run, journal = await slow_run()
    first, second = asyncio.create_task(run.record(ONE)), asyncio.create_task(run.record(TWO))
    await turns()
    journal.fail(StoreError("the disk is full"))
    journal.commit()
    ends = await asyncio.gather(first, second, return_exceptions=True)
    assert [type(end) for end in ends] == [StoreError, LeaseLost]
    await assert_state_is_the_fold(run)


async def test_a_store_error_counts_more_than_the_cancellation_that_came_meanwhile() -> None:
    run, journal = await slow_run()
    recording = asyncio.create_task(run.record(ONE))
    await turns()
    recording.cancel()
    await turns()
    journal.fail(StoreError("the disk is full"))
    with pytest.raises(StoreError, match="the disk is full"):
        await recording


async def test_a_later_record_that_is_cancelled_in_the_moment_of_the_commit_does_not_overtake() -> None:
    """The cancelled task wakes up a turn of the loop before the other: the order of rows holds."""
    run, journal = await slow_run()
    watcher = run.hub.watch()
    first = asyncio.create_task(run.record(Started("1.1", "a", "k")))
    second = asyncio.create_task(run.record(Started("1.2", "b", "k")))
    await turns()
    journal.commit(2)
    second.cancel()
    ends = await asyncio.gather(first, second, return_exceptions=True)
    assert (ends[0], type(ends[1])) == (None, asyncio.CancelledError)
    await assert_state_is_the_fold(run)
    events = [await watcher.next(), await watcher.next()]
    assert events == [CallStarted(4, RUN, "1.1", "a"), CallStarted(5, RUN, "1.2", "b")]


@given(
    cancelled=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8))),
    committed=st.lists(st.tuples(st.integers(0, 8), st.integers(1, 6)), max_size=6),
)
def test_the_state_is_the_fold_whoever_is_cancelled_when(
    cancelled: list[tuple[int, int]], committed: list[tuple[int, int]]
) -> None:
    """Six records at once. `cancelled`: which of them, in which turn of the loop; `committed`: in which
    turn, and how many appends."""

    async def scenario() -> None:
        run, journal = await slow_run()
        tasks = [asyncio.create_task(run.record(Noted(str(place), "."))) for place in range(6)]
        for turn in range(9):
            for _, appends in [one for one in committed if one[0] == turn]:
                journal.commit(appends)
            for place, _ in [one for one in cancelled if one[1] == turn]:
                tasks[place].cancel()
            await asyncio.sleep(0)
        journal.commit(len(tasks))
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert [end for end in ends if not isinstance(end, asyncio.CancelledError | None)] == []
        await assert_state_is_the_fold(run)

    asyncio.run(scenario())


async def test_a_record_under_a_lease_that_was_taken_over_changes_nothing() -> None:
    journal = MemoryJournal()
    scope = Scope(journal, MemoryArtifacts())
    former = await begun_run(scope)
    await journal.release(former.lease)
    now = await bare_run(scope)
    with pytest.raises(LeaseLost):
        await former.record(ONE)
    await now.record(TWO)
    assert (former.state.noted, now.state.noted) == (set[str](), {"two"})
    await assert_state_is_the_fold(now)
