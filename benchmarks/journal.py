"""What the journal costs: a step's time and bytes as a run grows, resuming, and appends of many runs at once.

    python benchmarks/journal.py                          SQLite, on the disk of the current folder
    python benchmarks/journal.py --url postgresql://...   PostgreSQL too: a database that may be filled

A step is what the engine records for one model call with one tool call: an intent in a transaction of its
own, then the outcome and the next reply, 1 kB each.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from offing.compaction.conversation import Message, Text, ToolCall, ToolResult
from offing.engine.limits import Limits
from offing.engine.models.model import Reply
from offing.engine.state import fold
from offing.engine.store import PostgresStore, SqliteStore, Store
from offing.engine.store.codec import encode
from offing.engine.store.facts import Began, Fact, Opened, Replied, Resumed, Settled, Started
from offing.engine.store.journal import Journal, Row
from offing.tracing import Usage

STEPS = 1_000
SAMPLED = (50, 1_000)
AROUND = 40
"""Steps before N. A step's time is their lower quartile: what disturbs a machine only ever adds."""
TEXT = "x" * 1_000
RUNS = (1, 200)
APPENDS = 20_000
"""In all, of each number of runs; of one run a tenth."""


class Step(NamedTuple):
    """What one step took."""

    ms: float
    bytes: int


class Appends(NamedTuple):
    """What appends of some runs at once came to."""

    runs: int
    a_second: float
    median_ms: float
    worst_ms: float
    """Of a hundred, the slowest but one."""


def facts_of(step: int) -> list[list[Fact]]:
    """What a step records, a list a transaction."""
    call = ToolCall(f"{step}.1", "world__look", {"number": step})
    reply = Replied(Reply(Message("assistant", (Text(TEXT), call)), "tools", Usage()))
    settled = Settled(ToolResult(f"{step}.1", TEXT), "world__look")
    return [[reply], [Started(f"{step}.1", "world__look", "k")], [settled]]


def beginning() -> list[Fact]:
    """The facts with which a session begins."""
    began = Began(Message("user", (Text("Go."),)), Limits(iterations=STEPS + 1))
    return [Opened("scripted", "f", "s", "c", {}), began, Resumed("process 1 on here")]


def rows(facts: Sequence[Fact], after: int) -> list[Row]:
    """The facts in their places."""
    return [Row(after + place, "s.1", 0, fact) for place, fact in enumerate(facts, 1)]


async def long_run(journal: Journal, name: str, last: int) -> list[Step]:
    """A run of so many steps, one after the other."""
    lease = await journal.acquire(name)
    await journal.append(lease, rows(beginning(), 0))
    seq, steps = 3, list[Step]()
    for step in range(1, last + 1):
        began = time.perf_counter()
        for transaction in facts_of(step):
            await journal.append(lease, rows(transaction, seq))
            seq += len(transaction)
        size = sum(len(encode(fact).body) for each in facts_of(step) for fact in each)
        steps.append(Step(1_000 * (time.perf_counter() - began), size))
    await journal.release(lease)
    return steps


async def resumed_s(journal: Journal) -> float:
    """Seconds until another process that finds the run could go on with it."""
    began = time.perf_counter()
    lease = await journal.acquire("long")
    state = await fold(journal.read("long"))
    taken = time.perf_counter() - began
    if state.seq != 3 + 3 * STEPS:
        raise AssertionError(state.seq)
    await journal.release(lease)
    return taken


async def appends(journal: Journal, runs: int) -> Appends:
    """So many runs that append one row after the other, all at once."""
    leases = [await journal.acquire(f"of {runs}, {number}") for number in range(runs)]
    each = APPENDS // max(runs, 10)
    waits: list[float] = []

    async def run(number: int) -> None:
        for seq in range(each):
            began = time.perf_counter()
            await journal.append(leases[number], rows([Started("1.1", "t", TEXT)], seq))
            waits.append(1_000 * (time.perf_counter() - began))

    began = time.perf_counter()
    await asyncio.gather(*map(run, range(runs)))
    taken = time.perf_counter() - began
    return Appends(
        runs, runs * each / taken, statistics.median(waits), statistics.quantiles(waits, n=100)[-1]
    )


async def measure(name: str, store: Store) -> Iterator[str]:
    """What the store takes, in words."""
    journal = store.scoped(uuid.uuid4().hex).journal
    await long_run(journal, "to load what is needed", AROUND)
    steps = await long_run(journal, "long", STEPS)
    told = [f"\n{name}"]
    for at in SAMPLED:
        around = steps[at - AROUND : at]
        ms = statistics.quantiles([step.ms for step in around], n=4)[0]
        told.append(f"  step {at:5,}: {ms:6.2f} ms, {around[-1].bytes:,} bytes")
    told.append(f"  resuming a run of {STEPS:,} steps: {await resumed_s(journal):.2f} s")
    for runs in RUNS:
        found = await appends(journal, runs)
        told.append(
            f"  {found.runs:3} runs at once: {found.a_second:8,.0f} appends a second, "
            f"{found.median_ms:6.2f} ms each, {found.worst_ms:6.2f} ms at worst in a hundred"
        )
    await store.close()
    return iter(told)


def main() -> None:
    """Measures and prints."""
    options = argparse.ArgumentParser(description="What the journal costs.")
    options.add_argument("--url", help="a PostgreSQL database, which may be filled")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        print(*asyncio.run(measure("SQLite", SqliteStore(Path(folder) / "journal.db"))), sep="\n")
    if chosen.url:
        print(*asyncio.run(measure("PostgreSQL", PostgresStore(chosen.url))), sep="\n")


if __name__ == "__main__":
    main()
