"""Who a request is from. A real host asks its identity provider here; everything else stays as it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from pydantic import SecretStr


@dataclass(frozen=True, slots=True)
class Customer:
    """Whose data it is: a tenant of the engine, so that nothing of one is ever reached by another."""

    name: str
    company: str
    credentials: Mapping[str, Mapping[str, SecretStr]]
    """Per namespace, what this customer's sessions connect with. They never leave the process."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who works for a customer."""

    name: str
    customer: Customer


class People:
    """Those who may use the service, by their tokens."""

    def __init__(self, tokens: Mapping[str, Person]) -> None:
        """Keeps digests of the tokens: looking one up then takes a time that says nothing of it."""
        self._by_digest = {_digest(token): person for token, person in tokens.items()}
        self.customers = {person.customer.name: person.customer for person in tokens.values()}

    def of(self, authorization: str) -> Person | None:
        """Whose `Authorization` header it is; None for nobody's."""
        scheme, _, token = authorization.partition(" ")
        return self._by_digest.get(_digest(token)) if scheme.lower() == "bearer" else None


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
