"""Validation of a call's arguments, here and not at the provider.

A wrong call is answered with everything needed to make it right: where, what was given, what is
expected, and the schema. So a guess costs the model one step.
"""

import difflib
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from .patterns import begin, bounded
from .tool import Tool

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

_SHOWN = 300
"""Characters of a wrong value that are shown."""
_MOST = 5
"""Problems that are told at once."""
_COMPARED = 1_000
"""Characters of a name that are compared; to compare a megabyte takes seconds."""


class Arguments:
    """The checked arguments of one tool: compiles its schema once."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self._validator: Validator | None = None

    def problems(self, arguments: Mapping[str, JsonValue]) -> list[str]:
        """What is wrong with the arguments, worst first; empty when they fit."""
        if self._validator is None:
            self._validator = _compile(self._tool.schema)
        return _problems(self._validator, arguments)


def misfits(schema: Mapping[str, JsonValue], value: Mapping[str, JsonValue]) -> list[str]:
    """What keeps an object from fitting a schema that is used once, as `Arguments.problems` tells it."""
    return _problems(_compile(schema), value)


def _problems(validator: "Validator", value: Mapping[str, JsonValue]) -> list[str]:
    begin()
    errors = sorted(
        validator.iter_errors(value),  # pyright: ignore[reportUnknownMemberType]
        key=lambda error: (len(error.absolute_path), str(error.message)),
    )
    return [_told(error) for error in errors[:_MOST]]


def _compile(schema: Mapping[str, JsonValue]) -> "Validator":
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for
    from referencing import Registry

    kind = bounded(validator_for(schema, default=Draft202012Validator), schema)
    return kind(schema, registry=Registry())  # an empty registry: no reference is ever fetched


def _told(error: "ValidationError") -> str:
    place = ".".join(str(step) for step in error.absolute_path) or "arguments"
    given = json.dumps(error.instance, ensure_ascii=False, default=str)
    shown = given if len(given) <= _SHOWN else f"{given[:_SHOWN]}..."
    return f"{place}: got {shown}; {_expected(error)}"


def _expected(error: "ValidationError") -> str:
    message = str(error.message)
    if error.validator in {"required", "additionalProperties"}:
        return message
    wanted = json.dumps(cast("JsonValue", error.validator_value), ensure_ascii=False, default=str)
    return f"expected {error.validator} {wanted[:_SHOWN]}"


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that was probably meant; None when none is near."""
    found = difflib.get_close_matches(name[:_COMPARED], list(names), n=1, cutoff=0.5)
    return found[0] if found else None
