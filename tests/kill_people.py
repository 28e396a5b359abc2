"""A run that waits for people, as a process of its own which kills itself at the N-th boundary it passes.

    python tests/kill_people.py FOLDER KILL_AT      one process; KILL_AT 0 lets it live
    python tests/kill_people.py --serve             forks one such process for each line of input

What FOLDER holds and what a boundary is, `kill_scenario.py` says. The process is the driver and the people
in one: when the run waits, it approves two calls, denies one, answers a question and sends a message, and
a tool at work cancels the run. Whatever it posts has a key, and is posted again by the next process that
does not know better.
"""

import asyncio
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kill_scenario import (
    HELD,
    Boundaries,
    Boundary,
    BoundedStore,
    Log,
    Logged,
    serve,
    state_of,
)
from offing.engine import Call, Engine, Limits, Playbook, Result, Scripted, Session, SqliteStore
from offing.engine.clock import SystemClock
from offing.engine.errors import LeaseHeld
from offing.engine.handle import RunHandle
from offing.engine.inbox import Inbox
from offing.engine.state import fold
from offing.engine.store.journal import Store
from offing.engine.store.people import Questioned
from offing.namespaces import Effect, FunctionNamespace, Inspection, Tool, ToolContext, ToolOutput, tool

SESSION = "till"
RUN = f"{SESSION}.1"
REQUEST, MESSAGE, ANSWER = "Pay what is due.", "And post it.", "Posted, in part."
DENIED = "1.4"
SAID = "The second one."


class Office:
    """Tools that log what they did, under which key; one of them cancels the run that calls it."""

    def __init__(self, log: Log, at: Boundary, inbox: Inbox) -> None:
        self._log = log
        self._at = at
        self._inbox = inbox

    @property
    def tools(self) -> list[Tool]:
        return [
            tool(destructive=True, writes=frozenset({"a"}))(self.pay),
            tool(destructive=True, writes=frozenset({"b"}), inspect=self.found)(self.wire),
            tool(writes=frozenset({"c"}))(self.post),
            replace(tool(effect=Effect.READ)(self.look)),
            tool(effect=Effect.READ)(self.give_up),
        ]

    async def pay(self, to: str, context: ToolContext) -> str:
        """Pays."""
        return await self._act("pay", context)

    async def wire(self, to: str, context: ToolContext) -> str:
        """Wires money; the bank can be asked what became of it."""
        return await self._act("wire", context)

    async def post(self, entry: str, context: ToolContext) -> str:
        """Posts an entry."""
        return await self._act("post", context)

    async def look(self, context: ToolContext) -> str:
        """Looks."""
        return await self._act("look", context)

    async def give_up(self) -> str:
        """Cancels its own run, as somebody else would, and never comes to an end."""
        await self._inbox.cancel(RUN, reason="enough", by="ann", key="cancel")
        await asyncio.Event().wait()
        return "never"

    async def found(self, arguments: object, context: ToolContext) -> Inspection:
        self._at("inspection begins")
        keys = {line["key"] for line in self._log.read() if line["what"] == "effect"}
        done = context.idempotency_key in keys
        return Inspection("done", ToolOutput("wire done")) if done else Inspection("not done")

    async def _act(self, name: str, context: ToolContext) -> str:
        self._at(f"{name} begins")
        self._log.add("effect", tool=name, key=context.idempotency_key, call=context.call)
        self._at(f"{name} took effect")
        await asyncio.sleep(0)
        self._at(f"{name} ends")
        return f"{name} done"


async def playbook(book: Playbook, text: str) -> str:
    if text == MESSAGE:
        await book.calls(Call("till__post", {"entry": "x"}), Call("till__give_up"), Call("till__look"))
        return ANSWER
    await book.calls(
        Call("till__look"),
        Call("till__pay", {"to": "A"}),
        Call("till__wire", {"to": "B"}),
        Call("till__pay", {"to": "C"}),
        Call("ask_user", {"question": "Which one?"}),
    )
    return "Nobody said anything."


async def say_all(inbox: Inbox) -> None:
    """What people say to the run that waits: the message first, then a word on all that is open."""
    await inbox.say(RUN, MESSAGE, by="ann", key="message")
    for asked in await inbox.open(RUN):
        call, key = asked.call, f"word on {asked.call}"
        if isinstance(asked, Questioned):
            await inbox.answer(RUN, call, SAID, by="ann", key=key)
        elif call == DENIED:
            await inbox.deny(RUN, call, reason="C is no supplier", by="bob", key=key)
        else:
            await inbox.approve(RUN, call, by="bob", digest=asked.digest, key=key)


async def work(folder: Path, kill_at: int) -> None:
    """Brings the run to its end, from wherever it is."""
    log = Log(folder)
    at = Boundaries(log, kill_at)
    store: Store = BoundedStore(SqliteStore(folder / "store.db"), at)
    scope = store.scoped("local")
    inbox = Inbox(scope, SystemClock())
    office = FunctionNamespace(SESSION, Office(log, at, inbox).tools)
    limits = Limits(cancel_grace_s=0.02)
    async with Engine(Logged(Scripted(playbook), log), [office], store=store, limits=limits) as engine:
        session = engine.session(SESSION)
        while not (result := await _driven(session)).answered:
            log.add("result", **_told(result))
            if result.why == "waiting":
                await say_all(inbox)
        log.add("result", **_told(result))
        if state_of(session).seq and state_of(session) != await fold(scope.journal.read(SESSION)):
            raise AssertionError("the state is not the fold of the journal")
    log.add("passed", count=at.count)


async def _driven(session: Session) -> Result:
    return await (await _begun(session)).result()


async def _begun(session: Session) -> RunHandle:
    state = await fold(session._store.journal.read(SESSION))  # pyright: ignore[reportPrivateUsage]
    if state.runs:
        return await session.resume(RUN)
    async with session.run(REQUEST, by="ann") as run:
        return run


def _told(result: Result) -> dict[str, object]:
    return {"why": result.why, "answer": result.answer, "unknown": result.unknown}


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
        sys.exit(live(sys.argv[1:]))
