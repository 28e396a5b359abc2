"""Which model does what, and how hard it is to think about it.

Most hosts name one model. `Roles` is for those who want another one, or another effort, for a part of
the work: it is given to an `Engine` where its model is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple, cast

from .errors import ConfigurationError
from .models import model_named
from .models.model import EFFORTS, Effort, Model

RoleName = Literal["run", "child", "digest", "planner", "verifier"]


@dataclass(frozen=True, slots=True)
class Role:
    """Who does one part of the work."""

    model: Model | str | None = None
    """A model or its name; None for the one of `run`."""
    effort: Effort | None = None
    """How much it thinks, throughout. None leaves it to the model where it decides by itself, as Claude
    does, and else to the policy of `effort.py`; the effort of `run` is not passed on."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Who does what. Only `run` and `digest` are at work so far; the others are kept for what is to come."""

    run: Role
    """The runs themselves."""
    child: Role = Role()
    """Runs that a run starts."""
    digest: Role = Role()
    """Summaries of what leaves the context."""
    planner: Role = Role()
    verifier: Role = Role()


class Chosen(NamedTuple):
    """A role, settled."""

    model: Model
    effort: Effort | None


def chosen(given: Model | str | Roles) -> Mapping[RoleName, Chosen]:
    """What each role works with.

    Raises:
        ConfigurationError: a model or an effort is not one, or `run` has no model.
        ModelNotConfigured: the key of a model is missing.
    """
    roles = given if isinstance(given, Roles) else Roles(Role(given))
    if roles.run.model is None:
        raise ConfigurationError("the role 'run' needs a model: Roles(run=Role('anthropic:...'))")
    by_name: dict[str, Model] = {}
    settled: dict[RoleName, Chosen] = {}
    for each in fields(roles):
        role: Role = getattr(roles, each.name)
        if role.effort is not None and role.effort not in EFFORTS:
            raise ConfigurationError(f"no effort {role.effort!r}: use one of {', '.join(EFFORTS)}")
        model = roles.run.model if role.model is None else role.model
        settled[cast("RoleName", each.name)] = Chosen(_model(model, by_name), role.effort)
    return settled


def _model(given: Model | str, by_name: dict[str, Model]) -> Model:
    """The model; one that several roles name is made once."""
    if not isinstance(given, str):
        return given
    if given not in by_name:
        by_name[given] = model_named(given)
    return by_name[given]
