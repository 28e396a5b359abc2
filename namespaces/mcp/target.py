"""Where a server is, with the credentials of one session filled in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from ..errors import NamespaceError

_NAMED = re.compile(r"\{([A-Za-z0-9_.-]*)\}")


@dataclass(frozen=True, slots=True)
class Process:
    """A server that is started, and spoken to over its standard input and output."""

    command: tuple[str, ...]
    env: Mapping[str, str]
    """Variables beside the few that every child gets."""
    cwd: str | None
    """None for the host's own."""

    def __repr__(self) -> str:
        return f"Process({self.command!r})"


@dataclass(frozen=True, slots=True)
class Address:
    """A server that is reached over streamable HTTP."""

    url: str
    headers: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Address({self.url!r})"


Target = Process | Address
"""Neither shows its secrets when it is printed."""


def named_in(texts: Mapping[str, str]) -> list[str]:
    """Names of the credentials that the texts ask for, as in `Bearer {token}`."""
    return list(dict.fromkeys(name for text in texts.values() for name in _NAMED.findall(text)))


def filled(texts: Mapping[str, str], credentials: Mapping[str, SecretStr]) -> dict[str, str]:
    """The texts with the credentials that they name.

    Raises:
        NamespaceError: the session has no such credential.
    """
    missing = [name for name in named_in(texts) if name not in credentials]
    if missing:
        given = ", ".join(sorted(credentials)) or "none"
        raise NamespaceError(f"it needs the credential {missing[0]!r}; the session has: {given}")
    return {
        key: _NAMED.sub(lambda found: credentials[found[1]].get_secret_value(), text)
        for key, text in texts.items()
    }
