"""What tracing adds to a step: CPU of the same run without it, into files, and over OTLP.

    python benchmarks/tracing.py [--steps 200] [--repeats 7]

A step is a scripted reply of 200 characters with one call, and its result of about 1 kB, over a journal in
memory, so that little else is measured. The ways take turns, a run each, in one process; counted is the
CPU time of all its threads until the last span is delivered. Each figure is the least over the repeats.
*otlp* goes to a server on 127.0.0.1 that is a process of its own. *hangs* goes to one that takes
connections and never answers: the run must come to its end all the same.

The goal is at most 0.5 ms a step with the file exporter. The exit status is 0 whatever comes out.
"""

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager

from offing.engine import Call, Engine, Limits, Scripted, Step
from offing.namespaces.functions import FunctionNamespace, tool
from offing.namespaces.tool import Effect
from offing.tracing import Tracing
from offing.tracing.file import FileSink
from offing.tracing.sdk import OtlpSink

RESULT = "2026-09-14;8123;Transfer to the operating account;EUR;-1,250.00\n" * 16
SAID = "The balance of the statement and that of the ledger differ; I look at the next page of it. " * 3
GOAL_MS = 0.5
SERVER = """
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


@tool(effect=Effect.READ)
async def lookup(page: int) -> str:
    """Gives one page of the statement."""
    return f"{page}\n{RESULT}"


BOOKS = FunctionNamespace("books", [lookup])


async def worked(steps: int, tracing: Tracing) -> None:
    """One run of so many steps."""
    script = [
        Step(SAID[:200], [Call("books__invoke_tool", {"tool": "lookup", "arguments": {"page": page}})])
        for page in range(steps)
    ]
    async with Engine(
        Scripted([*script, "Done."]), [BOOKS], limits=Limits(iterations=steps + 2), tracing=tracing
    ) as engine:
        result = await engine.ask("Why does September not tie?")
    if not result.answered:
        raise SystemExit(f"the run stopped ({result.why}): {result.detail}")


def cpu(steps: int, tracing: Tracing) -> float:
    """Milliseconds of CPU that a step took."""
    began = time.process_time()
    asyncio.run(worked(steps, tracing))
    return (time.process_time() - began) * 1000 / steps


@contextmanager
def collector() -> Generator[str]:
    """The address of a server that takes everything."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout is None:
            raise SystemExit("the server has no output")
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1/traces"
    finally:
        process.kill()


@contextmanager
def black_hole() -> Generator[str]:
    """The address of a server that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1/traces"


def measured(ways: Mapping[str, Callable[[], Tracing]], steps: int, repeats: int) -> Mapping[str, float]:
    """The least of each way, in turns. The first round is left out: it loads what is needed."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for place in range(repeats + 1):
        for name, tracing in ways.items():
            spent = cpu(steps, tracing())
            if place:
                taken[name].append(spent)
    return {name: min(times) for name, times in taken.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args(arguments)
    os.environ["OTEL_EXPORTER_OTLP_TIMEOUT"] = "1"
    with tempfile.TemporaryDirectory() as folder, collector() as taking, black_hole() as hanging:
        ways: Mapping[str, Callable[[], Tracing]] = {
            "off": Tracing,
            "file": lambda: Tracing([FileSink(folder)]),
            "file, with content": lambda: Tracing([FileSink(folder)], content=True),
            "otlp": lambda: Tracing([OtlpSink(taking)]),
        }
        figures = measured(ways, given.steps, given.repeats)
        for name, spent in figures.items():
            print(f"{name:<20} {spent:.3f} ms a step, {spent - figures['off']:+.3f}")
        began = time.monotonic()
        asyncio.run(worked(given.steps, Tracing([OtlpSink(hanging)])))
        print(f"{'hangs':<20} came to its end, {time.monotonic() - began:.1f} s with closing the engine")
    added = figures["file"] - figures["off"]
    verdict = "holds" if added <= GOAL_MS else "does NOT hold"
    print(f"at most {GOAL_MS} ms a step into files: {verdict} ({added:.3f})")


if __name__ == "__main__":
    main()
