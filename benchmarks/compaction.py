"""What a pass costs: milliseconds at 100,000 and at 1,000,000 tokens.

    python benchmarks/compaction.py                    a minute; --tokens 100000 1000000 --repeats 3

The conversation is parallel calls with results of 2 kB each: rows of a statement. A pass is taken apart:
planning, with an encoding and without; folding the view anew; encoding what changed. Loading the encoding
happens once a process and stands apart. What a model takes to write a digest is not in it.
"""

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple
from unittest.mock import patch

from offing.compaction.conversation import Conversation, Message, Text, ToolCall, ToolResult
from offing.compaction.encodings import encoding
from offing.compaction.gauge import Gauge
from offing.engine import compacting
from offing.engine.limits import Room
from offing.engine.models.scripted import Scripted
from offing.engine.state import State
from offing.engine.window import Compact
from offing.engine.wire import Wire


class Pass(NamedTuple):
    """Milliseconds of the parts of one pass."""

    counted: float
    """Planning, sizes counted with o200k."""
    coarse: float
    """Planning, sizes weighed."""
    folded: float
    encoded: float
    stubs: int
    digested: int
    """Messages."""


def session(tokens: int) -> State:
    """A conversation of about so many tokens."""
    said = Conversation([Message("user", (Text("Reconcile September."),))])
    turn = 0
    while turn * 4_100 < tokens:
        turn += 1
        calls = tuple(ToolCall(f"{turn}.{n}", "bank__look", {"page": n}) for n in (1, 2, 3, 4))
        said.messages.append(Message("assistant", (Text(f"Page {turn} [[bank:txn/{turn}]]."), *calls)))
        said.messages.append(Message("tool", tuple(ToolResult(call.id, rows(turn)) for call in calls)))
    return State(conversation=said, gauge=Gauge(tokens, len(said.messages)), room=Room(tokens, 0, 3_000))


def rows(turn: int) -> str:
    """Two kilobytes of a statement."""
    return "\n".join(
        f"{turn:05}-{row:02},2026-09-{row % 30 + 1:02},{row * 3.17:.2f},GBP,REF{row}" for row in range(57)
    )


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of CPU."""
    before = time.process_time()
    work()
    return (time.process_time() - before) * 1e3


def one_pass(tokens: int) -> Pass:
    """The parts of a pass over a view of so many tokens, down to a half."""
    state = session(tokens)
    wanted = Compact("full", tokens, tokens // 2, tokens * 4 // 5)
    said = state.conversation
    counted = timed(lambda: compacting.planned(state, wanted))
    with patch.object(compacting, "encoding", lambda: None):
        coarse = timed(lambda: compacting.planned(state, wanted))
    draft = compacting.planned(state, wanted)
    wire = Wire(Scripted(()), [b"", b""])
    wire.request(said, 1)
    said.passes.append(draft.made("digest"))
    folded = timed(said.view)
    encoded = timed(lambda: wire.request(said, 2))
    return Pass(counted, coarse, folded, encoded, len(said.passes[0].stubs), sum(1 for _ in draft.taken()))


def main() -> None:
    """Measures and prints."""
    arguments = argparse.ArgumentParser(description="Milliseconds of a pass.")
    arguments.add_argument("--tokens", type=int, nargs="+", default=[100_000, 1_000_000])
    arguments.add_argument("--repeats", type=int, default=3)
    chosen = arguments.parse_args()
    print(
        f"loading the encoding: {timed(encoding):,.0f} ms, once a process"
        f"{'' if encoding() else '; it is not there'}"
    )
    print("| tokens | plan, counted ms | plan, weighed ms | fold ms | encode ms | stubs | digested |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for tokens in chosen.tokens:
        runs = [one_pass(tokens) for _ in range(chosen.repeats)]
        least = [min(values) for values in zip(*runs, strict=True)]
        times = " | ".join(f"{value:,.1f}" for value in least[:4])
        print(f"| {tokens:,} | {times} | {least[4]:,} | {least[5]:,} |")


if __name__ == "__main__":
    main()
