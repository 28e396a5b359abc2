"""What a resident tool may use beyond what every tool gets: the session it works for."""

from dataclasses import dataclass

from ...namespaces.tool import ToolContext
from ...namespaces.toolbox import Toolbox
from ..memory import SessionMemory
from ..session_skills import SessionSkills
from ..state import State
from ..store.facts import Fact
from .workspace import Workspace


@dataclass(frozen=True, slots=True)
class Desk(ToolContext):
    """The context of a resident tool's call."""

    state: State
    """To be read, never changed."""
    toolbox: Toolbox
    workspace: Workspace | None
    """The files the session may use; None when it has none."""
    also: list[Fact]
    """Facts that are recorded together with the call's outcome."""
    skills: SessionSkills
    memory: SessionMemory | None = None
    """What is remembered across sessions; None where the host wants none."""


def desk(context: ToolContext) -> Desk:
    """The context as a resident tool gets it.

    Raises:
        TypeError: it is that of another tool; only dispatch makes desks.
    """
    if not isinstance(context, Desk):
        raise TypeError("a resident tool was called without its desk")
    return context
