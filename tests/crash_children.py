"""A run whose three children pay, wire and wait for an approval at the same time, over tools of each effect.

`offing.engine.crashes` finds `scenario` here.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator

from crash_scenario import SESSION, TOOLS, WORLD, deeds, invoke
from offing.engine import Call, Engine, Limits, Playbook, Scripted
from offing.engine.crashes import EngineScenario, Place
from offing.engine.store import store_at
from offing.engine.store.facts import Began, Stopped
from offing.engine.store.journal import Row
from offing.engine.store.strands import Delegated

RUN = f"{SESSION}.1"
CHILDREN = [f"{RUN}.1.1.{number}" for number in (1, 2, 3)]
ANSWER = "25.00 GBP [[calc:1.1.1.2.1]]"


async def play(book: Playbook, text: str) -> str:
    match text.split()[0]:
        case "Sum":
            await book.calls(invoke("look"), invoke("give", amount=1))
            doubled = {"expression": "a * 2", "inputs": {"a": "world:txn/1"}}
            await book.calls(Call("calculate", doubled))  # type: ignore[arg-type]
            return f"{ANSWER} is twice what is there."
        case "Move":
            await book.calls(invoke("wire", amount=2), invoke("stamp"))
            return "Moved."
        case "Clear":
            await book.calls(invoke("drop"))
            return "Cleared."
        case _:
            strands = [{"title": each, "task": f"{each} it."} for each in ("Sum", "Move", "Clear")]
            await book.calls(Call("delegate", {"strands": strands}))  # type: ignore[dict-item]
            await book.calls(invoke("give", amount=3))
            return ANSWER


def engine(place: Place) -> Engine:
    WORLD.place = place
    return Engine(Scripted(play), [TOOLS], store=store_at(place.store), limits=Limits(cancel_grace_s=0.02))


def problems(place: Place) -> Iterable[str]:
    return asyncio.run(_problems(place))


async def _problems(place: Place) -> list[str]:
    store = store_at(place.store)
    rows = [row async for row in store.scoped("local").journal.read(SESSION)]
    await store.close()
    return [*_wrong(rows)]


def _wrong(rows: list[Row]) -> Iterator[str]:
    """Work is handed on once, each run begins once and answers once, and the rows stand without gap."""
    runs = Counter([RUN, *CHILDREN])
    began = Counter(row.run for row in rows if isinstance(row.fact, Began))
    answered = Counter(
        row.run for row in rows if isinstance(row.fact, Stopped) and row.fact.why == "answered"
    )
    handed_on = sum(isinstance(row.fact, Delegated) for row in rows)
    if not began == answered == runs or handed_on != 1:
        yield f"began {began}, answered {answered}, handed on {handed_on} times"
    if [row.seq for row in rows] != list(range(1, len(rows) + 1)):
        yield f"rows: {[row.seq for row in rows]}"


scenario = EngineScenario(engine, deeds, ("Close the month.",), wrong=problems)
