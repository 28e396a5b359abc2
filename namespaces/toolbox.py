"""All that a model may call in one session, and what each call means.

Resident tools, meta-tools and directly called tools go through `resolve`: the one place where a name
and arguments become a call that may run, or an answer that says what would be right.
"""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from .arguments import Arguments, nearest
from .meta_tools import INVOKE, Call, Connected, Wrong, explained
from .tool import Tool


class Toolbox:
    """The tools of a session."""

    def __init__(
        self, resident: Sequence[Tool], connected: Sequence[Connected], frozen: Sequence[str] = ()
    ) -> None:
        """Takes resident tools, connected namespaces, and the names the session's frame shows."""
        self._connected = {one.name: one for one in connected}
        shown = [*resident, *(one.meta_tools()[0] for one in connected)]
        self._resident = {tool.name: (tool, Arguments(tool)) for tool in shown}
        self._frozen = frozenset(frozen)

    @property
    def namespaces(self) -> Sequence[str]:
        """Names of the connected systems."""
        return list(self._connected)

    def resolve(self, name: str, arguments: Mapping[str, JsonValue]) -> Call | Wrong:
        """The call behind a name and its arguments, or what is wrong with it."""
        if name in self._resident:
            return self._checked(name, arguments)
        for connected in self._connected.values():
            found = connected.resolve(name, arguments)
            if found is not None:
                return found
        return Wrong(self._unknown(name), name)

    def _checked(self, name: str, arguments: Mapping[str, JsonValue]) -> Call | Wrong:
        tool, checker = self._resident[name]
        problems = checker.problems(arguments)
        if problems:
            return Wrong(explained(name, problems, tool.schema), name)
        return Call(tool, arguments, name, name.rpartition("__")[0])

    def _unknown(self, name: str) -> str:
        namespace = name.partition("__")[0]
        if name in self._frozen or any(one.startswith(f"{namespace}__") for one in self._frozen):
            return f"{namespace} is no longer connected: {name!r} cannot be called in this session"
        names = [*self._resident, *(f"{one}__{INVOKE}" for one in self._connected)]
        meant = nearest(name, names)
        hint = f" Did you mean {meant!r}?" if meant else ""
        return f"there is no tool {name!r}.{hint} There are: {', '.join(sorted(names))}"

    def summaries(self) -> Sequence[tuple[str, str]]:
        """Name and summary of every operation, for search."""
        found = [(name, tool.summary.splitlines()[0]) for name, (tool, _) in self._resident.items()]
        for connected in self._connected.values():
            found += [
                (f"{connected.name}__{name}", known.tool.summary) for name, known in connected.tools.items()
            ]
        return found
