"""A kill loses nothing that somebody said to a run and repeats nothing, whoever was to say or hear what.

`kill_people.py` runs as real processes. Each kill is a SIGKILL; the process that goes on knows only what
is on the disk.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import kill_people as scenario
from kill_scenario import Log
from offing.engine import SqliteStore
from offing.engine.store.facts import Replied, Settled, Started, Stopped
from offing.engine.store.inbox import Item
from offing.engine.store.people import (
    Answered,
    CancelAsked,
    Decided,
    Expired,
    Questioned,
    Refused,
    Requested,
    Said,
)
from test_kill import KILLED, Left, Nurseries, Nursery

UNINSPECTED = {"pay", "post"}
"""The tools of effect ONCE whose outcome nobody can look up."""


@dataclass(frozen=True, slots=True)
class Disk:
    """What the processes of one folder left, their inbox included."""

    left: Left
    inbox: list[Item]


async def _read(folder: Path) -> Disk:
    store = SqliteStore(folder / "store.db")
    journal = store.scoped("local").journal
    rows = [row async for row in journal.read(scenario.SESSION)]
    inbox = list(await journal.inbox(scenario.SESSION))
    await store.close()
    return Disk(Left(folder, rows, Log(folder).read()), inbox)


@pytest.fixture(scope="module")
def nurseries() -> Iterator[Nurseries]:
    nurseries = Nurseries("kill_people.py")
    yield nurseries
    nurseries.close()


@pytest.fixture(scope="module")
def whole(nurseries: Nurseries, tmp_path_factory: pytest.TempPathFactory) -> Left:
    """What the scenario comes to when nothing happens to it."""
    folder = tmp_path_factory.mktemp("whole")
    with nurseries.one() as nursery:
        assert nursery.run(folder) == 0
    return asyncio.run(_read(folder)).left


def problems(disk: Disk, whole: Left) -> list[str]:
    """What is wrong with a folder whose run was interrupted and came to its end."""
    checks = (_effects(disk.left, whole), _words(disk), _results(disk.left), _requests(disk.left))
    return [problem for check in checks for problem in check]


def _effects(left: Left, whole: Left) -> Iterator[str]:
    """Nothing twice, nothing lost without a word, nothing that nobody approved."""
    calls = {str(line["key"]): str(line["call"]) for line in whole.lines("effect")}
    for key, name in whole.tools.items():
        if left.effects[key] > 1 and name != "look":
            yield f"{name} took effect {left.effects[key]} times"
        if left.effects[key] == 0 and calls[key] not in left.unknown | _cancelled(left):
            yield f"{name} is lost"
    if strangers := set(left.effects) - set(whole.effects):
        yield f"effects under other keys: {strangers}"
    doubted = {fact.tool for fact in left.facts(Settled) if fact.unknown}
    if not doubted <= {f"till__{name}" for name in UNINSPECTED}:
        yield f"reported unknown: {doubted}"
    approved = {fact.call for fact in left.facts(Decided) if fact.approved}
    begun = {fact.call for fact in left.facts(Started) if fact.tool != "till__post"}
    if not begun <= approved:
        yield f"begun {begun}, approved {approved}"


def _cancelled(left: Left) -> set[str]:
    """The calls that the model was told were not executed, because the run was cancelled."""
    told = [fact.result for fact in left.facts(Settled) if "the run was cancelled" in fact.result.content]
    return {result.call for result in told if "ot executed" in result.content or "again" in result.content}


def _words(disk: Disk) -> Iterator[str]:
    """Each word was asked for once and taken in once, and none was refused."""
    left = disk.left
    asked = sorted(fact.call for fact in left.facts(Requested, Questioned))
    if asked != ["1.2", "1.3", "1.4", "1.5"]:
        yield f"asked: {asked}"
    decided = sorted((fact.call, fact.approved, fact.posted.who) for fact in left.facts(Decided))
    if decided != [("1.2", True, "bob"), ("1.3", True, "bob"), ("1.4", False, "bob")]:
        yield f"decided: {decided}"
    answered = [(fact.call, fact.text) for fact in left.facts(Answered)]
    said = [fact.message.text for fact in left.facts(Said)]
    cancelled = [fact.reason for fact in left.facts(CancelAsked)]
    told = (answered, said, cancelled, left.facts(Refused, Expired), disk.inbox)
    if told != ([("1.5", scenario.SAID)], [scenario.MESSAGE], ["enough"], [], []):
        yield f"taken in, refused and left: {told}"
    items = [fact.posted.item for fact in left.facts(Decided, Answered, Said, CancelAsked)]
    if len(set(items)) != 6:
        yield f"items: {items}"


def _results(left: Left) -> Iterator[str]:
    """Each call has one result, the denied one that of its denial, and the run came to its answer once."""
    asked = [call.id for fact in left.facts(Replied) for call in fact.reply.message.calls]
    settled = {fact.result.call: fact.result for fact in left.facts(Settled)}
    if sorted(asked) != sorted(fact.result.call for fact in left.facts(Settled)):
        yield f"asked {asked}, settled {sorted(settled)}"
    denied, answer = settled["1.4"].content, settled["1.5"].content
    if not denied.startswith("Denied by bob: C is no supplier.") or answer != scenario.SAID:
        yield f"denied: {denied!r}, answered: {answer!r}"
    intents = Counter(fact.call for fact in left.facts(Started))
    if any(times > 1 for times in intents.values()):
        yield f"intents: {intents}"
    stops = Counter(fact.why for fact in left.facts(Stopped))
    if stops["cancelled"] != 1 or stops["answered"] != 1 or not stops["waiting"]:
        yield f"stops: {stops}"
    last = left.lines("result")[-1]
    if (last["why"], last["answer"]) != ("answered", scenario.ANSWER):
        yield f"the last result: {last}"
    if set(last["unknown"]) != left.unknown:
        yield f"unknown: {left.unknown}, told: {last['unknown']}"


def _requests(left: Left) -> Iterator[str]:
    """Each request extends the one before, over all processes."""
    sent = [line["segments"] for line in left.lines("request")]
    for place in range(1, len(sent)):
        if sent[place][: len(sent[place - 1])] != sent[place - 1]:
            yield f"request {place + 1} does not extend the one before"


def came_through(folder: Path, kills: int, whole: Left) -> str:
    """What is wrong with a folder after the kills and one process that lived; empty when nothing is."""
    disk = asyncio.run(_read(folder))
    wrong = problems(disk, whole)
    at = [line["at"] for line in disk.left.lines("kill")]
    if len(at) != kills:
        wrong.append(f"{len(at)} kills are logged")
    return f"{folder.name}, killed at {at}: {'; '.join(wrong)}" if wrong else ""


def test_an_uninterrupted_run_hears_everybody_once(whole: Left, nurseries: Nurseries) -> None:
    assert problems(asyncio.run(_read(whole.folder)), whole) == []
    assert Counter(whole.tools.values()) == {"look": 2, "pay": 1, "wire": 1, "post": 1}
    assert whole.unknown == set()


def test_killed_at_every_boundary_nothing_that_was_said_is_lost_or_counts_twice(
    nurseries: Nurseries, whole: Left, tmp_path: Path
) -> None:
    last = whole.boundaries

    def killed_once(nursery: Nursery, point: int) -> str:
        folder = tmp_path / str(point)
        folder.mkdir()
        ends = nursery.run(folder, point), nursery.run(folder)
        return f"killed at {point}: {ends}" if ends != (KILLED, 0) else came_through(folder, 1, whole)

    assert last > 100
    assert nurseries.each(range(1, last + 1), killed_once) == []


def test_killed_again_while_it_goes_on_it_goes_on_again(
    nurseries: Nurseries, whole: Left, tmp_path: Path
) -> None:
    pairs = [(first, 1 + first * 7 % 30) for first in range(2, whole.boundaries, 8)]

    def killed_twice(nursery: Nursery, pair: tuple[int, int]) -> str:
        folder = tmp_path / f"{pair[0]}-{pair[1]}"
        folder.mkdir()
        ends = [nursery.run(folder, point) for point in pair]
        if ends[-1] == KILLED:
            ends.append(nursery.run(folder))
        if ends[0] != KILLED or ends[-1] != 0:
            return f"killed at {pair}: {ends}"
        return came_through(folder, len(ends) - 1, whole)

    assert nurseries.each(pairs, killed_twice) == []
