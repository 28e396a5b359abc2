"""What the host says of a session when it opens it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue, SecretStr

from .prompt import About
from .resident.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Setting:
    """The surroundings of one session."""

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
