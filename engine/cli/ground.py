"""What every command stands on: the screen, the configuration, and where sessions are kept."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...tracing import FileSink, Tracing
from ..configuration import FILE, Configuration, load
from ..configuration.load import empty
from ..store import Store, store_at
from ..store.journal import Scope
from ..store.place import is_url, shown
from ..store.traces import traces_beside
from .screen import Screen


@dataclass(frozen=True, slots=True)
class Ground:
    """Made once a command line, by `ground_of`."""

    screen: Screen
    configuration: Configuration
    """What the file says; what holds without one where there is none."""
    store: str
    """Where sessions are kept, as it was said: a path, or a URL."""
    options: Sequence[str] = ()
    """What has to be said again for another command to stand here too."""

    @property
    def tenant(self) -> str:
        """Whose sessions they are."""
        return self.configuration.tenant

    @property
    def file(self) -> str:
        """The configuration's file, as an absolute path; empty where there is none."""
        return str(self.configuration.source.path.absolute()) if self.configuration.is_written else ""

    @property
    def traces(self) -> Path | None:
        """The folder of the tenant's trace files; None where the store is on a server."""
        return traces_beside(self.store, self.tenant)

    @property
    def tracing(self) -> Tracing:
        """Where runs are traced: into files, unless the configuration says no; as the environment says."""
        settings, own = self.configuration.settings.tracing, Tracing.of_environment()
        files = [FileSink(self.traces)] if settings.files and self.traces else []
        return Tracing([*files, *own.sinks], settings.content)

    @property
    def again(self) -> str:
        """The options as they follow a command."""
        return "".join(f" {word}" for word in self.options)

    def kept(self) -> Store:
        """The store; it opens nothing yet."""
        return store_at(self.store)

    def scope(self) -> Scope:
        """Its part that belongs to the tenant."""
        return self.kept().scoped(self.tenant)

    def existing(self) -> Store:
        """The store, which has to be there.

        Raises:
            ConfigurationError: there is no such file.
        """
        from ..errors import ConfigurationError

        if not is_url(self.store) and not Path(self.store).is_file():
            raise ConfigurationError(f"there is no store {shown(self.store)!r}: name it with --store")
        return self.kept()


def ground_of(given: argparse.Namespace, screen: Screen) -> Ground:
    """What the command line and the file say; the command line's word counts first.

    Raises:
        Unusable: something is wrong with the file.
        ConfigurationError: the file that is named is not there.
    """
    named: str | None = getattr(given, "config", None)
    store: str | None = getattr(given, "store", None)
    is_there = named is not None or (hasattr(given, "config") and Path(FILE).is_file())
    configuration = load(named or FILE) if is_there else empty(Path(FILE))
    options = [*(["--config", named] if named else []), *(["--store", shown(store)] if store else [])]
    return Ground(screen, configuration, store or _said(configuration), options)


def _said(configuration: Configuration) -> str:
    """The configuration's place, as short as it can be said from here."""
    store = configuration.store
    if is_url(store):
        return store
    here = Path.cwd()
    return str(Path(store).relative_to(here)) if Path(store).is_relative_to(here) else store
