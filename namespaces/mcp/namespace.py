"""An MCP server as a namespace: plain data that says where it is and what the host thinks of its tools."""

import asyncio
import importlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Literal, get_args

from pydantic import SecretStr

from ..errors import NamespaceError
from ..policy import ToolPolicy
from ..tool import Tool
from .target import Address, Process, Target, filled

Protocol = Literal["auto", "legacy", "2026-07-28"]
"""How the protocol's version is found: "auto" asks the server and falls back to the handshake of the
versions before 2026, "legacy" begins with that, a version is taken without asking."""


@dataclass(frozen=True, slots=True)
class McpNamespace:
    """The tools of one MCP server, over stdio (`command`) or streamable HTTP (`url`).

    Each session starts its own server process, or speaks to the address with its own credentials. What the
    server says of its tools is a hint; `policies` have the last word. A list of tools that changes holds
    from the next session on.

    Raises:
        NamespaceError: not exactly one of `command` and `url` is given, or a value cannot be meant.
    """

    name: str
    """Short and legal in tool names: it prefixes the meta-tools, as in `github__invoke_tool`."""
    _: KW_ONLY
    command: Sequence[str] = ()
    """Program and arguments of a server to start."""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Environment variables of that process. It gets these and PATH, HOME, LOGNAME, SHELL, TERM and USER,
    nothing else of the host's. `{token}` in a value stands for the session's credential of that name."""
    cwd: str | Path | None = None
    """Working directory of that process; None for the host's."""
    url: str = ""
    """Address of a server that is reached over HTTP, such as `https://example.com/mcp`."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers of each request to it, such as `{"Authorization": "Bearer {token}"}`, with credentials as in
    `env`."""
    policies: Sequence[ToolPolicy] = ()
    """What the host says of the tools; what is special stands before what is general."""
    guide: Path | None = None
    """A SKILL.md of the host's that says which tool to use when; None for none."""
    timeout_s: float = 60.0
    """Seconds until a call is given up and the server is told so; a policy may say otherwise."""
    connect_s: float = 25.0
    """Seconds that the server has to start, agree on a version and list its tools; less than the 30 that
    every namespace has."""
    reconnects: int = 3
    """Times in a row that a server which was lost is connected again; a call that works counts anew. 0 for
    never."""
    protocol: Protocol = "auto"

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise NamespaceError(f"{self.name!r} needs either a command or a url")
        if isinstance(self.command, str):
            raise NamespaceError(f"the command of {self.name!r} is a list: program, then arguments")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise NamespaceError(
                f"the url of {self.name!r} begins with http:// or https://; got {self.url!r}"
            )
        beside = ("env", "cwd") if self.url else ("headers",)
        for given in beside:
            if getattr(self, given):
                raise NamespaceError(f"{given} of {self.name!r} means nothing {self._without}")
        if self.protocol not in get_args(Protocol):
            known = ", ".join(map(repr, get_args(Protocol)))
            raise NamespaceError(f"the protocol of {self.name!r} is one of {known}; got {self.protocol!r}")
        self._check_numbers()

    def _check_numbers(self) -> None:
        for what, seconds in (("timeout_s", self.timeout_s), ("connect_s", self.connect_s)):
            if seconds <= 0:
                raise NamespaceError(f"{what} of {self.name!r} has to be more than 0; got {seconds!r}")
        if self.reconnects < 0:
            raise NamespaceError(f"reconnects of {self.name!r} cannot be {self.reconnects!r}; 0 is for never")

    @property
    def _without(self) -> str:
        return "with a url" if self.url else "with a command"

    @asynccontextmanager
    async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
        """Starts or reaches the server for one session and yields its tools.

        Raises:
            NamespaceError: it cannot be reached, did not answer in time or has ended, with what it wrote to
                its standard error; or a credential is missing.
        """
        target = self._target(credentials)
        # The SDK takes seconds to import.
        await asyncio.to_thread(importlib.import_module, f"{__package__}.link")
        from .link import Link, Settings
        from .tools import tools_of

        link = Link(self.name, target, Settings(self.protocol, self.connect_s, self.reconnects))
        try:
            server = await link.open()
            yield tools_of(link, server, self.timeout_s, self.policies)
        finally:
            await link.close()

    def _target(self, credentials: Mapping[str, SecretStr]) -> Target:
        if self.url:
            return Address(self.url, filled(self.headers, credentials))
        cwd = None if self.cwd is None else str(self.cwd)
        return Process(tuple(self.command), filled(self.env, credentials), cwd)
