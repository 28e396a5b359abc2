"""`offing selftest`: whether runs over the user's own configuration survive being killed at every point.

A playbook stands in for the model. It looks at each connected system by what can be read without an argument,
and has the engine do everything it promises something about: a question, an approval, a file, a memory. Real
processes of it are killed, others go on, and what they did is compared with what happens when nothing does.
"""

import argparse
import asyncio
import contextlib
import json
import os
from collections.abc import Generator, Iterator

from ....namespaces.tool import Effect, Tool
from ...crashes import Sample, sweep
from ...errors import ConfigurationError
from ..command import Command
from ..exits import DONE, FAILED, ExitCode
from ..ground import Ground
from ..parts.connected import connected
from .tested import ORDER, Order

_SAMPLE = 25
"""Points that are tried unless more are asked for: a minute or two, where systems connect in a second."""
_MOST = 3
"""Tools of one system that are called."""


async def readable(ground: Ground) -> tuple[str, ...]:
    """What can be called to look at the systems: it reads, and needs no argument.

    Raises:
        ConfigurationError: there is no configuration, or a system of it is not connected.
    """
    async with connected(ground) as connections:
        for missing in connections.disconnected:
            raise ConfigurationError(f"{missing.name} is not connected: {missing.reason}")
        return tuple(
            f"{one.name}__{name}"
            for one in connections.connected
            for name in list(_harmless((name, known.tool) for name, known in one.tools.items()))[:_MOST]
        )


def _harmless(tools: Iterator[tuple[str, Tool]]) -> Iterator[str]:
    for name, tool in tools:
        if tool.effect is Effect.READ and not tool.destructive and not tool.schema.get("required"):
            yield name


def selftest(ground: Ground, sample: Sample | None, *, as_json: bool) -> ExitCode:
    """Sweeps, and reports; 1 when something is lost, repeated or wrong.

    Raises:
        ConfigurationError: there is no configuration, a system is not connected, or the run does not come
            to an answer when nothing happens.
    """
    calls = asyncio.run(readable(ground))
    with _ordered(Order(ground.file, calls)):
        ground.screen.status("at work; each point is a process that is killed, and one that goes on")
        report = sweep("offing.engine.cli.setup.tested:scenario", sample=sample)
    ground.screen.done()
    if as_json:
        ground.screen.line(json.dumps(report.to_json(), ensure_ascii=False))
        return DONE if report.is_clean else FAILED
    ground.screen.line(f"called: {', '.join(calls) or 'nothing of the systems, since each needs arguments'}")
    ground.screen.line(report.text())
    if sample is not None and report.points > len(report.killed):
        ground.screen.line("every point: offing selftest --all")
    return DONE if report.is_clean else FAILED


@contextlib.contextmanager
def _ordered(order: Order) -> Generator[None]:
    """Tells the processes of the sweep what is tested: all they share with this one is its environment."""
    os.environ[ORDER] = order.to_json()
    try:
        yield
    finally:
        del os.environ[ORDER]


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--points", type=int, default=_SAMPLE, metavar="N", help="so many of them (default: %(default)s)"
    )
    made.add_argument("--all", action="store_true", help="every point")
    made.add_argument("--seed", type=int, default=0, metavar="N", help="which ones (default: %(default)s)")
    made.add_argument("--json", action="store_true", help="the report as one JSON object")


def _work(given: argparse.Namespace, ground: Ground) -> ExitCode:
    return selftest(ground, None if given.all else Sample(given.points, given.seed), as_json=given.json)


SELFTEST = Command(
    "selftest",
    "kill runs over your configuration at every point, and see that nothing is lost",
    _arguments,
    _work,
    "Kills real processes of a run over the configured systems, and has others go on. A playbook stands in"
    " for the model; of your systems only what reads, and needs no argument, is called. Nothing is written"
    " into your store.",
    "exit codes: 0 nothing was lost, repeated or wrong; 1 something was; 2 wrong usage or configuration",
)
