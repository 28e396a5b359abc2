"""A connection that is cut at any moment, also in mid-commit: nothing is lost, nothing is written twice."""

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest

from bare_run import NOON
from cutting_proxy import HOWS, How, Proxy, proxy_before
from offing.engine import Engine, Playbook, Scripted
from offing.engine.errors import LeaseLost, StoreError
from offing.engine.store import PostgresStore, Store
from offing.engine.store.facts import Noted
from offing.engine.store.inbox import Posting
from offing.engine.store.journal import Row
from offing.engine.store.postgres_link import Patience
from offing.namespaces import FunctionNamespace
from offing.namespaces.functions import tool
from postgres_server import fresh_url, in_postgres, server

pytestmark = pytest.mark.anyio

QUICK = Patience(reconnect_s=5, answer_s=0.5, lock_s=0.4, idle_s=0.3)
IMPATIENT = QUICK._replace(reconnect_s=0.2)
COMMIT = b"commit\x00"


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    async with proxy_before(server().port) as proxy:
        yield proxy


def row(seq: int) -> Row:
    return Row(seq, "s.1", NOON, Noted(str(seq), ""))


async def rows_of(store: Store) -> list[Row]:
    return [one async for one in store.scoped("local").journal.read("s")]


async def work(store: Store) -> None:
    """Something of each kind, and what each came to."""
    journal, artifacts = store.scoped("local").journal, store.scoped("local").artifacts
    lease = await journal.acquire("s")
    await asyncio.gather(journal.append(lease, [row(1)]), journal.append(lease, [row(2), row(3)]))
    ref = await artifacts.put(b"kept")
    assert await rows_of(store) == [row(1), row(2), row(3)]
    await journal.post("s", Posting("s.1", "say", b"{}", "ann", NOON))
    await journal.append(lease, [row(4)])
    assert await artifacts.get(ref) == b"kept"
    with pytest.raises(LeaseLost):
        await journal.append(lease, [row(4)])
    await journal.release(lease)


@pytest.mark.parametrize(("how", "stride"), [(how, 5 if how == "swallowed" else 2) for how in HOWS])
async def test_cut_at_any_message_the_work_is_done_once(proxy: Proxy, how: How, stride: int) -> None:
    """Further on each time, until the work is through without meeting the cut."""
    direct, number, times = fresh_url(), 1, 0
    url = f"{proxy.url(direct)}?connect_timeout=2"
    proxy.since = b"begin isolation"  # before it, a server that cannot be reached is told at once
    await work_through(PostgresStore(url))
    while proxy.cuts == times:
        in_postgres(direct, "truncate offing.fact, offing.stream, offing.inbox, offing.artifact")
        proxy.seen, proxy.at, proxy.how = 0, number, how
        await work_through(PostgresStore(url, QUICK))
        told = in_postgres(direct, "select run, seq from offing.fact order by seq")
        assert told == [("s.1", seq) for seq in range(1, 5)], (how, number)
        assert in_postgres(direct, "select count(*) from offing.inbox") == [(1,)], (how, number)
        number, times = number + stride, times + 1
    assert number > 20


async def work_through(store: Store) -> None:
    await work(store)
    await store.close()


@pytest.mark.parametrize(("how", "kept"), [("delivered", True), ("lost", False), ("lost, unnoticed", False)])
async def test_when_nobody_can_be_asked_the_outcome_is_said_to_be_unknown_and_is_found_later(
    proxy: Proxy, how: How, *, kept: bool
) -> None:
    store = PostgresStore(proxy.url(fresh_url()), IMPATIENT)
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    await journal.append(lease, [row(1)])
    proxy.at, proxy.how, proxy.refuse_after = COMMIT, how, True
    with pytest.raises(StoreError, match=r"not known: .* Resume when the server is back"):
        await journal.append(lease, [row(2)])
    with pytest.raises(StoreError, match="cannot be reached"):
        await journal.append(lease, [row(2)])
    proxy.refusing = False
    await journal.release(lease)
    again = await journal.acquire("s")
    assert (again.last, len(await rows_of(store))) == (2, 2) if kept else (1, 1)
    await journal.append(again, [row(again.last + 1)])
    assert await rows_of(store) == [row(seq) for seq in range(1, again.last + 2)]
    await store.close()


async def test_a_session_ended_by_the_server_is_taken_up_again_without_a_word() -> None:
    url = fresh_url()
    store = PostgresStore(url)
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    for seq in range(1, 6):
        await journal.append(lease, [row(seq)])
        assert (await rows_of(store))[-1] == row(seq)
        in_postgres(url, "select pg_terminate_backend(pid) from pg_stat_activity where application_name<>''")
    assert await rows_of(store) == [row(seq) for seq in range(1, 6)]
    await store.close()


class World:
    """A namespace whose tool says when it is at work."""

    def __init__(self, proxy: Proxy) -> None:
        self.paid = 0
        self._proxy = proxy

    async def pay(self) -> str:
        """Pays; its outcome cannot be recorded."""
        self.paid += 1
        self._proxy.at, self._proxy.how, self._proxy.refuse_after = COMMIT, "delivered", True
        return "paid"


async def paying(book: Playbook, text: str) -> str:
    await book.call("world__pay")
    return "Paid."


async def test_a_run_whose_outcome_was_kept_unknown_to_it_goes_on_from_there(proxy: Proxy) -> None:
    """The commit of the payment's result arrived: after the resume nothing is in doubt."""
    world = World(proxy)
    store = PostgresStore(proxy.url(fresh_url()), IMPATIENT)
    systems = [FunctionNamespace("world", [tool()(world.pay)])]
    async with Engine(Scripted(paying), systems, store=store) as engine:
        async with engine.session("s").run("Pay.") as run:
            with pytest.raises(StoreError, match="not known"):
                await run.result()
        proxy.refusing = False
        result = await (await engine.session("s").resume("s.1")).result()
    assert (result.answer, result.unknown, world.paid) == ("Paid.", (), 1)
    await store.close()


async def test_what_another_session_keeps_locked_is_told_and_goes_on_when_it_is_free() -> None:
    url = fresh_url()
    store = PostgresStore(url, QUICK)
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    with psycopg.connect(url) as other:
        other.execute("select * from offing.stream for update")
        with pytest.raises(StoreError, match="Another session keeps a row or table locked"):
            await journal.append(lease, [row(1)])
    await journal.append(lease, [row(1)])
    assert await rows_of(store) == [row(1)]
    await store.close()
