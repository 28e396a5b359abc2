"""The sweep: one journey that nothing happens to, then one for each of its points, killed there."""

import os
import queue
import random
import shutil
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..errors import ConfigurationError
from .journey import Journey, Point, judged
from .life import GOES_ON, KILLED, Kill, Log, Order
from .nursery import Nursery
from .places import Places
from .report import Killed, Report

_AGAIN = 30
"""A second kill is at one of so many points of the process that goes on."""


class Sample(NamedTuple):
    """Some of all points, the same ones for the same seed."""

    size: int
    seed: int = 0


class _Plan(NamedTuple):
    """Where one journey is to be killed."""

    point: Point
    again: int = 0
    """Number of the point at which the process that goes on is killed; 0 where it is not."""


def sweep(
    scenario: str,
    *,
    store: str = "",
    sample: Sample | None = None,
    twice: bool = False,
    workers: int | None = None,
    timeout_s: float = 60.0,
) -> Report:
    """Kills real processes of a scenario with SIGKILL, one journey a point, and says what that did.

    Args:
        scenario: `module:attribute`; the module is found as it is here.
        store: URL of a PostgreSQL database; each journey gets a database of its own on that server, which is
            dropped afterwards. Empty for SQLite files.
        sample: Which points; None for every one.
        twice: Whether the process that goes on is killed as well, at one of its first 30 points.
        workers: Journeys at the same time; None for one a processor.
        timeout_s: Seconds that one process may take.

    Raises:
        ConfigurationError: the scenario cannot be loaded, or does not come to an answer when nothing happens.
    """
    begun = time.monotonic()
    with _folder() as folder, ExitStack() as stack:
        number = workers or os.cpu_count() or 1
        nurseries = [stack.enter_context(_nursery(scenario)) for _ in range(number)]
        work = _Sweep(Places(folder, store), nurseries, timeout_s)
        whole = work.whole()
        killed = work.killed(whole, _planned([*whole.points], sample, twice=twice))
        points = len([*whole.points])
    return Report(scenario, work.places.kind, points, len(whole.ends), killed, time.monotonic() - begun)


@contextmanager
def _folder() -> Generator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="offing-crashes-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _nursery(scenario: str) -> Generator[Nursery]:
    nursery = Nursery(scenario)
    try:
        yield nursery
    finally:
        nursery.close()


def _planned(points: Sequence[Point], sample: Sample | None, *, twice: bool) -> list[_Plan]:
    """Which of the points, in their order; the second kill is drawn by the point's place."""
    chosen: Sequence[int] = range(len(points))
    if sample is not None and sample.size < len(points):
        chosen = sorted(random.Random(sample.seed).sample(chosen, sample.size))
    return [_Plan(points[at], random.Random(at).randint(1, _AGAIN) if twice else 0) for at in chosen]


@dataclass(frozen=True, slots=True)
class _Sweep:
    """One sweep's means."""

    places: Places
    nurseries: Sequence[Nursery]
    timeout_s: float

    def whole(self) -> Journey:
        """The journey that nothing happens to. What it loaded, all later processes find loaded.

        Raises:
            ConfigurationError: it does not come to an answer, or something is wrong with it.
        """
        whole = self._journey(self.nurseries[0], "whole", {})
        verdict = judged(whole, whole, 0) if whole.log else None
        if verdict is None or verdict.wrong:
            told = "; ".join(verdict.wrong) if verdict else whole.output
            raise ConfigurationError(f"the scenario does not come through even when nothing happens: {told}")
        for nursery in self.nurseries:
            nursery.warm(whole.end["modules"])
        return whole

    def killed(self, whole: Journey, plans: Sequence[_Plan]) -> tuple[Killed, ...]:
        """A journey for each plan, several at the same time."""
        free: queue.SimpleQueue[Nursery] = queue.SimpleQueue()
        for nursery in self.nurseries:
            free.put(nursery)

        def one(numbered: tuple[int, _Plan]) -> Killed:
            nursery = free.get()
            try:
                return self._killed(nursery, whole, *numbered)
            finally:
                free.put(nursery)

        with ThreadPoolExecutor(len(self.nurseries)) as threads:
            return tuple(threads.map(one, enumerate(plans, 1)))

    def _killed(self, nursery: Nursery, whole: Journey, number: int, plan: _Plan) -> Killed:
        kills = {plan.point.process: Kill(point=plan.point.name)}
        if plan.again:
            kills[plan.point.process + 1] = Kill(number=plan.again)
        left = self._journey(nursery, f"{number}", kills, 2 * len(whole.ends) + 3)
        second = [str(line["at"]) for line in left.lines("kill")][1:]
        return Killed(plan.point, "".join(second), judged(whole, left, 1))

    def _journey(self, nursery: Nursery, name: str, kills: dict[int, Kill], most: int = 100) -> Journey:
        """One process after another, until one has the answer or fails; at most so many."""
        with self.places.one(name) as (root, store):
            ends: list[int] = []
            for end in self._ends(nursery, root, store, kills):
                ends.append(end)
                if end not in {GOES_ON, KILLED} or len(ends) == most:
                    break
            output = root / "output.txt"
            journey = Journey(tuple(ends), Log(root).read(), output.read_text(errors="replace"))
            shutil.rmtree(root)
        return journey

    def _ends(self, nursery: Nursery, root: Path, store: str, kills: dict[int, Kill]) -> Iterator[int]:
        for number in range(1, 1_000_000):
            kill = kills.get(number, Kill(number=-1) if kills else Kill())
            yield nursery.live(Order(root, store, kill, self.timeout_s))
