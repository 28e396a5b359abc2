"""What a session works with, put together from what the host gave and what is connected."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ..namespaces.meta_tools import Connected
from ..namespaces.toolbox import Toolbox
from .effort import EffortChoice, thinking_of
from .frame import Framed, stored_frame
from .lifetimes import LifetimeChoice, lifetime_choice
from .locks import WriteLocks
from .memory import SessionMemory
from .models.catalog import info_of
from .models.model import Model
from .resident import tools_of
from .run import Means, Voice
from .session_skills import SessionSkills
from .setting import Setting, Shared
from .slots import FairSlots
from .store.journal import Scope
from .wire import Wire


@dataclass(frozen=True, slots=True)
class Equipment:
    """The parts of it."""

    shared: Shared
    setting: Setting
    connected: Sequence[Connected]
    skills: SessionSkills
    store: Scope

    async def means(self, framed: Framed) -> Means:
        """The means of the runs of a session with this frame.

        Raises:
            StoreError: the store failed.
        """
        shared, setting = self.shared, self.setting
        return Means(
            model=shared.model,
            wire=Wire(shared.model, [framed.static, framed.context]),
            toolbox=Toolbox(tools_of(memory="remember" in framed.tools), self.connected, framed.tools),
            locks=WriteLocks(),
            slots=FairSlots(shared.limits.parallel_calls),
            pool=shared.pool,
            workspace=setting.workspace,
            credentials=setting.credentials,
            info=await asyncio.to_thread(info_of, shared.model.name),
            effort=EffortChoice(shared.roles["run"].effort, thinking_of(shared.model)),
            skills=self.skills,
            approvals=shared.approvals,
            lifetime=self._lifetime(shared.model),
            digest=shared.roles["digest"],
            child=await self._child_voice(framed),
            memory=None if shared.memory is None else SessionMemory(self.store.memory, shared.memory),
        )

    async def _child_voice(self, framed: Framed) -> Voice | None:
        """Who works on children; None where that is who works on the runs, in the same way."""
        run, child = self.shared.roles["run"], self.shared.roles["child"]
        if child.model is run.model and child.effort == run.effort:
            return None
        framed = await stored_frame(framed.opened, child.model, self.store.artifacts)
        info = await asyncio.to_thread(info_of, child.model.name)
        effort = EffortChoice(child.effort, thinking_of(child.model))
        return Voice(child.model, framed.static, framed.context, info, effort, self._lifetime(child.model))

    def _lifetime(self, model: Model) -> LifetimeChoice:
        shared = self.shared
        return lifetime_choice(shared.caching, model, shared.approvals, self.connected)
