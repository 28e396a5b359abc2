"""The systems and the model of a session that the command line opened, to open it again on resume."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from pydantic import JsonValue, TypeAdapter, ValidationError

from ....namespaces.bank import Bank
from ....namespaces.ledger import Ledger
from ....namespaces.tables.readings import Readings
from ....namespaces.tool import Namespace
from ...configuration import FILE, Configuration, Settings, load
from ...configuration.kinds.entries import EntriesSettings
from ...configuration.kinds.files import FileSettings
from ...configuration.kinds.ledger import LedgerSettings
from ...configuration.kinds.matching import MatchingSettings
from ...configuration.load import empty
from ...configuration.systems import SystemSettings
from ...errors import ConfigurationError
from ...models.model import Model
from ...models.scripted import Scripted
from ..demo import MONTHS, SEPTEMBER
from ..demo.playbook import playbook_of
from ..ground import Ground

DEMO_MODEL = "demo"
"""Stands for the playbook that needs no key."""


@dataclass(frozen=True, slots=True)
class Systems:
    """What `offing run` and `offing demo` were given; kept with the session."""

    model: str = ""
    """Empty for the configuration's."""
    bank: tuple[str, ...] = ()
    """Statement files, as absolute paths."""
    ledger: tuple[str, ...] = ()
    """Exports of the books, as absolute paths."""
    day_first: bool | None = None
    decimal: Literal[".", ","] | None = None
    currency: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    """Columns of tables whose header is not known: by role, the name or number."""
    company: str = ""
    entities: tuple[str, ...] = ()
    """The company's entities and accounts, one line each."""
    period: str = ""
    skills: tuple[str, ...] = ()
    """Skills that are active from the start."""
    month: str = ""
    """Which of the demo's months; empty for a user's own files."""
    carried: str = ""
    """The statement of the period before as CSV, as an absolute path; empty where there is none."""
    configuration: str = ""
    """The file that the session was opened with, as an absolute path; empty for none."""
    out: str = ""
    """Folder for the report and for what tools made, as an absolute path; empty to write nothing."""

    @property
    def report(self) -> str:
        """Name of the report's file, without its ending."""
        return f"report-{self.month}" if self.month else "report"

    def to_setup(self) -> Mapping[str, JsonValue]:
        """As the session keeps it."""
        kept: Mapping[str, JsonValue] = TypeAdapter(Systems).dump_python(self, mode="json")
        return kept

    @classmethod
    def from_setup(cls, setup: Mapping[str, JsonValue]) -> "Systems":
        """What a session was opened with.

        Raises:
            ConfigurationError: it was not opened by this command.
        """
        try:
            return TypeAdapter(Systems).validate_python(dict(setup))
        except ValidationError as error:
            raise ConfigurationError(
                "the session was not opened by `offing run` or `offing demo`: resume it where it was"
            ) from error

    def the_model(self) -> Model | str | None:
        """The model that was named, for `Configuration.engine`; None for the configuration's."""
        if self.model == DEMO_MODEL:
            return Scripted(playbook_of(MONTHS.get(self.month, SEPTEMBER)), name=DEMO_MODEL)
        return self.model or None

    def configured(self, base: Configuration) -> Configuration:
        """The configuration with what the command line said in its place.

        Raises:
            ConfigurationError: a file is not there.
        """
        settings = base.settings
        said = {"company": self.company, "entities": self.entities, "period": self.period}
        about = settings.about.model_copy(update={name: each for name, each in said.items() if each})
        skills = settings.skills.model_copy(update={"start": self.skills} if self.skills else {})
        changed = settings.model_copy(update={"about": about, "skills": skills})
        return replace(base, settings=changed, systems=dict(self._systems(base.systems)))

    def _systems(self, given: Mapping[str, SystemSettings]) -> Iterator[tuple[str, SystemSettings]]:
        """Those that others rest on come first."""
        known = {**given, **dict(self._files(given))}
        if self.bank or self.ledger:
            if "ledger" in known:
                known.setdefault("entries", EntriesSettings(kind="entries"))
            if {"bank", "ledger"} <= known.keys():
                known.setdefault("matching", MatchingSettings(kind="matching"))
        if self.carried and "matching" in known:
            (carried,) = _existing([self.carried])
            known["matching"] = known["matching"].model_copy(update={"carried": str(carried)})
        resting = ("matching", "entries")
        yield from ((name, each) for name, each in known.items() if name not in resting)
        yield from ((name, known[name]) for name in resting if name in known)

    def _files(self, given: Mapping[str, SystemSettings]) -> Iterator[tuple[str, SystemSettings]]:
        said = {"day_first": self.day_first, "decimal": self.decimal, "currency": self.currency}
        update: dict[str, object] = {name: each for name, each in said.items() if each is not None}
        if self.columns:
            update["columns"] = dict(self.columns)
        for name, shape in (("bank", FileSettings), ("ledger", LedgerSettings)):
            files: Sequence[str] = getattr(self, name)
            if files:
                named = {"files": tuple(map(str, _existing(files)))}
                yield name, given.get(name, shape(kind=name)).model_copy(update={**update, **named})
            elif name in given:
                yield name, given[name].model_copy(update=update)

    def namespaces(self, readings: Readings | None = None) -> Sequence[Namespace]:
        """The namespaces over the files alone; `readings` keeps what users decide about them."""
        return self.configured(empty(Path(FILE))).namespaces(readings)


def keep_said(configuration: Configuration, readings: Readings) -> None:
    """Keeps for each file what was said of all, where it is needed. It blocks."""
    for each in configuration.namespaces(readings):
        if isinstance(each, (Bank, Ledger)):
            each.keep_said()


def base_of(systems: Systems, ground: Ground) -> Configuration:
    """The configuration that a session was opened with; the one that is named now counts first.

    Raises:
        ConfigurationError: its file is not there any more, or cannot be used.
    """
    if not systems.configuration:
        return bare(ground.tenant)
    if "--config" in ground.options or systems.configuration == ground.file:
        return ground.configuration
    if not Path(systems.configuration).is_file():
        told = f"the session was opened with {systems.configuration!r}, which is not there"
        raise ConfigurationError(f"{told}: name it with --config")
    return load(systems.configuration)


def bare(tenant: str) -> Configuration:
    """What holds for a session that was opened without a file."""
    return replace(empty(Path(FILE)), settings=Settings(tenant=tenant))


def _existing(files: Sequence[str]) -> list[Path]:
    paths = [Path(file) for file in files]
    for path in paths:
        if not path.is_file():
            raise ConfigurationError(f"there is no file {str(path)!r}")
    return paths
