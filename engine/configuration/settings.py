"""The shape of `offing.yaml`: every key, its type and what it means.

What a key does is decided elsewhere, by the class that it makes; where that class can be read from a file
as it is, as `Limits` can, it is the shape too.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Annotated, TypeVar

from pydantic import (
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ..errors import ConfigurationError
from ..limits import Limits
from ..memory import MemoryPolicy
from ..models.model import Effort
from ..prompt import About
from ..store.facts import CheckMode
from .guards import ApprovalSettings, NotifySettings
from .skilled import SkillsSettings
from .values import Shape, Text

T = TypeVar("T")


class ModelSettings(Shape):
    """A model by its name, and how much it thinks."""

    name: Text = ""
    """Such as `anthropic:claude-opus-5-5`, `litellm:openai/gpt-5.6`, or `playbook:MODULE:FUNCTION`."""
    effort: Effort | None = None
    """None leaves it to the model where it decides by itself, and else to the engine."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: JsonValue) -> JsonValue:
        return {"name": value} if isinstance(value, str) else value

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Its name alone, or with an effort."""
        return {"anyOf": [{"type": "string"}, handler(schema)]}


class ModelsSettings(Shape):
    """Other models, or other efforts, for parts of the work. What is not named is done by `model`."""

    child: ModelSettings = ModelSettings()
    """Runs that a run starts."""
    digest: ModelSettings = ModelSettings()
    """Summaries of what leaves the context."""
    planner: ModelSettings = ModelSettings()
    verifier: ModelSettings = ModelSettings()


class AboutSettings(Shape):
    """What every session is about."""

    company: Text = ""
    entities: tuple[Text, ...] = ()
    """The company's entities and accounts, one line each."""
    user: Text = ""
    """Who asks, and in what role."""
    period: Text = ""
    """The period in question, such as `September 2026`."""
    more: Text = ""
    """Anything else that holds for the whole session."""

    def made(self) -> About:
        """As a session takes it."""
        return About(self.company, self.entities, self.user, self.period, self.more)


def _told(value: object, validate: Callable[[object], T]) -> T:
    """What a class of the engine refuses, as a problem of the file."""
    try:
        made = validate(value)
    except ConfigurationError as error:
        raise ValueError(str(error)) from None
    _check_bounds(made)
    return made


def _check_bounds(bounds: object) -> None:
    """Refuses numbers below 0, which none of the limits can be."""
    if not is_dataclass(bounds):
        return
    for each in fields(bounds):
        value: object = getattr(bounds, each.name)
        if isinstance(value, (int, float)) and value < 0:
            raise ValueError(f"{each.name} cannot be {value!r}: 0 or more")
        _check_bounds(value)


Bounds = Annotated[Limits, WrapValidator(_told)]
"""`Limits` as the file has them."""


class TracingSettings(Shape):
    """What is kept to look at how a run went. Collectors are named by OpenTelemetry's own variables."""

    files: bool = True
    """Whether the command line writes each run's trace into a folder beside the store's file."""
    content: bool | None = None
    """Whether traces hold what was said and what tools were given and gave; None for the variable
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, off unless it is set."""


class Settings(Shape):
    """All that the file can say. Every key can be left out."""

    model_config = ConfigDict(title="offing.yaml")

    model: ModelSettings = ModelSettings()
    """Who works on the runs."""
    models: ModelsSettings = ModelsSettings()
    """Other models for parts of the work."""
    store: Text = ""
    """Where sessions are kept: a file, or `postgresql://...`; unsaid, `.offing/offing.db` beside it."""
    tenant: Annotated[str, Field(min_length=1)] = "local"
    """Whose they are: nothing of one tenant can be reached from another."""
    about: AboutSettings = AboutSettings()
    """What every session is about."""
    namespaces: dict[str, dict[str, JsonValue]] = Field(default_factory=dict[str, dict[str, JsonValue]])
    """The connected systems by their names; what each takes depends on its `kind`."""
    pinned: tuple[str, ...] = ()
    """Tools shown to the model with their schemas, such as `bank__list_transactions`."""
    limits: Bounds = Limits()
    """Bounds of each run; `budget` in it is what it may spend."""
    check: CheckMode = "auto"
    """When the figures of an answer are checked against the records they cite."""
    approvals: ApprovalSettings = ApprovalSettings()
    """Which calls need a person."""
    notify: NotifySettings | None = None
    """Who is told when a run stops and needs a person."""
    skills: SkillsSettings = SkillsSettings()
    """Guides to kinds of work."""
    workspace: Text = ""
    """The folder that a session may read and write; none when it is empty."""
    memory: Annotated[MemoryPolicy | None, WrapValidator(_told)] = None
    """What is remembered from one session to the next; off unless it is here."""
    tracing: TracingSettings = TracingSettings()
    """What is kept to look at how a run went."""

    @field_validator("memory", mode="before", json_schema_input_type=bool | MemoryPolicy | None)
    @classmethod
    def _switch(cls, value: JsonValue) -> JsonValue:
        if isinstance(value, bool):
            return {} if value else None
        return value

    @field_validator("namespaces", mode="before")
    @classmethod
    def _bare(cls, value: JsonValue) -> JsonValue:
        """A namespace of which nothing is said, as in `matching:`."""
        if isinstance(value, dict):
            return {name: {} if each is None else each for name, each in value.items()}
        return value
