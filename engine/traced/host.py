"""The host's own trace: the span that a run is begun or resumed in, as W3C's trace context has it."""

import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

_FORMAT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-0[13]")
_NONE = "00-00000000000000000000000000000000"


class HostSpan(NamedTuple):
    """A span of the host's."""

    trace: str
    span: str


def traceparent(trace: str, span: str) -> str:
    """The context of a span that is kept, in the words of the header `traceparent`."""
    return f"00-{trace}-{span}-01"


def host_context() -> str:
    """The `traceparent` of the host's span at work here; empty for none, or one that is not kept.

    OpenTelemetry is asked only where the host has loaded it.
    """
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return ""
    context = api.get_current_span().get_span_context()
    if not (context.is_valid and context.trace_flags.sampled):
        return ""
    return traceparent(f"{context.trace_id:032x}", f"{context.span_id:016x}")


def span_of(context: str) -> HostSpan | None:
    """The span that a `traceparent` names; None for one that names none, or is not kept."""
    found = _FORMAT.fullmatch(context)
    return None if found is None or context.startswith(_NONE) else HostSpan(found[1], found[2])


@contextmanager
def attached(context: str) -> Generator[None]:
    """Makes the span that a `traceparent` names the current one: what a tool traces itself hangs below it.

    Does nothing where the host has not loaded OpenTelemetry.
    """
    found = span_of(context) if "opentelemetry.trace" in sys.modules else None
    if found is None:
        yield
        return
    from opentelemetry import context as contexts
    from opentelemetry import trace

    flags = trace.TraceFlags(trace.TraceFlags.SAMPLED)
    span = trace.SpanContext(int(found.trace, 16), int(found.span, 16), is_remote=False, trace_flags=flags)
    token = contexts.attach(trace.set_span_in_context(trace.NonRecordingSpan(span)))
    try:
        yield
    finally:
        contexts.detach(token)
