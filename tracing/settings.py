"""Whether and where runs are traced: what a host says, or what the environment says where it does not."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .metrics import MetricsSink
from .sdk import OtlpSink, ProviderSink
from .span import Sink

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The standard's own switch for content (WIRE.md, section 3)."""


@dataclass(frozen=True, slots=True)
class Tracing:
    """Whether and where an engine's runs are traced."""

    sinks: Sequence[Sink] = ()
    """Where spans go, such as a `FileSink`; closed with the engine. None traces nothing."""
    content: bool | None = None
    """Whether spans hold what was said and what tools were given and gave. None for the standard's variable,
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, which is off by default."""
    versions: tuple[tuple[str, str], ...] = ()
    """What the host wants told of itself with each run, such as (("app", "2.1"),)."""

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> "Tracing":
        """Where the process's own OpenTelemetry goes; nowhere when it has none.

        A host that has set a `TracerProvider` of the SDK gets the spans into its pipeline, and metrics into
        its `MeterProvider`. Else the standard's variables count: `OTEL_TRACES_EXPORTER=otlp`, or an endpoint
        in `OTEL_EXPORTER_OTLP_ENDPOINT`, sends them there. `OTEL_TRACES_EXPORTER=none` and
        `OTEL_SDK_DISABLED=true` switch both off. OpenTelemetry is not loaded to find that out.
        """
        exporters = {name.strip() for name in environment.get("OTEL_TRACES_EXPORTER", "").lower().split(",")}
        if _is_true(environment, "OTEL_SDK_DISABLED") or "none" in exporters:
            return cls()
        provider = _provider_of_the_process()
        if provider is not None:
            return cls([ProviderSink(provider), MetricsSink()])
        has_endpoint = any(environment.get(name, "").strip() for name in _ENDPOINTS)
        if "otlp" in exporters or (has_endpoint and not exporters - {""}):
            protocol = environment.get(_PROTOCOLS[0]) or environment.get(_PROTOCOLS[1], "")
            return cls([OtlpSink(transport="grpc" if protocol.strip() == "grpc" else "http")])
        return cls()

    @property
    def has_content(self) -> bool:
        """Whether spans hold what was said."""
        if self.content is not None:
            return self.content
        return os.environ.get(CONTENT, "").strip().upper() in {"SPAN_ONLY", "SPAN_AND_EVENT", "TRUE"}

    def close(self, wait_s: float) -> None:
        """Delivers what the sinks have, for so many seconds at most. Blocks."""
        for sink in self.sinks:
            sink.close(wait_s)


_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")


def _is_true(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").strip().lower() == "true"


def _provider_of_the_process() -> "TracerProvider | None":
    """The provider that the host has set, if it is the SDK's: nobody has set one without loading that."""
    if "opentelemetry.sdk.trace" not in sys.modules:
        return None
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

    provider = trace.get_tracer_provider()
    return provider if isinstance(provider, TracerProvider) else None
