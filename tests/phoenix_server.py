"""A real Phoenix on 127.0.0.1 for the tests that ask one, from the environment that `make phoenix` builds."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from postgres_server import free_port

ENVIRONMENT = Path(os.environ.get("PHOENIX") or Path(__file__).parents[1] / ".phoenix").absolute()
_STARTS_S = 180
"""Seconds that it has to answer, on a busy machine."""
_ARRIVES_S = 60
"""Seconds until what was sent can be asked for."""


class Phoenix:
    """The server, asked as its own clients ask it."""

    def __init__(self, port: int, grpc_port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.traces = f"{self.url}/v1/traces"
        self.grpc = f"http://127.0.0.1:{grpc_port}"

    def spans(self, project: str, count: int) -> list[dict[str, Any]]:
        """All spans of a project, once there are so many."""
        found: list[dict[str, Any]] = []
        until = time.monotonic() + _ARRIVES_S
        while len(found) < count:
            assert time.monotonic() < until, f"{len(found)} of {count} spans arrived"
            with contextlib.suppress(urllib.error.HTTPError):  # the project comes with its first span
                found = self._pages(f"/v1/projects/{urllib.parse.quote(project)}/spans?limit=1000")
        return found

    def _pages(self, path: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor: str | None = ""
        while cursor is not None:
            told = self._asked(f"{path}&cursor={urllib.parse.quote(cursor)}" if cursor else path)
            found += told["data"]
            cursor = told["next_cursor"]
        return found

    def query(self, query: str, **variables: object) -> Any:  # noqa: ANN401  whatever the query asks for
        """The answer to a GraphQL query."""
        told = self._asked("/graphql", {"query": query, "variables": variables})
        assert "errors" not in told, told
        return told["data"]

    def is_up(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def _asked(self, path: str, body: object = None) -> Any:  # noqa: ANN401
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)


@contextlib.contextmanager
def phoenix(folder: Path) -> Generator[Phoenix]:
    """The server over a folder of its own; skips the test where there is no environment of it."""
    program = ENVIRONMENT / "bin" / "phoenix"
    if not program.is_file():
        pytest.skip(f"there is no Phoenix in {ENVIRONMENT}: `make phoenix` builds one")
    server = Phoenix(free_port(), free_port())
    settings = {
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": server.url.rpartition(":")[2],
        "PHOENIX_GRPC_PORT": server.grpc.rpartition(":")[2],
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
    }
    log = folder / "log"
    with log.open("wb") as out:
        process = subprocess.Popen([program, "serve"], env={**os.environ, **settings}, stdout=out, stderr=out)
    try:
        until = time.monotonic() + _STARTS_S
        while not server.is_up():
            assert process.poll() is None, log.read_text(errors="replace")
            assert time.monotonic() < until, "Phoenix does not answer"
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.3)
        yield server
    finally:
        process.terminate()
        process.wait(30)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, phoenix(Path(place)) as started:
        sys.stdout.write(f"Phoenix answers at {started.url}\n")
