"""Write locks: what writes to the same thing does not overlap, what does not, does."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bare_run import begun_run
from offing.engine.locks import Ticket, WriteLocks
from offing.engine.loop import drive
from offing.engine.models.scripted import Call, Scripted, Step
from offing.engine.run import Run
from offing.engine.store.facts import Settled
from offing.engine.store.memory import MemoryStore
from offing.namespaces import Effect, Tool, ToolContext, ToolOutput
from offing.namespaces.tool import ALONE, Arguments

pytestmark = pytest.mark.anyio

SETS = st.lists(st.frozensets(st.sampled_from("abc*"), max_size=2), max_size=8)


def conflict(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one & other) or "*" in one | other


@dataclass(slots=True)
class Watch:
    """Calls as they come and go."""

    began: list[int] = field(default_factory=list[int])
    running: set[int] = field(default_factory=set[int])
    together: set[frozenset[int]] = field(default_factory=set[frozenset[int]])

    def begin(self, number: int) -> None:
        self.began.append(number)
        self.together |= {frozenset({number, other}) for other in self.running}
        self.running.add(number)

    def end(self, number: int) -> None:
        self.running.remove(number)


async def overlaps(write_sets: Sequence[frozenset[str]], turns: Sequence[int]) -> Watch:
    """Lets calls with these write sets at it, each running for so many turns of the loop."""
    locks, watch = WriteLocks(), Watch()
    tickets = [locks.enter(f"call {number}", writes) for number, writes in enumerate(write_sets)]

    async def call(number: int) -> None:
        assert await tickets[number].turn() is None
        watch.begin(number)
        for _ in range(turns[number]):
            await asyncio.sleep(0)
        watch.end(number)
        tickets[number].release()

    await asyncio.wait_for(asyncio.gather(*map(call, range(len(write_sets)))), 30)
    return watch


@given(SETS, st.data())
def test_no_two_calls_overlap_that_write_to_the_same_and_they_run_in_order(
    write_sets: list[frozenset[str]], data: st.DataObject
) -> None:
    turns = [data.draw(st.integers(1, 6)) for _ in write_sets]
    watch = asyncio.run(overlaps(write_sets, turns))
    pairs = {frozenset({a, b}): (a, b) for a in range(len(write_sets)) for b in range(a)}
    conflicting = {pair for pair, (a, b) in pairs.items() if conflict(write_sets[a], write_sets[b])}
    assert watch.together & conflicting == set()
    place = {number: at for at, number in enumerate(watch.began)}
    assert [pair for pair in conflicting if place[max(pair)] < place[min(pair)]] == []


@given(st.lists(st.sampled_from([frozenset[str](), frozenset("a"), frozenset("b")]), max_size=3))
def test_calls_that_write_to_nothing_in_common_all_overlap(write_sets: list[frozenset[str]]) -> None:
    apart = [frozenset(f"{number}{name}" for name in one) for number, one in enumerate(write_sets)]
    watch = asyncio.run(overlaps(apart, [3] * len(apart)))
    assert watch.together == {frozenset({a, b}) for a in range(len(apart)) for b in range(a)}


async def test_a_call_that_writes_to_anything_runs_alone_also_beside_one_that_writes_nothing() -> None:
    watch = await overlaps([frozenset(), ALONE, frozenset(), frozenset("a")], [5, 5, 5, 5])
    assert watch.began[:2] == [0, 1]
    assert watch.together == {frozenset({2, 3})}


async def test_a_call_that_is_overdue_keeps_its_lock_and_who_has_to_wait_is_told() -> None:
    locks = WriteLocks()
    overdue, waiting, other = (
        locks.enter(name, frozenset(set_)) for name, set_ in (("pay", "a"), ("post", "a"), ("put", "b"))
    )
    assert await other.turn() is None
    asking = asyncio.create_task(waiting.turn())
    await asyncio.sleep(0)
    assert not asking.done()
    overdue.answer()
    assert await asking == "pay"
    later = locks.enter("post", frozenset("a"))
    waiting.release()
    assert await later.turn() == "pay"
    later.release()
    overdue.release()
    assert await locks.enter("post", frozenset("a")).turn() is None


async def test_a_lock_that_is_free_again_is_forgotten() -> None:
    locks = WriteLocks()
    for _ in range(3):
        ticket = locks.enter("pay", ALONE)
        assert await ticket.turn() is None
        ticket.release()


class Yard:
    """Tools that run as long as the test wants."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.begun = threading.Event()
        self.ran: list[str] = []

    def tool(
        self, name: str, effect: Effect, writes: str, *, timeout_s: float = 30.0, wait: bool = False
    ) -> Tool:
        def call(arguments: Arguments, context: ToolContext) -> ToolOutput:
            self.ran.append(name)
            if wait:
                self.begun.set()
                assert self.free.wait(30)
            return ToolOutput(f"{name} done")

        return Tool(
            name,
            name,
            {"type": "object"},
            call,
            effect,
            writes=frozenset(writes),
            blocking=True,
            timeout_s=timeout_s,
        )


async def results(run: Run) -> list[str]:
    rows = [row.fact async for row in run.store.journal.read(run.lease.stream)]
    return [fact.result.content for fact in rows if isinstance(fact, Settled)]


async def test_a_blocking_call_that_outlives_its_timeout_keeps_its_lock_until_it_really_ends() -> None:
    """Its outcome is unknown, calls that would write to the same are told so, others run."""
    yard = Yard()
    tools = [
        yard.tool("slow", Effect.ONCE, "a", timeout_s=0.01, wait=True),
        yard.tool("same", Effect.ONCE, "a"),
        yard.tool("apart", Effect.ONCE, "b"),
    ]
    both = Step(calls=[Call("world__slow"), Call("world__same"), Call("world__apart")])
    model = Scripted([both, Step(calls=[Call("world__same")]), "Done."])
    run = await begun_run(MemoryStore().scoped("local"), model, tools)
    await drive(run)
    told = "world__same was not executed: world__slow outlived its timeout and still runs."
    unknown = (
        "Outcome unknown: world__slow was started and did not end within 0.01 s. "
        "It may have taken effect. Inspect before repeating."
    )
    assert sorted(await results(run)) == sorted([unknown, told, "apart done", told])
    assert (yard.ran, run.state.current.unknown) == (["slow", "apart"], ["1.1"])
    yard.free.set()
    run.means.pool.close()


async def test_a_call_that_found_no_free_thread_was_not_executed_and_holds_no_lock() -> None:
    """What was withdrawn before it began will never end: nobody waits for it."""
    yard = Yard()
    tools = [
        yard.tool("slow", Effect.READ, "", wait=True),
        yard.tool("late", Effect.ONCE, "a", timeout_s=0.01),
        yard.tool("same", Effect.ONCE, "a"),
    ]
    crowd = [Call("world__slow", {"n": n}) for n in range(4)]  # as many as there are threads
    model = Scripted([Step(calls=[*crowd, Call("world__late")]), Step(calls=[Call("world__same")]), "Done."])
    run = await begun_run(MemoryStore().scoped("local"), model, tools)
    watcher = run.hub.watch()
    driving = asyncio.create_task(drive(run))
    while True:
        event = await watcher.next()
        if getattr(event, "tool", "") == "world__late" and hasattr(event, "content"):
            break
    yard.free.set()
    await driving
    assert (await results(run))[0] == "world__late was not executed: all threads for tools were busy."
    assert (await results(run))[-1] == "same done"
    assert "late" not in yard.ran
    run.means.pool.close()


class Counted(Ticket):
    """Counts how often somebody waits for it."""

    waits = 0

    async def answered(self) -> None:
        Counted.waits += 1
        await super().answered()


async def test_many_calls_that_run_alone_wait_once_each() -> None:
    tickets: list[Ticket] = []
    for number in range(100):
        tickets.append(Counted(f"call {number}", ALONE, tuple(tickets)))

    async def call(ticket: Ticket) -> None:
        assert await ticket.turn() is None
        await asyncio.sleep(0)
        ticket.release()

    await asyncio.gather(*map(call, tickets))
    assert Counted.waits < len(tickets)
