"""Systems that describe themselves, and of whose tools the host has the last word."""

from collections.abc import Callable
from typing import Annotated

from pydantic import WrapValidator

from ....namespaces.errors import NamespaceError
from ....namespaces.policy import ToolPolicy
from ..systems import SystemSettings


def _told(value: object, validate: Callable[[object], ToolPolicy]) -> ToolPolicy:
    """What a policy refuses, as a problem of the file."""
    try:
        return validate(value)
    except NamespaceError as error:
        raise ValueError(str(error)) from None


class PolicedSettings(SystemSettings):
    """What the host says of the tools."""

    policies: tuple[Annotated[ToolPolicy, WrapValidator(_told)], ...] = ()
    """By pattern of their names; what is special stands before what is general."""
    guide: str = ""
    """A SKILL.md that says which tool to use when."""
    timeout_s: float = 60.0
    """Seconds until a call is given up; a policy may say otherwise."""
