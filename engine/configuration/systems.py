"""The connected systems of a file: each of a kind, and each kind in a file of its own in `kinds/`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import Field

from ...namespaces.tables.readings import Readings
from ...namespaces.tool import Namespace
from .values import Secret, Shape


class SystemSettings(Shape):
    """What every kind of system takes."""

    kind: str = ""
    """What kind of system it is; of one that is called as its kind is, it need not be said."""
    credentials: dict[str, Secret] = Field(default_factory=dict[str, Secret])
    """What it needs to connect, by the names that it asks for."""


S = TypeVar("S", bound=SystemSettings)


@dataclass(slots=True)
class Site:
    """Where systems are made: what they may rest on."""

    folder: Path
    """What relative paths begin in."""
    readings: Readings | None = None
    """Where decisions about files are kept."""
    made: dict[str, Namespace] = field(default_factory=dict[str, Namespace])
    """The systems that are there already, by name."""


@dataclass(frozen=True, slots=True)
class Kind(Generic[S]):
    """One kind of system."""

    settings: type[S]
    """The shape of what is said of it."""
    make: Callable[[str, S, Site], Namespace]
    """Makes one of that name.

    Raises:
        BadSetting: a value cannot be meant.
    """
    title: str
    """What it is, in a few words, for `offing init` and for editors."""
    after: tuple[str, ...] = ()
    """Kinds that have to be made before it, because it rests on them."""


class BadSetting(Exception):
    """A value of a system that cannot be meant; `key` is where it is among its settings."""

    def __init__(self, text: str, *key: str | int) -> None:
        """Takes what is wrong and what would be right."""
        super().__init__(text)
        self.key = key


def guide_of(written: str, site: Site) -> Path | None:
    """The SKILL.md that a system names; None when it names none.

    Raises:
        BadSetting: it is not there.
    """
    if not written:
        return None
    place = site.folder / written
    if not place.is_file():
        raise BadSetting(f"there is no file {str(place)!r}", "guide")
    return place


def kinds() -> Mapping[str, Kind[Any]]:
    """Every kind by its name. A new one is a file in `kinds/` and a line here."""
    from .kinds import bank, entries, functions, ledger, matching, mcp, openapi

    return {
        "bank": bank.KIND,
        "ledger": ledger.KIND,
        "matching": matching.KIND,
        "entries": entries.KIND,
        "functions": functions.KIND,
        "mcp": mcp.KIND,
        "openapi": openapi.KIND,
    }
