"""What is swept: work that any process can go on with, and how to see what it did to the world."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from ..answer import Result
from ..engine import Engine
from ..errors import NotFound
from ..handle import RunHandle
from ..inbox import Inbox

SESSION = "crash"
"""The session that an `EngineScenario` works in."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one journey of the scenario takes place. Each has its own."""

    folder: Path
    """For files of the scenario's own: all that a process may leave to the next one beside the store."""
    store: str
    """The store, as `store_at` takes it."""


class Deed(NamedTuple):
    """One thing that was done to the world, as often as it was done."""

    what: str
    """The same in each journey: `paid 10 to A`."""
    key: str = ""
    """The idempotency key of the call that did it, where the world keeps it: a call that is reported of
    unknown outcome then accounts for its own deed alone. Empty where it may be that of any call."""


class Scenario(Protocol):
    """Named as `module:attribute`, so that fresh processes find it. They share nothing but the place."""

    def live(self, place: Place) -> str | None:
        """One process's life: goes on from what is in the place, from nothing at first.

        Returns:
            The final answer; None when another process is to go on.
        """
        ...

    def deeds(self, place: Place) -> Iterable[Deed]:
        """What was done to the world, by whichever process, in any order."""
        ...

    def problems(self, place: Place) -> Iterable[str]:
        """What else is wrong with the place at the end, a sentence each; nothing when all is well."""
        ...


async def approve_all(inbox: Inbox, result: Result) -> None:
    """Approves each call that waits for it and answers each question with "Yes."."""
    for request in result.approvals:
        await inbox.approve(result.run, request.call, by="somebody", digest=request.digest, key=request.call)
    for question in result.questions:
        await inbox.answer(result.run, question.call, "Yes.", by="somebody", key=question.call)


def _none(_: Place) -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True)
class EngineScenario:
    """The usual scenario: requests to one session, one after another.

    A process works until a run stops. When it waits, people have their say, and another process goes on.
    """

    engine: Callable[[Place], Engine]
    """Opens an engine over `store_at(place.store)`, the same way each time."""
    done: Callable[[Place], Iterable[Deed]]
    """What was done to the world."""
    requests: tuple[str, ...]
    """What the user asks."""
    people: Callable[[Inbox, Result], Awaitable[None]] = approve_all
    """What people say to a run that waits. Give each post a key: after a kill it is said again."""
    wrong: Callable[[Place], Iterable[str]] = _none
    """What else is wrong at the end."""

    def live(self, place: Place) -> str | None:
        """See `Scenario`."""
        return asyncio.run(self._live(place))

    def deeds(self, place: Place) -> Iterable[Deed]:
        """See `Scenario`."""
        return self.done(place)

    def problems(self, place: Place) -> Iterable[str]:
        """See `Scenario`."""
        return self.wrong(place)

    async def _live(self, place: Place) -> str | None:
        async with self.engine(place) as engine:
            result = await (await self._going_on(engine)).result()
            while result.answered:
                number = int(result.run.rpartition(".")[2])
                if number == len(self.requests):
                    return result.answer
                result = await (await self._begun(engine, number)).result()
            if result.why == "waiting":
                await self.people(engine.inbox, result)
            return None

    async def _going_on(self, engine: Engine) -> RunHandle:
        """The newest run, resumed; the first one when there is none."""
        try:
            newest = await engine.inbox.newest(SESSION)
        except NotFound:
            return await self._begun(engine, 0)
        return await engine.resume(newest)

    async def _begun(self, engine: Engine, number: int) -> RunHandle:
        async with engine.session(SESSION).run(self.requests[number]) as handle:
            return handle
