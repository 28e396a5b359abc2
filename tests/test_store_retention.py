"""What a tenant has can be exported, brought back and deleted whole; what nothing names can be swept."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bare_run import NOON, SetClock
from histories import BANK, STEPS
from offing.engine import Engine, MemoryStore, Scripted, SqliteStore, Step
from offing.engine.errors import ConfigurationError, LeaseHeld, LeaseLost, NotFound, StoreError
from offing.engine.state import State, fold
from offing.engine.store import PostgresStore, Store
from offing.engine.store.facts import Noted, Unknown
from offing.engine.store.journal import Row, Scope
from offing.engine.store.retention import export, forget, holdings_of, restore, sweep
from offing.namespaces import Attachment
from postgres_server import fresh_url, in_postgres
from worlds import invoke, outside

pytestmark = pytest.mark.anyio

DAY_US = 86_400_000_000
WEEK_S = 7 * 86_400.0
LONG = [Step(calls=[invoke("look", ns="bank", account="x" * 20_000)]), "So."]


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@dataclass
class Aging:
    """A store, and time that passes in it."""

    store: Store
    clock: SetClock
    url: str = ""
    """Of a server, whose clock nobody sets: there what is kept is made older instead."""

    def days(self, days: int) -> None:
        self.clock.now += days * DAY_US
        if self.url:
            in_postgres(self.url, "update offing.artifact set at=at-%s", days * DAY_US)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def aging(request: pytest.FixtureRequest, tmp_path: Path, clock: SetClock) -> AsyncIterator[Aging]:
    match request.param:
        case "memory":
            made = Aging(MemoryStore(clock), clock)
        case "sqlite":
            made = Aging(SqliteStore(tmp_path / "store.db", clock), clock)
        case _:
            url = fresh_url()
            made = Aging(PostgresStore(url), clock, url)
    yield made
    await made.store.close()


@pytest.fixture
def store(aging: Aging) -> Store:
    return aging.store


async def work(store: Store, tenant: str = "local") -> None:
    """Two sessions with files, long results and decisions."""
    engine = Engine(Scripted([*LONG, *STEPS]), [BANK], store=store, outside=outside()).scoped(tenant)
    await engine.session("a").ask("Go.", files=[Attachment("a.bin", b"\x00secret marker\x01")])
    await engine.session("b").ask("Go.")
    engine.store.readings.keep("bank", "account:1", "day first")
    for session in ("a", "b"):
        await engine.session(session).close()


async def lines_of(scope: Scope) -> list[bytes]:
    return [line async for line in export(scope)]


async def states(scope: Scope) -> list[State]:
    """Of the sessions that the work was in."""
    return [await fold(scope.journal.read(stream)) for stream in ("a", "b")]


async def reachable(scope: Scope) -> set[bytes]:
    """The bytes that the folds of a tenant's sessions name."""
    found: set[bytes] = set()
    for state in await states(scope):
        opened = state.opened
        assert opened is not None
        refs = [opened.frame, opened.static, opened.context]
        for ref in [*refs, *(stored.ref for stored in state.artifacts.values())]:
            found.add(await scope.artifacts.get(ref))
    return found


# Export and restore.


async def test_what_was_exported_and_brought_back_folds_to_the_same(store: Store) -> None:
    await work(store)
    source, target = store.scoped("local"), store.scoped("copy")
    lines = await lines_of(source)
    await restore(target, lines)
    assert await states(target) == await states(source)
    assert await reachable(target) == await reachable(source)
    assert target.readings.load("bank", "account:1") == "day first"
    assert await lines_of(target) == lines


async def test_a_restored_session_goes_on(store: Store) -> None:
    await work(store)
    target = store.scoped("copy")
    await restore(target, await lines_of(store.scoped("local")))
    engine = Engine(Scripted([*LONG, "More."]), [BANK], store=store, outside=outside()).scoped("copy")
    async with engine.session("a") as session:
        assert (await session.ask("And?")).answer == "More."


async def test_an_export_goes_from_one_kind_of_store_to_the_other(tmp_path: Path) -> None:
    memory, sqlite = MemoryStore(), SqliteStore(tmp_path / "store.db")
    await work(memory)
    lines = await lines_of(memory.scoped("local"))
    await restore(sqlite.scoped("local"), lines)
    assert await lines_of(sqlite.scoped("local")) == lines
    await sqlite.close()


async def test_a_tenant_without_anything_exports_a_head_and_an_end(store: Store) -> None:
    lines = await lines_of(store.scoped("nobody"))
    assert [sorted(json.loads(line)) for line in lines] == [["format", "offing"], ["end", "lines", "sha256"]]
    await restore(store.scoped("nobody"), lines)


SPOILED: Mapping[str, Callable[[list[bytes]], list[bytes]]] = {
    "cut": lambda lines: lines[:-1],
    "a row less": lambda lines: [lines[0], lines[1], *lines[3:]],
    "a row at the end less": lambda lines: [*lines[:-2], lines[-1]],
    "another word": lambda lines: [line.replace(b"12.50 GBP", b"92.50 GBP") for line in lines],
    "another byte": lambda lines: [line.replace(b'"base64": "A', b'"base64": "B') for line in lines],
    "no JSON": lambda lines: [*lines[:3], b"{", *lines[3:]],
    "no object": lambda lines: [lines[0], b"[7]\n", *lines[1:]],
    "no head": lambda lines: lines[1:],
    "more behind the end": lambda lines: [*lines, lines[1]],
}


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("cut", "the export is cut"),
        ("a row less", "line 3 is no line of an export: row 2 of session 'a' is to stand here, not 3"),
        ("a row at the end less", "lines are not those"),
        ("another word", "lines are not those"),
        ("another byte", "the bytes are not those of"),
        ("no JSON", "line 4 is no line of an export"),
        ("no object", "line 2 is no line of an export"),
        ("no head", "line 1 is no line of an export"),
        ("more behind the end", "has ended in the line before"),
    ],
)
async def test_an_export_that_is_not_whole_leaves_nothing_behind(store: Store, how: str, told: str) -> None:
    await work(store)
    target = store.scoped("copy")
    with pytest.raises(StoreError, match=told):
        await restore(target, SPOILED[how](await lines_of(store.scoped("local"))))
    holdings = holdings_of(target)
    left = (await holdings.streams(), await holdings.artifacts(), await holdings.readings())
    assert left == ([], [], [])


async def test_nothing_is_brought_into_a_tenant_that_has_something(store: Store) -> None:
    await work(store)
    scope = store.scoped("local")
    lines = await lines_of(scope)
    with pytest.raises(ConfigurationError, match="has something already"):
        await restore(scope, lines)
    assert await lines_of(scope) == lines


# Deletion.


async def test_a_tenant_is_deleted_whole_and_no_other_one(store: Store) -> None:
    await work(store)
    await work(store, "other")
    other = await lines_of(store.scoped("other"))
    await forget(store.scoped("local"))
    assert len(await lines_of(store.scoped("local"))) == 2
    assert store.scoped("local").readings.load("bank", "account:1") is None
    assert await lines_of(store.scoped("other")) == other


async def test_the_bytes_of_what_was_deleted_are_gone_from_the_disk(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    await work(store)
    assert await asyncio.to_thread(on_disk, tmp_path, b"secret marker")
    await forget(store.scoped("local"))
    assert not await asyncio.to_thread(on_disk, tmp_path, b"secret marker")
    await store.close()


def on_disk(folder: Path, text: bytes) -> bool:
    return any(text in path.read_bytes() for path in folder.iterdir())


async def test_nothing_is_deleted_while_a_session_is_at_work(store: Store) -> None:
    await work(store)
    scope = store.scoped("local")
    lines, lease = await lines_of(scope), await scope.journal.acquire("b")
    with pytest.raises(LeaseHeld):
        await forget(scope)
    assert await lines_of(scope) == lines
    await scope.journal.release(lease)
    await forget(scope)


async def test_whoever_worked_before_the_deletion_cannot_write_after_it(store: Store) -> None:
    journal = store.scoped("local").journal
    old = await journal.acquire("s")
    await journal.append(old, [Row(1, "s.1", NOON, Noted("1", ""))])
    await holdings_of(store.scoped("local")).remove_all()
    with pytest.raises(LeaseLost):
        await journal.append(old, [Row(2, "s.1", NOON, Noted("2", ""))])
    new = await journal.acquire("s")
    assert new.token > old.token
    with pytest.raises(LeaseLost):
        await journal.append(old, [Row(1, "s.1", NOON, Noted("2", ""))])
    await journal.append(new, [Row(1, "s.1", NOON, Noted("3", ""))])
    await journal.release(old)


# Sweeping.


async def test_what_no_row_names_is_removed_once_it_is_old(store: Store, aging: Aging) -> None:
    await work(store)
    scope = store.scoped("local")
    ref, kept = await scope.artifacts.put(b"lost"), await reachable(scope)
    assert await sweep(scope) == 0
    aging.days(8)
    assert await sweep(scope) == 1
    with pytest.raises(NotFound):
        await scope.artifacts.get(ref)
    assert await reachable(scope) == kept
    assert await sweep(scope) == 0


async def test_what_is_put_again_is_young_again(store: Store, aging: Aging) -> None:
    scope = store.scoped("local")
    ref = await scope.artifacts.put(b"lost")
    aging.days(8)
    assert await scope.artifacts.put(b"lost") == ref
    assert await sweep(scope) == 0
    assert await scope.artifacts.get(ref) == b"lost"


async def test_what_is_put_between_the_look_and_the_removal_stays(store: Store, aging: Aging) -> None:
    scope = store.scoped("local")
    ref = await scope.artifacts.put(b"found again")
    aging.days(8)
    assert [held.ref for held in await holdings_of(scope).artifacts()] == [ref]
    await scope.artifacts.put(b"found again")
    assert await holdings_of(scope).remove_artifacts([ref], 7 * DAY_US) == 0
    assert await scope.artifacts.get(ref) == b"found again"


async def test_artifacts_of_another_tenant_are_left_alone(store: Store, aging: Aging) -> None:
    ref = await store.scoped("other").artifacts.put(b"mine")
    await store.scoped("local").artifacts.put(b"mine")
    aging.days(8)
    assert await sweep(store.scoped("local")) == 1
    assert await store.scoped("other").artifacts.get(ref) == b"mine"


async def test_a_row_of_a_later_release_keeps_what_it_names(tmp_path: Path, clock: SetClock) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore(path, clock)
    scope = store.scoped("local")
    ref = await scope.artifacts.put(b"of the future")
    lease = await scope.journal.acquire("s")
    await scope.journal.append(lease, [Row(1, "s.1", NOON, Noted("1", ref))])
    with sqlite3.connect(path) as connection:
        connection.execute("update fact set kind='later'")
    connection.close()
    clock.now += 8 * DAY_US
    assert [isinstance(row.fact, Unknown) async for row in scope.journal.read("s")] == [True]
    assert await sweep(scope) == 0
    assert b'"kind": "later"' in b"".join(await lines_of(scope))
    await store.close()


@pytest.mark.parametrize("seconds", [0, -1, 3599.9, float("nan")])
async def test_what_a_run_may_not_have_recorded_yet_is_never_swept(store: Store, seconds: float) -> None:
    with pytest.raises(ConfigurationError, match="a run may have put what it has not recorded yet"):
        await sweep(store.scoped("local"), seconds)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans(), st.integers(0, 10)), max_size=12))
def test_a_sweep_never_removes_what_a_fold_can_reach(puts: list[tuple[int, bool, int]]) -> None:
    async def scenario() -> None:
        clock = SetClock()
        store = MemoryStore(clock)
        await work(store)
        scope = store.scoped("local")
        journal, kept = scope.journal, await reachable(scope)
        lease = await journal.acquire("c")
        named: dict[str, bool] = {}
        for seq, (content, is_named, days) in enumerate(puts, start=1):
            ref = await scope.artifacts.put(f"artifact {content}".encode())
            await journal.append(lease, [Row(seq, "c.1", NOON, Noted(str(seq), ref if is_named else "-"))])
            named[ref] = named.get(ref, False) or is_named
            clock.now += days * DAY_US
        clock.now += 8 * DAY_US
        assert await sweep(scope) == sum(not is_named for is_named in named.values())
        assert {held.ref for held in await holdings_of(scope).artifacts()} >= {
            ref for ref, is_named in named.items() if is_named
        }
        assert await reachable(scope) == kept

    asyncio.run(scenario())


async def test_a_store_without_retention_says_so() -> None:
    memory = MemoryStore().scoped("local")
    with pytest.raises(ConfigurationError, match="this store has no retention"):
        await forget(Scope(memory.journal, memory.artifacts))


async def test_a_file_of_an_earlier_release_is_swept_too(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore(path)
    await store.scoped("local").artifacts.put(b"old")
    await store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("drop table artifact_put")
    connection.close()
    again = SqliteStore(path)
    await again.scoped("local").artifacts.put(b"new")
    assert await sweep(again.scoped("local"), WEEK_S) == 1
    await again.close()
