"""What a step costs: CPU time of the engine beside a bare loop over the provider's SDK.

    python benchmarks/overhead.py [--wire litellm] [--steps 50 200 400 1000] [--deltas 1 200] [--repeats 3]
    python benchmarks/overhead.py --quick

Two clients work through the same script of replies (about 200 characters of text and one tool call
each; the tool gives about 1 kB) over HTTP on 127.0.0.1:

- *offing*: `Engine` and `AnthropicModel`, or `LiteLLMModel`, with a SQLite journal on disk at full
  durability, the tool in a namespace, all events watched;
- *bare*: `client.messages.stream(...)` of the anthropic SDK, or `litellm.acompletion(...)`, with a list
  of message dicts, the tool called by hand, nothing kept.

The wire is Anthropic's unless `--wire litellm` asks for OpenAI's chat completions, by way of litellm. A
step costs so much more there that the default stops at step 400.

Each client has a server, and all are processes of their own. Counted is the CPU time of the client process,
user and system, all threads; waiting costs nothing. The clients take turns, ten steps each, so what
else the machine does hits both alike. *At N* is the mean over the last 20 steps before step N, which
is what a step costs with that much history; *mean* is over all steps up to N. The first ten are left
out everywhere: they load the SDK. Each figure is the least over the repeats, in fresh processes: what
disturbs a machine only ever adds.

Milliseconds are of one machine; the ratios are what can be compared. The exit status is 0 whatever
comes out; the last lines say which goals hold.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests"
SERVER = HERE / "overhead_server.py"
CLIENT = HERE / "overhead_loops.py"

SIDES = ("offing", "bare")
WIRES = {"anthropic": (50, 200, 400, 1_000), "litellm": (50, 200, 400)}
"""Each with the steps that are measured unless others are asked for."""
BLOCK = 10
"""Steps that a side takes before it is the other's turn."""
AT = 20
"""Steps before step N whose mean is the cost at N."""
SAID = "The balance of the statement and that of the ledger differ; I look at the next page of it. " * 3
SHARE = 0.5
"""Goal, on Anthropic's wire: at step 400 the engine takes at most this share of what the bare loop takes."""
SHARE_AT = 400
GROWTH = 1.3
"""Goal, on Anthropic's wire: a step at 1,000 takes at most so many times what one at 50 takes."""
GROWTH_FROM, GROWTH_TO = 50, 1_000

Blocks = Sequence[float]
"""CPU seconds of each block of steps, in order."""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU of one step, in milliseconds."""

    at: float
    mean: float


def replies(side: str, steps: int, deltas: int) -> str:
    """The server's script: the same words for both sides, the call in each side's own form."""
    made: list[object] = []
    for page in range(steps):
        call: dict[str, object] = {"name": "lookup", "input": {"page": page}}
        if side == "offing":
            call = {"name": "books__invoke_tool", "input": {"tool": "lookup", "arguments": {"page": page}}}
        text = {"type": "text", "text": SAID[:200], "deltas": deltas}
        made.append({"blocks": [text, {"type": "tool_use", "id": f"toolu_{page:04}", "deltas": 1, **call}]})
    return json.dumps([*made, {"blocks": [{"type": "text", "text": "It ties."}]}])


@contextmanager
def process(*command: str, path: str = "") -> Generator["subprocess.Popen[str]"]:
    """A process to talk to by lines, ended on leaving; `path` is searched for modules too."""
    pipe = subprocess.PIPE
    known = os.environ.get("PYTHONPATH", "")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (path, known)))}
    words = [sys.executable, *command]
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, env=environment) as running:
        try:
            yield running
        finally:
            running.terminate()


@contextmanager
def client(wire: str, side: str, script: Path) -> Generator["subprocess.Popen[str]"]:
    """One side, and the server it works against."""
    with process(str(SERVER), wire, str(script), path=str(TESTS)) as server:
        url = line_of(server)
        with process(str(CLIENT), wire, side, url, str(BLOCK)) as running:
            yield running


def line_of(running: "subprocess.Popen[str]") -> str:
    """The next line that a process says."""
    line = running.stdout.readline() if running.stdout else ""
    if not line:
        raise SystemExit(f"{running.args} ended early")
    return line.strip()


def block_of(running: "subprocess.Popen[str]") -> float:
    """Gives a client its turn, and takes what its block of steps took."""
    if running.stdin:
        running.stdin.write("\n")
        running.stdin.flush()
    return float(line_of(running))


def measure(wire: str, steps: int, deltas: int) -> Mapping[str, Blocks]:
    """One run of both sides, block by block in turn."""
    taken: dict[str, list[float]] = {side: [] for side in SIDES}
    with tempfile.TemporaryDirectory() as folder:
        scripts = {side: Path(folder) / f"{side}.json" for side in SIDES}
        for side, script in scripts.items():
            script.write_text(replies(side, steps, deltas), "utf-8")
        with (
            client(wire, "offing", scripts["offing"]) as ours,
            client(wire, "bare", scripts["bare"]) as theirs,
        ):
            for _ in range(steps // BLOCK):
                taken["offing"].append(block_of(ours))
                taken["bare"].append(block_of(theirs))
    return taken


def cost(runs: Sequence[Blocks], step: int) -> Cost:
    """The cost at a step, the least over the runs."""
    last, before = step // BLOCK, (step - AT) // BLOCK
    at = [statistics.fmean(run[before:last]) for run in runs]
    mean = [statistics.fmean(run[1:last]) for run in runs]
    return Cost(*(1000 * min(one) / BLOCK for one in (at, mean)))


def table(wire: str, deltas: int, costs: Mapping[int, Mapping[str, Cost]]) -> None:
    """Prints what was measured on a wire with so many deltas a reply."""
    print(f"\n{wire}, {deltas} deltas a reply")
    print("                 at step N                     mean up to N")
    print("     N    offing ms   bare ms   ratio    offing ms   bare ms   ratio")
    for step, sides in costs.items():
        ours, bare = sides["offing"], sides["bare"]
        print(
            f"{step:6,} {ours.at:12.2f} {bare.at:9.2f} {ours.at / bare.at:7.2f}"
            f" {ours.mean:12.2f} {bare.mean:9.2f} {ours.mean / bare.mean:7.2f}"
        )


def judge(costs: Mapping[int, Mapping[str, Cost]], deltas: int) -> Iterator[str]:
    """Whether the goals hold, as far as they were measured."""
    if SHARE_AT in costs:
        share = costs[SHARE_AT]["offing"].at / costs[SHARE_AT]["bare"].at
        goal = f"at step {SHARE_AT} under {SHARE:g} of the bare loop"
        yield f"{_held(share < SHARE)}: {goal}, {deltas} deltas: {share:.2f}"
    if {GROWTH_FROM, GROWTH_TO} <= costs.keys():
        growth = costs[GROWTH_TO]["offing"].at / costs[GROWTH_FROM]["offing"].at
        goal = f"a step at {GROWTH_TO:,} at most {GROWTH:g} times one at {GROWTH_FROM}"
        yield f"{_held(growth <= GROWTH)}: {goal}, {deltas} deltas: {growth:.2f}"


def _held(holds: object) -> str:
    return "holds" if holds else "DOES NOT HOLD"


def _chosen() -> argparse.Namespace:
    options = argparse.ArgumentParser(description="CPU time of a step, beside a bare loop over the SDK.")
    options.add_argument("--wire", choices=WIRES, default="anthropic")
    options.add_argument("--steps", type=int, nargs="+", help="50 200 400, and 1000 on Anthropic's wire")
    options.add_argument("--deltas", type=int, nargs="+", default=[1, 200], help="a reply, 1 to 200")
    options.add_argument("--repeats", type=int, default=3, help="runs to take the least of")
    options.add_argument("--quick", action="store_true", help="50 and 200 steps, once; judges no goal")
    chosen = options.parse_args()
    chosen.steps = chosen.steps or WIRES[chosen.wire]
    if chosen.quick:
        chosen.steps, chosen.repeats = [50, 200], 1
    for step in chosen.steps:
        if step < AT + BLOCK or step % BLOCK:
            options.error(f"--steps {step}: give multiples of {BLOCK}, from {AT + BLOCK} on")
    return chosen


def main() -> None:
    """Measures, prints a table for each number of deltas, and judges the goals."""
    chosen = _chosen()
    verdicts: list[str] = []
    for deltas in chosen.deltas:
        runs = [measure(chosen.wire, max(chosen.steps), deltas) for _ in range(chosen.repeats)]
        costs = {
            step: {side: cost([run[side] for run in runs], step) for side in SIDES}
            for step in sorted(chosen.steps)
        }
        table(chosen.wire, deltas, costs)
        if chosen.wire == "anthropic":
            verdicts += judge(costs, deltas)
    nothing = "No goal was measured: they are of Anthropic's wire, at 400, and at 50 and 1,000."
    print("", *(verdicts or [nothing]), sep="\n")


if __name__ == "__main__":
    main()
