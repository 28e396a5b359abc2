"""Spans as JSON lines of the OTLP file format, and back: what a collector's file receiver reads too.

A line is one `TracesData` of the OpenTelemetry protocol's JSON encoding: ids in hexadecimal, times and
integers of 64 bits as texts.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from json.encoder import encode_basestring as _text
from typing import Any, cast

from .span import Attribute, Attributes, Kind, Link, Moment, Span

SCOPE = "offing"
_FAILED = 2
"""The status code of an error."""
_KINDS: Mapping[Kind, int] = {"internal": 1, "client": 3}
_KIND_OF: Mapping[int, Kind] = {number: kind for kind, number in _KINDS.items()}


def line(spans: Sequence[Span], resource: Attributes) -> str:
    """The spans as one line, without its end. Written as it stands: it is most of what a trace file costs."""
    told = ",".join(map(_span, spans))
    return (
        f'{{"resourceSpans":[{{"resource":{{"attributes":{_attributes(resource)}}},'
        f'"scopeSpans":[{{"scope":{{"name":"{SCOPE}"}},"spans":[{told}]}}]}}]}}'
    )


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


def _span(span: Span) -> str:
    status = f'{{"code":{_FAILED},"message":{_text(span.error)}}}' if span.error else "{}"
    events = ",".join(
        f'{{"name":{_text(one.name)},"timeUnixNano":"{one.at_us}000","attributes":{_attributes(one.attributes)}}}'
        for one in span.moments
    )
    links = ",".join(
        f'{{"traceId":"{one.trace}","spanId":"{one.span}","attributes":{_attributes(one.attributes)}}}'
        for one in span.links
    )
    return (
        f'{{"traceId":"{span.trace}","spanId":"{span.id}","parentSpanId":"{span.parent}",'
        f'"name":{_text(span.name)},"kind":{_KINDS[span.kind]},'
        f'"startTimeUnixNano":"{span.start_us}000","endTimeUnixNano":"{span.end_us}000",'
        f'"attributes":{_attributes(span.attributes)},"events":[{events}],"links":[{links}],"status":{status}}}'
    )


def _attributes(attributes: Attributes) -> str:
    told = ",".join([f'{{"key":{_text(key)},"value":{_value(value)}}}' for key, value in attributes.items()])
    return f"[{told}]"


def _value(value: Attribute) -> str:
    match value:
        case str():
            return f'{{"stringValue":{_text(value)}}}'
        case bool():
            return f'{{"boolValue":{"true" if value else "false"}}}'
        case int():
            return f'{{"intValue":"{value}"}}'
        case float():
            return f'{{"doubleValue":{json.dumps(value)}}}'
        case _:
            return f'{{"arrayValue":{{"values":[{",".join(map(_value, value))}]}}}}'


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
