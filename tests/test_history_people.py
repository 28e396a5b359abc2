"""Forks, rollbacks and exports of runs that people said something to."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from offing.engine import Engine, Scripted, SqliteStore, Step
from offing.engine.errors import NotOpen
from offing.engine.state import fold
from offing.engine.store.people import Decided
from offing.engine.store.retention import export, forget, restore
from offing.namespaces import Effect, FunctionNamespace, ToolContext, ToolOutput
from offing.namespaces.tool import Tool
from worlds import ANY, Given, invoke, outside

PAY = Step(calls=[invoke("pay")])


async def _pay(arguments: Given, context: ToolContext) -> ToolOutput:
    return ToolOutput("paid")


SYSTEM = FunctionNamespace("sys", [Tool("pay", "Pays.", ANY, _pay, Effect.ONCE, destructive=True)])


@asynccontextmanager
async def paid(folder: Path, *more: Step | str) -> AsyncGenerator[Engine]:
    """A session with one payment that was approved."""
    store = SqliteStore(folder / "store.db")
    async with Engine(Scripted([PAY, *more]), [SYSTEM], store=store, outside=outside()) as engine:
        session = engine.session("s")
        waiting = await session.ask("Pay.")
        await engine.inbox.approve("s.1", waiting.approvals[0].call, by="E. Farrow")
        assert (await (await session.resume("s.1")).result()).why == "answered"
        yield engine


async def test_a_fork_of_a_run_that_was_approved_takes_nothing_out_of_an_inbox(tmp_path: Path) -> None:
    async with paid(tmp_path, "Done.") as engine:
        branch = await engine.fork("s.1", at=1, session="t")
        rows = [row async for row in engine.store.journal.read(branch.stream)]
        (decided,) = [row.fact for row in rows if isinstance(row.fact, Decided)]
        assert (decided.posted.who, decided.posted.item) == ("E. Farrow", 0)
        result = await (await engine.resume(branch.run)).result()
        assert result.answer == "Done."


async def test_what_is_said_after_a_rollback_goes_to_where_the_session_goes_on(tmp_path: Path) -> None:
    async with paid(tmp_path, "Done.") as engine:
        await engine.session("s").close()
        branch = await engine.rollback("s.1", at=1)
        await engine.inbox.say("s.1", "Also tell me why.", by="E. Farrow")
        with pytest.raises(NotOpen, match="was left by a rollback: its session goes on in 's~1'"):
            await engine.inbox.say("s~0.1", "Too late.")
        result = await (await engine.resume(branch.run)).result()
        assert result.answered
        state = await fold(engine.store.journal.read("s~1"))
        assert "Also tell me why." in [message.text for message in state.conversation.messages]


async def test_an_export_holds_who_decided_and_a_forgotten_tenant_has_no_inbox(tmp_path: Path) -> None:
    async with paid(tmp_path, "Done.") as engine:
        await engine.session("s").close()
        lines = [line async for line in export(engine.store)]
        other = engine.scoped("other").store
        await asyncio.wait_for(restore(other, lines), 30)
        rows = [row async for row in other.journal.read("s")]
        assert [row.fact.posted.who for row in rows if isinstance(row.fact, Decided)] == ["E. Farrow"]
        await forget(other)
        assert await other.journal.inbox("s") == []
        assert [row async for row in other.journal.read("s")] == []
