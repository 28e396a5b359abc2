"""Names that every provider takes, for names as systems have them.

Providers take `^[a-zA-Z0-9_-]{1,64}$`; systems have dots, slashes, accents and long names. An alias
depends on the set of names alone, never on their order, and leads back to one name.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping

MAX_LENGTH = 64
"""Characters that the strictest provider takes (WIRE.md, section 6)."""

_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_DIGEST = 8


def is_legal(name: str) -> bool:
    """Whether every provider takes the name as it is."""
    return 0 < len(name) <= MAX_LENGTH and not _ILLEGAL.search(name)


def aliases(names: Iterable[str]) -> Mapping[str, str]:
    """A legal and distinct alias for each name; a legal name is its own.

    A character that is not legal becomes `_`. Where that makes two names one, or a name is too long,
    the alias ends in a digest of the name.
    """
    plain = {name: _ILLEGAL.sub("_", name) or "_" for name in names}
    shared = Counter(plain.values())
    return {
        name: alias if _keeps(name, alias, shared[alias]) else _digested(name, alias)
        for name, alias in plain.items()
    }


def _keeps(name: str, alias: str, sharing: int) -> bool:
    return len(alias) <= MAX_LENGTH and (alias == name or sharing == 1)


def _digested(name: str, alias: str) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{alias[: MAX_LENGTH - _DIGEST - 1]}_{digest}"
