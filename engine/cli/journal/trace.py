"""`offing trace RUN`: a run as a tree in the terminal, with durations, tokens, cost and errors."""

import argparse
from collections.abc import Iterator

from ....tracing import otlp_json
from ....tracing.drawn import Wanted, draw
from ....tracing.file import RESOURCE
from ....tracing.troubles import troubles
from ...traced.recalled import Recalled, recalled
from .. import command
from ..command import Command
from ..exits import DONE, ExitCode
from ..ground import Ground


async def found_trace(run: str, ground: Ground) -> Recalled:
    """The trace of a run, with what was said: the journal is this machine's own.

    Raises:
        ConfigurationError: there is no store.
        NotFound: there is no such run.
        StoreError: the store failed, or a row is damaged.
    """
    kept = ground.existing()
    try:
        return await recalled(kept.scoped(ground.tenant).journal, run, ground.traces, content=True)
    finally:
        await kept.close()


async def trace(run: str, ground: Ground, wanted: Wanted, *, as_json: bool) -> ExitCode:
    """Draws the trace of a run, or gives its spans as OTLP JSON lines.

    Raises:
        OffingError: as `found_trace` says.
    """
    found = await found_trace(run, ground)
    for line in _json(found) if as_json else _lines(found, ground, wanted):
        ground.screen.line(line)
    return DONE


def _json(found: Recalled) -> Iterator[str]:
    for span in found.spans:
        yield otlp_json.line([span], RESOURCE)


def _lines(found: Recalled, ground: Ground, wanted: Wanted) -> Iterator[str]:
    drawn = list(draw(found.spans, wanted))
    yield from drawn or ["nothing of it is like that"]
    yield f"trace {found.trace}"
    first = next((each.iteration for each in troubles(found.spans) if each.iteration), None)
    if first is not None:
        fork = f"offing fork {found.run} --at {first - 1}{ground.again}"
        yield f"to go on another way from before iteration {first}: {fork}"


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("run", help=command.RUN)
    made.add_argument("--failed", action="store_true", help="only what failed, or may have failed in silence")
    made.add_argument(
        "--tool", default="", metavar="NAME", help="only calls of tools with this in their names"
    )
    made.add_argument("--slowest", type=int, default=0, metavar="N", help="only the N slowest calls")
    made.add_argument("--json", action="store_true", help="all spans, as lines of OTLP JSON")


TRACE = Command(
    "trace",
    "one run as a tree: what took how long, what it cost, what failed",
    _arguments,
    lambda given, ground: trace(
        given.run, ground, Wanted(given.failed, given.tool, given.slowest), as_json=given.json
    ),
)
