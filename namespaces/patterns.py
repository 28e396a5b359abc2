"""Schemas of the wild, checked within bounds: a pattern or a chain of references may take years.

What cannot be told in time is left to the system that wrote the schema, which checks its arguments too. So
is a pattern in a dialect that cannot be read here.
"""

import functools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from pydantic import JsonValue

from .errors import NamespaceError

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

_PATTERNS_S = 0.2
"""Seconds that all patterns of one check may take together."""
_REFERENCES = 20_000
"""References that one check follows; more come of a schema that is made to take for ever."""

_REFERRING = ("$ref", "$dynamicRef")

Found = Iterator["ValidationError"]
Check = Callable[..., Found]
Extend = Callable[["type[Validator]", Mapping[str, Check]], "type[Validator]"]


class _Checking(Protocol):
    """What the library gives to a keyword's check."""

    def descend(self, instance: object, schema: object, path: str, schema_path: str = ...) -> Found: ...


class Bound:
    """What is left to one check."""

    def __init__(self) -> None:
        self._until = time.monotonic() + _PATTERNS_S
        self._references = _REFERENCES

    def follow(self) -> None:
        """Counts one reference.

        Raises:
            NamespaceError: there are too many.
        """
        self._references -= 1
        if self._references < 0:
            raise NamespaceError(f"its schema follows more than {_REFERENCES:,} references for one call")

    def matches(self, pattern: str, text: str) -> bool | None:
        """Whether the pattern is found in the text; None when that cannot be told in time."""
        import regex

        left = self._until - time.monotonic()
        if left <= 0:
            return None
        try:
            return regex.search(pattern, text, timeout=left) is not None
        except (TimeoutError, regex.error, RecursionError, ValueError, OverflowError):
            return None


_BOUND: ContextVar[Bound] = ContextVar("bound")


def bounded(kind: "type[Validator]", schema: Mapping[str, JsonValue]) -> "type[Validator]":
    """The validator of a schema's dialect, with bounds."""
    text = json.dumps(schema, default=str)
    return _bounded(kind, '"patternProperties"' in text and '"unevaluatedProperties"' in text)


def begin() -> None:
    """Begins a check: its bounds are new."""
    _BOUND.set(Bound())


@cache
def _bounded(kind: "type[Validator]", both: bool) -> "type[Validator]":  # noqa: FBT001  a key of the cache
    import jsonschema.validators

    known = cast("Mapping[str, Check]", kind.VALIDATORS)
    keywords: dict[str, Check] = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        **{word: functools.partial(_counted, known[word]) for word in _REFERRING if word in known},
    }
    if both:  # the library matches these patterns by itself, without a bound
        keywords["unevaluatedProperties"] = _unchecked
    extend = cast("Extend", jsonschema.validators.extend)  # pyright: ignore[reportUnknownMemberType]
    return extend(kind, keywords)


def _pattern(validator: "_Checking", pattern: str, instance: object, schema: object) -> Found:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and _BOUND.get().matches(pattern, instance) is False:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: "_Checking",
    patterns: Mapping[str, object],
    instance: object,
    schema: object,
) -> Found:
    if not isinstance(instance, dict):
        return
    for pattern, inside in patterns.items():
        for name, value in cast("dict[str, object]", instance).items():
            if _BOUND.get().matches(pattern, name):
                yield from validator.descend(value, inside, path=name, schema_path=pattern)


def _additional_properties(
    validator: "_Checking",
    allowed: object,
    instance: object,
    schema: Mapping[str, Mapping[str, JsonValue]],
) -> Found:
    from jsonschema.exceptions import ValidationError

    if not isinstance(instance, dict):
        return
    given = cast("dict[str, object]", instance)
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    bound = _BOUND.get()
    extra = [
        name
        for name in given
        if name not in named and all(bound.matches(pattern, name) is False for pattern in patterns)
    ]
    if isinstance(allowed, dict):
        inside = cast("dict[str, JsonValue]", allowed)
        for name in extra:
            yield from validator.descend(given[name], inside, path=name)
    elif not allowed and extra:
        told = ", ".join(map(repr, extra))
        were = "was" if len(extra) == 1 else "were"
        yield ValidationError(f"Additional properties are not allowed ({told} {were} unexpected)")


def _counted(check: Check, validator: "_Checking", reference: str, instance: object, schema: object) -> Found:
    _BOUND.get().follow()
    yield from check(validator, reference, instance, schema)


def _unchecked(validator: "_Checking", allowed: object, instance: object, schema: object) -> Found:
    return iter(())
