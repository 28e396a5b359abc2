"""What is posted to a stream is there until one fact takes it, and it is taken once."""

import asyncio
import functools
import sqlite3
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bare_run import NOON
from offing.engine.errors import LeaseLost, NotFound, StoreError
from offing.engine.store import MemoryStore, SqliteStore, Store
from offing.engine.store.facts import Noted
from offing.engine.store.inbox import (
    Answer,
    Bells,
    Cancel,
    Decide,
    Item,
    Posting,
    Say,
    SentFile,
    posting,
    word_of,
)
from offing.engine.store.journal import Journal, Lease, Row
from offing.engine.store.people import Posted, Refused
from stores import DURABLE, MAKERS, store_in

pytestmark = pytest.mark.anyio

HELLO = Posting("s.1", "say", b'{"text":"Hello"}', "ann", NOON)
WORDS = [
    Decide("1.2", approved=True, reason="fine", digest="ab"),
    Answer("1.1", "Yes."),
    Say("Look at this.", (SentFile("a.csv", "ref", "text/csv"),)),
    Cancel("wrong month", hard=True),
]


@pytest.fixture(params=MAKERS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    store = store_in(request.param, tmp_path)
    yield store
    await store.close()


def taking(seq: int, item: int) -> Row:
    return Row(seq, "s.1", NOON, Refused(Posted(item, "ann", NOON), "say", "why"))


def item(number: int, given_: Posting = HELLO) -> Item:
    return Item(number, given_.run, given_.kind, given_.body, given_.who, given_.at)


async def numbers(journal: Journal, stream: str = "s") -> list[int]:
    return [one.id for one in await journal.inbox(stream)]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_read_back_as_it_was(word: Decide | Answer | Say | Cancel) -> None:
    assert word_of(item(1, posting("s.1", word, "ann", NOON))) == word


@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        ("dance", b"{}", "this release does not know what 'dance' is"),
        ("say", b"{", "it cannot be read: "),
        ("say", b"[" * 100_000, "it cannot be read: "),
        ("decide", b'{"call": "1.1"}', "it cannot be read: "),
        ("cancel", b"\xff", "it cannot be read: "),
    ],
)
def test_what_cannot_be_read_is_told_in_words(kind: str, body: bytes, told: str) -> None:
    assert str(word_of(item(1, replace(HELLO, kind=kind, body=body)))).startswith(told)


async def test_what_is_posted_is_there_in_order_and_whole_until_it_is_taken(store: Store) -> None:
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    second = replace(HELLO, body=b"\x00\xff", who="")
    posted = [await journal.post("s", one) for one in (HELLO, second, HELLO)]
    first, then, last = posted
    assert first < then < last
    assert await journal.inbox("s") == [item(first), item(then, second), item(last)]
    await journal.append(lease, [taking(1, then)])
    assert await numbers(journal) == [first, last]
    await journal.append(lease, [taking(2, last), Row(3, "s.1", NOON, Noted("a", "b")), taking(4, first)])
    assert await numbers(journal) == []
    assert await journal.post("s", HELLO) > last


async def test_posting_needs_no_lease_but_a_session(store: Store) -> None:
    journal = store.scoped("local").journal
    with pytest.raises(NotFound, match="there is no session 's'"):
        await journal.post("s", HELLO)
    assert await journal.inbox("s") == []
    await journal.release(await journal.acquire("s"))
    assert [await journal.post("s", HELLO)] == await numbers(journal)


async def test_tenants_and_sessions_have_inboxes_of_their_own(store: Store) -> None:
    ours, theirs = store.scoped("ours").journal, store.scoped("theirs").journal
    lease = await ours.acquire("s")
    for journal, stream in ((ours, "t"), (theirs, "s")):
        await journal.acquire(stream)
        foreign = await journal.post(stream, HELLO)
        assert await numbers(ours) == []
        if not isinstance(store, MemoryStore):  # in memory each inbox counts for itself
            with pytest.raises(StoreError, match=f"item {foreign} is not in the inbox"):
                await ours.append(lease, [taking(1, foreign)])
    assert (await numbers(ours, "t"), await numbers(theirs)) != ([], [])


async def test_what_was_posted_under_a_key_is_there_once_also_after_it_was_taken(store: Store) -> None:
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    keyed = replace(HELLO, key="k")
    number = await journal.post("s", keyed)
    assert [await journal.post("s", keyed) for _ in range(3)] == [number] * 3
    other = await journal.post("s", replace(HELLO, key="l"))
    await journal.append(lease, [taking(1, number)])
    assert await journal.post("s", keyed) == number
    assert await numbers(journal) == [other]


@pytest.mark.parametrize("items", [[7], [1, 1], [1, 7]])
async def test_an_item_that_is_not_there_is_not_taken_and_nothing_is_written(
    store: Store, items: Sequence[int]
) -> None:
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    await journal.post("s", HELLO)
    with pytest.raises(StoreError):
        await journal.append(lease, [taking(place, one) for place, one in enumerate(items, 1)])
    assert [row async for row in journal.read("s")] == []
    assert await numbers(journal) == [1]


async def test_who_has_lost_the_lease_takes_nothing(store: Store) -> None:
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    await journal.release(lease)
    await journal.post("s", HELLO)
    with pytest.raises(LeaseLost):
        await journal.append(lease, [taking(1, 1)])
    assert await numbers(journal) == [1]


@given(st.lists(st.sampled_from(["post", "take", "take again"]), max_size=20))
def test_in_any_order_each_item_is_taken_by_one_fact(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    async def scenario(store: Store) -> None:
        journal = store.scoped(uuid.uuid4().hex).journal
        lease = await journal.acquire("s")
        seq, posted, taken = 0, list[int](), list[int]()
        for step in steps:
            left = [one for one in posted if one not in taken]
            wanted = left[:1] if step == "take" else taken[-1:]
            if step == "post":
                posted.append(await journal.post("s", HELLO))
            elif wanted and step == "take":
                seq += 1
                await journal.append(lease, [taking(seq, wanted[0])])
                taken += wanted
            elif wanted:
                with pytest.raises(StoreError):
                    await journal.append(lease, [taking(seq + 1, wanted[0])])
            assert await numbers(journal) == [one for one in posted if one not in taken]
        assert [row.seq async for row in journal.read("s")] == list(range(1, seq + 1))
        await store.close()

    asyncio.run(scenario(MemoryStore()))
    for kind in DURABLE:
        asyncio.run(scenario(store_in(kind, tmp_path_factory.getbasetemp())))


async def rung(journal: Journal, lease: Lease) -> asyncio.Event:
    told = asyncio.Event()
    journal.on_post(lease, told.set)
    return told


async def test_who_holds_the_lease_is_told_of_each_post_until_it_is_given_back(store: Store) -> None:
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    told = await rung(journal, lease)
    for _ in range(2):
        await journal.post("s", HELLO)
        await asyncio.wait_for(told.wait(), 10)
        told.clear()
    await journal.release(lease)
    now = await rung(journal, await journal.acquire("s"))
    await journal.release(lease)  # once more, and late
    await journal.post("s", HELLO)
    await asyncio.wait_for(now.wait(), 10)
    assert not told.is_set()


@pytest.mark.parametrize("kind", DURABLE)
async def test_who_holds_the_lease_is_told_of_what_another_process_posts(kind: str, tmp_path: Path) -> None:
    """Another store on the same database shares nothing with this one but the database."""
    store, other = store_in(kind, tmp_path), store_in(kind, tmp_path)
    journal = store.scoped("local").journal
    told = await rung(journal, await journal.acquire("s"))
    number = await other.scoped("local").journal.post("s", HELLO)
    await other.close()
    await asyncio.wait_for(told.wait(), 10)
    assert await numbers(journal) == [number]
    await store.close()


@pytest.mark.parametrize("kind", DURABLE)
async def test_a_loop_that_has_ended_is_told_nothing(kind: str, tmp_path: Path) -> None:
    store = store_in(kind, tmp_path)
    journal = store.scoped("local").journal
    await asyncio.to_thread(asyncio.run, _hang(journal))
    assert await journal.post("s", HELLO) == 1
    await store.close()


async def _hang(journal: Journal) -> None:
    await rung(journal, await journal.acquire("s"))


async def test_a_file_of_a_release_without_inboxes_is_given_them(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    await store.scoped("local").journal.acquire("s")
    await store.close()
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("drop table inbox")
    connection.close()
    store = SqliteStore(tmp_path / "store.db")
    assert await store.scoped("local").journal.inbox("s") == []
    assert await store.scoped("local").journal.post("s", HELLO) == 1
    await store.close()


async def test_a_bell_rings_once_for_an_item_and_for_the_newest_lease_alone() -> None:
    bells, rung = Bells(), list[str]()
    former, lease = Lease("s", 1, 0), Lease("s", 2, 0)
    for one in (former, lease):
        bells.hang("local", one, functools.partial(rung.append, str(one.token)))
    bells.take_down("local", former)
    for number in (1, 1, 3, 2, 3):
        bells.ring("local", "s", number)
    bells.ring("other", "s", 4)
    bells.ring("local", "t", 4)
    await asyncio.sleep(0)
    assert rung == ["2", "2"]
    bells.take_down("local", lease)
    bells.ring("local", "s", 5)
    await asyncio.sleep(0)
    assert (rung, bool(bells)) == (["2", "2"], False)
