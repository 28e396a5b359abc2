"""What a session is given: its own surroundings, and what it shares with the engine's others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue, SecretStr

from ..namespaces.tool import Namespace
from ..skills import SkillFolders, SkillSettings
from ..tracing import Tracing
from .approvals import ApprovalPolicy
from .clock import RunClock
from .lifetimes import Caching
from .limits import Limits
from .memory import MemoryPolicy
from .models.model import Model
from .notify import Notices
from .pool import Pool
from .prompt import About
from .resident.workspace import Workspace
from .roles import Chosen, RoleName
from .store.facts import CheckMode


@dataclass(frozen=True, slots=True)
class Setting:
    """The surroundings of one session, as the host says them when it opens it."""

    about: About = field(default_factory=About)
    """What the session is about; fixed when it begins."""
    credentials: Mapping[str, Mapping[str, SecretStr]] = field(
        default_factory=dict[str, Mapping[str, SecretStr]]
    )
    """Per namespace; never stored, so they are given each time."""
    workspace: Workspace | None = None
    """The folder it may read and write; None for none."""
    setup: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """Kept in the journal with the session, for the host to open it again the same way."""
    skills: SkillSettings = field(default_factory=SkillSettings)
    """Which skills it has; never stored, so they are given each time."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What the sessions of an engine have in common."""

    roles: Mapping[RoleName, Chosen]
    """Who does what."""
    namespaces: Sequence[Namespace]
    pinned: Sequence[str]
    limits: Limits
    check: CheckMode
    """When the figures of an answer are checked."""
    clock: RunClock
    pool: Pool
    skills: SkillFolders
    """Where skills are read from, anew for each session."""
    approvals: ApprovalPolicy
    """Which calls need a person."""
    notices: Notices
    """Who is told when a run stops for a person."""
    tracing: Tracing
    """Where runs are traced."""
    caching: Caching
    """How the provider's cache is used."""
    memory: MemoryPolicy | None = None
    """What is remembered from one session to the next; None for nothing."""

    @property
    def model(self) -> Model:
        """The one that the runs are worked on with."""
        return self.roles["run"].model
