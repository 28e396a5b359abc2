"""An entry that is approved and posted, by processes that kill themselves at the N-th boundary they pass.

    python tests/posting_scenario.py --serve      forks one process for each line `FOLDER KILL_AT` of input

FOLDER holds the store and the books. A process begins the run, or goes on with it; where the run waits, it
approves what waits and goes on. A boundary is passed around each change of the store, and before and after
the posting itself.
"""

import asyncio
import dataclasses
import os
import sys
import traceback
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from entries_books import GL, entry, line
from kill_scenario import Boundaries, Boundary, BoundedStore, Log, store_in
from offing.engine import Engine, Playbook, Scripted
from offing.namespaces.entries import Entries
from offing.namespaces.ledger import Ledger
from offing.namespaces.tool import Arguments, Tool, ToolContext, ToolOutput

RUN = "books.1"
CHARGE = entry(line("7000", "28.50"), line("1200", "-28.50"))


@dataclasses.dataclass(frozen=True)
class BoundedEntries:
    """The entries namespace with a boundary around its posting."""

    inner: Entries
    at: Boundary
    name: str = "entries"
    guide: Path | None = None

    @asynccontextmanager
    async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
        async with self.inner.connect(credentials) as tools:
            yield [self._bounded(tool) if tool.name == "post_entry" else tool for tool in tools]

    def _bounded(self, tool: Tool) -> Tool:
        def call(arguments: Arguments, context: ToolContext) -> ToolOutput:
            self.at("to be posted")
            output = tool.call(arguments, context)
            self.at("posted")
            assert isinstance(output, ToolOutput)
            return output

        return dataclasses.replace(tool, call=call)


async def play(book: Playbook, message: str) -> str:
    proposed = await book.call("entries__invoke_tool", tool="propose_entry", arguments={"entry": CHARGE})
    posted = await book.call("entries__post_entry", entry=proposed.json["entry"])
    return "not posted" if posted.error else "posted"


async def work(folder: Path, at: Boundary) -> str:
    """Works until the run has answered; what it answered."""
    books = folder / "gl.csv"
    if not books.exists():
        books.write_text(GL)
    ledger = Ledger([books])
    namespaces = [ledger, BoundedEntries(Entries(ledger), at)]
    async with Engine(Scripted(play), namespaces, store=BoundedStore(store_in(folder), at)) as engine:
        session = engine.session("books")
        known = [row async for row in engine.store.journal.read("books")]
        if known:
            result = await (await session.resume(RUN)).result()
        else:
            result = await session.ask("Enter the charge.")
        if result.why == "waiting":
            for request in result.approvals:
                await engine.inbox.approve(RUN, request.call, by="E. Farrow", digest=request.digest)
            result = await (await session.resume(RUN)).result()
        return f"{result.why}: {result.answer}, unknown {list(result.unknown)}"


def live(folder: Path, kill_at: int) -> int:
    """One process; 0 when the run has answered."""
    log = Log(folder)
    try:
        told = asyncio.run(work(folder, Boundaries(log, kill_at)))
    except BaseException:  # noqa: BLE001  a forked child must not return into its parent's loop
        traceback.print_exc()
        return 1
    log.add("ended", told=told)
    return 0


def serve() -> None:
    """Forks a process a line, from a parent that has imported everything and has no threads."""
    for line_ in sys.stdin:
        child = os.fork()
        if child == 0:
            folder, kill_at = line_.split()
            os._exit(live(Path(folder), int(kill_at)))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
