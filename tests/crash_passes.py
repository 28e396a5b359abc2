"""A run and its two children in windows so small that room is made in each again and again.

`offing.engine.crashes` finds `scenario` here.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable

from crash_scenario import SESSION, WORLD, deeds, invoke
from offing.compaction.encodings import encoding
from offing.engine import Call, Engine, Limits, Playbook, Role, Roles, Scripted
from offing.engine.crashes import EngineScenario, Place
from offing.engine.store import store_at
from offing.engine.store.facts import Compacted
from offing.namespaces import Effect, FunctionNamespace, tool

encoding()  # loaded once, before the processes are forked
LIMITS = Limits(window=6_000, reply_tokens=500)


@tool(effect=Effect.READ)
async def page(number: int) -> str:
    """Gives a page of the statement."""
    return "\n".join(f"{number}.{row} 2026-09-14 {row * 3.17:.2f} GBP" for row in range(60))


async def play(book: Playbook, text: str) -> str:
    if text.startswith("Close"):
        strands = [{"title": each, "task": f"Read {each} ."} for each in ("one", "two")]
        await book.calls(Call("delegate", {"strands": strands}))  # type: ignore[dict-item]
    for number in range(3):
        await book.calls(invoke("page", number=number), invoke("page", number=10 + number))
    await book.calls(invoke("give", amount=len(text)))
    return "Read."


async def shorten(book: Playbook, text: str) -> str:
    return "## Facts\n- All pages are read."


def engine(place: Place) -> Engine:
    WORLD.place = place
    roles = Roles(run=Role(Scripted(play)), digest=Role(Scripted(shorten)))
    world = FunctionNamespace("world", [*WORLD.tools(), page])
    return Engine(roles, [world], store=store_at(place.store), limits=LIMITS)


def problems(place: Place) -> Iterable[str]:
    return asyncio.run(_problems(place))


async def _problems(place: Place) -> list[str]:
    """Room is made as often as if nothing had happened, and what left is stored, each under its own name."""
    store = store_at(place.store)
    scope = store.scoped("local")
    passes = [
        (row.run, row.fact) async for row in scope.journal.read(SESSION) if isinstance(row.fact, Compacted)
    ]
    stored = [one for _, done in passes for one in done.stored]
    sizes = [len(await scope.artifacts.get(one.ref)) for one in stored]
    await store.close()
    made, handles = Counter(run for run, _ in passes), Counter(one.handle for one in stored)
    found = [f"passes: {made}"] * (set(made.values()) != {2} or len(made) != 3)
    found += [f"handles: {handles}"] * (max(handles.values(), default=0) != 1)
    return found + ["an artifact is not whole"] * (sizes != [one.size for one in stored])


scenario = EngineScenario(engine, deeds, ("Close the month.",), wrong=problems)
