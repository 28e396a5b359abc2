"""A run with three children, as a process of its own which kills itself at the N-th boundary it passes.

    python tests/kill_children.py FOLDER KILL_AT    one process; KILL_AT 0 lets it live
    python tests/kill_children.py --serve           forks one such process for each line of input

What FOLDER holds and what a boundary is, `kill_scenario.py` says. One child waits for an approval, which the
process gives itself once nothing else can go on.
"""

import asyncio
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from kill_scenario import (
    HELD,
    SESSION,
    Boundaries,
    BoundedStore,
    Log,
    Logged,
    World,
    invoke,
    serve,
    state_of,
    store_in,
)
from offing.engine import Call, Engine, Playbook, Result, Scripted, Session
from offing.engine.errors import LeaseHeld
from offing.engine.handle import RunHandle
from offing.engine.state import fold
from offing.namespaces import FunctionNamespace

RUN = f"{SESSION}.1"
WAITS = "1.1.3.1.1"
"""The call that has to be approved."""
ANSWER = "25.00 GBP [[calc:1.1.1.2.1]]"


async def playbook(book: Playbook, text: str) -> str:
    match text.split()[0]:
        case "Sum":
            await book.calls(invoke("look"), invoke("pay", amount=1))
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
            await book.calls(invoke("pay", amount=3))
            return ANSWER


async def work(folder: Path, kill_at: int) -> None:
    """Brings the run to its end, from wherever it is."""
    log = Log(folder)
    at = Boundaries(log, kill_at)
    store = BoundedStore(store_in(folder), at)
    world = FunctionNamespace("world", World(log, at).tools)
    async with Engine(Logged(Scripted(playbook), log), [world], store=store) as engine:
        journal = store.scoped("local").journal
        session = engine.session(SESSION)
        runs = (await fold(journal.read(SESSION))).runs
        result = await (await _begin(session) if not runs else await session.resume(RUN)).result()
        while result.why == "waiting":
            await session.approve(WAITS, by="ann", key="clear")
            result = await (await session.resume(RUN)).result()
        log.add("result", **_told(result))
        if state_of(session).seq and state_of(session) != await fold(journal.read(SESSION)):
            raise AssertionError("the state is not the fold of the journal")
    log.add("passed", count=at.count)


async def _begin(session: Session) -> RunHandle:
    async with session.run("Close the month.") as run:
        return run


def _told(result: Result) -> dict[str, object]:
    children = [[one.run, one.why, one.took.iterations] for one in result.children]
    told = {"run": result.run, "why": result.why, "answer": result.answer, "unknown": result.unknown}
    return {**told, "children": children, "iterations": result.iterations}


def live(words: Sequence[str]) -> int:
    """One process's life; how it ends."""
    folder, kill_at = words
    try:
        asyncio.run(work(Path(folder), int(kill_at)))
    except LeaseHeld:
        return HELD
    except BaseException:  # noqa: BLE001  a forked child must not return into its parent's loop
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve(live)
    else:
        raise SystemExit(live(sys.argv[1:]))
