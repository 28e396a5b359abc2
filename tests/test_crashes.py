"""A process that is killed anywhere loses nothing, repeats nothing, and says what it does not know.

Swept are `crash_scenario.py`, `crash_demo.py` and `crash_posting.py`; `kill_all.py` takes every point of the
first two.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from crash_scenario import WIRE_REPLIES
from offing.engine.crashes import Deed, Report, Sample, sweep
from offing.engine.crashes.journey import Journey, judged
from offing.engine.crashes.life import ANSWERED, FAILED, KILLED, Kill, Log, Order
from offing.engine.crashes.nursery import Nursery
from offing.engine.errors import ConfigurationError
from postgres_server import server

TESTS = Path(__file__).parent
SEED = 5
Json = dict[str, Any]


def counts(report: Report) -> tuple[int, int, str]:
    """What was lost and what repeated; and in words what else is wrong."""
    return report.lost, report.repeated, report.text() if report.faults else ""


def test_killed_at_every_point_of_the_scenario_nothing_is_lost_and_nothing_repeated() -> None:
    report = sweep("crash_scenario:scenario")
    assert counts(report) == (0, 0, "")
    assert len(report.killed) == report.points > 200
    assert report.inside > 40
    assert report.doubtful > 30


def test_killed_again_while_it_goes_on_it_goes_on_again() -> None:
    report = sweep("crash_scenario:scenario", sample=Sample(12, SEED), twice=True)
    assert counts(report) == (0, 0, "")
    assert sum(bool(each.again) for each in report.killed) > 6


def test_what_a_server_keeps_survives_a_kill_as_well() -> None:
    report = sweep("crash_scenario:scenario", store=server().url("postgres"), sample=Sample(14, SEED))
    assert (counts(report), len(report.killed)) == ((0, 0, ""), 14)


@pytest.mark.parametrize("kind", ["SQLite", "PostgreSQL"])
def test_the_demo_is_killed_anywhere_and_the_books_carry_its_entry_once(kind: str) -> None:
    url = server().url("postgres") if kind == "PostgreSQL" else ""
    report = sweep("crash_demo:scenario", store=url, sample=Sample(13, SEED))
    assert (counts(report), report.store, len(report.killed)) == ((0, 0, ""), kind, 13)
    assert report.processes == 3


def test_an_entry_is_posted_once_wherever_the_process_is_killed() -> None:
    report = sweep("crash_posting:scenario", sample=Sample(16, SEED))
    assert (counts(report), report.doubtful) == ((0, 0, ""), 0)


@pytest.fixture
def wire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that refuses what the API refuses, as a process of its own."""
    script = tmp_path / "replies.json"
    script.write_text(json.dumps(WIRE_REPLIES))
    command = [sys.executable, TESTS / "loopback.py", "--script", script]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    (tmp_path / "url").write_text(process.stdout.readline())
    monkeypatch.setenv("CRASH_WIRE", str(tmp_path / "url"))
    yield
    process.kill()
    process.communicate()


@pytest.mark.usefixtures("wire")
def test_killed_over_a_real_wire_its_requests_still_extend_and_none_is_refused() -> None:
    report = sweep("crash_scenario:over_the_wire", sample=Sample(10, SEED))
    assert counts(report) == (0, 0, "")


@pytest.fixture
def nurseries() -> Iterator[list[Nursery]]:
    both = [Nursery("crash_scenario:scenario") for _ in range(2)]
    yield both
    for each in both:
        each.close()


def test_of_two_processes_that_go_on_with_one_run_one_does(nurseries: list[Nursery], tmp_path: Path) -> None:
    whole = journey(tmp_path / "whole", nurseries[:1], [])
    left = journey(tmp_path / "left", nurseries, [60])
    assert judged(whole, left, 1).wrong == ()
    assert (judged(whole, left, 1).lost, judged(whole, left, 1).repeated) == ((), ())


def journey(root: Path, nurseries: list[Nursery], kills: list[int]) -> Journey:
    """Rounds in which all nurseries go on at the same time, after one that is killed.

    Whoever comes while the other one works is told so, and fails for no other reason.
    """
    (root / "files").mkdir(parents=True)

    def lived(nursery: Nursery, kill: Kill) -> int:
        return nursery.live(Order(root, str(root / "store.db"), kill, 60))

    ends = [lived(nurseries[0], Kill(number=number)) for number in kills]
    assert ends == [KILLED] * len(kills)
    with ThreadPoolExecutor(len(nurseries)) as threads:
        while ANSWERED not in ends:
            ended = list(threads.map(lived, nurseries, [Kill()] * len(nurseries)))
            ends += sorted(ended, reverse=True)
    output = (root / "output.txt").read_text()
    assert output.count("LeaseHeld: ") == ends.count(FAILED)
    return Journey((*(end for end in ends if end not in {FAILED, ANSWERED}), ANSWERED), Log(root).read())


def test_a_sweep_finds_what_is_lost_repeated_and_wrong_and_where() -> None:
    report = sweep("crash_faults:scenario", workers=1)
    text = "\n".join(
        line for line in report.text().splitlines()[1:] if not line.startswith(("  File", "    "))
    )
    assert not report.is_clean
    assert text == snapshot("""\
killed at process 1, repeats:
  repeated: paid twice
killed at process 1, forgets:
  lost: never paid
killed at process 1, breaks:
  process 2 ended with 1: Traceback (most recent call last):
ValueError: the state makes no sense
  no answer after 2 processes
killed at process 1, stalls:
  no answer after 5 processes
killed at process 1, answers otherwise:
  the answer is ...'The answer, again.', not ...'The answer.'\
""")
    told = report.to_json()
    assert (told["kills"], told["lost"], told["repeated"], told["wrong"]) == (6, 1, 1, 4)


def test_the_same_seed_takes_the_same_points_and_each_journey_is_killed_where_it_says() -> None:
    reports = [sweep("crash_faults:scenario", sample=Sample(3, seed=1), workers=2) for _ in range(2)]
    first, second = ([str(each.point) for each in report.killed] for report in reports)
    assert first == second
    assert len(first) == 3


def test_what_is_no_scenario_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        sweep("crash_faults:nothing", workers=1)
    assert "'crash_faults:nothing' is no scenario" in capfd.readouterr().err


def end(deeds: list[Deed], *calls: tuple[str, str, str], answer: str = "Done.") -> Journey:
    """A journey of one process; calls are position, key and what was told."""
    told = [{"call": call, "tool": "sys__pay", "key": key, "told": how} for call, key, how in calls]
    line: Json = {"what": "end", "deeds": [list(each) for each in deeds], "problems": [], "calls": told}
    return Journey((ANSWERED,), [line | {"answer": answer}])


A, B = Deed("paid A", "a"), Deed("paid B", "b")
WHOLE = end([A, B], ("1.1", "a", "done"), ("1.2", "b", "done"))


def test_a_deed_that_is_missing_is_accounted_for_by_its_own_call_alone() -> None:
    doubted = end([A], ("1.1", "a", "done"), ("1.2", "b", "unknown"))
    forgotten = end([A], ("1.1", "a", "unknown"), ("1.2", "b", "done"))
    withheld = end([A], ("1.1", "a", "done"), ("1.2", "", "failed"))
    assert (judged(WHOLE, doubted, 0).lost, judged(WHOLE, doubted, 0).doubtful) == (
        (),
        ("sys__pay, call 1.2",),
    )
    assert judged(WHOLE, forgotten, 0).lost == ("paid B",)
    assert (judged(WHOLE, withheld, 0).lost, judged(WHOLE, withheld, 0).withheld) == (
        (),
        ("sys__pay, call 1.2",),
    )


def test_a_deed_without_a_key_is_accounted_for_by_one_call_that_is_left() -> None:
    whole = end([Deed("x"), Deed("y")], ("1.1", "a", "done"), ("1.2", "b", "done"))
    assert judged(whole, end([Deed("x")], ("1.1", "a", "done"), ("1.2", "b", "unknown")), 0).lost == ()
    assert judged(whole, end([], ("1.1", "a", "done"), ("1.2", "b", "unknown")), 0).lost == ("y",)


def test_another_answer_is_wrong_unless_the_model_was_told_of_a_doubt() -> None:
    other = end([A, B], ("1.1", "a", "done"), ("1.2", "b", "done"), answer="Well done.")
    doubted = end([A, B], ("1.1", "a", "done"), ("1.2", "b", "unknown"), answer="Look at B.")
    assert judged(WHOLE, other, 0).wrong == ("the answer is ...'Well done.', not ...'Done.'",)
    assert judged(WHOLE, doubted, 0).wrong == ()


def test_a_request_that_does_not_extend_the_one_before_is_told() -> None:
    sent = [["s", "c", "u"], ["s", "c", "u", "a", "r"], ["s", "c", "other"], ["s", "c", "u", "A", "r", "b"]]
    requests: list[Json] = [{"what": "request", "parts": parts} for parts in sent]
    left = Journey((ANSWERED,), [*requests, *WHOLE.log])
    assert judged(WHOLE, left, 0).wrong == ("request 4 does not extend the one before",)
