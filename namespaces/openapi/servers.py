"""Where a system is: the servers of a document, their variables, and what the host says instead."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from pydantic import JsonValue

from ..errors import NamespaceError
from .document import Document
from .parts import Server, part

_VARIABLE = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Home:
    """What is known of where a system is, beside its document."""

    server: str = ""
    """Base URL in place of all that the document names; empty for those."""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    """Values of variables in the URLs of servers, in place of their defaults."""
    origin: str = ""
    """URL of the document, which relative ones are seen from; empty for a file."""


def base_url(document: Document, levels: tuple[JsonValue, ...], home: Home) -> str:
    """The URL that the paths of an operation are behind, without a slash at its end.

    Args:
        document: The document.
        levels: The `servers` of operation, path and document: the first that names any holds.
        home: What the host says of it.

    Raises:
        NamespaceError: there is no server, or its URL cannot be used.
    """
    if home.server:
        return checked(home.server)
    said = next((one for one in levels if isinstance(one, list) and one), None)
    server = part(Server, document.resolved(said[0] if said else {"url": "/"}), "its server")
    url = urljoin(home.origin, _VARIABLE.sub(lambda found: _value(found[1], server, home), server.url))
    if not urlsplit(url).scheme:
        raise NamespaceError(f"its server {url!r} is relative and the document is a file: say `server`")
    return checked(url)


def checked(url: str) -> str:
    """A base URL that can be used.

    Raises:
        NamespaceError: it cannot.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable, parts = False, urlsplit("")
    if not usable:
        raise NamespaceError(f"server {url!r} has to be an http or https URL")
    if parts.username or parts.password:
        raise NamespaceError("the URL of the server holds a user or password: give it as a credential")
    if parts.query or parts.fragment:
        raise NamespaceError(f"server {url!r} has a query or fragment, which paths cannot stand behind")
    return url.rstrip("/")


def _value(name: str, server: Server, home: Home) -> str:
    variable = server.variables.get(name)
    value = home.variables.get(name, variable.default if variable else None)
    if value is None:
        raise NamespaceError(f"its server {server.url!r} needs a value for {name!r}: say it in `variables`")
    if variable and variable.enum and value not in variable.enum:
        raise NamespaceError(f"{name!r} of its server cannot be {value!r}, but {', '.join(variable.enum)}")
    return value
