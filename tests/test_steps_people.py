"""What a run does next after people were asked, and after what they said, is decided by its state alone."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from offing.compaction.conversation import Message
from offing.compaction.conversation import Text as Words
from offing.engine.steps import Ask, Execute, Step, next_step
from offing.engine.store.facts import Fact, Resumed, Started, Stopped, Task, TasksSet
from offing.engine.store.people import (
    Answered,
    CancelAsked,
    Decided,
    Expired,
    Posted,
    Questioned,
    Refused,
    Requested,
    Said,
)
from offing.engine.waiting import Waiting
from test_steps import BOTH, USER, after, began, result, said
from worlds import HandClock

NOW = HandClock().at
ANN = Posted(1, "ann", NOW)
CANCEL = CancelAsked(ANN, "enough")
REQUEST = Requested("1.1", "sys__a", {}, "d", "p", "w")
DUE = replace(REQUEST, expires_at=NOW)
QUESTION = Questioned("1.2", "Which\n one?")
APPROVED = Decided(ANN, "1.1", approved=True)
DENIED = Decided(ANN, "1.1", approved=False)
BEGUN = began()
ASKED = [*BEGUN, said("tools", "", "a", "b")]
OPEN: list[Fact] = [*ASKED, REQUEST, QUESTION]

CANCELLED = Stopped("cancelled", "cancelled by ann: enough")
WAITS = Stopped("waiting", "waits for approval of 1.1 (sys__a); an answer to 1.2: Which one?")
FIRST, SECOND = (Execute(BOTH[place : place + 1], (), executable=True) for place in (0, 1))


@pytest.mark.parametrize(
    ("facts", "step"),
    [
        pytest.param([*ASKED, REQUEST], SECOND, id="the other call of the batch is settled first"),
        pytest.param(
            [*ASKED, REQUEST, result("1.2")],
            Stopped("waiting", "waits for approval of 1.1 (sys__a)"),
            id="then the run stops",
        ),
        pytest.param(OPEN, WAITS, id="for all that is open"),
        pytest.param([*OPEN, APPROVED], FIRST, id="an approved call is executed while another waits"),
        pytest.param([*OPEN, DENIED], FIRST, id="a denied one is brought to its result"),
        pytest.param([*OPEN, Answered(ANN, "1.2", "This.")], SECOND, id="so is an answered one"),
        pytest.param([*OPEN, Said(ANN, USER)], WAITS, id="a message decides nothing"),
        pytest.param([*OPEN, Refused(ANN, "say", ".")], WAITS, id="nor does what was refused"),
        pytest.param([*OPEN, Stopped("waiting"), Resumed("me")], WAITS, id="nor a resume"),
        pytest.param([*OPEN, Stopped("waiting"), Resumed("me"), APPROVED], FIRST, id="a word after it does"),
        pytest.param([*ASKED, DUE, result("1.2")], Expired("1.1"), id="what is due expires"),
        pytest.param([*ASKED, DUE, QUESTION], Expired("1.1"), id="before a question is waited for"),
        pytest.param([*ASKED, DUE, APPROVED, result("1.2")], FIRST, id="what was decided does not expire"),
        pytest.param([*ASKED, DUE, Expired("1.1"), result("1.2")], FIRST, id="what expired gets its result"),
        pytest.param(
            [*ASKED, replace(REQUEST, expires_at=NOW + 1), result("1.2")],
            Stopped("waiting", "waits for approval of 1.1 (sys__a) until 2026-09-14 08:00:00 UTC"),
            id="what is not due yet is waited for",
        ),
        pytest.param([*OPEN, CANCEL], Execute(BOTH, (), executable=False), id="a cancel waits for nobody"),
        pytest.param(
            [*ASKED, Started("1.1", "a", "k"), CANCEL],
            Execute(BOTH[1:], BOTH[:1], executable=False),
            id="nothing is begun after a cancel",
        ),
        pytest.param([*BEGUN, CANCEL], CANCELLED, id="a cancel before the first reply"),
        pytest.param([*BEGUN, said("end", "So."), CANCEL], CANCELLED, id="a cancel before the verdict"),
        pytest.param([*BEGUN, CANCEL, Resumed("me")], CANCELLED, id="a cancel outlives a kill"),
        pytest.param([*BEGUN, CANCEL, CANCELLED, Resumed("me")], Ask(), id="and ends with its stop"),
        pytest.param([*BEGUN, said("end", "So."), Said(ANN, USER)], Ask(), id="a message after the answer"),
        pytest.param([*BEGUN, said("length", "So"), Said(ANN, USER)], Ask(), id="after a cut reply"),
        pytest.param([*BEGUN, said("pause", "So"), Said(ANN, USER)], Ask(), id="in a paused turn"),
    ],
)
def test_what_people_say_decides_the_next_step(facts: Sequence[Fact], step: Step) -> None:
    assert next_step(after(*facts)) == step


def test_a_cancelled_run_says_what_is_done_what_is_left_and_what_nobody_knows() -> None:
    tasks = (Task("Look", "done"), Task("Explain\nit " * 30, "active"), Task("Post", "pending"))
    unknown = replace(result("1.2", error=True), unknown=True)
    cancel = replace(CANCEL, posted=Posted(1, "", NOW))
    short = ("Explain it " * 30)[:117]
    assert next_step(after(*ASKED, TasksSet(tasks), result("1.1"), unknown, cancel)) == Stopped(
        "cancelled",
        f"cancelled: enough; 1 of 3 tasks are dealt with; left to do: {short}..., Post; of unknown outcome: "
        "1.2",
    )


def test_the_first_word_on_a_call_counts_and_only_where_one_was_asked_for() -> None:
    state = after(*ASKED, REQUEST, APPROVED, DENIED, Expired("1.1"), Answered(ANN, "1.1", "x"))
    assert state.current.waiting == {"1.1": Waiting(REQUEST, APPROVED)}
    assert after(*ASKED, APPROVED, Answered(ANN, "7.7", "x")).current.waiting == {}


def message(text: str) -> Message:
    return Message("user", (Words(text),))


def test_what_was_said_stands_behind_the_results_in_order() -> None:
    one, two = message("One."), message("Two.")
    state = after(*ASKED, Said(ANN, one), result("1.2"), Said(ANN, two), result("1.1"))
    roles = [each.role for each in state.conversation.messages]
    assert (roles, state.current.said) == (["user", "assistant", "tool", "user", "user"], [])
    assert state.conversation.messages[-2:] == [one, two]


def test_what_was_said_into_a_paused_turn_is_not_lost_when_another_run_begins() -> None:
    late = message("Late.")
    facts = [*BEGUN, said("pause", "So"), Said(ANN, late), Stopped("paused"), *BEGUN[1:]]
    assert after(*facts).conversation.messages[-2:] == [late, USER]
