"""A rollback takes a session back to where it was; nothing is deleted, and what was done is told."""

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from bare_run import NOON
from histories import BANK, STEPS, facts_of, rows_of, worked
from offing.engine import Engine, MemoryStore, Scripted, SqliteStore
from offing.engine.errors import ConfigurationError, Interrupted, LeaseHeld, StoreError
from offing.engine.events import Event, RunForked, RunStopped
from offing.engine.history import Branch, MessageEdit, diff
from offing.engine.history.branching import roll_back
from offing.engine.history.streams import head_of, last_row, place_of
from offing.engine.store.branches import Moved, NotUndone
from offing.engine.store.facts import Noted, Started
from offing.engine.store.journal import Lease, Row
from offing.engine.store.memory import MemoryJournal
from test_session import CALLING, Gate
from worlds import outside

pytestmark = pytest.mark.anyio

POSTED = NotUndone("2.1", "bank__post", "done")
FAILED = NotUndone("3.1", "bank__post", "failed")


async def test_a_session_goes_on_from_where_it_was_taken_back_to() -> None:
    async with worked() as engine:
        before = await rows_of(engine)
        branch = await engine.rollback("s.1", at=1)
        assert branch == Branch("s", "s.1", "s~1", (POSTED, FAILED))
        result = await (await engine.resume("s.1")).result()
        assert (result.run, result.answer) == ("s.1", "Posted.")
        after = await rows_of(engine)
        assert (after[:-1], after[-1].fact) == (before, Moved("s~1"))
        assert {row.run for row in await rows_of(engine, "s~1")} == {"s.1"}
        assert (await engine.session("s").ask("Thanks.")).run == "s.2"


async def test_what_is_done_again_after_a_rollback_is_a_new_effect() -> None:
    async with worked() as engine:
        await engine.rollback("s.1", at=1)
        await (await engine.resume("s.1")).result()
        keys = [
            {fact.key for fact in await facts_of(engine, stream) if isinstance(fact, Started)}
            for stream in ("s", "s~1")
        ]
        assert (len(keys[0]), len(keys[1]), keys[0] & keys[1]) == (2, 2, set())
        told = [fact.text for fact in await facts_of(engine, "s~1") if isinstance(fact, Noted)]
        assert ["bank__post (2.1): done" in text for text in told] == [True]


async def test_another_process_finds_the_session_where_it_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    async with worked(SqliteStore(path)) as engine:
        await engine.rollback("s.1", at=2)
        await engine.rollback("s.1", at=1)
    async with Engine(Scripted(STEPS), [BANK], store=SqliteStore(path), outside=outside()) as other:
        session = other.session("s")
        async with aclosing(session.events()) as events:
            assert await anext(events) == RunForked(1, "s.1", "s~1", "s.1", 1, (), (FAILED, POSTED))
            result = await (await other.resume("s.1")).result()
            assert result.answer == "Posted."
        assert await head_of(other.store.journal, "s") == "s~2"


async def test_watchers_are_told_that_the_numbers_begin_anew() -> None:
    async with worked() as engine:
        session = engine.session("s")
        async with aclosing(session.events()) as events:
            stops = 0
            while stops < 2:
                stops += isinstance(await anext(events), RunStopped)
            await engine.rollback("s.1", at=1)
            await (await engine.resume("s.1")).result()
            with pytest.raises(Interrupted, match="session 's' was rolled back: watch its events anew"):
                await anext(events)
        first = await _first(engine)
        assert isinstance(first, RunForked)


async def _first(engine: Engine) -> Event:
    async with aclosing(engine.session("s").events()) as events:
        return await anext(events)


async def test_what_was_left_can_be_read_compared_and_forked() -> None:
    async with worked() as engine:
        await engine.rollback("s.1", at=1)
        await (await engine.resume("s.1")).result()
        journal = engine.store.journal
        places = [await place_of(journal, run) for run in ("s~0.1", "s~1.1", "s.1")]
        assert places == [("s", "s.1"), ("s~1", "s.1"), ("s~1", "s.1")]
        found = diff(await rows_of(engine), "s.1", await rows_of(engine, "s~1"), "s.1")
        assert [(one.place.part.name, one.left) for one in found.differences] == [("NOTE", None)]
        branch = await engine.fork("s~0.2", at=0, edit=MessageEdit("Why?"), session="f")
        assert branch == Branch("f", "f.2", "f", ())


async def test_only_what_a_session_goes_on_in_is_rolled_back() -> None:
    async with worked() as engine:
        with pytest.raises(ConfigurationError, match=r"fork 's~0\.1' instead"):
            await engine.rollback("s~0.1", at=1)


async def test_a_session_at_work_is_not_rolled_back() -> None:
    gate = Gate()
    engine = Engine(Scripted(CALLING), [gate.namespace], outside=outside())
    async with engine, engine.session("s").run("Go."):
        await gate.at_work.wait()
        with pytest.raises(LeaseHeld):
            await engine.rollback("s.1", at=0)


async def test_what_a_kill_in_the_middle_has_left_is_in_nobodys_way() -> None:
    async with worked() as engine:
        journal = engine.store.journal
        lease = await journal.acquire("s~1")
        await journal.append(lease, [Row(1, "s.1", NOON, Noted("a", "left"))])
        await journal.release(lease)
        branch = await engine.rollback("s.1", at=1)
        assert branch.stream == "s~2"
        assert await head_of(journal, "s") == "s~2"


@pytest.mark.parametrize("length", [0, 1, 2, 3, 7, 8, 9, 100, 513])
async def test_the_last_row_is_found_in_few_looks(length: int) -> None:
    journal = MemoryStore().scoped("local").journal
    lease = await journal.acquire("s")
    rows = [Row(seq, "s.1", NOON, Noted(str(seq), "")) for seq in range(1, length + 1)]
    await journal.append(lease, rows)
    assert await asyncio.wait_for(last_row(journal, "s"), 10) == (rows[-1] if rows else None)


class Failing(MemoryJournal):
    """A journal that fails at one of its appends, once."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.left = at

    def append(self, lease: Lease, rows: Sequence[Row]) -> Awaitable[None]:
        self.left -= 1
        if not self.left:
            raise StoreError("the disk is full")
        return super().append(lease, rows)


@pytest.mark.parametrize("at", [2, 3])
async def test_a_rollback_that_fails_in_the_middle_leaves_the_session_where_it_was(at: int) -> None:
    journal = Failing(at)
    async with worked() as engine:
        rows = await rows_of(engine)
    lease = await journal.acquire("s")
    await journal.append(lease, rows)
    await journal.release(lease)
    with pytest.raises(StoreError, match="the disk is full"):
        await roll_back(journal, "s.1", 1, NOON)
    assert await head_of(journal, "s") == "s"
    assert [row async for row in journal.read("s")] == rows
    branch = await roll_back(journal, "s.1", 1, NOON)
    assert await head_of(journal, "s") == branch.stream
    assert branch.not_undone == (POSTED, FAILED)
