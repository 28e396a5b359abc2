"""`kind: mcp`: a server that speaks the Model Context Protocol, started here or reached over HTTP."""

import shlex

from pydantic import Field, JsonValue, field_validator

from ....namespaces.mcp import McpNamespace
from ....namespaces.mcp.namespace import Protocol
from ....namespaces.tool import Namespace
from ..systems import Kind, Site, guide_of
from ..values import Text
from .policed import PolicedSettings


class McpSettings(PolicedSettings):
    """Where the server is: a `command` to start, or a `url`. `{NAME}` stands for a credential."""

    command: tuple[Text, ...] = ()
    """Program and arguments; it is started beside this file."""
    env: dict[str, Text] = Field(default_factory=dict[str, str])
    """Environment variables of that process: `{TOKEN: "{token}"}`; it gets few others."""
    cwd: Text = ""
    """Working directory of that process; the folder of this file when it is empty."""
    url: Text = ""
    """Address of a server that is reached over HTTP."""
    headers: dict[str, Text] = Field(default_factory=dict[str, str])
    """Headers of each request to it: `{Authorization: "Bearer {token}"}`."""
    connect_s: float = 25.0
    """Seconds that it has to start and to list its tools."""
    reconnects: int = 3
    """Times in a row that it is connected again once it was lost."""
    protocol: Protocol = "auto"
    """How the protocol's version is found."""

    @field_validator("command", mode="before", json_schema_input_type=str | list[str])
    @classmethod
    def _words(cls, value: JsonValue) -> JsonValue:
        return list(shlex.split(value)) if isinstance(value, str) else value


def _make(name: str, settings: McpSettings, site: Site) -> Namespace:
    return McpNamespace(
        name,
        command=settings.command,
        env=settings.env,
        cwd=None if settings.url else site.folder / settings.cwd,
        url=settings.url,
        headers=settings.headers,
        policies=settings.policies,
        guide=guide_of(settings.guide, site),
        timeout_s=settings.timeout_s,
        connect_s=settings.connect_s,
        reconnects=settings.reconnects,
        protocol=settings.protocol,
    )


KIND = Kind(McpSettings, _make, "an MCP server, started here or reached over HTTP")
