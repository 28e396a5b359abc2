"""Spans reach collectors and a host's own pipeline as they are: same ids, parents, status, links."""

import gzip
import threading
import time
from collections.abc import Callable, Generator
from concurrent import futures
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, Sampler, TraceIdRatioBased
from opentelemetry.trace import StatusCode

from offing.tracing.errors import TracingError
from offing.tracing.metrics import MetricsSink
from offing.tracing.sdk import OtlpSink, ProviderSink, Transport
from offing.tracing.span import Span
from test_traced import HISTORY, traced


class Collector:
    """What came in over OTLP."""

    def __init__(self) -> None:
        self.came: list[ResourceSpans] = []

    def __call__(self, request: trace_service_pb2.ExportTraceServiceRequest) -> None:
        self.came.extend(request.resource_spans)

    @property
    def spans(self) -> list[Any]:
        return [span for each in self.came for scope in each.scope_spans for span in scope.spans]


@contextmanager
def over_http(collector: Collector, answers: threading.Event | None = None) -> Generator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            if answers is not None:
                answers.wait(60)
            assert self.path == "/v1/traces"
            assert self.headers["content-type"] == "application/x-protobuf"
            collector(trace_service_pb2.ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/traces"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def over_grpc(collector: Collector) -> Generator[str]:
    class Service(trace_service_pb2_grpc.TraceServiceServicer):
        def Export(
            self, request: trace_service_pb2.ExportTraceServiceRequest, context: object
        ) -> trace_service_pb2.ExportTraceServiceResponse:
            collector(request)
            return trace_service_pb2.ExportTraceServiceResponse()

    server = grpc.server(futures.ThreadPoolExecutor(2))
    wire: Any = trace_service_pb2_grpc
    wire.add_TraceServiceServicer_to_server(Service(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stop(None)


def assert_same(came: list[Any], spans: list[Span]) -> None:
    assert [
        (
            each.trace_id.hex(),
            each.span_id.hex(),
            each.parent_span_id.hex(),
            each.name,
            each.start_time_unix_nano // 1000,
            each.end_time_unix_nano // 1000,
            each.status.message,
            [event.name for event in each.events],
        )
        for each in came
    ] == [
        (
            one.trace,
            one.id,
            one.parent,
            one.name,
            one.start_us,
            one.end_us,
            one.error,
            [each.name for each in one.moments],
        )
        for one in spans
    ]


@pytest.mark.parametrize(("transport", "serve"), [("http", over_http), ("grpc", over_grpc)])
def test_what_a_collector_decodes_is_the_trace(
    transport: Transport, serve: Callable[[Collector], AbstractContextManager[str]]
) -> None:
    collector, spans = Collector(), traced(HISTORY)
    with serve(collector) as endpoint:
        sink = OtlpSink(endpoint, transport, resource={"openinference.project.name": "close"})
        for span in spans:
            sink.take(span)
        sink.close(30)
    assert_same(collector.spans, spans)
    # What Jaeger needs: a service name, kinds, and a status code for what failed.
    (resource, *_) = collector.came
    told = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert told["service.name"] == "offing"
    assert told["openinference.project.name"] == "close"
    kinds = {each.name.partition(" ")[0]: each.kind for each in collector.spans}
    assert kinds["chat"] == 3  # CLIENT
    assert kinds["execute_tool"] == kinds["invoke_agent"] == 1  # INTERNAL
    assert {each.status.code for each in collector.spans if each.status.message} == {2}  # ERROR


def test_a_collector_that_hangs_holds_up_nobody() -> None:
    answers = threading.Event()
    with over_http(Collector(), answers) as endpoint:
        sink = OtlpSink(endpoint)
        began = time.process_time()
        for span in traced(HISTORY) * 2_000:
            sink.take(span)
        assert time.process_time() - began < 30  # it came back: nothing waits for the collector
        assert sink.dropped > 0
        sink.close(0.1)
        answers.set()


def test_an_unknown_transport_is_refused() -> None:
    with pytest.raises(TracingError, match=r"'udp'.*'http' or 'grpc'"):
        OtlpSink(transport="udp")  # type: ignore[arg-type]


def host(sampler: Sampler | None = None) -> tuple[TracerProvider, InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(sampler=sampler, resource=Resource.create({"service.name": "chat"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider, exporter


def test_a_hosts_own_pipeline_gets_the_spans_with_their_ids() -> None:
    provider, exporter = host()
    sink, spans = ProviderSink(provider), traced(HISTORY)
    for span in spans:
        sink.take(span)
    sink.close(30)
    came: Any = exporter.get_finished_spans()
    assert [(f"{each.context.trace_id:032x}", f"{each.context.span_id:016x}") for each in came] == [
        (one.trace, one.id) for one in spans
    ]
    assert {each.resource.attributes["service.name"] for each in came} == {"chat"}
    assert [each.status.status_code is StatusCode.ERROR for each in came] == [
        bool(one.error) for one in spans
    ]
    provider.shutdown()


@pytest.mark.parametrize(
    ("sampler", "kept"),
    [(ALWAYS_OFF, 0), (ParentBased(TraceIdRatioBased(0.0)), 0), (ParentBased(TraceIdRatioBased(1.0)), 1)],
)
def test_a_hosts_sampler_keeps_a_trace_whole_or_not_at_all(sampler: Sampler, kept: int) -> None:
    provider, exporter = host(sampler)
    sink, spans = ProviderSink(provider), traced(HISTORY)
    for span in spans:
        sink.take(span)
    sink.close(30)
    assert len(exporter.get_finished_spans()) == kept * len(spans)
    provider.shutdown()


def test_metrics_say_how_long_and_how_many_tokens() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    sink = MetricsSink(provider)
    for span in traced(HISTORY):
        sink.take(span)
    data: Any = reader.get_metrics_data()
    (of_all,) = data.resource_metrics
    counted = {
        metric.name: {
            (point.attributes.get("gen_ai.token.type", ""), point.attributes.get("error.type", "")): (
                point.count,
                point.sum,
            )
            for point in metric.data.data_points
        }
        for scope in of_all.scope_metrics
        for metric in scope.metrics
    }
    assert counted["gen_ai.client.token.usage"][("input", "")] == (3, 30_000)
    assert counted["gen_ai.client.token.usage"][("output", "")] == (3, 600)
    assert counted["gen_ai.client.operation.duration"][("", "overloaded")] == (1, 1.5)
    assert counted["gen_ai.execute_tool.duration"][("", "tool_error")] == (1, 0.8)
    provider.shutdown()
