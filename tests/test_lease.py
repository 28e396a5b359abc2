"""One owner at a time: a dead one is replaced at once, a living one is named, a stopped one is fenced off."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bare_run import NOON, SetClock
from offing.engine.errors import LeaseHeld, LeaseLost, StoreError
from offing.engine.store import Store
from offing.engine.store.facts import Noted
from offing.engine.store.journal import Journal, Lease, Row
from offing.engine.store.leases import LEASE_US
from offing.engine.store.memory import MemoryStore
from offing.engine.store.owner import Owner, is_dead, this_process
from offing.engine.store.sqlite import SqliteDatabase, SqliteJournal, SqliteStore
from offing.engine.store.writer import Writer
from stores import DURABLE, Place, place_in

pytestmark = pytest.mark.anyio

HOLDER = """
import asyncio, sys
from offing.engine.errors import StoreError
from offing.engine.store import store_at
from offing.engine.store.facts import Noted
from offing.engine.store.journal import Row

async def main():
    store = store_at(sys.argv[1])
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    print("held", flush=True)
    seq = lease.last
    for order in sys.stdin:
        try:
            if order == "append\\n":
                await journal.append(lease, [Row(seq + 1, "s.1", 0, Noted("holder", ""))])
                seq += 1
            else:
                await journal.release(lease)
            print("done", flush=True)
        except StoreError as error:
            print(type(error).__name__, flush=True)

asyncio.run(main())
"""


class Holder:
    """Another process that holds the lease of stream `s`."""

    def __init__(self, where: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, where], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._answer() == "held"

    def told(self, order: str) -> str:
        """What it answers to an order: `append` or `release`."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def die(self) -> None:
        """Leaves a zombie, which its parent has not looked at."""
        self.process.kill()
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture(params=DURABLE)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(place_in(request.param, tmp_path))


@pytest.fixture
def holder(place: Place) -> Iterator[Holder]:
    holder = Holder(place.where)
    yield holder
    holder.end()


def journal_of(store: Store) -> Journal:
    return store.scoped("local").journal


def row(seq: int, key: str = "ours") -> Row:
    return Row(seq, "s.1", NOON, Noted(key, ""))


async def notes(store: Store) -> list[str]:
    return [one.fact.key async for one in journal_of(store).read("s") if isinstance(one.fact, Noted)]


async def test_a_living_owner_is_named_and_keeps_its_lease(place: Place, holder: Holder) -> None:
    store = place.store()
    with pytest.raises(
        LeaseHeld, match=rf"^session 's' is being worked on by process {holder.process.pid} on"
    ):
        await journal_of(store).acquire("s")
    assert holder.told("append") == "done"
    assert await notes(store) == ["holder"]
    await store.close()


async def test_a_killed_owner_is_replaced_at_once(place: Place, holder: Holder) -> None:
    assert holder.told("append") == "done"
    holder.end()
    store = place.store()
    assert await journal_of(store).acquire("s") == Lease("s", token=2, last=1)
    await store.close()


async def test_a_killed_owner_whose_parent_has_not_looked_is_replaced_at_once(
    place: Place, holder: Holder
) -> None:
    """It is a zombie: it still has a pid."""
    holder.die()
    store = place.store()
    assert await journal_of(store).acquire("s") == Lease("s", token=2, last=0)
    await store.close()


async def test_an_owner_that_gave_its_lease_back_is_followed_at_once(place: Place, holder: Holder) -> None:
    assert holder.told("append") == "done"
    assert holder.told("release") == "done"
    store = place.store()
    assert await journal_of(store).acquire("s") == Lease("s", token=2, last=1)
    assert holder.told("append") == "LeaseLost"
    await store.close()


async def test_a_stopped_owner_that_was_taken_over_can_write_nothing_when_it_wakes_up(
    place: Place, holder: Holder
) -> None:
    assert holder.told("append") == "done"
    holder.send(signal.SIGSTOP)
    place.silence(LEASE_US + 1_000_000)
    store = place.store()
    lease = await journal_of(store).acquire("s")
    assert lease == Lease("s", token=2, last=1)
    holder.send(signal.SIGCONT)
    assert holder.told("append") == "LeaseLost"
    await journal_of(store).append(lease, [row(2)])
    assert holder.told("append") == "LeaseLost"
    assert holder.told("release") == "done"  # without effect
    await journal_of(store).append(lease, [row(3)])
    assert await notes(store) == ["holder", "ours", "ours"]
    await store.close()


async def test_a_stopped_owner_keeps_its_lease_until_its_deadline(place: Place, holder: Holder) -> None:
    holder.send(signal.SIGSTOP)
    place.silence(LEASE_US - 15_000_000)
    store = place.store()
    with pytest.raises(LeaseHeld, match=r"which wrote \d+ s ago"):
        await journal_of(store).acquire("s")
    await store.close()


async def given_back(place: Place) -> None:
    store = place.store()
    await journal_of(store).release(await journal_of(store).acquire("s"))
    await store.close()


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"start": "1"}, id="its pid is another process's by now"),
        pytest.param({"pid": 2**22 + 1}, id="there is no such process"),
    ],
)
async def test_an_owner_that_surely_is_gone_is_replaced_at_once(
    place: Place, changed: dict[str, str]
) -> None:
    await given_back(place)
    gone = replace(this_process(), **changed)
    assert is_dead(gone)
    place.own(gone)
    store = place.store()
    assert await journal_of(store).acquire("s") == Lease("s", token=2, last=0)
    await store.close()


async def test_an_owner_from_before_a_restart_of_the_machine_is_replaced_at_once(
    path: Path,
) -> None:
    place = Place(str(path))
    await given_back(place)
    for gone in (replace(this_process(), boot="another"), replace(this_process(), boot="x", host="y")):
        place.own(gone)
        place.silence(-(2**52))  # by a clock that began anew it has spoken in a far future
        store = place.store()
        await journal_of(store).release(await journal_of(store).acquire("s"))
        await store.close()


async def test_of_a_host_of_the_same_name_but_another_boot_nothing_is_known_on_a_server(
    tmp_path: Path,
) -> None:
    place = Place(place_in("postgres", tmp_path))
    await given_back(place)
    place.own(replace(this_process(), boot="another", pid=2**22 + 1))
    store = place.store()
    with pytest.raises(LeaseHeld):
        await journal_of(store).acquire("s")
    await store.close()


@pytest.mark.parametrize(
    "owner",
    [
        pytest.param(this_process(), id="another store of this process"),
        pytest.param(
            replace(this_process(), host="elsewhere", boot="x", pid=1, start="1"), id="on another host"
        ),
    ],
)
async def test_an_owner_that_may_be_alive_is_replaced_after_its_deadline(place: Place, owner: Owner) -> None:
    await given_back(place)
    assert not is_dead(owner)
    place.own(owner)
    place.silence(LEASE_US - 10_000_000)
    store = place.store()
    with pytest.raises(LeaseHeld, match=rf"by process {owner.pid} on {owner.host}, which wrote 2\d s ago"):
        await journal_of(store).acquire("s")
    place.silence(10_000_001)
    assert await journal_of(store).acquire("s") == Lease("s", token=2, last=0)
    await store.close()


async def test_a_deadline_is_kept_to_the_microsecond(path: Path) -> None:
    clock = SetClock()
    first, second = SqliteStore(path, clock), SqliteStore(path, clock)
    await journal_of(first).acquire("s")
    clock.now += LEASE_US
    with pytest.raises(LeaseHeld, match="which wrote 30 s ago"):
        await journal_of(second).acquire("s")
    clock.now += 1
    assert await journal_of(second).acquire("s") == Lease("s", token=2, last=0)
    for one in (first, second):
        await one.close()


async def test_a_clock_that_jumps_back_does_not_free_a_lease(path: Path) -> None:
    first, second = SqliteStore(path, SetClock()), SqliteStore(path, SetClock(NOON - 10 * LEASE_US))
    await journal_of(first).acquire("s")
    with pytest.raises(LeaseHeld):
        await journal_of(second).acquire("s")
    for one in (first, second):
        await one.close()


class Beating(SqliteDatabase):
    """A database that tells when a sign of life is durable."""

    def __init__(self, path: Path, clock: SetClock) -> None:
        super().__init__(path, clock)
        self.alive_until = threading.Condition()
        self.told = 0
        self._said = 0

    def heartbeat(self) -> None:
        super().heartbeat()
        self._said = self.clock.now_us()

    def commit(self) -> None:
        super().commit()
        with self.alive_until:
            self.told = self._said
            self.alive_until.notify_all()

    def wait_for(self, moment: int) -> None:
        with self.alive_until:
            assert self.alive_until.wait_for(lambda: self.told >= moment, 30)


async def test_signs_of_life_keep_an_idle_owners_lease(path: Path) -> None:
    clock = SetClock()
    database = Beating(path, clock)
    writer = Writer(database.open, heartbeat_s=0.001)
    lease = await SqliteJournal("local", database, writer).acquire("s")
    other = SqliteStore(path, clock)
    for _ in range(5):
        clock.now += LEASE_US - 1
        await asyncio.to_thread(database.wait_for, clock.now)
    with pytest.raises(LeaseHeld, match="which wrote 0 s ago"):
        await journal_of(other).acquire("s")
    await SqliteJournal("local", database, writer).release(lease)
    await writer.close()
    await journal_of(other).acquire("s")
    await other.close()


async def test_a_closed_store_has_given_its_leases_back(place: Place) -> None:
    first, second = place.store(), place.store()
    for stream in ("s", "t"):
        await journal_of(first).acquire(stream)
    await first.close()
    assert [await journal_of(second).acquire(stream) for stream in ("s", "t")] == [
        Lease("s", token=2, last=0),
        Lease("t", token=2, last=0),
    ]
    await second.close()


async def test_of_many_that_ask_at_once_one_gets_the_lease(place: Place) -> None:
    stores = [place.store() for _ in range(8)]
    ends = await asyncio.gather(*(journal_of(one).acquire("s") for one in stores), return_exceptions=True)
    assert sorted(type(end).__name__ for end in ends) == ["Lease", *["LeaseHeld"] * 7]
    for one in stores:
        await one.close()


async def test_a_token_is_never_given_twice(place: Place) -> None:
    tokens: list[int] = []
    for _ in range(5):
        store = place.store()
        lease = await journal_of(store).acquire("s")
        tokens.append(lease.token)
        await journal_of(store).release(lease)
        await store.close()
    assert tokens == [1, 2, 3, 4, 5]


async def test_a_lease_that_was_given_back_late_does_not_end_the_next_one(place: Place) -> None:
    store = place.store()
    journal = journal_of(store)
    former = await journal.acquire("s")
    await journal.release(former)
    lease = await journal.acquire("s")
    await journal.release(former)
    with pytest.raises(LeaseHeld):
        await journal.acquire("s")
    await journal.append(lease, [row(1)])
    await store.close()


async def test_the_store_in_memory_keeps_the_same_rules() -> None:
    journal = MemoryStore().scoped("local").journal
    former = await journal.acquire("s")
    with pytest.raises(LeaseHeld, match="session 's' is being worked on"):
        await journal.acquire("s")
    await journal.append(former, [row(1)])
    await journal.release(former)
    with pytest.raises(LeaseLost):
        await journal.append(former, [row(2)])
    lease = await journal.acquire("s")
    assert lease == Lease("s", token=2, last=1)
    await journal.release(former)
    await journal.append(lease, [row(2)])
    with pytest.raises(StoreError):
        await journal.append(former, [row(3)])
