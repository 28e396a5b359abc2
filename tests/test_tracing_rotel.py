"""Spans through a foreign OTLP receiver, rotel, decoded from what it hands on: they are still the same."""

import contextlib
import importlib.util
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from offing.tracing.sdk import OtlpSink, Transport
from postgres_server import free_port
from test_traced import HISTORY, traced
from test_tracing_sdk import Collector, assert_same, over_http

_FOUND = importlib.util.find_spec("rotel")
PROGRAM = None if _FOUND is None else Path(str(_FOUND.origin)).with_name("rotel-agent")
_STARTS_S = 30
"""Seconds that it has to listen, and to hand on what it was given."""


@contextlib.contextmanager
def rotel(hands_on_to: str) -> Generator[dict[Transport, str]]:
    """The receiver, by transport; it exports to another endpoint."""
    grpc, http = free_port(), free_port()
    address = hands_on_to.removesuffix("/v1/traces")
    command = [
        *(str(PROGRAM), "start", "--otlp-grpc-endpoint", f"127.0.0.1:{grpc}"),
        *("--otlp-http-endpoint", f"127.0.0.1:{http}", "--exporter", "otlp"),
        *("--otlp-exporter-endpoint", address, "--otlp-exporter-protocol", "http"),
    ]
    quiet = {**os.environ, "ROTEL_TELEMETRY_ENABLED": "false"}
    process = subprocess.Popen(command, env=quiet, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for port in (grpc, http):
            _until(lambda port=port: process.poll() is None and _listens(port))
        yield {"grpc": f"http://127.0.0.1:{grpc}", "http": f"http://127.0.0.1:{http}/v1/traces"}
    finally:
        process.terminate()
        process.wait(30)


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def _until(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + _STARTS_S
    while not holds():
        assert time.monotonic() < ends
        threading.Event().wait(0.05)


@pytest.mark.skipif(
    PROGRAM is None or not PROGRAM.is_file(), reason="rotel, a foreign receiver, is not installed"
)
@pytest.mark.parametrize("transport", ["http", "grpc"])
def test_a_foreign_receiver_hands_on_the_same_trace(transport: Transport) -> None:
    collector, spans = Collector(), traced(HISTORY)
    with over_http(collector) as behind, rotel(behind) as receives:
        sink = OtlpSink(receives[transport], transport)
        for span in spans:
            sink.take(span)
        sink.close(30)
        _until(lambda: len(collector.spans) >= len(spans))
    came = sorted(collector.spans, key=lambda span: str(span.span_id.hex()))
    assert_same(came, sorted(spans, key=lambda span: span.id))
    (resource, *_) = collector.came
    assert "offing" in [each.value.string_value for each in resource.resource.attributes]
