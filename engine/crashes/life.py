"""One process of a journey: it logs what it passes until it is killed, hands over or has the answer."""

import asyncio
import faulthandler
import json
import os
import signal
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TextIO

from ..models.model import Request
from ..points import listen
from ..store import store_at
from ..store.facts import Replied, Settled, Started, Stopped
from ..store.journal import Row
from .scenario import Place, Scenario

Json = dict[str, Any]
"""One line of a log: what this file writes and `journey.py` reads."""
TENANT = "local"
ANSWERED, GOES_ON, FAILED = 0, 10, 1
"""How a process ends that is not killed: with the answer, for another one to go on, or with an error."""
KILLED = -signal.SIGKILL


@dataclass(frozen=True, slots=True)
class Kill:
    """Where a process is to be killed."""

    point: str = ""
    """A point's name; empty to go by the number."""
    number: int = 0
    """Of all points that the process passes, from 1; 0 to go by the name."""


@dataclass(frozen=True, slots=True)
class Order:
    """One process to be."""

    root: Path
    """The journey's folder."""
    store: str
    kill: Kill
    timeout_s: float

    @property
    def place(self) -> Place:
        """What the scenario sees of it."""
        return Place(self.root / "files", self.store)

    def to_json(self) -> str:
        """On one line."""
        given = [str(self.root), self.store, self.kill.point, self.kill.number, self.timeout_s]
        return json.dumps(given)

    @classmethod
    def from_json(cls, line: str) -> "Order":
        """What `to_json` gave."""
        root, store, point, number, timeout_s = json.loads(line)
        return cls(Path(root), store, Kill(point, number), timeout_s)


class Log:
    """What the processes of a journey passed and came to, one JSON object a line. It survives a kill."""

    def __init__(self, root: Path) -> None:
        self._path = root / "log.jsonl"

    def add(self, what: str, **more: object) -> None:
        """Adds a line, in any thread."""
        line = json.dumps({"what": what, **more}, ensure_ascii=False).encode() + b"\n"
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line)
        finally:
            os.close(file)

    def read(self) -> list[Json]:
        """All lines."""
        if not self._path.exists():
            return []
        return [json.loads(line) for line in self._path.read_text().splitlines()]


class Listening:
    """Logs each point that is passed, and kills the process at the chosen one."""

    def __init__(self, log: Log, kill: Kill) -> None:
        self._log, self._kill = log, kill
        self._passed: Counter[str] = Counter()
        self._guard = threading.Lock()

    def passing(self, name: str) -> None:
        """The lock is kept while the process dies: no other thread passes a point after it."""
        with self._guard:
            self._passed[name] += 1
            times = self._passed[name]
            point = name if times == 1 else f"{name} ({times})"
            if point == self._kill.point or self._passed.total() == self._kill.number:
                self._log.add("kill", at=point)
                os.kill(os.getpid(), signal.SIGKILL)
            if self._kill == Kill():
                self._log.add("point", name=point)

    def sending(self, request: Request) -> None:
        """Logs what is sent, by digests."""
        self._log.add("request", parts=[sha256(part).hexdigest()[:20] for part in request.segments])


def live(scenario: Scenario, order: Order) -> int:
    """One process's whole life, in the process itself; how it ends."""
    log = Log(order.root)
    with (order.root / "output.txt").open("a") as output:
        _redirect(output)
        faulthandler.dump_traceback_later(order.timeout_s, exit=True, file=output)
        try:
            log.add("begins")
            listen(Listening(log, order.kill))
            answer = scenario.live(order.place)
            if answer is None:
                return GOES_ON
            log.add("end", answer=answer, **_found(scenario, order.place))
        except BaseException:  # noqa: BLE001  a forked child must not return into its parent's loop
            traceback.print_exc(file=output)
            return FAILED
        else:
            return ANSWERED
        finally:
            sys.stdout.flush()


def _redirect(output: TextIO) -> None:
    for stream in (1, 2):
        os.dup2(output.fileno(), stream)


def _found(scenario: Scenario, place: Place) -> Json:
    """What the world and the journal hold at the end, and what was loaded on the way."""
    journal = asyncio.run(_journal(place.store))
    return {
        "deeds": [list(deed) for deed in scenario.deeds(place)],
        "problems": [*_unsettled(journal), *scenario.problems(place)],
        "calls": list(_calls(journal)),
        "modules": list(sys.modules),
    }


async def _journal(where: str) -> Mapping[str, Sequence[Row]]:
    """All rows, by stream."""
    store = store_at(where)
    scope = store.scoped(TENANT)
    try:
        streams = await scope.holdings.streams() if scope.holdings is not None else ()
        return {stream: [row async for row in scope.journal.read(stream)] for stream in streams}
    finally:
        await store.close()


def _calls(journal: Mapping[str, Sequence[Row]]) -> Iterator[Json]:
    """What each call was reported to have come to."""
    for rows in journal.values():
        keys = {row.fact.call: row.fact.key for row in rows if isinstance(row.fact, Started)}
        for settled in (row.fact for row in rows if isinstance(row.fact, Settled)):
            call = settled.result.call
            told = "unknown" if settled.unknown else "failed" if settled.result.error else "done"
            yield {"call": call, "tool": settled.tool, "key": keys.get(call, ""), "told": told}


def _unsettled(journal: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """Each call of a run that has answered has one result, and one intent at most."""
    for stream, rows in journal.items():
        answered = {row.run for row in rows if isinstance(row.fact, Stopped) and row.fact.why == "answered"}
        own = [row.fact for row in rows if row.run in answered]
        asked = [call.id for fact in own if isinstance(fact, Replied) for call in fact.reply.message.calls]
        settled = [fact.result.call for fact in own if isinstance(fact, Settled)]
        intents = [fact.call for fact in own if isinstance(fact, Started)]
        if sorted(asked) != sorted(settled):
            yield f"in {stream}, calls {sorted(asked)} have results {sorted(settled)}"
        if len(intents) != len(set(intents)):
            yield f"in {stream}, a call was begun twice: {sorted(intents)}"
