"""Sessions with a history, for tests of what is done with one."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from offing.engine import Call, Engine, MemoryStore, Scripted, Step
from offing.engine.state import State
from offing.engine.store import Store
from offing.engine.store.facts import Fact
from offing.engine.store.journal import Row
from offing.namespaces import Effect, FunctionNamespace, Record, ToolOutput
from offing.namespaces.functions import tool
from worlds import invoke, outside


async def look(account: str = "a") -> ToolOutput:
    """Looks at an account."""
    return ToolOutput(f"{account}: 12.50 GBP", records=(Record(f"txn/{account}", text=account),))


async def post(amount: int) -> str:
    """Posts an entry; none of less than nothing."""
    if amount < 0:
        raise ValueError("less than nothing")
    return f"posted {amount}"


BANK = FunctionNamespace("bank", [tool(effect=Effect.READ)(look), tool()(post)])


def looking(account: str) -> Call:
    return invoke("look", ns="bank", account=account)


def posting(amount: int) -> Call:
    return invoke("post", ns="bank", amount=amount)


STEPS: Sequence[Step | str] = [
    Step("I look.", [looking("a"), looking("b")], reasoning="Two accounts."),
    Step(calls=[posting(5), looking("c")]),
    Step(calls=[posting(-1)]),
    "Posted.",
    "You are welcome.",
]
"""Replies 1 to 4 are of the run `s.1`, the last one is of `s.2`."""


@asynccontextmanager
async def worked(
    store: Store | None = None,
    steps: Sequence[Step | str] = STEPS,
    questions: Sequence[str] = ("Go.", "Thanks."),
) -> AsyncGenerator[Engine]:
    """An engine whose session `s` has worked the steps."""
    async with Engine(Scripted(steps), [BANK], store=store or MemoryStore(), outside=outside()) as engine:
        for question in questions:
            await engine.session("s").ask(question)
        yield engine


async def rows_of(engine: Engine, stream: str = "s") -> list[Row]:
    return [row async for row in engine.store.journal.read(stream)]


async def facts_of(engine: Engine, stream: str = "s") -> list[Fact]:
    return [row.known for row in await rows_of(engine, stream)]


def without_place(state: State) -> State:
    """The state, but for ids and places in the stream, which differ between a run and its fork."""
    run = state.current
    return replace(
        state,
        seq=0,
        forked=None,
        run=replace(run, id=run.id.partition(".")[2], first=0),
        noted={":".join(part.rpartition(".")[2] for part in key.split(":")) for key in state.noted},
    )
