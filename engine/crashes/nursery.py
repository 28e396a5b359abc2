"""A process that forks one process of a journey for each line it is given.

It has imported all that they need and runs no thread, so a process costs a fork, not a start. It is asked
by `Nursery`, from the process that sweeps.
"""

import asyncio
import contextlib
import gc
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import cast

from ...namespaces import Effect, FunctionNamespace, tool
from ..engine import Engine
from ..errors import ConfigurationError, JournalUnreadable
from ..models.scripted import Call, Scripted, Step
from ..store.codec import KINDS, Body, decode
from .life import Order, live
from .scenario import Scenario


class Nursery:
    """The process, seen from outside."""

    def __init__(self, scenario: str) -> None:
        """Starts it."""
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)  # noqa: PTH109  as import takes it
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve({scenario!r})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )

    def warm(self, modules: Sequence[str]) -> None:
        """Has it load what the processes would otherwise load each by itself."""
        self._ask(json.dumps({"modules": list(modules)}))

    def live(self, order: Order) -> int:
        """Lets one process live; how it ended: its exit code, or less than 0 the signal that killed it."""
        return self._ask(order.to_json())

    def close(self) -> None:
        """Ends it."""
        self._process.communicate()

    def _ask(self, line: str) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        told = self._process.stdout.readline()
        if not told:
            raise ConfigurationError(
                "the scenario cannot be loaded, or its process has ended: see its output"
            )
        return int(told)


def scenario_named(name: str) -> Scenario:
    """The scenario behind `module:attribute`.

    Raises:
        ConfigurationError: there is none of that name.
    """
    module, _, attribute = name.partition(":")
    try:
        return cast("Scenario", getattr(importlib.import_module(module), attribute))
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"{name!r} is no scenario, such as 'my_module:scenario': {error}") from error


def _warm_up(modules: Sequence[str]) -> None:
    """Loads modules, and has the engine fill its caches with a small run of its own."""
    for name in modules:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    for kind in KINDS:
        with contextlib.suppress(JournalUnreadable):
            decode(Body(kind, 1, b"0"))
    asyncio.run(_rehearse())
    gc.collect()
    gc.freeze()


async def _rehearse() -> None:
    @tool(effect=Effect.READ)
    async def look(item: str = "") -> str:
        """Looks."""
        return item

    call = Call("warm__invoke_tool", {"tool": "look", "arguments": {"item": "a"}})
    steps = [Step(calls=[call]), Step(text="1.00 GBP"), Step(text="1.00 GBP")]
    async with Engine(Scripted(steps), [FunctionNamespace("warm", [look])], check="required") as engine:
        await engine.ask("Look.")


def _forked(scenario: Scenario, order: Order) -> int:
    child = os.fork()
    if child == 0:
        os._exit(live(scenario, order))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def serve(name: str) -> None:
    """Answers each line of input with a number."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a module prints while it is loaded is no answer
    scenario = scenario_named(name)
    for line in sys.stdin:
        asked = json.loads(line)
        if isinstance(asked, dict):
            _warm_up(cast("dict[str, list[str]]", asked)["modules"])
            answers.write("0\n")
        else:
            answers.write(f"{_forked(scenario, Order.from_json(line))}\n")
        answers.flush()
