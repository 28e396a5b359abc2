"""A process that is killed anywhere loses nothing, repeats nothing, and says what it does not know.

`kill_scenario.py` runs as real processes. Each kill is a SIGKILL; the process that goes on knows only
what is on the disk.
"""

import asyncio
import hashlib
import json
import os
import queue
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

import kill_scenario as scenario
from offing.engine.store.facts import Began, Fact, Opened, Replied, Resumed, Settled, Started, Stored
from offing.engine.store.journal import Row
from stores import place_in

T = TypeVar("T")

TESTS = Path(__file__).parent
KILLED = -9
SIDE_BY_SIDE = max(2, min(4, os.cpu_count() or 2))
UNINSPECTED = {"pay", "post", "close_books"}
"""The tools of effect ONCE whose outcome nobody can look up."""
ONCE = UNINSPECTED | {"wire"}


class Nursery:
    """A process that forks a scenario for each line it is given."""

    def __init__(self, script: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, TESTS / script, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, folder: Path, kill_at: int = 0, url: str = "") -> int:
        """Lets one process live; how it ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{folder} {kill_at} {url}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


class Nurseries:
    """A few of them, at work side by side."""

    def __init__(self, script: str = "kill_scenario.py") -> None:
        self._all = [Nursery(script) for _ in range(SIDE_BY_SIDE)]
        self._free: queue.SimpleQueue[Nursery] = queue.SimpleQueue()
        for one in self._all:
            self._free.put(one)

    @contextmanager
    def one(self) -> Generator[Nursery]:
        nursery = self._free.get()
        try:
            yield nursery
        finally:
            self._free.put(nursery)

    def each(self, points: Sequence[T], work: Callable[[Nursery, T], str]) -> list[str]:
        """Does the work for each point; the problems that were found."""

        def one(point: T) -> str:
            with self.one() as nursery:
                return work(nursery, point)

        with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
            return [problem for problem in threads.map(one, points) if problem]

    def close(self) -> None:
        for one in self._all:
            one.close()


@pytest.fixture(scope="module")
def nurseries() -> Iterator[Nurseries]:
    nurseries = Nurseries()
    yield nurseries
    nurseries.close()


@dataclass(frozen=True, slots=True)
class Left:
    """What the processes of one folder left on the disk."""

    folder: Path
    rows: Sequence[Row]
    log: Sequence[dict[str, Any]]

    def lines(self, what: str) -> list[dict[str, Any]]:
        return [line for line in self.log if line["what"] == what]

    def facts(self, *kinds: type[Fact]) -> list[Any]:
        return [row.fact for row in self.rows if isinstance(row.fact, kinds)]

    @property
    def boundaries(self) -> int:
        """How many the last process passed on its way to the end."""
        return int(self.lines("passed")[-1]["count"])

    @property
    def effects(self) -> Counter[str]:
        """How often the world saw each idempotency key."""
        return Counter(str(line["key"]) for line in self.lines("effect"))

    @property
    def tools(self) -> dict[str, str]:
        """The tool behind each key that the world saw."""
        return {str(line["key"]): str(line["tool"]) for line in self.lines("effect")}

    @property
    def unknown(self) -> set[str]:
        """The calls that were reported unknown to the model."""
        return {fact.result.call for fact in self.facts(Settled) if fact.unknown}


async def _rows(folder: Path) -> list[Row]:
    store = scenario.store_in(folder)
    rows = [row async for row in store.scoped("local").journal.read(scenario.SESSION)]
    await store.close()
    return rows


def left_in(folder: Path) -> Left:
    return Left(folder, asyncio.run(_rows(folder)), scenario.Log(folder).read())


@dataclass(frozen=True, slots=True)
class Uninterrupted:
    """What the scenario comes to when nothing happens to it."""

    left: Left
    keys: dict[str, str] = field(init=False)
    """Each idempotency key with its tool."""
    calls: dict[str, str] = field(init=False)
    """Each key with its call's position."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", self.left.tools)
        calls = {str(line["key"]): str(line["call"]) for line in self.left.lines("effect")}
        object.__setattr__(self, "calls", calls)


@pytest.fixture(scope="module")
def uninterrupted(nurseries: Nurseries, tmp_path_factory: pytest.TempPathFactory) -> Uninterrupted:
    folder = tmp_path_factory.mktemp("uninterrupted")
    with nurseries.one() as nursery:
        assert nursery.run(folder) == 0
    return Uninterrupted(left_in(folder))


def problems(left: Left, whole: Uninterrupted) -> list[str]:
    """What is wrong with a folder whose session was interrupted and came to its end."""
    checks = (_effects, _doubts, _results, _answers, _artifacts, _file, _seen, _requests)
    return [problem for check in checks for problem in check(left, whole)]


def _effects(left: Left, whole: Uninterrupted) -> Iterator[str]:
    """Nothing of ONCE twice, nothing lost without a word, nothing that is not part of the work."""
    for key, tool in whole.keys.items():
        times = left.effects[key]
        if tool in ONCE and times > 1:
            yield f"{tool} took effect {times} times"
        if times == 0 and whole.calls[key] not in left.unknown:
            yield f"{tool} is lost"
    if strangers := set(left.effects) - set(whole.keys):
        yield f"effects under other keys: {strangers}"


def _doubts(left: Left, whole: Uninterrupted) -> Iterator[str]:
    """Exactly the doubtful calls that nobody could look up were reported unknown, to everybody."""
    resumes = [row.seq for row in left.rows if isinstance(row.fact, Resumed)]
    started = {row.fact.call: row.seq for row in left.rows if isinstance(row.fact, Started)}
    doubtful: set[str] = set()
    for row in left.rows:
        if isinstance(row.fact, Settled) and row.fact.tool.removeprefix("world__") in UNINSPECTED:
            intent = started.get(row.fact.result.call)
            if intent is not None and any(intent < resume < row.seq for resume in resumes):
                doubtful.add(row.fact.result.call)
    if doubtful != left.unknown:
        yield f"doubtful: {doubtful}, reported unknown: {left.unknown}"
    told = {fact.result.call for fact in left.facts(Settled) if "Outcome unknown" in fact.result.content}
    in_results = {call for line in left.lines("result") for call in line["unknown"]}
    if not told == in_results == left.unknown:
        yield f"the model was told of {told}, the results name {in_results}, unknown: {left.unknown}"


def _results(left: Left, whole: Uninterrupted) -> Iterator[str]:
    """Each call has one result, and what was refused was refused."""
    asked = [call.id for fact in left.facts(Replied) for call in fact.reply.message.calls]
    settled = [fact.result.call for fact in left.facts(Settled)]
    if sorted(asked) != sorted(settled):
        yield f"asked {asked}, settled {settled}"
    wrong = [fact.result.call for fact in left.facts(Settled) if fact.result.error and not fact.unknown]
    if sorted(wrong) != ["1.6", "1.7", "1.8"]:
        yield f"failed calls: {wrong}"
    intents = Counter(fact.call for fact in left.facts(Started))
    if any(times > 1 for times in intents.values()):
        yield f"intents: {intents}"


def _answers(left: Left, whole: Uninterrupted) -> Iterator[str]:
    """Each run began once and came to its answer."""
    told = {line["run"]: (line["why"], line["answer"]) for line in left.lines("result")}
    runs = [f"{scenario.SESSION}.{number}" for number in (1, 2)]
    expected = {run: ("answered", answer) for run, answer in zip(runs, scenario.ANSWERS, strict=True)}
    if told != expected:
        yield f"results: {told}"
    began = [fact.message.text for fact in left.facts(Began)]
    if began != list(scenario.REQUESTS) or len(left.facts(Opened)) != 1:
        yield f"began: {began}"


def _artifacts(left: Left, whole: Uninterrupted) -> Iterator[str]:
    """Whatever a fact names is there, byte for byte."""
    stored: list[Stored] = [one for fact in left.facts(Settled) for one in fact.stored]
    sizes = {one.ref: one.size for one in stored}
    opened: Opened = left.facts(Opened)[0]
    refs = [*sizes, opened.frame, opened.static, opened.context]
    for ref, data in zip(refs, asyncio.run(_get(left.folder, refs)), strict=True):
        if hashlib.sha256(data).hexdigest() != ref or len(data) != sizes.get(ref, len(data)):
            yield f"artifact {ref} is not whole"
    if [one.handle for one in stored] != ["result/2.5"]:
        yield f"handles: {stored}"


async def _get(folder: Path, refs: Sequence[str]) -> list[bytes]:
    store = scenario.store_in(folder)
    found = [await store.scoped("local").artifacts.get(ref) for ref in refs]
    await store.close()
    return found


def _file(left: Left, whole: Uninterrupted) -> Iterator[str]:
    files = {path.name: path.read_text() for path in (left.folder / "files").iterdir()}
    if files != {scenario.FILE: scenario.REPORTS[1]}:
        yield f"files: { {name: len(text) for name, text in files.items()} }"


def _seen(left: Left, whole: Uninterrupted) -> Iterator[str]:
    """The rows stand without gap, and what a watcher saw is among them."""
    if [row.seq for row in left.rows] != list(range(1, len(left.rows) + 1)):
        yield f"rows: {[row.seq for row in left.rows]}"
    if any(line["until"] > len(left.rows) for line in left.lines("seen")):
        yield "a watcher saw what is not in the journal"


def _requests(left: Left, whole: Uninterrupted) -> Iterator[str]:
    """Each request extends the one before, over all processes."""
    sent = [line["segments"] for line in left.lines("request")]
    for place in range(1, len(sent)):
        if sent[place][: len(sent[place - 1])] != sent[place - 1]:
            yield f"request {place + 1} does not extend the one before"


def came_through(folder: Path, kills: Sequence[int], whole: Uninterrupted) -> str:
    """What is wrong with a folder after the kills and one process that lived; empty when nothing is."""
    left = left_in(folder)
    wrong = problems(left, whole)
    if len(left.lines("kill")) != len(kills):
        wrong.append(f"{len(left.lines('kill'))} kills are logged")
    at = [line["at"] for line in left.lines("kill")]
    return f"killed at {list(kills)} ({at}): {'; '.join(wrong)}" if wrong else ""


def test_an_uninterrupted_session_has_no_doubts(uninterrupted: Uninterrupted) -> None:
    left = uninterrupted.left
    assert problems(left, uninterrupted) == []
    assert left.unknown == set()
    assert Counter(uninterrupted.keys.values()) == Counter(
        look=1, peek=2, put=2, pay=2, post=1, wire=1, stamp=1, export=1, close_books=1
    )
    assert set(left.effects.values()) == {1}


def test_a_process_of_its_own_passes_as_many_boundaries(uninterrupted: Uninterrupted, tmp_path: Path) -> None:
    """What is forked from a warm parent is what a process is that a person starts."""
    script = TESTS / "kill_scenario.py"
    done = subprocess.run([sys.executable, script, tmp_path, "0"], check=False, timeout=60)
    assert done.returncode == 0
    assert problems(left_in(tmp_path), uninterrupted) == []
    assert left_in(tmp_path).boundaries == uninterrupted.left.boundaries


def test_killed_at_every_boundary_it_goes_on_as_if_nothing_had_happened(
    nurseries: Nurseries, uninterrupted: Uninterrupted, tmp_path: Path
) -> None:
    last = uninterrupted.left.boundaries

    def killed_once(nursery: Nursery, point: int) -> str:
        folder = tmp_path / str(point)
        folder.mkdir()
        ends = nursery.run(folder, point), nursery.run(folder)
        if ends != (KILLED, 0):
            return f"killed at {point}: {ends}"
        return came_through(folder, [point], uninterrupted)

    assert last > 150
    assert nurseries.each(range(1, last + 1), killed_once) == []


def test_killed_at_any_boundary_it_goes_on_from_what_a_server_keeps(
    nurseries: Nurseries, uninterrupted: Uninterrupted, tmp_path: Path
) -> None:
    """At every ninth, each in a database of its own."""
    points = range(1, uninterrupted.left.boundaries + 1, 9)
    for point in points:
        (tmp_path / str(point)).mkdir()
        place_in("postgres", tmp_path / str(point))

    def killed_once(nursery: Nursery, point: int) -> str:
        folder = tmp_path / str(point)
        ends = nursery.run(folder, point), nursery.run(folder)
        if ends != (KILLED, 0):
            return f"killed at {point}: {ends}"
        return came_through(folder, [point], uninterrupted)

    assert nurseries.each(points, killed_once) == []


def test_beyond_the_last_boundary_there_is_nothing_to_be_killed_at(
    nurseries: Nurseries, uninterrupted: Uninterrupted, tmp_path: Path
) -> None:
    with nurseries.one() as nursery:
        assert nursery.run(tmp_path, uninterrupted.left.boundaries + 1) == 0
    assert left_in(tmp_path).lines("kill") == []


def test_killed_again_while_it_goes_on_it_goes_on_again(
    nurseries: Nurseries, uninterrupted: Uninterrupted, tmp_path: Path
) -> None:
    last = uninterrupted.left.boundaries
    pairs = [(first, 1 + first * 7 % 30) for first in range(2, last, 3)]
    twice: list[tuple[int, int]] = []

    def killed_twice(nursery: Nursery, pair: tuple[int, int]) -> str:
        folder = tmp_path / f"{pair[0]}-{pair[1]}"
        folder.mkdir()
        ends = [nursery.run(folder, point) for point in pair]
        if ends[-1] == KILLED:
            twice.append(pair)
            ends.append(nursery.run(folder))
        if ends[0] != KILLED or ends[-1] != 0:
            return f"killed at {pair}: {ends}"
        return came_through(folder, pair[: len(ends) - 1], uninterrupted)

    assert nurseries.each(pairs, killed_twice) == []
    assert len(twice) > len(pairs) // 2


def test_of_two_processes_that_go_on_with_one_run_one_does(
    nurseries: Nurseries, uninterrupted: Uninterrupted, tmp_path: Path
) -> None:
    def fought_for(nursery: Nursery, point: int) -> str:
        folder = tmp_path / str(point)
        folder.mkdir()
        assert nursery.run(folder, point) == KILLED
        with nurseries.one() as other, ThreadPoolExecutor(2) as both:
            ends = [one.result() for one in [both.submit(each.run, folder) for each in (nursery, other)]]
        if sorted(ends) not in ([0, 0], [0, scenario.HELD]):
            return f"killed at {point}: {ends}"
        left = left_in(folder)
        owners = {row.fact.owner for row in left.rows if isinstance(row.fact, Resumed)}
        wrong = problems(left, uninterrupted)
        return f"killed at {point}: {len(owners)} owners, {wrong}" if wrong or len(owners) != 2 else ""

    points = range(20, uninterrupted.left.boundaries, 40)
    with nurseries.one() as nursery:
        assert [problem for point in points if (problem := fought_for(nursery, point))] == []


REPLIES: list[Any] = [
    {
        "blocks": [
            {"type": "thinking", "thinking": "Where to begin?"},
            {"type": "text", "text": "Everything at once."},
            {"type": "tool_use", "name": "world__look", "input": {}},
            {"type": "tool_use", "name": "world__pay", "input": {"amount": 1}},
            {"type": "tool_use", "name": "world__put", "input": {"item": "a"}},
        ],
        "stop_reason": "tool_use",
    },
    {
        "blocks": [
            {"type": "thinking", "thinking": "Now the rest."},
            {
                "type": "tool_use",
                "name": "world__invoke_tool",
                "input": {"tool": "wire", "arguments": {"amount": 2}},
            },
            {
                "type": "tool_use",
                "name": "write_file",
                "input": {"path": scenario.FILE, "text": "half"},
            },
        ],
        "stop_reason": "tool_use",
    },
    {"blocks": [{"type": "text", "text": "Closed."}]},
    {
        "blocks": [
            {"type": "tool_use", "name": "world__post", "input": {"entry": "b"}},
            {
                "type": "tool_use",
                "name": "write_file",
                "input": {"path": scenario.FILE, "text": "whole"},
            },
        ],
        "stop_reason": "tool_use",
    },
    {"blocks": [{"type": "text", "text": "Paid."}]},
]
"""By position: what a client is told that was killed and goes on is what it would have been told."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A server that refuses what the API refuses, as a process of its own."""
    script = tmp_path / "replies.json"
    script.write_text(json.dumps(REPLIES))
    process = subprocess.Popen(
        [sys.executable, TESTS / "loopback.py", "--script", script], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.kill()
    process.communicate()


def test_killed_over_a_real_wire_its_requests_still_extend_and_none_is_refused(
    nurseries: Nurseries, server: str, tmp_path: Path
) -> None:
    def settled(folder: Path) -> list[tuple[str, str, bool]]:
        found = [fact.result for fact in left_in(folder).facts(Settled) if not fact.unknown]
        return sorted((one.call, one.content, one.error) for one in found)

    whole = tmp_path / "whole"
    whole.mkdir()
    with nurseries.one() as nursery:
        assert nursery.run(whole, 0, server) == 0
    boundaries = Uninterrupted(left_in(whole))
    expected = settled(whole)

    def killed(nursery: Nursery, point: int) -> str:
        folder = tmp_path / str(point)
        folder.mkdir()
        ends = nursery.run(folder, point, server), nursery.run(folder, 0, server)
        left = left_in(folder)
        told = [(line["run"], line["why"], line["answer"]) for line in left.lines("result")]
        wrong = [*_effects(left, boundaries), *_doubts(left, boundaries), *_requests(left, boundaries)]
        if ends != (KILLED, 0) or told[-1] != ("books.2", "answered", "Paid."):
            wrong.append(f"{ends}, {told}")
        if not set(settled(folder)) <= set(expected):
            wrong.append(f"settled: {settled(folder)}")
        return f"killed at {point}: {wrong}" if wrong else ""

    points = range(3, boundaries.left.boundaries + 1, 5)
    assert len(points) > 10
    assert nurseries.each(points, killed) == []
