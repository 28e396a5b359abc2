"""Who is calling: the security schemes of a document, and the session's credentials in their places.

A credential goes from `ToolContext` into a request and nowhere else.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from pydantic import JsonValue, SecretStr

from ..errors import NamespaceError
from .document import Document
from .media import is_token
from .parts import Scheme, part

Where = Literal["header", "query", "cookie", "basic", "bearer"]


@dataclass(frozen=True, slots=True)
class Proof:
    """One credential and where it goes."""

    credential: str
    """Its name: that of the security scheme."""
    where: Where
    key: str = ""
    """Name of the header, query parameter or cookie."""


Way = tuple[Proof, ...]
"""Proofs that are all given at once; an empty one is a call by nobody in particular."""


@dataclass(frozen=True, slots=True)
class Given:
    """Credentials as they stand in one request."""

    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    """Forms in which a server may say them again that nobody else knows of."""


def ways_of(document: Document, said: JsonValue) -> tuple[Way, ...]:
    """The ways to call an operation with this `security`, those that can be gone.

    Raises:
        NamespaceError: there are ways, but none that can be gone.
    """
    if not isinstance(said, list) or not said:
        return ((),)
    ways: list[Way] = []
    reason = ""
    for requirement in said:
        try:
            ways.append(_way(document, requirement))
        except NamespaceError as error:
            reason = str(error)
    if not ways:
        raise NamespaceError(reason)
    return tuple(ways)


def _way(document: Document, requirement: JsonValue) -> Way:
    if not isinstance(requirement, dict):
        raise NamespaceError(f"its security has {requirement!r} where an object has to be")
    schemes = document.component("securitySchemes")
    proofs: list[Proof] = []
    for name in requirement:
        if name not in schemes:
            raise NamespaceError(f"its security names {name!r}, which is no security scheme")
        what = f"security scheme {name!r}"
        proofs.append(_proof(name, part(Scheme, document.resolved(schemes[name]), what)))
    return tuple(proofs)


def _proof(name: str, scheme: Scheme) -> Proof:
    if scheme.type == "apiKey" and scheme.name:
        places: dict[str, Where] = {"header": "header", "query": "query", "cookie": "cookie"}
        if scheme.place in places and (scheme.place == "query" or is_token(scheme.name)):
            return Proof(name, places[scheme.place], scheme.name)
    kind = scheme.scheme.lower() if scheme.type == "http" else scheme.type
    if kind == "basic":
        return Proof(name, "basic")
    if kind in {"bearer", "oauth2", "openIdConnect"}:
        return Proof(name, "bearer")
    raise NamespaceError(
        f"security scheme {name!r} is {kind or scheme.type!r}; known are apiKey, basic, bearer, oauth2 and "
        "openIdConnect with a token"
    )


def given(ways: Sequence[Way], credentials: Mapping[str, SecretStr]) -> Given:
    """The credentials of the first way that has all of its own.

    Raises:
        NamespaceError: none has, or a credential cannot be sent as it is.
    """
    for way in ways:
        if all(proof.credential in credentials for proof in way):
            return _put(way, credentials)
    wanted = " or ".join(" with ".join(repr(proof.credential) for proof in way) for way in ways)
    raise NamespaceError(f"it needs the credential {wanted}, which the host has not given for this session")


def _put(way: Way, credentials: Mapping[str, SecretStr]) -> Given:
    headers: list[tuple[str, str]] = []
    query: list[str] = []
    cookies: list[str] = []
    secrets: list[str] = []
    for proof in way:
        secret = credentials[proof.credential].get_secret_value()
        if not secret or not secret.isprintable():
            raise NamespaceError(f"the credential {proof.credential!r} is empty or has control characters")
        secrets.append(secret)
        match proof.where:
            case "header":
                headers.append((proof.key, secret))
            case "query":
                query.append(f"{quote(proof.key, safe='')}={quote(secret, safe='')}")
            case "cookie":
                cookies.append(f"{proof.key}={quote(secret, safe='')}")
            case "basic":
                secrets.append(_basic(proof.credential, secret))
                headers.append(("Authorization", f"Basic {secrets[-1]}"))
            case "bearer":
                headers.append(("Authorization", f"Bearer {secret}"))
    return Given(tuple(headers), tuple(query), tuple(cookies), tuple(secrets))


def _basic(name: str, secret: str) -> str:
    if ":" not in secret:
        raise NamespaceError(f"the credential {name!r} is for http basic: it has to be written user:password")
    return base64.b64encode(secret.encode()).decode("ascii")
