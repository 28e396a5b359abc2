"""The systems and the model of a session that the command line opened, to open it again on resume."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import JsonValue, TypeAdapter, ValidationError

from ...namespaces.bank import Bank
from ...namespaces.entries import Entries
from ...namespaces.ledger import Ledger
from ...namespaces.matching import Matching
from ...namespaces.tables.readings import Readings
from ...namespaces.tool import Namespace
from ..errors import ConfigurationError
from ..models import model_named
from ..models.model import Model
from ..models.scripted import Scripted
from ..prompt import About
from .conventions import Said
from .demo import MONTHS, SEPTEMBER
from .demo.playbook import playbook_of

DEMO_MODEL = "demo"
"""Stands for the playbook that needs no key."""


@dataclass(frozen=True, slots=True)
class Systems:
    """What `offing run` and `offing demo` were given; kept with the session."""

    model: str
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

    def the_model(self) -> Model:
        """The model.

        Raises:
            ConfigurationError: there is no such model.
            ModelNotConfigured: its key is missing.
        """
        if self.model == DEMO_MODEL:
            return Scripted(playbook_of(MONTHS.get(self.month, SEPTEMBER)), name=DEMO_MODEL)
        return model_named(self.model)

    def namespaces(self, readings: Readings | None = None) -> Sequence[Namespace]:
        """The namespaces over the files; `readings` keeps what users decide about them."""
        bank_files, ledger_files = _existing(self.bank), _existing(self.ledger)
        said = Said(
            day_first=self.day_first, decimal=self.decimal, currency=self.currency, columns=self.columns
        )
        bank = Bank(bank_files, **said, readings=readings)
        ledger = Ledger(ledger_files, **said, readings=readings)
        given: list[Namespace] = []
        if bank_files:
            given.append(bank)
        if ledger_files:
            given += [ledger, Entries(ledger)]
        if bank_files and ledger_files:
            carried = _existing([self.carried])[0] if self.carried else None
            given.append(Matching(bank, ledger, carried=carried))
        return given

    def keep_said(self, readings: Readings) -> None:
        """Keeps for each file what was said of all, where it is needed. It blocks."""
        for each in self.namespaces(readings):
            if isinstance(each, (Bank, Ledger)):
                each.keep_said()

    def about(self) -> About:
        """What the session is about."""
        return About(company=self.company, entities=self.entities, period=self.period)


def _existing(files: Sequence[str]) -> list[Path]:
    paths = [Path(file) for file in files]
    for path in paths:
        if not path.is_file():
            raise ConfigurationError(f"there is no file {str(path)!r}")
    return paths
