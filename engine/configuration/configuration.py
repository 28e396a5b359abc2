"""A configuration: what a file says, and the engine and the sessions that it makes."""

from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import cast

from pydantic import SecretStr

from ...namespaces.errors import NamespaceError
from ...namespaces.tables.readings import Readings
from ...namespaces.tool import Namespace
from ...skills import SkillSettings
from ...tracing import Tracing
from ..approvals import ApprovalPolicy
from ..clock import Outside
from ..connections import Credentials
from ..engine import Engine
from ..errors import ConfigurationError, ModelNotConfigured
from ..models import model_named
from ..models.model import Model
from ..models.scripted import Playbook, Scripted
from ..notify import Notifier
from ..prompt import About
from ..resident.workspace import Workspace
from ..roles import Role, Roles
from ..session import Session
from ..store import store_at
from ..store.journal import Store
from ..store.place import is_url
from .kinds.functions import function_at
from .settings import ModelSettings, Settings
from .source import Source, Unusable
from .systems import BadSetting, Site, SystemSettings, kinds
from .values import Missing

STORE = ".offing/offing.db"
"""Where sessions are kept unless another place is named."""
PLAYBOOK = "playbook:"
"""Begins the name of a model that is a coroutine of the user's own."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What `offing.yaml` says, checked. Made by `load`; nothing is opened, imported or connected yet."""

    source: Source
    settings: Settings
    systems: Mapping[str, SystemSettings]
    """What is said of each namespace, as its kind has it; those that others rest on come first."""

    @property
    def folder(self) -> Path:
        """What relative paths in it begin in."""
        return self.source.path.parent.absolute()

    @property
    def is_written(self) -> bool:
        """Whether it was read from a file."""
        return bool(self.source.lines)

    @property
    def tenant(self) -> str:
        """Whose sessions they are."""
        return self.settings.tenant

    @property
    def store(self) -> str:
        """Where sessions are kept: a URL, or the absolute path of a file."""
        written = self.settings.store or STORE
        return written if is_url(written) else str(self.folder / written)

    @property
    def about(self) -> About:
        """What every session is about."""
        return self.settings.about.made()

    @property
    def workspace(self) -> Workspace | None:
        """The folder that a session may use; None for none."""
        return Workspace(self.folder / self.settings.workspace) if self.settings.workspace else None

    @property
    def skills(self) -> SkillSettings:
        """Which skills a session has."""
        return self.settings.skills.made(self.folder)

    def engine(
        self,
        *,
        model: Model | str | None = None,
        store: Store | None = None,
        tracing: Tracing | None = None,
        outside: Outside | None = None,
    ) -> Engine:
        """An engine as the file says, for its tenant.

        Args:
            model: Who works instead of the file's model.
            store: Where sessions are kept instead of the file's place.
            tracing: Where runs are traced; None for where the process's own OpenTelemetry goes.
            outside: Time and the names of new sessions, for tests.

        Raises:
            Unusable: a value cannot be meant, or a variable or a file that it names is not there.
            ConfigurationError: the model, the store or a folder of skills cannot be used.
            ModelNotConfigured: a model's key is missing.
        """
        settings, kept = self.settings, store or store_at(self.store)
        with self._at("skills", "folders"):
            engine = Engine(
                self.roles(model),
                self.namespaces(kept.scoped(self.tenant).readings),
                store=kept,
                limits=settings.limits,
                pinned=settings.pinned,
                check=settings.check,
                skills=settings.skills.made_folders(self.folder),
                approvals=self._approvals(),
                notifier=self._notifier(),
                memory=settings.memory,
                tracing=tracing or replace(Tracing.of_environment(), content=settings.tracing.content),
                outside=outside,
            )
        return engine if self.tenant == "local" else engine.scoped(self.tenant)

    def session(self, engine: Engine, identity: str | None = None) -> Session:
        """A session as the file says: what it is about, its credentials, workspace and skills.

        Raises:
            Unusable: a variable or a file that names a credential is not there.
            ConfigurationError: a session cannot have that name.
        """
        setup = {"configuration": str(self.source.path.absolute())} if self.is_written else {}
        return engine.session(
            identity,
            about=self.about,
            setup=setup,
            credentials=self.credentials(),
            workspace=self.workspace,
            skills=self.skills,
        )

    def namespaces(self, readings: Readings | None = None) -> Sequence[Namespace]:
        """The systems, those that others rest on first; `readings` keeps decisions about their files.

        Raises:
            Unusable: a value cannot be meant, such as a file that is not there.
        """
        site = Site(self.folder, readings)
        known = kinds()
        for name, settings in self.systems.items():
            try:
                site.made[name] = known[settings.kind].make(name, settings, site)
            except BadSetting as error:
                raise self.source.unusable(("namespaces", name, *error.key), str(error)) from None
            except (Missing, ConfigurationError, NamespaceError) as error:
                raise self.source.unusable(("namespaces", name), str(error)) from None
        return list(site.made.values())

    def credentials(self) -> Credentials:
        """Per namespace, what it needs to connect; looked up now, and kept nowhere.

        Raises:
            Unusable: a variable or a file that names one is not there.
        """
        given: dict[str, Mapping[str, SecretStr]] = {}
        for name, settings in self.systems.items():
            values: dict[str, SecretStr] = {}
            for each, secret in settings.credentials.items():
                with self._at("namespaces", name, "credentials", each):
                    values[each] = secret.value(self.folder)
            given[name] = values
        return given

    def roles(self, model: Model | str | None = None) -> Roles:
        """Who does what. `model` is who works instead of the file's; the effort stays the file's.

        Raises:
            Unusable: a playbook cannot be had.
            ConfigurationError: no model is named, or there is no such one.
            ModelNotConfigured: the key of a model is missing.
        """
        settings = self.settings
        if model is None and not settings.model.name:
            raise self.source.unusable(("model",), "is missing: name one, such as anthropic:claude-opus-5-5")
        run = self._model(settings.model, "model") if model is None else self.model_named(model)
        others = {
            each.name: Role(self._model(named, "models", each.name), named.effort)
            for each in fields(Roles)
            if each.name != "run"
            for named in [getattr(settings.models, each.name)]
        }
        return Roles(Role(run, settings.model.effort), **others)

    def model_named(self, model: Model | str) -> Model:
        """The model of that name, playbooks beside the file included.

        Raises:
            ConfigurationError: there is no such model or playbook.
            ModelNotConfigured: its key is missing.
        """
        if not isinstance(model, str):
            return model
        return playbook_named(model, self.folder) if model.startswith(PLAYBOOK) else model_named(model)

    def _model(self, named: ModelSettings, *key: str) -> Model | None:
        if not named.name:
            return None
        with self._at(*key):
            return self.model_named(named.name)

    def _approvals(self) -> ApprovalPolicy:
        with self._at("approvals"):
            return self.settings.approvals.made()

    def _notifier(self) -> Notifier | None:
        if self.settings.notify is None:
            return None
        with self._at("notify"):
            return self.settings.notify.made(self.folder)

    @contextmanager
    def _at(self, *key: str) -> Generator[None]:
        """Says of what is wrong where it stands in the file."""
        try:
            yield
        except (ModelNotConfigured, Unusable):
            raise  # it is the environment that lacks something; or it is told already
        except (Missing, ConfigurationError) as error:
            raise self.source.unusable(key, str(error)) from None


def playbook_named(name: str, folder: Path) -> Model:
    """The playbook `playbook:MODULE:FUNCTION`, as a model.

    Raises:
        ConfigurationError: there is no such function.
    """
    where = name.removeprefix(PLAYBOOK)
    try:
        found = function_at(where, folder)
    except BadSetting as error:
        raise ConfigurationError(f"no model {name!r}: {error}") from None
    return Scripted(cast("Callable[[Playbook, str], Coroutine[object, object, str]]", found), name=name)
