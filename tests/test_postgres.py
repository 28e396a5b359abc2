"""The store on a server: its tables, its URL, its leases among processes, and what it leaves behind."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Awaitable
from pathlib import Path

import pytest

from bare_run import NOON
from cutting_proxy import proxy_before
from offing.engine import Engine, Playbook, Scripted
from offing.engine.errors import ConfigurationError, LeaseHeld, StoreError
from offing.engine.store import PostgresStore, SqliteStore, Store, store_at
from offing.engine.store.facts import Noted
from offing.engine.store.inbox import Posting
from offing.engine.store.journal import Lease, Row
from offing.engine.store.postgres_link import Patience
from offing.namespaces import FunctionNamespace
from offing.namespaces.functions import tool
from postgres_server import fresh_url, in_postgres, server

pytestmark = pytest.mark.anyio


HELLO = Posting("s.1", "say", b"{}", "ann", NOON)


@pytest.fixture
def url() -> str:
    return fresh_url()


def row(seq: int, text: str = "") -> Row:
    return Row(seq, "s.1", NOON + seq, Noted(str(seq), text))


async def rows_of(store: Store, stream: str = "s") -> list[Row]:
    return [one async for one in store.scoped("local").journal.read(stream)]


async def test_a_body_is_kept_as_bytes(url: str) -> None:
    store = PostgresStore(url)
    journal = store.scoped("local").journal
    await journal.append(await journal.acquire("s"), [row(1, "é\x00")])
    kept = in_postgres(url, "select pg_typeof(body)::text, body, kind, version, at, run from offing.fact")
    assert kept == [("bytea", '{"key":"1","text":"é\\u0000"}'.encode(), "noted", 1, NOON + 1, "s.1")]
    await store.close()


async def test_a_database_that_was_never_written_has_no_rows_and_no_tables(url: str) -> None:
    store = PostgresStore(url)
    assert await rows_of(store) == []
    assert await store.scoped("local").journal.inbox("s") == []
    await store.close()
    assert in_postgres(url, "select to_regnamespace('offing')") == [(None,)]


async def test_tables_are_made_once_when_many_come_at_once(url: str) -> None:
    stores = [PostgresStore(url) for _ in range(8)]
    leases = await asyncio.gather(
        *(store.scoped("local").journal.acquire(f"s{n}") for n, store in enumerate(stores))
    )
    assert leases == [Lease(f"s{n}", 1, 0) for n in range(8)]
    for store in stores:
        await store.close()
    assert in_postgres(url, "select version from offing.version") == [(2,)]


async def test_tables_of_a_newer_release_are_refused_and_left_as_they_are(url: str) -> None:
    store = PostgresStore(url)
    await store.scoped("local").journal.acquire("s")
    await store.close()
    in_postgres(url, "update offing.version set version=7")
    store = PostgresStore(url)
    with pytest.raises(StoreError, match="tables are of version 7 and this release knows 2: use the release"):
        await store.scoped("local").journal.acquire("s")
    await store.close()
    assert in_postgres(url, "select version from offing.version") == [(7,)]


async def test_a_role_that_may_only_use_the_tables_needs_no_more(url: str) -> None:
    """Who makes the tables and who works with them may be two."""
    store = PostgresStore(url)
    await store.scoped("local").journal.acquire("s")
    await store.close()
    role = f"worker_{url.rpartition('/')[2]}"
    in_postgres(url, f"create role {role} login")
    as_worker = PostgresStore(url.replace("postgres@", f"{role}@"))
    with pytest.raises(StoreError, match=r"permission denied .*Grant the role of the URL what it needs"):
        await as_worker.scoped("local").journal.acquire("t")
    in_postgres(url, f"grant usage on schema offing to {role}")
    in_postgres(url, f"grant select, insert, update, delete on all tables in schema offing to {role}")
    assert await as_worker.scoped("local").journal.acquire("t") == Lease("t", 1, 0)
    await as_worker.close()


async def test_closing_leaves_no_connection_no_thread_and_no_lease(url: str) -> None:
    before = threading.enumerate()
    store = PostgresStore(url)
    journal = store.scoped("local").journal
    for stream in ("s", "t"):
        await journal.append(await journal.acquire(stream), [row(1)])
    await asyncio.gather(*(rows_of(store) for _ in range(10)))
    await store.close()
    left = [one for one in threading.enumerate() if one not in before and one.name.startswith("offing")]
    assert left == []
    assert in_postgres(url, "select name from offing.stream where owner is not null") == []
    assert in_postgres(url, "select id from offing.owner") == []
    await store.close()
    assert connections(url) == 0


def connections(url: str) -> int:
    """How many there are, given a moment for the server to notice that some were closed."""
    others = "from pg_stat_activity where datname=current_database() and pid<>pg_backend_pid()"
    for _ in range(500):
        ((count, _),) = in_postgres(url, f"select count(*), pg_sleep(0.01) {others}")
        if count == 0:
            return 0
    return -1


async def test_owners_that_ended_without_a_word_are_forgotten_after_a_week(url: str) -> None:
    store = PostgresStore(url)
    await store.scoped("local").journal.acquire("held")
    body = "'\\x7b7d', 1, (extract(epoch from now()) * 1000000)::bigint"
    for name, days in (("long gone", 8), ("of late", 6), ("holds", 8)):
        in_postgres(
            url, f"insert into offing.owner values(?, {body} - {days} * 86400000000)".replace("?", "%s"), name
        )
    in_postgres(url, "insert into offing.stream(tenant, name, token, owner) values('t', 's', 1, 'holds')")
    other = PostgresStore(url)
    await other.scoped("local").artifacts.put(b"x")
    kept = in_postgres(url, "select id from offing.owner where length(id) < 30 order by id")
    assert kept == [("holds",), ("of late",)]
    for one in (store, other):
        await one.close()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (
            "postgresql://u:secret@127.0.0.1:1/d",
            r"cannot open the store 'postgresql://127\.0\.0\.1:1/d'.*refused",
        ),
        ("postgresql://u:secret@127.0.0.1:{port}/nowhere", r"/nowhere'.* does not exist"),
    ],
)
async def test_a_server_that_cannot_be_used_is_named_at_once_without_the_password(
    url: str, told: str
) -> None:
    store = PostgresStore(url.format(port=server().port))
    with pytest.raises(StoreError, match=told) as raised:
        await store.scoped("local").journal.acquire("s")
    assert "secret" not in str(raised.value)
    with pytest.raises(StoreError, match="cannot be asked"):
        await rows_of(store)
    await store.close()


@pytest.mark.parametrize("url", ["postgresql://u:secret@[h/d", "postgresql://u:secret@h/d?no=such"])
def test_a_url_that_cannot_be_read_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ConfigurationError, match="it is to be postgresql://USER:PASSWORD@HOST") as raised:
        PostgresStore(url)
    assert "secret" not in str(raised.value)


def test_a_store_is_chosen_by_its_name(tmp_path: Path) -> None:
    assert isinstance(store_at("postgresql://h/d"), PostgresStore)
    assert isinstance(store_at("postgres://h/d"), PostgresStore)
    assert isinstance(store_at(str(tmp_path / "store.db")), SqliteStore)
    assert isinstance(store_at(tmp_path / "store.db"), SqliteStore)


def test_without_the_extra_it_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "import importlib.util; importlib.util.find_spec = lambda name: None\n"
        "from offing.engine.store import PostgresStore\n"
        "PostgresStore('postgresql://h/d')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=60
    )
    assert "a PostgreSQL store needs psycopg: pip install 'offing[postgres]'" in done.stderr


async def told_of(work: Awaitable[object]) -> str:
    try:
        await work
    except StoreError as error:
        return str(error)[:40]
    return ""


async def test_of_changes_in_one_transaction_the_wrong_one_fails_alone(url: str) -> None:
    """Also one that the server refuses, and one that has written something by then."""
    store = PostgresStore(url)
    journal, writer = store.scoped("local").journal, store._writer  # pyright: ignore[reportPrivateUsage]
    database = store._database  # pyright: ignore[reportPrivateUsage]
    lease = await journal.acquire("s")
    held = threading.Event()
    held_up = writer.submit(lambda: held.wait(30))

    def half_done() -> None:
        database.execute("insert into offing.artifact values('local', 'half', '', 0)")
        raise StoreError("after all, no")

    together: list[Awaitable[object]] = [
        journal.append(lease, [row(1)]),
        writer.submit(lambda: database.execute("select nothing from nowhere")),
        writer.submit(half_done),
        journal.append(Lease("s", 7, 0), [row(2)]),
        journal.append(lease, [row(2)]),
    ]
    held.set()
    await held_up
    told = [await told_of(one) for one in together]
    assert told == [
        "",
        'the store failed: relation "nowhere" doe',
        "after all, no",
        "row 2 of session 's' was not written: th",
        "",
    ]
    assert await rows_of(store) == [row(1), row(2)]
    assert in_postgres(url, "select count(*) from offing.artifact") == [(0,)]
    await store.close()


async def test_a_stopped_owner_that_holds_locks_does_not_hold_up_others(url: str) -> None:
    """The server ends its transaction; when it wakes up, it makes it again."""
    async with proxy_before(server().port) as proxy:
        patience = Patience(idle_s=0.2, answer_s=60)
        store, other = PostgresStore(proxy.url(url), patience), PostgresStore(url)
        journal = store.scoped("local").journal
        lease = await journal.acquire("s")
        proxy.at, proxy.how = b"commit\x00", "swallowed"
        appended = asyncio.ensure_future(journal.append(lease, [row(1)]))
        with pytest.raises(LeaseHeld):
            await other.scoped("local").journal.acquire("s")
        await appended
        assert await rows_of(other) == [row(1)]
        await store.close()
        await other.close()


async def test_who_waits_for_each_others_locks_is_not_told_of_it(url: str) -> None:
    """Two stores, each at work on its own sessions, post to those of the other and ask for their leases."""
    stores = [PostgresStore(url) for _ in range(2)]
    journals = [store.scoped("local").journal for store in stores]
    streams = [[f"{side}{n}" for n in range(10)] for side in "ab"]
    leases = [
        {stream: await journal.acquire(stream) for stream in own}
        for journal, own in zip(journals, streams, strict=True)
    ]

    async def ask(side: int, stream: str) -> None:
        with pytest.raises(LeaseHeld):
            await journals[side].acquire(stream)

    async def work(side: int) -> None:
        for seq in range(1, 21):
            await asyncio.gather(
                *(journals[side].append(lease, [row(seq)]) for lease in leases[side].values()),
                *(ask(side, stream) for stream in streams[1 - side][::-1]),
                *(journals[side].post(stream, HELLO) for stream in streams[1 - side]),
            )

    await asyncio.gather(work(0), work(1))
    assert in_postgres(
        url, "select stream, count(*), max(seq) from offing.fact group by stream order by 1"
    ) == [(number, 20, 20) for number in range(1, 21)]
    assert in_postgres(url, "select count(*), count(distinct id) from offing.inbox") == [(400, 400)]
    for store in stores:
        await store.close()


ENGINE = """
import asyncio, sys
from offing.engine import Engine, Playbook, Scripted
from offing.engine.errors import LeaseHeld
from offing.engine.store import store_at
from offing.namespaces import FunctionNamespace
from offing.namespaces.functions import tool

async def counting(book, text):
    for _ in range(5):
        await book.call("world__count")
    return "Counted."

async def main():
    def count() -> str:
        "Counts."
        print("counted", flush=True)
        return "1"
    async with Engine(Scripted(counting), [FunctionNamespace("world", [tool()(count)])],
                      store=store_at(sys.argv[1])) as engine:
        for stream in sys.argv[2:]:
            try:
                await engine.session(stream).ask("Count.")
            except LeaseHeld:
                print("held", flush=True)

asyncio.run(main())
"""


def test_several_engine_processes_share_the_sessions_of_one_database(url: str) -> None:
    """Each session is asked by both; each question is worked on by one of them, or refused as it is held."""
    streams = [f"s{n}" for n in range(6)]
    both = [
        subprocess.Popen([sys.executable, "-c", ENGINE, url, *order], stdout=subprocess.PIPE, text=True)
        for order in (streams, streams[::-1])
    ]
    said = [line for one in both for line in one.communicate(timeout=60)[0].split()]
    assert [one.returncode for one in both] == [0, 0]
    runs = 12 - said.count("held")
    assert said.count("counted") == 5 * runs
    ends = in_postgres(url, "select count(*) from offing.fact where kind='stopped'")
    assert ends == [(runs,)]
    gaps = "select stream from offing.fact group by stream having max(seq)<>count(*)"
    assert in_postgres(url, gaps) == []


async def test_a_session_is_taken_up_by_an_engine_of_another_kind_of_run(url: str) -> None:
    """One process asks, the next goes on, with what the first one kept."""

    async def answering(book: Playbook, text: str) -> str:
        return (await book.call("world__look")).text if text == "Look." else f"You said: {text}"

    async def look() -> str:
        """Looks."""
        return "seen"

    for text, answer in (("Look.", "seen"), ("Again.", "You said: Again.")):
        systems = [FunctionNamespace("world", [tool()(look)])]
        async with Engine(Scripted(answering), systems, store=PostgresStore(url)) as engine:
            assert (await engine.session("s").ask(text)).answer == answer
