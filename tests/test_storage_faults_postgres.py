"""A server that fails: a clear error that says what to do, nothing acknowledged is lost, the run goes on."""

import asyncio
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bare_run import NOON
from offing.engine.errors import StoreError
from offing.engine.store import PostgresStore, Store
from offing.engine.store.facts import Noted
from offing.engine.store.journal import Row
from offing.engine.store.postgres_link import Patience
from postgres_server import Server, fresh_url, in_postgres, new_server
from test_storage_faults import own_mounts

pytestmark = pytest.mark.anyio

PATIENT = Patience(reconnect_s=30)


@pytest.fixture
def own() -> Iterator[Server]:
    """A server that a test may ill-treat. Its pages carry checksums."""
    server = new_server(["-k"])
    server.start()
    yield server
    server.stop()


def row(seq: int, text: str = "") -> Row:
    return Row(seq, "s.1", NOON, Noted(str(seq), text))


async def rows_of(store: Store, stream: str = "s") -> list[Row]:
    return [one async for one in store.scoped("local").journal.read(stream)]


async def test_a_server_that_crashes_in_the_midst_of_many_writers_loses_nothing_acknowledged(
    own: Server,
) -> None:
    """It is killed and started again three times; nobody who writes is told a word of it."""
    store = PostgresStore(own.fresh(), PATIENT)
    journal = store.scoped("local").journal
    some_way = {wanted: asyncio.Event() for wanted in (200, 700, 1_200)}
    done = itertools.count(1)

    async def write(stream: str) -> None:
        lease = await journal.acquire(stream)
        for seq in range(1, 101):
            await journal.append(lease, [row(seq)])
            some_way.get(next(done), asyncio.Event()).set()

    writers = asyncio.gather(*(write(f"s{n}") for n in range(20)))
    for reached in some_way.values():
        await reached.wait()
        await asyncio.to_thread(own.stop)
        await asyncio.to_thread(own.start)
    await writers
    for number in range(20):
        assert await rows_of(store, f"s{number}") == [row(seq) for seq in range(1, 101)]
    await store.close()


async def test_a_server_that_stays_away_is_told_and_the_session_goes_on_when_it_is_back(own: Server) -> None:
    store = PostgresStore(own.fresh(), Patience(reconnect_s=0.2))
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    await journal.append(lease, [row(1)])
    own.stop()
    with pytest.raises(StoreError, match=r"cannot be reached.*See that the server runs, then resume"):
        await journal.append(lease, [row(2)])
    with pytest.raises(StoreError, match="cannot be asked"):
        await rows_of(store)
    own.start()
    await journal.append(lease, [row(2)])
    assert await rows_of(store) == [row(1), row(2)]
    await store.close()


async def test_a_damaged_page_is_told_and_what_was_kept_is_there_when_it_is_mended(own: Server) -> None:
    url = own.fresh()
    store = PostgresStore(url, PATIENT)
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    kept = [row(seq, "x" * 500) for seq in range(1, 41)]
    await journal.append(lease, kept)
    ((path,),) = in_postgres(url, "select pg_relation_filepath('offing.fact')")
    own.stop("fast")
    file = own.data / str(path)
    sound = file.read_bytes()
    file.write_bytes(sound[:9000] + b"\xff" * 64 + sound[9064:])
    own.start()
    with pytest.raises(StoreError, match=r"cannot be asked: .*invalid page.* restore the last backup"):
        await rows_of(store)
    own.stop("fast")
    file.write_bytes(sound)
    own.start()
    assert await rows_of(store) == kept
    await store.close()


async def test_a_row_that_the_server_changed_is_told(tmp_path: Path) -> None:
    url = fresh_url()
    store = PostgresStore(url)
    journal = store.scoped("local").journal
    await journal.append(await journal.acquire("s"), [row(1), row(2, "1,000.00"), row(3)])
    in_postgres(url, "update offing.fact set body=replace(encode(body, 'escape'), '1,', '9,')::bytea")
    reading = journal.read("s")
    assert await anext(reading) == row(1)
    with pytest.raises(StoreError, match="row 2 is not what was written: restore the last backup"):
        await anext(reading)
    in_postgres(url, "delete from offing.fact where seq=2")
    with pytest.raises(StoreError, match="row 2 is missing: restore the last backup"):
        await rows_of(store)
    await store.close()


async def test_a_server_that_takes_no_writes_is_told_and_the_session_goes_on_when_it_does() -> None:
    url = fresh_url()
    store = PostgresStore(url)
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    await journal.append(lease, [row(1)])
    name = url.rpartition("/")[2]
    in_postgres(url, f"alter database {name} set default_transaction_read_only=on")
    _hang_up(url)
    with pytest.raises(StoreError, match=r"read-only transaction\. The server takes no writes: let the URL"):
        await journal.append(lease, [row(2)])
    assert await rows_of(store) == [row(1)]
    in_postgres(f"{url}?options=-cdefault_transaction_read_only%3Doff", f"alter database {name} reset all")
    _hang_up(url)
    await journal.append(lease, [row(2)])
    assert await rows_of(store) == [row(1), row(2)]
    await store.close()


def _hang_up(url: str) -> None:
    """Settings of a database hold from the next connection on."""
    in_postgres(url, "select pg_terminate_backend(pid) from pg_stat_activity where application_name<>''")


async def test_a_full_disk_is_told_and_the_session_goes_on_when_there_is_room() -> None:
    """The tables are kept on a small disk that only the server sees."""
    before = own_mounts()
    if not before:
        pytest.skip("a small disk can only be mounted by root, with mounts of its own")
    server = new_server()
    small = server.data.parent / "small"
    small.mkdir()
    mount = f'mount -t tmpfs -o size=3m,mode=700,uid=postgres,gid=postgres tmpfs {small} && exec "$@"'
    server.start(before=[*before, "sh", "-c", mount, "sh"])
    try:
        await _fill(server, small)
    finally:
        server.stop()


class Ballast:
    """A file that can be done without."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.write_bytes(bytes(1_500_000))

    def drop(self) -> None:
        self._path.unlink()


async def _fill(server: Server, small: Path) -> None:
    url = server.fresh()
    in_postgres(url, f"create tablespace small location '{small}'")
    in_postgres(url, f"alter database {url.rpartition('/')[2]} set default_tablespace=small")
    ballast = Ballast(Path(f"/proc/{server.pid}/root{small}/ballast"))
    store = PostgresStore(url)
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    kept: list[Row] = []

    async def fill() -> None:
        while len(kept) < 100:
            more = row(len(kept) + 1, os.urandom(20_000).hex())  # compressed, it still takes room
            await journal.append(lease, [more])
            kept.append(more)

    with pytest.raises(StoreError, match=r"\. There is no room left where the database is kept: free some"):
        await fill()
    assert kept
    assert await rows_of(store) == kept
    ballast.drop()
    await journal.append(lease, [row(len(kept) + 1)])
    assert await rows_of(store) == [*kept, row(len(kept) + 1)]
    await store.close()
