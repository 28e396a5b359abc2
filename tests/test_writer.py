"""One thread writes: many changes share a commit, and a failing disk loses nothing that was told."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bare_run import NOON, SetClock
from offing.engine import Engine, Playbook, Scripted
from offing.engine.errors import LeaseHeld, LeaseLost, StoreError
from offing.engine.store.facts import Noted, Settled
from offing.engine.store.journal import Journal, Lease, Row, Scope
from offing.engine.store.sqlite import SqliteArtifacts, SqliteDatabase, SqliteJournal, SqliteStore
from offing.engine.store.writer import Writer
from offing.namespaces import Effect, FunctionNamespace
from offing.namespaces.functions import tool

pytestmark = pytest.mark.anyio


class Watched(SqliteDatabase):
    """A database that counts its commits, holds one up, or runs into a limit, as the test says."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, SetClock())
        self.commits = 0
        self.beats = 0
        self.beaten = threading.Event()
        self.gate = threading.Event()
        self.gate.set()
        self.at_gate = threading.Event()

    def commit(self) -> None:
        if not self.gate.is_set():
            self.at_gate.set()
            assert self.gate.wait(30)
        super().commit()
        self.commits += 1
        if self.beats:
            self.beaten.set()

    def heartbeat(self) -> None:
        super().heartbeat()
        self.beats += 1


class WatchedStore:
    """The store's own parts, put together so that a test can look at the database and set it."""

    def __init__(self, path: Path) -> None:
        self.database = Watched(path)
        self.writer = Writer(self.database.open)

    def scoped(self, tenant: str) -> Scope:
        return Scope(
            SqliteJournal(tenant, self.database, self.writer),
            SqliteArtifacts(tenant, self.database, self.writer),
        )

    def set(self, pragma: str) -> None:
        """Sets the writer's connection, while it is idle."""
        self.database.execute(f"pragma {pragma}").fetchall()

    async def close(self) -> None:
        await self.writer.close()


@pytest.fixture
def store(tmp_path: Path) -> WatchedStore:
    return WatchedStore(tmp_path / "store.db")


def row(seq: int, text: str = "") -> Row:
    return Row(seq, "s.1", NOON, Noted(f"{seq}", text))


async def rows_of(path: Path, stream: str) -> list[Row]:
    """The rows as another process would read them."""
    return [one async for one in SqliteStore(path).scoped("local").journal.read(stream)]


async def test_what_gathers_during_a_commit_shares_the_next_one(store: WatchedStore) -> None:
    journal = store.scoped("local").journal
    leases = [await journal.acquire(f"s{n}") for n in range(200)]
    store.database.gate.clear()
    first = journal.append(leases[0], [row(1)])
    assert await asyncio.to_thread(store.database.at_gate.wait, 30)
    before = store.database.commits
    rest = [journal.append(lease, [row(1)]) for lease in leases[1:]]
    store.database.gate.set()
    await asyncio.gather(first, *rest)
    assert store.database.commits - before == 2
    assert [await rows_of(store.database.path, lease.stream) for lease in leases] == [[row(1)]] * 200
    await store.close()


async def test_two_hundred_appends_at_once_take_a_few_commits(store: WatchedStore) -> None:
    journal = store.scoped("local").journal
    leases = [await journal.acquire(f"s{n}") for n in range(200)]
    before = store.database.commits
    await asyncio.gather(*(journal.append(lease, [row(1)]) for lease in leases))
    assert store.database.commits - before < 100
    await store.close()


async def test_a_lone_append_takes_one_commit(store: WatchedStore) -> None:
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    before = store.database.commits
    for seq in range(1, 6):
        await journal.append(lease, [row(seq)])
    assert store.database.commits - before == 5
    await store.close()


async def test_a_job_that_fails_does_not_fail_those_it_shares_a_commit_with(store: WatchedStore) -> None:
    journal = store.scoped("local").journal
    ours, lost = await journal.acquire("a"), await journal.acquire("b")
    foreign = Lease("b", lost.token + 1, 0)
    store.database.gate.clear()
    held_up = journal.append(ours, [row(1)])
    assert await asyncio.to_thread(store.database.at_gate.wait, 30)
    before = store.database.commits
    together = [
        journal.append(ours, [row(2)]),
        journal.append(foreign, [row(1)]),
        store.writer.submit(lambda: store.database.execute("select nothing from nowhere")),
        journal.append(ours, [row(3)]),
        journal.append(ours, [row(5), row(6)]),
        journal.append(lost, [row(1)]),
    ]
    store.database.gate.set()
    ends = await asyncio.gather(held_up, *together, return_exceptions=True)
    kinds = [type(end) for end in ends]
    none = type(None)
    assert kinds == [none, none, LeaseLost, StoreError, none, LeaseLost, none]
    assert store.database.commits - before == 2
    assert await rows_of(store.database.path, "a") == [row(1), row(2), row(3)]
    assert await rows_of(store.database.path, "b") == [row(1)]
    await store.close()


async def test_when_the_database_undoes_the_whole_transaction_all_are_told(store: WatchedStore) -> None:
    """As SQLite may do by itself when a disk is full or fails."""
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    undoing = "insert or rollback into stream select * from stream"
    store.database.gate.clear()
    held_up = asyncio.ensure_future(store.scoped("local").artifacts.put(b"x"))
    assert await asyncio.to_thread(store.database.at_gate.wait, 30)
    together = (
        journal.append(lease, [row(1)]),
        store.writer.submit(lambda: store.database.execute(undoing)),
        journal.append(lease, [row(2)]),
    )
    store.database.gate.set()
    ends = await asyncio.gather(*together, return_exceptions=True)
    assert [type(end) for end in ends] == [StoreError] * 3
    assert await store.scoped("local").artifacts.get(await held_up) == b"x"
    assert await rows_of(store.database.path, "s") == []
    await journal.append(lease, [row(1)])
    assert await rows_of(store.database.path, "s") == [row(1)]
    await store.close()


async def test_a_full_disk_is_told_to_all_and_keeps_what_was_acknowledged(store: WatchedStore) -> None:
    journal = store.scoped("local").journal
    leases = [await journal.acquire(f"s{n}") for n in range(4)]
    await asyncio.gather(*(journal.append(lease, [row(1)]) for lease in leases))
    store.set("max_page_count=1")  # no page more than there are
    large = [journal.append(lease, [row(2, "x" * 100_000)]) for lease in leases]
    ends = await asyncio.gather(*large, return_exceptions=True)
    assert [type(end) for end in ends] == [StoreError] * 4
    assert [await rows_of(store.database.path, lease.stream) for lease in leases] == [[row(1)]] * 4
    store.set("max_page_count=100000")
    await asyncio.gather(*(journal.append(lease, [row(2)]) for lease in leases))
    assert [await rows_of(store.database.path, lease.stream) for lease in leases] == [[row(1), row(2)]] * 4
    await store.close()


async def test_a_file_that_cannot_be_written_is_told_to_all_and_may_heal(store: WatchedStore) -> None:
    journal, artifacts = store.scoped("local").journal, store.scoped("local").artifacts
    lease = await journal.acquire("s")
    store.set("query_only=on")
    ends = await asyncio.gather(
        journal.append(lease, [row(1)]), artifacts.put(b"x"), journal.acquire("t"), return_exceptions=True
    )
    assert [type(end) for end in ends] == [StoreError] * 3
    store.set("query_only=off")
    await journal.append(lease, [row(1)])
    assert await rows_of(store.database.path, "s") == [row(1)]
    await store.close()


async def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("This is no database.\n" * 100)
    store = SqliteStore(path)
    scope = store.scoped("local")
    with pytest.raises(StoreError, match=r"cannot open the store '.*notes\.txt'.*not a database"):
        await scope.journal.acquire("s")
    with pytest.raises(StoreError, match=r"cannot read the store '.*notes\.txt'.*not a database"):
        await scope.artifacts.get("0" * 64)
    await store.close()
    assert path.read_text() == "This is no database.\n" * 100


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = SqliteStore(tmp_path / "file" / "store.db")
    with pytest.raises(StoreError, match="cannot open the store"):
        await store.scoped("local").artifacts.put(b"x")
    (tmp_path / "file").unlink()
    assert await store.scoped("local").artifacts.put(b"x")
    await store.close()


LOCKER = """
import sqlite3, sys
sys.stdin.readline()
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("begin immediate")
print("locked", flush=True)
sys.stdin.readline()
connection.execute("rollback")
print("free", flush=True)
"""


@pytest.fixture
def locker(store: WatchedStore) -> Iterator[Callable[[], str]]:
    """Another process that locks the database when it is told to for the first time, then lets go."""
    SqliteDatabase(store.database.path, SetClock()).open().close()
    with subprocess.Popen(
        [sys.executable, "-c", LOCKER, store.database.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def next_word() -> str:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            return process.stdout.readline()

        yield next_word


async def test_a_database_that_another_process_keeps_locked_is_a_store_error(
    store: WatchedStore, locker: Callable[[], str]
) -> None:
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    store.set("busy_timeout=0")
    assert locker() == "locked\n"
    ends = await asyncio.gather(
        journal.append(lease, [row(1)]), journal.append(lease, [row(2)]), return_exceptions=True
    )
    assert [str(end) for end in ends] == [
        "the store failed: database is locked. Another process keeps it locked: let that one finish, "
        "or end it, then resume"
    ] * 2
    assert [type(end) for end in ends] == [StoreError] * 2
    assert locker() == "free\n"
    await journal.append(lease, [row(1)])
    assert await rows_of(store.database.path, "s") == [row(1)]
    await store.close()


class Failing(Watched):
    """A database whose commits fail after the work of the transaction is done."""

    failing = False

    def commit(self) -> None:
        if self.failing:
            raise sqlite3.OperationalError("disk I/O error")
        super().commit()


async def test_a_commit_that_fails_fails_each_of_its_jobs_and_keeps_nothing_of_them(tmp_path: Path) -> None:
    database = Failing(tmp_path / "store.db")
    writer = Writer(database.open)
    journal = SqliteJournal("local", database, writer)
    lease = await journal.acquire("s")
    await journal.append(lease, [row(1)])
    database.failing = True
    ends = await asyncio.gather(
        journal.append(lease, [row(2)]), journal.append(lease, [row(3)]), return_exceptions=True
    )
    assert [str(end) for end in ends] == ["the store failed: disk I/O error"] * 2
    database.failing = False
    assert await rows_of(database.path, "s") == [row(1)]
    await journal.append(lease, [row(2)])
    assert await rows_of(database.path, "s") == [row(1), row(2)]
    await writer.close()


class Worldly:
    """A namespace whose tools count what they do."""

    def __init__(self) -> None:
        self.paid = 0
        self.meanwhile: Callable[[], object] = lambda: None

    def namespace(self) -> FunctionNamespace:
        return FunctionNamespace("world", [tool()(self.pay), tool(effect=Effect.READ)(self.look)])

    async def pay(self) -> str:
        """Pays."""
        self.paid += 1
        self.meanwhile()
        return "paid"

    async def look(self) -> str:
        """Looks."""
        return "x" * 100_000


async def paying(book: Playbook, text: str) -> str:
    await book.call("world__look")
    await book.call("world__pay")
    return "Paid."


async def run_that_fails(store: WatchedStore, world: Worldly) -> Engine:
    """An engine whose run has been ended by its store, in the middle of a payment."""
    engine = Engine(Scripted(paying), [world.namespace()], store=store)
    async with engine.session("s").run("Pay.") as run:
        with pytest.raises(StoreError, match="the store failed"):
            await run.result()
    return engine


async def test_a_run_whose_store_fails_raises_and_goes_on_when_the_store_has_healed(
    store: WatchedStore,
) -> None:
    """The lease could not be given back either: it is still this store's own, and taken again."""
    world = Worldly()
    world.meanwhile = lambda: store.set("query_only=on")
    engine = await run_that_fails(store, world)
    store.set("query_only=off")
    result = await (await engine.session("s").resume("s.1")).result()
    assert (result.answer, result.unknown, world.paid) == ("Paid.", ("2.1",), 1)
    settled = [one.fact for one in await rows_of(store.database.path, "s") if isinstance(one.fact, Settled)]
    assert [(fact.result.call, fact.unknown) for fact in settled] == [("1.1", False), ("2.1", True)]
    await engine.close()


async def test_watchers_of_a_run_are_told_that_its_store_failed(store: WatchedStore) -> None:
    world = Worldly()
    world.meanwhile = lambda: store.set("query_only=on")
    engine = Engine(Scripted(paying), [world.namespace()], store=store)
    async with engine.session("s").run("Pay.") as run:
        with pytest.raises(StoreError, match="the store failed"):
            async for _ in run:
                pass
    store.set("query_only=off")
    await engine.close()


async def test_a_lease_that_is_held_here_is_not_taken_twice(store: WatchedStore) -> None:
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    with pytest.raises(LeaseHeld):
        await journal.acquire("s")
    await journal.append(lease, [row(1)])
    await store.close()


async def test_closing_writes_out_what_was_accepted(store: WatchedStore) -> None:
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    accepted = [asyncio.ensure_future(journal.append(lease, [row(seq)])) for seq in range(1, 51)]
    await store.close()
    assert all(one.done() for one in accepted)
    assert await rows_of(store.database.path, "s") == [row(seq) for seq in range(1, 51)]
    with pytest.raises(StoreError, match="the store is closed"):
        await journal.append(lease, [row(51)])
    await store.close()


async def test_closing_a_store_that_fails_ends_its_thread_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore(path)
    before = threading.enumerate()
    await store.scoped("local").journal.acquire("s")
    (thread,) = (one for one in threading.enumerate() if one not in before)
    with sqlite3.connect(path) as other:
        other.execute("drop table stream")
    other.close()
    with pytest.raises(StoreError):
        await store.close()
    assert (thread.name, thread.is_alive()) == ("offing-writer", False)


def test_a_loop_that_closes_meanwhile_is_no_trouble_for_others(store: WatchedStore) -> None:
    journal = store.scoped("local").journal
    lease = asyncio.run(take(journal, "s"))
    store.database.gate.clear()

    async def leave() -> None:
        appended = asyncio.ensure_future(journal.append(lease, [row(1)]))
        assert await asyncio.to_thread(store.database.at_gate.wait, 30)
        assert not appended.done()

    asyncio.run(leave())
    store.database.gate.set()

    async def go_on() -> list[Row]:
        await journal.append(lease, [row(2)])
        await store.close()
        return await rows_of(store.database.path, "s")

    assert asyncio.run(go_on()) == [row(1), row(2)]


async def take(journal: Journal, stream: str) -> Lease:
    return await journal.acquire(stream)
