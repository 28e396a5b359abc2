"""What is wrong with a value, in words: what it is, and what would be right."""

import json
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import Any, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from .source import Key, Problem, Source

_SHOWN = 60
"""Characters of a value that a message shows."""


def problems_of(
    error: ValidationError, shape: type[BaseModel], source: Source, at: Key = ()
) -> tuple[Problem, ...]:
    """Each problem once, in the order of the file. `at` is where the shape begins in the file."""
    found = {source.problem(*_problem(each, shape, source, at)): None for each in error.errors()}
    return tuple(sorted(found))


def _problem(details: ErrorDetails, shape: type[BaseModel], source: Source, at: Key) -> tuple[Key, str]:
    key = (*at, *_within(details["loc"], _value_at(source.values, at)))
    kind = details["type"]
    if kind in {"extra_forbidden", "unexpected_keyword_argument"}:
        inside = key[len(at) : -1]
        return key, unknown(str(key[-1]), _names(_shape_at(shape, inside)), "key")
    if kind == "missing":
        return key, "is missing"
    tell = _TOLD.get(kind)
    if tell is not None:
        return key, f"cannot be {_shown(details['input'])}: {tell(details)}"
    return key, details["msg"].removeprefix("Value error, ")


def _within(loc: Sequence[str | int], value: JsonValue) -> Iterator[str | int]:
    """The place in the file: names of types, which stand in it for a union, are left out."""
    for step in loc:
        if step in value if isinstance(value, dict) else isinstance(value, list) and isinstance(step, int):
            value = _value_at(value, (step,))
        elif step is not loc[-1] or not isinstance(value, dict):
            continue
        yield step


def _value_at(value: JsonValue | Mapping[str, JsonValue], key: Key) -> JsonValue:
    for step in key:
        value = cast("dict[str | int, JsonValue]", value)[step]
    return cast("JsonValue", value)


def _shape_at(shape: object, key: Key) -> object:
    """The type of what is at a key inside a shape; None where it cannot be told."""
    for step in key:
        shape = _inner(shape, step)
    return shape


def _inner(shape: object, step: str | int) -> object:
    if isinstance(step, int) or get_origin(shape) is dict:
        inside = [each for each in get_args(shape) if each is not ...]
        return _plain(inside[-1]) if inside else None
    hints = get_type_hints(shape) if isinstance(shape, type) else {}
    return _plain(hints.get(step))


def _plain(hint: object) -> object:
    """The type that names keys: that of an `X | None` is X's."""
    if get_origin(hint) is types.UnionType:
        return _plain(next(each for each in get_args(hint) if each is not type(None)))
    return hint


def _names(shape: object) -> list[str]:
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        return list(shape.model_fields)
    given = cast("Any", shape)
    return [each.name for each in fields(given)] if is_dataclass(given) else []


def unknown(name: str, known: Sequence[str], what: str) -> str:
    """That there is no such key, tool or the like, with the nearest one."""
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    there = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
    return f"is no {what}; {there}" if known else f"is no {what}"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _say(text: str) -> Callable[[ErrorDetails], str]:
    return lambda _: text


def _one_of(details: ErrorDetails) -> str:
    return f"it is one of {str(details.get('ctx', {}).get('expected', '')).replace(' or ', ', ')}"


def _bound(words: str, name: str) -> Callable[[ErrorDetails], str]:
    return lambda details: f"{words} {details.get('ctx', {}).get(name)}"


_WHOLE = _say("a whole number, such as 5")
_NUMBER = _say("a number, such as 2.5")
_MAPPING = _say("a mapping, with a line `KEY: VALUE` each")
_LIST = _say("a list, such as [a, b]")
_TRUTH = _say("true or false")
_DAY = _say("a day, such as 2026-08-31")

_TOLD: Mapping[str, Callable[[ErrorDetails], str]] = {
    "literal_error": _one_of,
    "enum": _one_of,
    "string_type": _say("a text; put it in quotes"),
    "string_too_short": _say("a text that is not empty"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), _WHOLE),
    **dict.fromkeys(("float_type", "float_parsing", "decimal_type", "decimal_parsing"), _NUMBER),
    **dict.fromkeys(("bool_type", "bool_parsing"), _TRUTH),
    **dict.fromkeys(("model_type", "dict_type", "dataclass_type", "model_attributes_type"), _MAPPING),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), _LIST),
    **dict.fromkeys(("date_type", "date_parsing", "date_from_datetime_parsing"), _DAY),
    "greater_than": _bound("more than", "gt"),
    "greater_than_equal": _bound("at least", "ge"),
    "less_than": _bound("less than", "lt"),
    "less_than_equal": _bound("at most", "le"),
}
"""What would be right, by pydantic's name of the error."""
