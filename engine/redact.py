"""Keeping credentials out of what is told: prompts, the journal, events and logs.

Credentials reach a tool's context and nothing else. But an error of a client library may quote the one
it was given, so what a namespace or a tool says is searched for those of its own.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from pydantic import SecretStr

_SHORTEST = 8
"""Characters from which a secret is looked for: a shorter one would be found in any text."""


@dataclass(frozen=True, slots=True)
class Redactor:
    """Replaces some secrets wherever they stand in a text."""

    secrets: tuple[str, ...] = ()
    shown: str = "[secret]"
    """What stands in their place."""

    @classmethod
    def of(cls, credentials: Mapping[str, SecretStr], shown: str = "[secret]") -> "Redactor":
        """For the credentials of one namespace, or of a model."""
        secrets = [secret.get_secret_value() for secret in credentials.values()]
        forms = _long(form for one in secrets if len(one) >= _SHORTEST for form in _written(one))
        return cls(tuple(forms), shown)

    def __call__(self, text: str) -> str:
        """The text without the secrets."""
        for secret in self.secrets:
            text = text.replace(secret, self.shown)
        return text


def _written(secret: str) -> set[str]:
    """As it stands in words, inside JSON and in an address."""
    return {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, safe=""),
    }


def _long(secrets: Iterable[str]) -> list[str]:
    """The longest first, since one may be part of another."""
    return sorted(secrets, key=len, reverse=True)
