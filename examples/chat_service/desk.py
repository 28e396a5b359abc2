"""The sessions of all customers, and what their people do in them."""

import asyncio
import contextlib
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from offing.engine import About, Engine, OffingError, Session
from offing.engine.errors import LeaseHeld, NotFound, NotOpen
from offing.engine.files import File
from offing.engine.handle import RunHandle
from offing.engine.history.streams import head_of
from offing.engine.state import fold
from offing.engine.store.retention import holdings_of

from .bounds import Bounds
from .people import Customer, Person

_log = logging.getLogger("chat_service")


class TooMany(Exception):
    """A customer has as much at work as it may."""


@dataclass(slots=True)
class Seat:
    """An open session, and who is busy with it."""

    session: Session
    watchers: int = 0
    work: asyncio.Task[None] | None = None
    told: bool = False
    """Whether something was said while it worked, perhaps too late for the run to take it in."""

    @property
    def is_working(self) -> bool:
        """Whether a run of it is at work."""
        return self.work is not None and not self.work.done()

    @property
    def is_idle(self) -> bool:
        """Whether nobody would notice that it is closed."""
        return not self.watchers and not self.is_working


class Desk:
    """Opens sessions when they are needed and sees to it that their runs go on."""

    def __init__(self, engine: Engine, bounds: Bounds) -> None:
        """Takes the one engine of the process."""
        self._engine = engine
        self._bounds = bounds
        self._seats: dict[tuple[str, str], Seat] = {}
        """By customer and session; the one that was used last is last."""

    def engine(self, customer: Customer) -> Engine:
        """The engine as this customer has it: nothing of another one is in it."""
        return self._engine.scoped(customer.name)

    async def seat(self, customer: Customer, name: str) -> Seat:
        """The session of that name, opened where it is not.

        Raises:
            TooMany: the customer has too many that are busy.
            ConfigurationError: no session can have that name.
        """
        key = (customer.name, name)
        if key not in self._seats:
            await self._make_room(customer)
        found = self._seats.pop(key, None)
        if found is None:
            about = About(company=customer.company)
            credentials = customer.credentials
            found = Seat(self.engine(customer).session(name, about=about, credentials=credentials))
        self._seats[key] = found
        return found

    async def watched(self, customer: Customer, name: str) -> Seat:
        """A session that there is, to be watched: looking for one that there is not opens nothing.

        Raises:
            NotFound: nothing was ever said in it.
            TooMany: it has too many watchers.
        """
        await self.engine(customer).inbox.newest(name)
        seat = await self.seat(customer, name)
        if seat.watchers >= self._bounds.watchers:
            raise TooMany(f"session {name!r} has {seat.watchers} event streams")
        return seat

    async def say(self, person: Person, name: str, text: str, files: Sequence[File], key: str) -> str:
        """Says something: to the run that works or waits, or as the beginning of a new one. Gives the run.

        Raises:
            TooMany: too many runs are at work.
            OffingError: as `Session.say` and `Session.run` say.
        """
        seat = await self.seat(person.customer, name)
        try:
            await seat.session.say(text, files=files, by=person.name, key=key)
        except (NotFound, NotOpen):  # there is no run yet, or the last one has answered
            self._check_free(person.customer)
            async with seat.session.run(text, files=files, by=person.name) as handle:
                return self._follow(person.customer, seat, handle)
        run = await self.engine(person.customer).inbox.newest(name)
        await self.go_on(person.customer, run)
        return run

    async def go_on(self, customer: Customer, run: str) -> None:
        """Has a run take in what was said to it; one that is at work does so by itself.

        Raises:
            TooMany: too many runs are at work.
            OffingError: as `Session.resume` says.
        """
        seat = await self.seat(customer, run.partition(".")[0])
        if seat.is_working:
            seat.told = True
            return
        self._check_free(customer)
        with contextlib.suppress(LeaseHeld):  # it was just begun, or another process has it
            self._follow(customer, seat, await seat.session.resume(run))

    async def go_on_with_all(self, customers: Iterable[Customer]) -> None:
        """After a start: whatever was interrupted goes on, whether or not anybody watches.

        So does what somebody decided meanwhile, as with `offing approve`.
        """
        for customer in customers:
            for name in await holdings_of(self.engine(customer).store).streams():
                if "~" in name:
                    continue  # what a rollback left behind
                try:
                    await self._wake(customer, name)
                except (OffingError, TooMany) as error:  # the others are to go on all the same
                    _log.warning("session %s of %s does not go on: %s", name, customer.name, error)

    async def _wake(self, customer: Customer, name: str) -> None:
        journal = self.engine(customer).store.journal
        run = (await fold(journal.read(await head_of(journal, name)))).run
        if run is None or (run.stopped is not None and run.stopped.why == "answered"):
            return
        if run.stopped is None or await self._is_told(customer, name):
            await self.go_on(customer, run.id)

    async def _is_told(self, customer: Customer, name: str) -> bool:
        journal = self.engine(customer).store.journal
        return bool(await journal.inbox(await head_of(journal, name)))

    def _follow(self, customer: Customer, seat: Seat, handle: RunHandle) -> str:
        seat.work = asyncio.create_task(self._work(customer, seat, handle))
        return handle.id

    async def _work(self, customer: Customer, seat: Seat, handle: RunHandle) -> None:
        """Until the run has stopped; what was said in that very moment has it go on. Its events tell why."""
        with contextlib.suppress(OffingError):
            while not (await handle.result()).answered:
                seat.told = False
                if await self._is_told(customer, seat.session.id):
                    handle = await seat.session.resume(handle.id)
                elif not seat.told:
                    return

    def _check_free(self, customer: Customer) -> None:
        working = sum(seat.is_working for (whose, _), seat in self._seats.items() if whose == customer.name)
        if working >= self._bounds.runs:
            raise TooMany(f"{working} runs are at work: wait for one to stop")

    async def _make_room(self, customer: Customer) -> None:
        own = {key: seat for key, seat in self._seats.items() if key[0] == customer.name}
        if len(own) < self._bounds.sessions:
            return
        for key, seat in own.items():
            if seat.is_idle:
                del self._seats[key]
                await seat.session.close()
                return
        raise TooMany(f"{len(own)} sessions are open and busy")
