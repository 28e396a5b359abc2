"""One conversation: it opens its systems, keeps its frame, and begins and resumes runs."""

import asyncio
import functools
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Self, TypeVar, overload

from pydantic import BaseModel

from ..compaction.conversation import Text
from ..namespaces.toolbox import Toolbox
from ..skills import Finding
from .answer import Result, result_of
from .budget import Budget
from .connections import Connections
from .effort import EffortChoice, thinking_of
from .errors import ConfigurationError, Interrupted, LeaseHeld, NotFound
from .events import Event
from .files import File, receive
from .frame import Framed, Wanted, make_frame, stored_frame
from .handle import RunHandle
from .history.watching import Source, events_of_head
from .hub import Hub
from .inbox import Inbox
from .leaving import give_back, look_at
from .lifetimes import lifetime_choice
from .locks import WriteLocks
from .logs import of_run
from .loop import drive
from .memory import SessionMemory
from .models.catalog import info_of
from .opening import GoingOn, Opening, check_finished, driven, resumed
from .prompt import Disconnected
from .prompts import prompt
from .resident import tools_of
from .run import Means, Run
from .scrub import scrub
from .session_skills import SessionSkills, session_skills
from .setting import Setting, Shared
from .spoken import Spoken
from .state import State, fold
from .steps import day_of
from .store.codec import unrecordable
from .store.facts import Began, Fact, Stopped
from .store.journal import Lease, Scope
from .traced.trail import Trail
from .warming import Waiting, Warmth
from .wire import Wire

T = TypeVar("T", bound=BaseModel)


class Session(Spoken):
    """One conversation. Made by `Engine.session`; nothing happens before the first run.

    One run works at a time. Close it to disconnect its systems; its journal stays.
    """

    def __init__(
        self, identity: str, store: Scope, shared: Shared, setting: Setting, closed: Callable[[], object]
    ) -> None:
        """Opens nothing. `closed` is called once the session is closed."""
        super().__init__(identity, Inbox(store, shared.clock))
        self._store = store
        self._shared = shared
        self._setting = setting
        self._closed = closed
        self._stream = identity
        self._state = State()
        self._trail = self._new_trail()
        self._hub = Hub()
        self._connections = Connections()
        self._framed: Framed | None = None
        self._means: Means | None = None
        self._skills = SessionSkills()
        self._gate = asyncio.Lock()
        self._work: asyncio.Task[Result] | None = None
        self._warmth = Warmth()
        self._is_closed = False

    @property
    def disconnected(self) -> Sequence[Disconnected]:
        """Namespaces and guides that this session does without, each with the reason."""
        return self._connections.disconnected

    @property
    def skill_findings(self) -> Sequence[Finding]:
        """What is odd about the skills it was given, and which are not there because of it.

        Empty before the first run: skills are read then.
        """
        return self._skills.catalogue.findings

    @asynccontextmanager
    async def run(
        self, text: str, *, files: Sequence[File] = (), output: type[BaseModel] | None = None, by: str = ""
    ) -> AsyncGenerator[RunHandle]:
        """Begins a run with what the user says. Leaving the block detaches from it; it goes on.

        `by` is who asks, as the host names people; empty for the user that the session is about.

        Raises:
            ConfigurationError: the message, a file, a pinned tool or the settings of skills cannot be
                used, or the run before was interrupted or waits and has to be resumed first.
            LeaseHeld: the session is being worked on.
            StoreError: the store failed.
        """
        yield await self._begin(Opening(text, files, output, by))

    @overload
    async def ask(self, text: str, *, files: Sequence[File] = (), by: str = "") -> Result: ...

    @overload
    async def ask(self, text: str, *, files: Sequence[File] = (), output: type[T], by: str = "") -> T: ...

    async def ask(
        self, text: str, *, files: Sequence[File] = (), output: type[T] | None = None, by: str = ""
    ) -> Result | T:
        """Begins a run and waits for its result; with `output`, for an answer of that type.

        Raises:
            AnswerInvalid: with `output`: the run gave no answer that fits.
            Interrupted: the session was closed before the run stopped.
            OffingError: as `run` says.
        """
        handle = await self._begin(Opening(text, files, output, by))
        result = await handle.result()
        return result if output is None else result.parsed(output)

    async def resume(
        self, run: str, *, more: Budget | None = None, guidance: str = "", by: str = ""
    ) -> RunHandle:
        """Goes on with the session's last run: after a kill, or after a stop.

        A run that has answered is not worked on again; its handle gives its result. Going on after
        the iteration limit grants as many iterations again; of a budget only `more` is granted.

        `guidance` is what a person, `by`, says to it: the model reads it next.

        Raises:
            NotFound: it is not the session's last run.
            NotOpen: with `guidance`: it has answered.
            LeaseHeld: it is being worked on.
            StoreError: the store failed.
        """
        asked = GoingOn(more, guidance, by)

        async def going_on(lead: Run) -> list[Fact]:
            if asked.guidance.strip():
                await self._inbox.say(run, asked.guidance, by=asked.by)
            fact = resumed(lead.state.current, asked.more, lead.means)
            return [] if fact is None else [fact]

        return await self._work_on(going_on, run)

    def events(self, after: int = 0) -> AsyncGenerator[Event]:
        """All events of the session after a sequence number, then what happens, without end.

        A rollback ends them: numbers begin anew in the stream that the session goes on in.

        Raises:
            StoreError: the store failed.
            Interrupted: the session was closed or rolled back.
        """
        return self._events(after, None)

    async def close(self) -> None:
        """Stops working, as a kill would, and disconnects. What runs can be resumed, in a session anew."""
        self._is_closed = True
        async with self._gate:  # what is about to begin is refused first
            if self._work is not None:
                await asyncio.sleep(0)  # cancelled before its first step, it would keep its lease
                self._work.cancel()
                await asyncio.gather(self._work, return_exceptions=True)
            await self._warmth.let_go()
            await self._connections.close()
        self._hub.fail(self._ended())
        self._closed()
        self._closed = _nothing  # the name may be another session's from here on

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _events(self, after: int, work: "asyncio.Task[Result] | None") -> AsyncGenerator[Event]:
        """Events after a sequence number; `work` is that of the run whose events they are."""

        def failed() -> BaseException | None:
            if work is not None and work.done() and not work.cancelled() and work.exception() is not None:
                return work.exception()
            return self._ended() if self._is_closed else None

        source = Source(self._store.journal, self._stream, is_head=bool(self._state.seq))
        return events_of_head(self._hub, source, after, failed)

    def _ended(self) -> Interrupted:
        return Interrupted(f"session {self.id!r} was closed: open it again with Engine.session")

    def _check_open(self) -> None:
        if self._is_closed:
            raise ConfigurationError(f"session {self.id!r} is closed: open it again with Engine.session")

    async def _begin(self, opening: Opening) -> RunHandle:
        return await self._work_on(lambda lead: self._beginning(lead, opening))

    async def _work_on(
        self, prepare: Callable[[Run], Awaitable[list[Fact]]], known: str | None = None
    ) -> RunHandle:
        """Takes the right to work, records what `prepare` gives, and sets the run to work.

        `known` names the run that the session has to have; None for a new one.
        """
        async with self._gate:
            await self._warmth.let_go()
            lead = await self._lead(known)
            try:
                facts = await prepare(lead)
                self._check_open()
                after = lead.state.seq if facts else lead.state.current.first - 1
                if facts:
                    await lead.record(*facts)
            except BaseException:
                await self._store.journal.release(lead.lease)
                raise
            work = asyncio.create_task(self._drive(lead), name=f"offing run {lead.id}")
            trace = lead.state.current.trace
            work.add_done_callback(functools.partial(look_at, of_run(lead.id, trace)))
            self._work = work
            return RunHandle(lead.id, work, lambda: self._events(after, work), self._inbox, trace)

    async def _beginning(self, lead: Run, opening: Opening) -> list[Fact]:
        """The facts that begin a run, and the session when it is new."""
        check_finished(lead.state)
        limits, text, artifacts = self._shared.limits, opening.text, self._store.artifacts
        received = await receive(text, opening.files, artifacts, limits, lead.state.artifacts)
        message, schema = received.message, None
        if opening.output is not None:
            schema = opening.output.model_json_schema()
            wanted = Text(prompt("output", schema=json.dumps(schema, ensure_ascii=False)))
            message = replace(message, blocks=(*message.blocks, wanted))
        lead.id = f"{self.id}.{lead.state.runs + 1}"
        by = scrub(opening.by or self._setting.about.user)
        began = Began(message, limits, schema, received.files, self._shared.check, by)
        new = self._framed if lead.state.opened is None else None
        facts: list[Fact] = [
            *([new.opened] if new else ()),
            began,
            *(self._skills.activations() if new else ()),
            *self._skills.requested(text, lead.state.skills),
            driven(limits, lead.means, lead.means.trail.joined(lead.id, "")),
        ]
        for problem in filter(None, map(unrecordable, facts)):
            raise ConfigurationError(f"what was given cannot be kept: {problem}")
        return facts

    async def _lead(self, known: str | None) -> Run:
        """The right to work on the session, its state up to date, and the means to work with."""
        self._check_open()
        if self._work is not None and self._state.run is not None and self._state.run.stopped:
            await asyncio.wait([self._work])  # it has stopped, and is giving its lease back
        if self._work is not None and not self._work.done():
            raise LeaseHeld(f"session {self.id!r} is being worked on: wait for its run to stop")
        lease = await self._up_to_date()
        try:
            self._check_known(known)
            means = self._means if self._means is not None and self._is_framed else await self._equip()
        except BaseException:
            await self._store.journal.release(lease)
            raise
        run = "" if self._state.run is None else self._state.run.id
        return Run(run, self._store, lease, self._state, self._shared.clock, self._hub, means)

    async def _up_to_date(self) -> Lease:
        """The right to append to the stream that the session goes on in, and its state folded."""
        journal = self._store.journal
        while True:
            lease, is_known = await journal.acquire(self._stream), bool(self._state.seq)
            try:
                if lease.last > self._state.seq:
                    rows = journal.read(self._stream, self._state.seq)
                    await fold(self._trail.reading(rows), self._state)
            except BaseException:
                await journal.release(lease)
                raise
            if self._state.moved is None:
                return lease
            await journal.release(lease)
            self._stream = self._state.moved
            self._forget_state()
            if is_known:  # else its watchers, if any, are in the right stream
                self._hub.fail(Interrupted(f"session {self.id!r} was rolled back: watch its events anew"))

    def _check_known(self, run: str | None) -> None:
        """Before anything is connected: whoever asks may have made the name up."""
        if run is not None and (self._state.run is None or self._state.run.id != run):
            raise NotFound(f"there is no run {run!r} to resume in session {self.id!r}")

    @property
    def _is_framed(self) -> bool:
        """Whether the frame at hand is the session's: another process may have begun it meanwhile."""
        return self._framed is not None and self._state.opened in (None, self._framed.opened)

    async def _equip(self) -> Means:
        """Connects the namespaces and makes the frame, or finds the one the session began with."""
        shared, artifacts = self._shared, self._store.artifacts
        await self._connections.open(shared.namespaces, self._setting.credentials)
        systems = [one.name for one in self._connections.connected]
        given = (shared.skills, self._setting.skills, systems)
        self._skills = await asyncio.to_thread(session_skills, *given)
        if self._state.opened is not None:
            framed = await stored_frame(self._state.opened, shared.model, artifacts)
        else:
            today = day_of(shared.clock.now_us())
            setting = self._setting
            wanted = Wanted(
                setting.about, today, shared.pinned, setting.setup, self._skills, shared.memory is not None
            )
            framed = await make_frame(wanted, self._connections, shared.model, artifacts)
        self._framed = framed
        self._means = Means(
            model=shared.model,
            wire=Wire(shared.model, [framed.static, framed.context]),
            toolbox=Toolbox(
                tools_of(memory="remember" in framed.tools), self._connections.connected, framed.tools
            ),
            locks=WriteLocks(),
            slots=asyncio.Semaphore(shared.limits.parallel_calls),
            pool=shared.pool,
            workspace=self._setting.workspace,
            credentials=self._setting.credentials,
            info=await asyncio.to_thread(info_of, shared.model.name),
            effort=EffortChoice(shared.roles["run"].effort, thinking_of(shared.model)),
            skills=self._skills,
            approvals=shared.approvals,
            trail=self._trail,
            memory=None if shared.memory is None else SessionMemory(self._store.memory, shared.memory),
            lifetime=lifetime_choice(
                shared.caching, shared.model, shared.approvals, self._connections.connected
            ),
            digest=shared.roles["digest"],
        )
        return self._means

    async def _drive(self, run: Run) -> Result:
        """Works until the run stops; gives the lease back, whatever happens."""
        end: Stopped | None = None
        try:
            if run.state.current.stopped is None:
                end = await drive(run)
            return result_of(run.state)
        except Exception as error:
            self._forget_state()
            self._hub.fail(error)
            raise
        except asyncio.CancelledError:
            self._forget_state()
            interrupted = Interrupted(f"run {run.id!r} was interrupted: its session was closed. Resume it")
            self._hub.fail(interrupted)
            raise interrupted from None
        finally:
            await give_back(run)
            if end is not None:  # whoever is told may want to resume it at once
                self._warmth.keep(self._waiting(), self._shared.caching.keep_warm, run.clock)
                self._shared.notices.tell(run.state, end)

    def _waiting(self) -> Waiting:
        return Waiting(lambda: self._state, lambda: self._lead(None), give_back)

    def _forget_state(self) -> None:
        """What is not known to be durable is read again from the journal."""
        self._state, self._trail = State(), self._new_trail()
        if self._means is not None and self._framed is not None:
            head = [self._framed.static, self._framed.context]
            self._means = replace(self._means, wire=Wire(self._means.model, head), trail=self._trail)

    def _new_trail(self) -> Trail:
        return Trail(self._stream, self._shared.tracing, self._shared.clock.now_us)


def _nothing() -> None:
    """Does nothing."""
