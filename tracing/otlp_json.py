"""Spans as JSON lines of the OTLP file format, and back: what a collector's file receiver reads too.

A line is one `TracesData` of the OpenTelemetry protocol's JSON encoding: ids in hexadecimal, times and
integers of 64 bits as texts.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from .span import Attribute, Attributes, Kind, Link, Moment, Span

SCOPE = "offing"
_FAILED = 2
"""The status code of an error."""
_KINDS: Mapping[Kind, int] = {"internal": 1, "client": 3}
_HELD: Mapping[type, str] = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
"""Where the value of an attribute stands."""
_KIND_OF: Mapping[int, Kind] = {number: kind for kind, number in _KINDS.items()}


def line(spans: Sequence[Span], resource: Attributes) -> str:
    """The spans as one line, without its end."""
    told = [_span(span) for span in spans]
    scope = {"scope": {"name": SCOPE}, "spans": told}
    data = {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scope]}]}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def spans_of(text: str) -> Iterator[Span]:
    """The spans of one line.

    Raises:
        ValueError: it is no line of the format. What is only missing in it is taken as empty.
    """
    try:
        for resource in json.loads(text)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                yield from map(_read, scope["spans"])
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no line of OTLP JSON: {error!r}") from error


def _span(span: Span) -> dict[str, Any]:
    told: dict[str, Any] = {
        "traceId": span.trace,
        "spanId": span.id,
        "parentSpanId": span.parent,
        "name": span.name,
        "kind": _KINDS[span.kind],
        "startTimeUnixNano": _nanos(span.start_us),
        "endTimeUnixNano": _nanos(span.end_us),
        "attributes": _attributes(span.attributes),
        "events": [
            {"name": one.name, "timeUnixNano": _nanos(one.at_us), "attributes": _attributes(one.attributes)}
            for one in span.moments
        ],
        "links": [
            {"traceId": one.trace, "spanId": one.span, "attributes": _attributes(one.attributes)}
            for one in span.links
        ],
        "status": {"code": _FAILED, "message": span.error} if span.error else {},
    }
    return told


def _nanos(at_us: int) -> str:
    return str(at_us * 1000)


def _attributes(attributes: Attributes) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: Attribute) -> dict[str, Any]:
    if isinstance(value, tuple):
        return {"arrayValue": {"values": [_value(each) for each in value]}}
    return {_HELD[type(value)]: str(value) if type(value) is int else value}


def _read(told: Mapping[str, Any]) -> Span:
    return Span(
        trace=told["traceId"],
        id=told["spanId"],
        parent=told.get("parentSpanId", ""),
        name=told["name"],
        start_us=int(told["startTimeUnixNano"]) // 1000,
        end_us=int(told["endTimeUnixNano"]) // 1000,
        attributes=_read_attributes(told),
        kind=_KIND_OF.get(told.get("kind", 1), "internal"),
        error=_error(told.get("status", {})),
        moments=tuple(
            Moment(one["name"], int(one["timeUnixNano"]) // 1000, _read_attributes(one))
            for one in told.get("events", ())
        ),
        links=tuple(
            Link(one["traceId"], one["spanId"], _read_attributes(one)) for one in told.get("links", ())
        ),
    )


def _error(status: Mapping[str, Any]) -> str:
    return str(status.get("message") or "failed") if status.get("code") == _FAILED else ""


def _read_attributes(told: Mapping[str, Any]) -> dict[str, Attribute]:
    return {one["key"]: _read_value(one["value"]) for one in told.get("attributes", ())}


def _read_value(value: Mapping[str, Any]) -> Attribute:
    (kind, held), *_ = value.items()
    match kind:
        case "intValue":
            return int(held)
        case "arrayValue":
            return tuple(str(_read_value(each)) for each in held.get("values", ()))
        case _:
            return cast("Attribute", held)
