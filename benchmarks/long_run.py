"""A run that outgrows its window again and again: what a step costs at its end and at its beginning.

    python benchmarks/long_run.py         3,000 iterations, a window of 100,000 tokens: some two minutes
    python benchmarks/long_run.py --iterations 500

Each iteration thinks a little, calls one tool and gets 2 kB. The model is `AnthropicModel` but for the
network: bodies are built as they are sent, replies come from here, and a token is four bytes of the body.
The journal is SQLite on disk at full durability. Counted is the CPU time of the process, all threads, passes
included, and its resident memory.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pydantic import SecretStr

from offing.compaction.conversation import Message, Raw, Reasoning, Text, ToolCall
from offing.engine import Engine, Limits, SqliteStore
from offing.engine.models.anthropic import AnthropicModel
from offing.engine.models.model import Delta, Reply, Request
from offing.engine.store.facts import Compacted
from offing.namespaces import Effect, FunctionNamespace, ToolOutput
from offing.namespaces.functions import tool
from offing.tracing import Usage

WINDOW = 100_000
BLOCK = 100
"""Iterations that are measured together."""
GROWTH = 1.25
"""Goal: a step of the last tenth takes at most so many times what one of the second tenth takes."""
DIGEST = """## Request
- Reconcile.
## Facts
- The balance of page {page} is 12.50 GBP [[books:txn/{page}]].
## Decisions
- Fees are left out.
## Handles
- result/1.1: the first page"""


class Block(NamedTuple):
    """What some iterations took."""

    cpu_s: float
    rss_mb: float


@dataclass
class Measured:
    """What was seen while the run went on."""

    iterations: int
    prompts: list[int] = field(default_factory=list[int])
    """Tokens of each."""
    blocks: list[Block] = field(default_factory=list[Block])
    began: float = field(default_factory=time.process_time)

    def iteration(self, tokens: int) -> int:
        """Counts one; gives its number from 0."""
        self.prompts.append(tokens)
        if len(self.prompts) % BLOCK == 0:
            now = time.process_time()
            self.blocks.append(Block(now - self.began, _rss_mb()))
            self.began = now
        return len(self.prompts) - 1


class Offline(AnthropicModel):
    """Claude without its network."""

    def __init__(self, measured: Measured) -> None:
        super().__init__("claude-opus-5-5", SecretStr("none"))
        self.measured = measured

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """A reply after the whole body was built."""
        tokens = len(self.body(request)) // 4
        if b"You shorten the record" in request.segments[0]:
            text = DIGEST.format(page=len(self.measured.prompts))
            yield Reply(
                Message("assistant", (Text(text),)), "end", Usage(input=tokens, output=len(text) // 4)
            )
            return
        yield _reply(self.measured.iteration(tokens), tokens, self.measured.iterations)


def _reply(page: int, tokens: int, last: int) -> Reply:
    usage = Usage(input=500, cache_read=tokens - 500, output=90, reasoning=30)
    if page + 1 >= last:
        return Reply(Message("assistant", (Text("It ties."),)), "end", usage)
    text = f"Page {page} has 12.50 GBP [[books:txn/{page}]]; I look at the next one."
    call = ToolCall("", "books__look", {"page": page})
    wire = [
        {"type": "thinking", "thinking": "Go on.", "signature": "s" * 80},
        {"type": "text", "text": text},
        {"type": "tool_use", "id": f"toolu_{page}", "name": call.name, "input": {"page": page}},
    ]
    raw = Raw("anthropic", "claude-opus-5-5", json.dumps(wire).encode())
    return Reply(Message("assistant", (Reasoning("Go on."), Text(text), call), raw), "tools", usage)


@tool(effect=Effect.READ)
async def look(page: int) -> ToolOutput:
    """Gives a page of the books."""
    rows = "\n".join(
        f"{page:05}-{row:02},2026-09-{row % 30 + 1:02},{row * 3.17:.2f},GBP,REF{row}" for row in range(55)
    )
    return ToolOutput(rows[:2_000])


def _rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


async def measured(iterations: int, folder: Path) -> tuple[Measured, list[Compacted]]:
    """One run, and its passes."""
    seen = Measured(iterations)
    limits = Limits(iterations=iterations + 1, window=WINDOW)
    books = FunctionNamespace("books", [look])
    store = SqliteStore(folder / "journal.db")
    async with Engine(Offline(seen), [books], store=store, limits=limits, check="off") as engine:
        result = await engine.session("s").ask("Reconcile.")
        if not result.answered:
            raise SystemExit(f"the run stopped: {result.why}: {result.detail}")
        rows = engine.store.journal.read("s")
        return seen, [row.fact async for row in rows if isinstance(row.fact, Compacted)]


def main() -> None:
    """Measures and prints."""
    arguments = argparse.ArgumentParser(description="A step's cost in a run of many passes.")
    arguments.add_argument("--iterations", type=int, default=3_000)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        seen, passes = asyncio.run(measured(chosen.iterations, Path(folder)))
    digests = [one for one in passes if one.writer]
    print(f"{len(seen.prompts):,} iterations, {len(passes)} passes, {len(digests)} of them with a digest")
    print(f"prompts: {sum(seen.prompts):,} tokens in all, the largest {max(seen.prompts):,} of {WINDOW:,}")
    print(
        f"a pass: from {_mean([one.before for one in passes]):,.0f} tokens"
        f" to {_mean([one.after for one in passes]):,.0f}"
    )
    print("| iterations up to | CPU ms a step | resident MB |\n|---:|---:|---:|")
    for number, block in enumerate(seen.blocks, start=1):
        if number in {2, len(seen.blocks)} or number % max(1, len(seen.blocks) // 6) == 0:
            print(f"| {number * BLOCK:,} | {block.cpu_s / BLOCK * 1e3:.2f} | {block.rss_mb:.0f} |")
    tenth = max(1, len(seen.blocks) // 10)
    early = _mean([block.cpu_s for block in seen.blocks[tenth : 2 * tenth]])
    late = _mean([block.cpu_s for block in seen.blocks[-tenth:]])
    verdict = "holds" if late <= GROWTH * early else "does not hold"
    print(
        f"a step of the last tenth takes {late / early:.2f} times one of the second:"
        f" {verdict} (at most {GROWTH})"
    )


def _mean(values: list[float] | list[int]) -> float:
    return sum(values) / max(1, len(values))


if __name__ == "__main__":
    main()
