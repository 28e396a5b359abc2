"""The engine: one per process, or as many as a test likes. It makes sessions and owns what they share."""

import asyncio
import copy
import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Self, TypeVar, get_args, overload

from pydantic import BaseModel, JsonValue

from ..namespaces.tool import Namespace
from ..skills import SkillFolders, SkillSettings
from ..tracing import Tracing
from .answer import Result
from .approvals import ApprovalPolicy
from .blocking import Blocking
from .budget import Budget
from .clock import Outside
from .connections import Credentials
from .errors import ConfigurationError, NotFound
from .files import File
from .handle import RunHandle
from .history.branching import Branch, fork_run, roll_back
from .history.fork import Edit, Target
from .history.streams import session_named
from .inbox import Inbox
from .lifetimes import Caching
from .limits import Limits
from .memory import MemoryPolicy
from .models.model import HoldsConnections, KeepsWarm, Model
from .notify import Notices, Notifier
from .pool import Pool
from .prompt import About
from .resident.workspace import Workspace
from .roles import Chosen, RoleName, Roles, chosen
from .session import Session
from .setting import Setting, Shared
from .store.facts import CheckMode
from .store.journal import Scope, Store
from .store.memory import MemoryStore

T = TypeVar("T", bound=BaseModel)

TRACES_S = 5.0
"""Seconds that traces on their way have when an engine is closed."""


class Engine:
    """Runs requests over connected systems.

    It belongs to one event loop, or to `blocking`. Closing it stops its runs as a kill would: what was
    recorded is kept, and each run can be resumed.
    """

    def __init__(  # noqa: PLR0913  each is a setting of the host
        self,
        model: Model | str | Roles,
        namespaces: Sequence[Namespace] = (),
        *,
        store: Store | None = None,
        limits: Limits | None = None,
        pinned: Sequence[str] = (),
        check: CheckMode = "auto",
        skills: Sequence[str | Path] | SkillFolders = (),
        approvals: ApprovalPolicy | None = None,
        notifier: Notifier | None = None,
        tracing: Tracing | None = None,
        memory: MemoryPolicy | None = None,
        caching: Caching | None = None,
        outside: Outside | None = None,
    ) -> None:
        """Opens nothing yet.

        Args:
            model: A model, or its name, such as `anthropic:claude-opus-5-5`; `Roles` for more than one,
                or to say how hard to think.
            namespaces: The systems that each session connects.
            store: Where sessions are kept; None keeps them in memory.
            limits: Bounds of each run.
            pinned: Tools shown to the model with their schemas, such as `bank__list_transactions`.
            check: When the figures of an answer are checked against the records they cite: "auto", once
                the session has records; "required", always; "off", never.
            skills: Folders of skills, beside the shipped ones; `SkillFolders` to do without those. Their
                text goes to the model as it stands: give only what you trust.
            approvals: Which calls a person has to approve; None for the destructive ones.
            notifier: Who is told when a run stops and needs a person; None for nobody.
            tracing: Where runs are traced; None for where the process's own OpenTelemetry goes, as
                it is set up by now (`Tracing.of_environment`).
            memory: What is remembered from one session to the next; None for nothing.
            caching: How long what providers cache is to last, and whether it is kept warm while people think;
                None to plan lifetimes and keep nothing warm.
            outside: Time and the names of new sessions, for tests.

        Raises:
            ConfigurationError: a model's name, an effort, `check` or a folder cannot be used, or the model
                cannot keep a prompt warm.
            ModelNotConfigured: a model's key is missing.
        """
        roles = chosen(model)
        if check not in get_args(CheckMode):
            modes = ", ".join(map(repr, get_args(CheckMode)))
            raise ConfigurationError(f"check cannot be {check!r}: it is one of {modes}")
        if caching is not None and caching.keep_warm and not isinstance(roles["run"].model, KeepsWarm):
            raise ConfigurationError(
                f"{roles['run'].model.name} cannot keep a prompt warm: that takes an 'anthropic:' model"
            )
        self._outside = outside or Outside()
        self._shared = Shared(
            roles=roles,
            namespaces=tuple(namespaces),
            pinned=tuple(pinned),
            limits=limits or Limits(),
            check=check,
            clock=self._outside.clock,
            pool=Pool(),
            skills=_folders(skills),
            approvals=approvals or ApprovalPolicy(),
            notices=Notices(notifier),
            tracing=Tracing.of_environment() if tracing is None else tracing,
            memory=memory,
            caching=caching or Caching(),
        )
        self._tenant = "local"
        self._root = store or MemoryStore()
        self._sessions: dict[tuple[str, str], Session] = {}
        self._models: dict[tuple[str, str], Mapping[RoleName, Chosen]] = {}
        """Of forks that another model is to go on with, by tenant and name."""

    @property
    def model(self) -> Model:
        """The model that works for all sessions."""
        return self._shared.model

    @property
    def store(self) -> Scope:
        """The journal and artifacts of the engine's tenant."""
        return self._root.scoped(self._tenant)

    @property
    def inbox(self) -> Inbox:
        """Where to approve, deny, answer, send a message or cancel, for any run of the engine's tenant."""
        return Inbox(self.store, self._shared.clock)

    def scoped(self, tenant: str) -> "Engine":
        """The same engine for another tenant: nothing of this one can be reached through it.

        An engine as it is made works for the tenant `local`. All of them share one store and its sessions
        end with any of them: close the one that was made first, and it last.

        Raises:
            ConfigurationError: the tenant has no name.
        """
        if not tenant:
            raise ConfigurationError(f"a tenant needs a name; got {tenant!r}")
        other = copy.copy(self)
        other._tenant = tenant
        other.__dict__["blocking"] = Blocking(other, self.blocking)
        return other

    def session(
        self,
        identity: str | None = None,
        *,
        about: About | None = None,
        credentials: Credentials | None = None,
        workspace: Workspace | None = None,
        setup: Mapping[str, JsonValue] | None = None,
        skills: Sequence[str] | SkillSettings = (),
    ) -> Session:
        """The session of that name, new or from the journal; a new one without a name.

        The arguments are those of `Setting`; `skills` may also be just the names of those that are active
        from the start. A session that is open in this engine is given as it is.

        Raises:
            ConfigurationError: the name has other characters than letters, digits, `_` and `-`, or
                more than 64.
        """
        name = self._named(identity)
        key = (self._tenant, name)
        if key not in self._sessions:
            chosen_skills = skills if isinstance(skills, SkillSettings) else SkillSettings(tuple(skills))
            setting = Setting(about or About(), credentials or {}, workspace, setup or {}, chosen_skills)
            closed = functools.partial(self._sessions.pop, key, None)
            shared = replace(self._shared, roles=self._models.get(key, self._shared.roles))
            self._sessions[key] = Session(name, self.store, shared, setting, closed)
        return self._sessions[key]

    @overload
    async def ask(self, text: str, *, files: Sequence[File] = ()) -> Result: ...

    @overload
    async def ask(self, text: str, *, files: Sequence[File] = (), output: type[T]) -> T: ...

    async def ask(
        self, text: str, *, files: Sequence[File] = (), output: type[T] | None = None
    ) -> Result | T:
        """Asks one question in a session of its own. Raises as `Session.ask` says."""
        async with self.session() as session:
            if output is None:
                return await session.ask(text, files=files)
            return await session.ask(text, files=files, output=output)

    async def resume(  # noqa: PLR0913  each is a setting of the host
        self,
        run: str,
        *,
        credentials: Credentials | None = None,
        workspace: Workspace | None = None,
        skills: SkillSettings | None = None,
        more: Budget | None = None,
        guidance: str = "",
        by: str = "",
    ) -> RunHandle:
        """Goes on with a run by its id, as `Session.resume` says."""
        name = run.partition(".")[0]
        was_open = (self._tenant, name) in self._sessions
        given = SkillSettings() if skills is None else skills
        session = self.session(name, credentials=credentials, workspace=workspace, skills=given)
        try:
            return await session.resume(run, more=more, guidance=guidance, by=by)
        except NotFound:
            if not was_open:
                await session.close()
            raise

    async def fork(
        self,
        run: str,
        *,
        at: int,
        edit: Edit | None = None,
        model: Model | str | None = None,
        session: str | None = None,
    ) -> Branch:
        """Copies a run up to a settled iteration into a new session, where it can go on another way.

        Nothing runs yet: resume the branch's run. What the run did after the point is not undone, and told.

        Args:
            run: Its id; with a stream's number, as in `september~0.3`, one that a rollback has left.
            at: The iteration of the run whose results are the last that is copied; 0 for none.
            edit: What is to be another way in the copy: the message, with `at=0`, or a result of the
                iteration.
            model: Who is to go on, in this engine; later ones go on with theirs. None for the engine's own.
            session: Name of the new session; None makes one.

        Raises:
            NotFound: there is no such run.
            ConfigurationError: the iteration is not settled, the edit does not fit it, or the name cannot
                be used or is taken.
            StoreError: the store failed.
        """
        name = self._named(session)
        roles = None if model is None else chosen(model)
        other = "" if roles is None else roles["run"].model.name
        target = Target(name, self._outside.clock.now_us(), edit, other)
        branch = await fork_run(self.store.journal, run, at, target)
        if roles is not None:
            self._models[self._tenant, name] = roles
        return branch

    async def rollback(self, run: str, *, at: int) -> Branch:
        """Takes a session back to a settled iteration of a run of it: there it goes on from then on.

        Nothing is deleted, and nothing that was done is undone: the branch says what. What came after can
        be read and forked under the number of its stream, as `september~0.3`.

        Raises:
            NotFound: there is no such run.
            ConfigurationError: the iteration is not settled.
            LeaseHeld: the session is being worked on.
            StoreError: the store failed.
        """
        return await roll_back(self.store.journal, run, at, self._outside.clock.now_us())

    def _named(self, identity: str | None) -> str:
        return session_named(self._outside.names.new() if identity is None else identity)

    @functools.cached_property
    def blocking(self) -> Blocking:
        """The engine for code without an event loop; also works inside one, as in notebooks."""
        return Blocking(self)

    async def close(self) -> None:
        """Stops all runs as a kill would, disconnects, and closes the store.

        Notices on their way to people have 16 s to arrive, and traces 5 s.
        """
        for session in list(self._sessions.values()):
            await session.close()
        await self._shared.notices.close()
        await asyncio.to_thread(self._shared.tracing.close, TRACES_S)
        self._shared.pool.close()
        try:
            given = chain(*(each.values() for each in (self._shared.roles, *self._models.values())))
            for model in {id(each.model): each.model for each in given}.values():
                if isinstance(model, HoldsConnections):
                    await model.close()
        finally:
            await self._root.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _folders(given: Sequence[str | Path] | SkillFolders) -> SkillFolders:
    folders = given if isinstance(given, SkillFolders) else SkillFolders(tuple(given))
    for folder in folders.folders:
        if not Path(folder).is_dir():
            raise ConfigurationError(f"there is no folder {str(folder)!r} to read skills from")
    return folders
