"""The whole `offing demo` as a user goes through it, one command a process: demo, approve, resume.

`offing.engine.crashes` finds `scenario` here. It knows the demo by its commands, its store and its files.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator

from offing.engine.cli.demo import SEPTEMBER
from offing.engine.cli.main import main
from offing.engine.crashes import Deed, Place
from offing.engine.run_state import RunState
from offing.engine.state import fold
from offing.engine.store import store_at
from offing.engine.store.facts import Stopped
from offing.engine.store.journal import Scope

MARK = re.compile("offing-[0-9a-f]{16}")
"""What an entry is marked with; it depends on the session, which has a name of its own each time."""
BOOKS = "ltd_general_ledger.csv"
[BUNDLED] = [path for path in SEPTEMBER.ledger if path.name == BOOKS]


class Demo:
    def live(self, place: Place) -> str | None:
        """The next command that a user gives who sees what is there."""
        where = ("--store", place.store)
        run, posted = asyncio.run(newest(place.store))
        if run is None:
            offing("demo", "--out", str(place.folder), *where)
        elif run.stopped is not None and run.stopped.why == "waiting" and not posted:
            offing("approve", run.id, "--by", "E. Farrow", *where)
        else:
            offing("resume", run.id, *where)
            run, _ = asyncio.run(newest(place.store))
            if run is not None and isinstance(run.stopped, Stopped) and run.stopped.why == "answered":
                return MARK.sub("MARK", (place.folder / "report-2026-09.md").read_text())
        return None

    def deeds(self, place: Place) -> Iterable[Deed]:
        """Each line of the books that was not there in the beginning."""
        books = (place.folder / "books-2026-09" / BOOKS).read_text()
        added = books.removeprefix(BUNDLED.read_text()).splitlines()
        return [Deed(MARK.sub("MARK", line)) for line in added]

    def problems(self, place: Place) -> Iterator[str]:
        """Of a user who was killed, the files are those of one who was not."""
        there = sorted(path.name for path in place.folder.iterdir())
        if there != ["books-2026-09", "report-2026-09.md", "statement-2026-09.csv", "statement-2026-09.xlsx"]:
            yield f"files: {there}"
        others = {path.name: path for path in SEPTEMBER.ledger if path != BUNDLED}
        for name, bundled in others.items():
            if (place.folder / "books-2026-09" / name).read_bytes() != bundled.read_bytes():
                yield f"{name} was changed"


def offing(*arguments: str) -> None:
    code = main(arguments)
    if code:
        raise RuntimeError(f"offing {' '.join(arguments)} ended with {code}")


async def newest(where: str) -> tuple[RunState | None, bool]:
    """The run, if one has begun, and whether somebody has said something to it that is not taken in."""
    store = store_at(where)
    try:
        return await _newest(store.scoped("local"))
    finally:
        await store.close()


async def _newest(scope: Scope) -> tuple[RunState | None, bool]:
    assert scope.holdings is not None
    for stream in await scope.holdings.streams():
        state = await fold(scope.journal.read(stream))
        if state.run is not None:
            return state.run, bool(await scope.journal.inbox(stream))
    return None, False


scenario = Demo()
