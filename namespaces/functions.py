"""Tools and namespaces made of typed Python functions."""

import functools
import inspect
import typing
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypedDict, Unpack

from pydantic import (
    BaseModel,
    ConfigDict,
    JsonValue,
    PydanticUserError,
    SecretStr,
    TypeAdapter,
    ValidationError,
    create_model,
)

from .errors import ToolDefinitionError
from .tool import Arguments, Effect, Inspection, Tool, ToolContext, ToolOutput

_ANYTHING: TypeAdapter[object] = TypeAdapter(object)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ToolFields(TypedDict, total=False):
    """The fields of `Tool` that a signature does not tell."""

    name: str
    effect: Effect
    destructive: bool
    writes: frozenset[str] | None
    timeout_s: float
    record_namespaces: frozenset[str]
    inspect: Callable[[Arguments, ToolContext], Awaitable[Inspection]] | None
    preview: Callable[[Arguments, ToolContext], Awaitable[str]] | None


def tool(**fields: Unpack[ToolFields]) -> Callable[[Callable[..., object]], Tool]:
    """Makes a tool of a typed function, synchronous or not.

    The schema comes from the signature: each parameter needs a type, `Annotated[..., Field(...)]` adds
    a description or bounds, a default makes it optional. A parameter of type `ToolContext` is given the
    context and is no argument. The first line of the docstring is the summary. The result may be a
    `ToolOutput`, or anything that pydantic can turn into JSON. The keywords are fields of `Tool`.

    Raises:
        ToolDefinitionError: a parameter without a type, or with one that has no JSON schema, `*args` or
            `**kwargs`, or no docstring.
    """

    def make(function: Callable[..., object]) -> Tool:
        signature = _read_signature(function)
        made = Tool(
            name=function.__name__,
            summary=_summary(function),
            schema=signature.schema,
            call=functools.partial(_call, function, signature),
            blocking=not _is_async(function),
        )
        return replace(made, **fields)

    return make


@dataclass(frozen=True, slots=True)
class FunctionNamespace:
    """A namespace of tools that live in this process: they are always connected."""

    name: str
    tools: Sequence[Tool]
    guide: Path | None = None

    @asynccontextmanager
    async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
        """Yields the tools; functions take the credentials from their context."""
        yield self.tools


@dataclass(frozen=True, slots=True)
class _Signature:
    model: type[BaseModel]
    schema: Mapping[str, JsonValue]
    context: str | None
    """Name of the parameter that takes the ToolContext; None when there is none."""


def _read_signature(function: Callable[..., object]) -> _Signature:
    hints = typing.get_type_hints(function, include_extras=True)
    fields: dict[str, object] = {}
    context: str | None = None
    for parameter in inspect.signature(function).parameters.values():
        where = f"parameter {parameter.name!r} of {function.__qualname__}"
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            raise ToolDefinitionError(f"{where}: name each argument, a model cannot fill {parameter}")
        if parameter.name not in hints:
            raise ToolDefinitionError(f"{where} has no type: the schema is made of types")
        if hints[parameter.name] is ToolContext:
            context = parameter.name
            continue
        if ToolContext in typing.get_args(hints[parameter.name]):
            raise ToolDefinitionError(f"{where}: it is always given, so its type is ToolContext alone")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    model, schema = _model_of(function, fields)
    return _Signature(model, schema, context)


class _Modelled(NamedTuple):
    model: type[BaseModel]
    schema: Mapping[str, JsonValue]


def _model_of(function: Callable[..., object], fields: Mapping[str, object]) -> _Modelled:
    make = typing.cast("Callable[..., type[BaseModel]]", create_model)
    try:
        model = make(function.__name__, __base__=_Model, **fields)
        schema = model.model_json_schema()
    except PydanticUserError as error:
        raise ToolDefinitionError(
            f"no schema can be made of the parameters of {function.__qualname__}: {error.message}"
        ) from error
    return _Modelled(model, schema)


def _summary(function: Callable[..., object]) -> str:
    lines = (inspect.getdoc(function) or "").strip().splitlines()
    if not lines:
        raise ToolDefinitionError(
            f"{function.__qualname__} has no docstring: its first line is what the model chooses by"
        )
    return lines[0].strip()


def _is_async(function: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(inspect.unwrap(function))


def _call(
    function: Callable[..., object],
    signature: _Signature,
    arguments: Arguments,
    context: ToolContext,
) -> Awaitable[ToolOutput] | ToolOutput:
    try:
        model = signature.model.model_validate(dict(arguments))
    except ValidationError as error:
        return ToolOutput(str(error), error=True)
    given = {field: getattr(model, field) for field in type(model).model_fields}
    if signature.context is not None:
        given[signature.context] = context
    result = function(**given)
    return _finish(result) if inspect.isawaitable(result) else _output(result)


async def _finish(result: Awaitable[object]) -> ToolOutput:
    return _output(await result)


def _output(result: object) -> ToolOutput:
    if isinstance(result, ToolOutput):
        return result
    if isinstance(result, str):
        return ToolOutput(result)
    return ToolOutput(typing.cast("JsonValue", _ANYTHING.dump_python(result, mode="json")))
