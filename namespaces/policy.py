"""What the host says of the tools of a system that describes itself.

A server's annotations and an API's methods are hints: the effect and the danger of a tool are what the host
says, and only where it says nothing what the system says of itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from .errors import NamespaceError
from .tool import Effect, Tool


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """What holds for some tools of one system, whatever it says of them itself.

    Raises:
        NamespaceError: the policy names no tools, or gives a time that is none.
    """

    tools: str
    """Pattern for their names as the system writes them: `delete_*`, `*` for all; case counts."""
    effect: Effect | None = None
    """None leaves what the system says."""
    destructive: bool | None = None
    """Whether a person has to approve each call; None leaves what the system says."""
    timeout_s: float | None = None
    """Seconds until a call is given up; None leaves the namespace's own."""
    pinned: bool | None = None
    """Whether the model is shown the schema from the start, for tools used all the time; None for not."""
    hidden: bool | None = None
    """Whether the tool is left out of the session altogether; None for not."""

    def __post_init__(self) -> None:
        if not self.tools:
            raise NamespaceError("a policy names no tools: give a pattern of names; '*' stands for all")
        if self.timeout_s is not None and self.timeout_s <= 0:
            raise NamespaceError(f"timeout_s of {self.tools!r} has to be more than 0; got {self.timeout_s!r}")


def governed(tools: Iterable[Tool], policies: Sequence[ToolPolicy]) -> list[Tool]:
    """The tools as the policies have them, without those that are hidden.

    Each field is what the first policy says that fits the tool's name and says anything of it. So what is
    special stands before what is general.
    """
    ruled = ((tool, _policy_of(tool.name, policies)) for tool in tools)
    return [_governed(tool, policy) for tool, policy in ruled if not policy.hidden]


def unmet(tools: Iterable[Tool], policies: Sequence[ToolPolicy]) -> list[str]:
    """Patterns that fit none of the tools: misspelt perhaps, or the system has changed."""
    names = [tool.name for tool in tools]
    return [policy.tools for policy in policies if not any(fnmatchcase(name, policy.tools) for name in names)]


def _policy_of(name: str, policies: Sequence[ToolPolicy]) -> ToolPolicy:
    """All that the policies say of one tool, as one."""
    said = ToolPolicy(name or "*")
    for policy in policies:
        if fnmatchcase(name, policy.tools):
            said = _filled(said, policy)
    return said


def _filled(said: ToolPolicy, policy: ToolPolicy) -> ToolPolicy:
    return ToolPolicy(
        said.tools,
        effect=policy.effect if said.effect is None else said.effect,
        destructive=policy.destructive if said.destructive is None else said.destructive,
        timeout_s=policy.timeout_s if said.timeout_s is None else said.timeout_s,
        pinned=policy.pinned if said.pinned is None else said.pinned,
        hidden=policy.hidden if said.hidden is None else said.hidden,
    )


def _governed(tool: Tool, policy: ToolPolicy) -> Tool:
    effect = tool.effect if policy.effect is None else policy.effect
    if policy.destructive is not None:
        destructive = policy.destructive
    elif policy.effect is Effect.READ:
        destructive = False  # what the system says of its danger goes with what it says of its effect
    else:
        destructive = tool.destructive
    return replace(
        tool,
        effect=effect,
        destructive=destructive,
        timeout_s=tool.timeout_s if policy.timeout_s is None else policy.timeout_s,
        pinned=bool(policy.pinned),
    )
