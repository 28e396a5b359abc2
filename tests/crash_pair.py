"""Two parallel payments, the second of which takes effect once the first one's outcome is recorded."""

import asyncio
from collections.abc import Iterable

from offing.engine import Call, Engine, Playbook, Scripted
from offing.engine.crashes import Deed, EngineScenario, Place
from offing.engine.store import store_at
from offing.engine.store.facts import Settled
from offing.namespaces import FunctionNamespace, ToolContext, tool


async def play(book: Playbook, message: str) -> str:
    results = await book.calls(Call("till__pay_first"), Call("till__pay_second"))
    return "; ".join(result.text.partition(":")[0] for result in results)


def engine(place: Place) -> Engine:
    till = place.folder / "till.txt"
    store = store_at(place.store)

    def pay(what: str, context: ToolContext) -> str:
        with till.open("a") as file:
            file.write(f"{what} {context.idempotency_key}\n")
        return f"{what} paid"

    @tool(writes=frozenset({"a"}))
    def pay_first(context: ToolContext) -> str:
        """Pays A."""
        return pay("A", context)

    @tool(writes=frozenset({"b"}))
    async def pay_second(context: ToolContext) -> str:
        """Pays B."""
        journal, is_settled = store.scoped("local").journal, False
        while not is_settled:
            await asyncio.sleep(0)
            is_settled = any([isinstance(row.fact, Settled) async for row in journal.read("crash")])
        return pay("B", context)

    return Engine(Scripted(play), [FunctionNamespace("till", [pay_first, pay_second])], store=store)


def deeds(place: Place) -> Iterable[Deed]:
    lines = (place.folder / "till.txt").read_text().splitlines()
    return [Deed(*line.split()) for line in lines]


scenario = EngineScenario(engine, deeds, ("Pay both.",))
