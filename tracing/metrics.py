"""Metrics beside the spans, by the GenAI conventions: what a finished span says, as numbers to add up.

They go to the host's MeterProvider, through OpenTelemetry's API; without one they go nowhere.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .span import Span

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram, Meter, MeterProvider

OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "chat": ("gen_ai.client.operation.duration", "gen_ai.client.inference.duration"),
    "execute_tool": ("gen_ai.execute_tool.duration",),
    "invoke_agent": ("gen_ai.invoke_agent.duration",),
}
"""The histograms of seconds, by operation: under the released name and under the coming one."""

_SHARED = (
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "error.type",
    "gen_ai.tool.name",
)
"""The attributes that a metric has of its span's: few, since each value is a series of its own."""


class MetricsSink:
    """Records each span's duration and tokens."""

    def __init__(self, provider: "MeterProvider | None" = None) -> None:
        """None for the process's own provider."""
        self._provider = provider
        self._histograms: dict[str, Histogram] = {}
        self._meter: Meter | None = None

    def take(self, span: Span) -> None:
        """Records what the span says."""
        told = span.attributes
        shared = {name: told[name] for name in _SHARED if name in told}
        operation = str(told.get("gen_ai.operation.name", ""))
        for name in OPERATIONS.get(operation, ()):
            self._histogram(name, "s").record(span.duration_us / 1_000_000, shared)
        if operation != "chat":
            return
        first = told.get("gen_ai.response.time_to_first_chunk")
        if isinstance(first, float):
            self._histogram("gen_ai.client.operation.time_to_first_chunk", "s").record(first, shared)
        for kind in ("input", "output"):
            tokens = told.get(f"gen_ai.usage.{kind}_tokens")
            if isinstance(tokens, int):
                of_kind = {**shared, "gen_ai.token.type": kind}
                self._histogram("gen_ai.client.token.usage", "{token}").record(tokens, of_kind)

    def close(self, wait_s: float) -> None:
        """Has nothing to deliver: the provider collects by itself."""

    def _histogram(self, name: str, unit: str) -> "Histogram":
        if name not in self._histograms:
            if self._meter is None:
                from opentelemetry import metrics

                self._meter = metrics.get_meter("offing", meter_provider=self._provider)
            self._histograms[name] = self._meter.create_histogram(name, unit)
        return self._histograms[name]
