"""How long wide work takes: children at the same time, against the longest of them alone.

    python benchmarks/fanout.py [--children 5 50 500] [--steps 10] [--ms 200] [--model local]

Each child makes one call a step, over SQLite, and each model call is answered after the given time: over
HTTP, or, with `--model local`, in the client's process, which leaves out what a provider's SDK takes. A line
a width, each measured in a process of its own: seconds of one such run alone; seconds from the fact that
hands the work on to its result; their ratio; processor seconds of the client and their share of that time, of
a child's step, and of a step alone; memory that a child takes while it is at work. On a machine with other
work the ratio says how much of a processor was free; what a step takes says what is the client's own.
"""

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from pathlib import Path

from pydantic import JsonValue, SecretStr

from offing.compaction.conversation import Message, Text, ToolCall
from offing.engine import Engine, Limits, SqliteStore
from offing.engine.models.anthropic import AnthropicModel
from offing.engine.models.anthropic_wire import encode
from offing.engine.models.model import Delta, Model, Part, Reply, Request
from offing.engine.store.facts import Settled
from offing.engine.store.strands import Delegated
from offing.namespaces import Effect, FunctionNamespace, tool
from offing.tracing import Usage

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests"
_MB = 1 << 20


@tool(effect=Effect.READ)
async def look() -> str:
    """Looks."""
    return "12.50 GBP is there. " * 20


@contextmanager
def server(strands: int, steps: int, seconds: float) -> Generator[str]:
    """The model, as a process of its own; gives its URL."""
    environment = {**os.environ, "PYTHONPATH": f"{TESTS}{os.pathsep}{HERE}"}
    command = [sys.executable, HERE / "fanout_server.py", str(strands), str(steps), str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


class Local:
    """The same model in the client's process: it answers after a while, without a wire."""

    name = "local"

    def __init__(self, strands: int, steps: int, seconds: float) -> None:
        parts: list[JsonValue] = [
            {"title": f"Part {n}", "task": f"Work on part {n}."} for n in range(strands)
        ]
        self._hand_on = ToolCall("", "delegate", {"strands": parts})
        self._look = ToolCall("", "sys__invoke_tool", {"tool": "look", "arguments": {}})
        self._steps, self._seconds = steps, seconds

    def encode(self, part: Part, before: Message | None = None) -> bytes:
        """The part as the wire would have it."""
        return encode(part, before, "claude-opus-5-5")

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """Yields the next reply of whoever asks."""
        await asyncio.sleep(self._seconds)
        place = sum(message.role == "assistant" for message in request.view)
        is_top = request.view[0].text.startswith("Fan out")
        is_last = place == (1 if is_top else self._steps - 1)
        block = Text("Part done. " * 20) if is_last else self._hand_on if is_top else self._look
        yield Reply(Message("assistant", (block,)), "end" if is_last else "tools", Usage())


@contextmanager
def model_of(kind: str, children: int, steps: int, seconds: float) -> Generator[Model]:
    """The model that is asked."""
    if kind == "local":
        yield Local(children, steps, seconds)
        return
    with server(children, steps, seconds) as url:
        yield AnthropicModel("claude-opus-5-5", SecretStr("k"), base_url=url)


async def measure(kind: str, children: int, steps: int, seconds: float) -> None:
    """Measures one width and prints its line."""
    asked = model_of(kind, children, steps, seconds)
    with asked as model, tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        limits = Limits(iterations=(steps + 2) * (children + 2), strands=children)
        system = FunctionNamespace("sys", [look])
        async with Engine(model, [system], store=SqliteStore(Path(folder) / "s.db"), limits=limits) as engine:
            await engine.session("warm").ask("Work on part 0.")
            begun, once = time.perf_counter(), time.process_time()
            assert (await engine.session("alone").ask("Work on part 1.")).iterations == steps
            alone, once = time.perf_counter() - begun, time.process_time() - once
            before, worked = _peak(), time.process_time()
            result = await engine.session("wide").ask("Fan out.")
            assert [child.took.iterations for child in result.children] == [steps] * children
            rows = [row async for row in engine.store.journal.read("wide")]
            worked, grown = time.process_time() - worked, _peak() - before
    start = next(row.at for row in rows if isinstance(row.fact, Delegated))
    end = next(row.at for row in rows if isinstance(row.fact, Settled) and row.run == "wide.1")
    wide = (end - start) / 1_000_000
    step, kept = worked / children / steps * 1_000, grown / children / 1024
    print(
        f"{children:5} children: alone {alone:.2f} s, together {wide:.2f} s, ratio {wide / alone:.2f};"
        f" processor {worked:.2f} s, {worked / wide:.0%} of one, a step {step:.1f} ms,"
        f" alone {once / steps * 1_000:.1f} ms; {kept:.0f} kB a child"
    )


def _peak() -> int:
    """The most memory that this process had so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Measures each width in a process of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--children", type=int, nargs="+", default=[5, 50, 500])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--ms", type=int, default=200)
    parser.add_argument("--model", choices=["loopback", "local"], default="loopback")
    given = parser.parse_args()
    if len(given.children) == 1:
        asyncio.run(measure(given.model, given.children[0], given.steps, given.ms / 1_000))
        return
    for children in given.children:
        options = ["--children", str(children), "--steps", str(given.steps), "--ms", str(given.ms)]
        options += ["--model", given.model]
        subprocess.run([sys.executable, __file__, *options], check=True)


if __name__ == "__main__":
    main()
