"""A run and its children, killed at every boundary: nothing is lost and nothing is done twice."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import kill_children as scenario
from offing.engine.store.facts import Began, Replied, Settled, Started, Stopped
from offing.engine.store.strands import Delegated
from test_kill import KILLED, Left, Nurseries, Nursery, left_in

UNINSPECTED = {"pay", "post", "drop"}
"""The tools of effect ONCE whose outcome nobody can look up."""
ONCE = UNINSPECTED | {"wire"}
CHILDREN = [f"{scenario.RUN}.1.1.{number}" for number in (1, 2, 3)]


@pytest.fixture(scope="module")
def nurseries() -> Iterator[Nurseries]:
    nurseries = Nurseries("kill_children.py")
    yield nurseries
    nurseries.close()


@pytest.fixture(scope="module")
def whole(nurseries: Nurseries, tmp_path_factory: pytest.TempPathFactory) -> Left:
    """What is left when nothing happens to it."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    with nurseries.one() as nursery:
        assert nursery.run(folder) == 0
    return left_in(folder)


def problems(left: Left, whole: Left) -> list[str]:
    return [problem for check in (_effects, _facts, _told, _requests) for problem in check(left, whole)]


def _effects(left: Left, whole: Left) -> Iterator[str]:
    """Each effect under the key that it always has: of ONCE never twice, and lost only if it is said."""
    calls = {str(line["key"]): str(line["call"]) for line in whole.lines("effect")}
    for key, tool in whole.tools.items():
        if tool in ONCE and left.effects[key] > 1:
            yield f"{tool} took effect {left.effects[key]} times"
        if not left.effects[key] and calls[key] not in left.unknown:
            yield f"{tool} is lost"
    if strangers := set(left.effects) - set(whole.tools):
        yield f"effects under other keys: {strangers}"
    started = {fact.call for fact in left.facts(Started) if fact.tool.removeprefix("world__") in UNINSPECTED}
    if not left.unknown <= started:
        yield f"reported unknown: {left.unknown}"


def _facts(left: Left, whole: Left) -> Iterator[str]:
    """The work is handed on once, each child begins once, and each call has one result and one intent."""
    began = Counter(row.run for row in left.rows if isinstance(row.fact, Began))
    if began != Counter([scenario.RUN, *CHILDREN]) or len(left.facts(Delegated)) != 1:
        yield f"began: {began}, handed on {len(left.facts(Delegated))} times"
    asked = [call.id for fact in left.facts(Replied) for call in fact.reply.message.calls]
    if sorted(asked) != sorted(fact.result.call for fact in left.facts(Settled)):
        yield f"asked {asked}"
    intents = Counter(fact.call for fact in left.facts(Started))
    if any(times > 1 for times in intents.values()):
        yield f"intents: {intents}"
    stops = Counter(
        row.run for row in left.rows if isinstance(row.fact, Stopped) and row.fact.why == "answered"
    )
    if stops != began:
        yield f"stops: {stops}"
    if [row.seq for row in left.rows] != list(range(1, len(left.rows) + 1)):
        yield "the rows do not stand one behind the other"


def _told(left: Left, whole: Left) -> Iterator[str]:
    """The result is what it would have been, with what nobody knows."""
    expected = {**whole.lines("result")[-1], "unknown": sorted(left.unknown)}
    told = {**left.lines("result")[-1], "unknown": sorted(left.lines("result")[-1]["unknown"])}
    if told != expected:
        yield f"result: {told}"


def _requests(left: Left, whole: Left) -> Iterator[str]:
    """Each request of a run extends the one before, over all processes; all share the first two layers."""
    runs: dict[str, list[str]] = {}
    for line in left.lines("request"):
        head, segments = line["segments"][2], line["segments"]
        if segments[: len(runs.get(head, ()))] != runs.get(head, []):
            yield f"a request of {head[:60]!r} does not extend the one before"
        runs[head] = segments
    if len({tuple(segments[:2]) for segments in runs.values()}) != 1 or len(runs) != len(CHILDREN) + 1:
        yield f"{len(runs)} conversations"


def test_uninterrupted_it_comes_to_its_end_without_doubts(whole: Left) -> None:
    assert problems(whole, whole) == []
    assert (whole.unknown, set(whole.effects.values())) == (set(), {1})
    assert whole.lines("result")[-1]["children"] == [
        [CHILDREN[0], "answered", 3],
        [CHILDREN[1], "answered", 2],
        [CHILDREN[2], "answered", 2],
    ]


def test_killed_at_every_boundary_parent_and_children_go_on_in_the_middle(
    nurseries: Nurseries, whole: Left, tmp_path: Path
) -> None:
    def killed_once(nursery: Nursery, point: int) -> str:
        folder = tmp_path / str(point)
        folder.mkdir()
        ends = nursery.run(folder, point), nursery.run(folder)
        if ends != (KILLED, 0):
            return f"killed at {point}: {ends}"
        left = left_in(folder)
        wrong = problems(left, whole)
        return f"killed at {point} ({[line['at'] for line in left.lines('kill')]}): {wrong}" if wrong else ""

    assert whole.boundaries > 80
    assert nurseries.each(range(1, whole.boundaries - 3), killed_once) == []


def test_killed_again_while_they_go_on_they_go_on_again(
    nurseries: Nurseries, whole: Left, tmp_path: Path
) -> None:
    def killed_twice(nursery: Nursery, pair: tuple[int, int]) -> str:
        folder = tmp_path / f"{pair[0]}-{pair[1]}"
        folder.mkdir()
        ends = [nursery.run(folder, point) for point in pair]
        ends.append(nursery.run(folder))
        if ends[0] != KILLED or ends[-1] != 0:
            return f"killed at {pair}: {ends}"
        wrong = problems(left_in(folder), whole)
        return f"killed at {pair}: {wrong}" if wrong else ""

    pairs = [(first, 1 + first * 7 % 30) for first in range(20, whole.boundaries - 10, 24)]
    assert nurseries.each(pairs, killed_twice) == []
