"""The systems and the model of a session that the command line opened, to open it again on resume."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import JsonValue, TypeAdapter, ValidationError

from ...namespaces.bank import Bank
from ...namespaces.ledger import Ledger
from ...namespaces.matching import Matching
from ...namespaces.tool import Namespace
from ..errors import ConfigurationError
from ..models import model_named
from ..models.model import Model
from ..models.scripted import Scripted
from ..prompt import About
from .demo import GENERAL_LEDGER, STATEMENT
from .demo.playbook import reconcile_september

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
    company: str = ""
    period: str = ""

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
            return Scripted(reconcile_september, name=DEMO_MODEL)
        return model_named(self.model)

    def namespaces(self) -> Sequence[Namespace]:
        """The namespaces over the files."""
        bank_files, ledger_files = _existing(self.bank), _existing(self.ledger)
        bank = Bank(bank_files, day_first=self.day_first, decimal=self.decimal, currency=self.currency)
        ledger = Ledger(ledger_files, day_first=self.day_first, decimal=self.decimal, currency=self.currency)
        given: list[Namespace] = []
        if bank_files:
            given.append(bank)
        if ledger_files:
            given.append(ledger)
        if bank_files and ledger_files:
            given.append(Matching(bank, ledger))
        return given

    def about(self) -> About:
        """What the session is about."""
        return About(company=self.company, period=self.period)


def demo_systems(model: str) -> Systems:
    """The bundled statement and books."""
    return Systems(
        model=model,
        bank=(str(STATEMENT),),
        ledger=(str(GENERAL_LEDGER),),
        company="Harbour & Vale Ltd",
        period="September 2026",
    )


def _existing(files: Sequence[str]) -> list[Path]:
    paths = [Path(file) for file in files]
    for path in paths:
        if not path.is_file():
            raise ConfigurationError(f"there is no file {str(path)!r}")
    return paths
