"""Spans by way of OpenTelemetry's SDK: to a collector over OTLP, or into the host's own pipeline.

The SDK is loaded with the first span. Its own settings hold: `OTEL_EXPORTER_OTLP_ENDPOINT` and the
other variables of its exporters, `OTEL_TRACES_SAMPLER`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SDK_DISABLED`.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, cast

from .errors import TracingError
from .queued import Queued
from .span import Attributes, Span

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import SynchronousMultiSpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.sdk.trace.id_generator import IdGenerator

Transport = Literal["http", "grpc"]


class _SdkSink(Queued):
    """What both sinks have in common: each span is made with the ids it has, and ended at once.

    It works in a thread of its own: a collector may hang, and a host's processors may be slow.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._made: _Made | None = None

    def _provider(self, ids: "IdGenerator") -> "TracerProvider":
        """A provider whose spans get their ids from `ids`."""
        raise NotImplementedError

    def _deliver(self, spans: Sequence[Span]) -> None:
        if self._made is None:
            ids = _given_ids()
            self._made = _Made(self._provider(cast("IdGenerator", ids)), ids)
        for span in spans:
            self._made.emit(span)


class OtlpSink(_SdkSink):
    """Sends spans to a collector over OTLP."""

    def __init__(
        self,
        endpoint: str | None = None,
        transport: Transport = "http",
        *,
        headers: dict[str, str] | None = None,
        resource: Attributes | None = None,
    ) -> None:
        """Connects to nothing yet.

        Args:
            endpoint: With `http` the whole address, such as `http://127.0.0.1:6006/v1/traces`; with `grpc`
                `http://127.0.0.1:4317`. None for the SDK's variables, or its defaults.
            transport: "grpc" needs the extra `grpc`.
            headers: Such as a key of the collector's; never logged.
            resource: What the spans come from, beside `service.name`, which is `offing` unless it is said.

        Raises:
            TracingError: the transport is not one.
        """
        if transport not in ("http", "grpc"):
            raise TracingError(f"there is no transport {transport!r} for traces: use 'http' or 'grpc'")
        super().__init__(f"OTLP over {transport}")
        self._endpoint, self._transport, self._headers = endpoint, transport, headers
        self._resource = resource or {}

    def _finish(self) -> None:
        if self._made is not None:
            self._made.provider.shutdown()

    def _provider(self, ids: "IdGenerator") -> "TracerProvider":
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        resource = Resource.create({"service.name": "offing", **self._resource})
        provider = TracerProvider(resource=resource, id_generator=ids, shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(self._exporter()))
        return provider

    def _exporter(self) -> "SpanExporter":
        if self._transport == "http":
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as OverHttp

            return OverHttp(self._endpoint, headers=self._headers)
        try:
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as OverGrpc
        except ImportError as error:
            raise TracingError("OTLP over grpc is not installed: pip install 'offing[grpc]'") from error
        return OverGrpc(self._endpoint, headers=self._headers)


class ProviderSink(_SdkSink):
    """Gives spans to the pipeline of the host's own provider: its sampler, resource and processors.

    The provider itself is left as it is. Spans keep their ids, which a provider would make up.
    """

    def __init__(self, provider: "TracerProvider") -> None:
        """Takes a provider of the SDK."""
        super().__init__("the host's TracerProvider")
        self._host = provider

    def _provider(self, ids: "IdGenerator") -> "TracerProvider":
        from opentelemetry.sdk.trace import TracerProvider

        host = self._host
        return TracerProvider(
            sampler=host.sampler,
            resource=host.resource,
            id_generator=ids,
            active_span_processor=cast("SynchronousMultiSpanProcessor", _Forwarding(host)),
            shutdown_on_exit=False,
        )


class _Processes(Protocol):
    """What a tracer asks of the processors."""

    def on_start(self, span: object, parent_context: object = None) -> None: ...
    def on_end(self, span: object) -> None: ...


class _Forwarding:
    """The host's processors, looked up anew for each span: it may add one at any time."""

    def __init__(self, host: "TracerProvider") -> None:
        self._host = host

    def on_start(self, span: object, parent_context: object = None) -> None:
        """Forwards."""
        self._processors.on_start(span, parent_context=parent_context)

    def on_end(self, span: object) -> None:
        """Forwards."""
        self._processors.on_end(span)

    def __getattr__(self, name: str) -> object:
        return getattr(self._processors, name)

    @property
    def _processors(self) -> _Processes:
        # The one thing that is not public: a provider tells of its sampler and resource, not of these.
        return cast("_Processes", self._host._active_span_processor)  # pyright: ignore[reportPrivateUsage]


class GivenIds(Protocol):
    """Where the ids of the next span are laid down."""

    trace: int
    span: int


@cache
def _ids_class() -> type:
    from opentelemetry.sdk.trace.id_generator import IdGenerator

    class Given(IdGenerator):
        """Gives the ids that it was given: used by one thread."""

        trace = 0
        span = 0

        def generate_trace_id(self) -> int:
            return self.trace

        def generate_span_id(self) -> int:
            return self.span

    return Given


def _given_ids() -> GivenIds:
    return cast("GivenIds", _ids_class()())


class _Made(NamedTuple):
    """A provider, and where the ids of its next span are laid down."""

    provider: "TracerProvider"
    ids: GivenIds

    def emit(self, span: Span) -> None:
        """Makes the span with the SDK and ends it."""
        from opentelemetry import trace

        self.ids.trace, self.ids.span = int(span.trace, 16), int(span.id, 16)
        kind = trace.SpanKind.CLIENT if span.kind == "client" else trace.SpanKind.INTERNAL
        links = [
            trace.Link(
                trace.SpanContext(int(one.trace, 16), int(one.span, 16), is_remote=True), one.attributes
            )
            for one in span.links
        ]
        made = self.provider.get_tracer("offing").start_span(
            span.name, self._within(span), kind, span.attributes, links, start_time=span.start_us * 1000
        )
        for moment in span.moments:
            made.add_event(moment.name, moment.attributes, moment.at_us * 1000)
        if span.error:
            made.set_status(trace.Status(trace.StatusCode.ERROR, span.error))
        made.end(span.end_us * 1000)

    def _within(self, span: Span) -> "Context":
        """What the span is part of. Its parent ends later, so the sampler is asked what it will say."""
        from opentelemetry import trace
        from opentelemetry.context import Context
        from opentelemetry.sdk.trace.sampling import Decision

        if not span.parent:
            return Context()
        dropped = not span.is_joined and (
            self.provider.sampler.should_sample(None, self.ids.trace, span.name).decision is Decision.DROP
        )
        flags = trace.TraceFlags(0 if dropped else trace.TraceFlags.SAMPLED)
        parent = trace.SpanContext(self.ids.trace, int(span.parent, 16), is_remote=False, trace_flags=flags)
        return trace.set_span_in_context(trace.NonRecordingSpan(parent), Context())
