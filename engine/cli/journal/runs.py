"""`offing runs`: what runs there are, how each stands, and what it waits for."""

import argparse
import json
from collections.abc import Iterator

from ...scrub import scrub
from ..command import Command
from ..exits import DONE, ExitCode
from ..ground import Ground
from .summary import RunSummary, duration, money, summaries, time_of

_SHOWN = 20
_TEXT = 70
"""Characters of a request that are shown."""


async def runs(ground: Ground, *, everything: bool, waiting: bool, as_json: bool) -> ExitCode:
    """Lists runs, the newest last.

    Raises:
        StoreError: the store failed.
    """
    kept = ground.kept()
    try:
        found = [each async for each in summaries(kept.scoped(ground.tenant))]
    finally:
        await kept.close()
    found = sorted((each for each in found if each.waiting or not waiting), key=lambda each: each.began_at)
    left = 0 if everything or as_json else max(0, len(found) - _SHOWN)
    for one in found[left:]:
        for line in [json.dumps(_fields(one), ensure_ascii=False)] if as_json else _lines(one, ground):
            ground.screen.line(line)
    if left:
        ground.screen.line(f"and {left} earlier ones: offing runs --all{ground.again}")
    if not found and not as_json:
        ground.screen.line("nothing waits for anybody" if waiting else "no run was ever begun here")
    return DONE


def _lines(one: RunSummary, ground: Ground) -> Iterator[str]:
    took = duration(max(0, one.last_at - one.began_at))
    counts = f"{one.iterations} iterations, {one.calls} calls, {took}, {money(one.cost)}"
    yield f"{one.run:<16} {time_of(one.began_at)}  {one.state}  ({counts})"
    yield f"    {_short(one.text)}"
    for call, what in one.waiting.items():
        yield f"    waits: call {call}, {_short(what)}"
    if one.waiting:
        yield f"    look at it with: offing show {one.run}{ground.again}"


def _fields(one: RunSummary) -> dict[str, object]:
    return {
        "run": one.run,
        "state": one.why,
        "text": one.text,
        "by": one.by,
        "began_at_us": one.began_at,
        "last_at_us": one.last_at,
        "iterations": one.iterations,
        "calls": one.calls,
        "cost_usd": None if one.cost is None else f"{one.cost:f}",
        "waiting": one.waiting,
    }


def _short(text: str) -> str:
    line = " ".join(scrub(text).split())
    return line if len(line) <= _TEXT else f"{line[: _TEXT - 3]}..."


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--all", action="store_true", help=f"not only the last {_SHOWN}")
    made.add_argument("--waiting", action="store_true", help="only those that wait for a person")
    made.add_argument("--json", action="store_true", help="one JSON object a line")


RUNS = Command(
    "runs",
    "what runs there are, how each stands, what waits for you",
    _arguments,
    lambda given, ground: runs(ground, everything=given.all, waiting=given.waiting, as_json=given.json),
)
