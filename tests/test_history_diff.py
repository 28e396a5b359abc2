"""A diff says where two runs part, by kind, and nothing where they do not."""

import asyncio
import json

import pytest
from hypothesis import given

from bare_run import begun_run
from histories import STEPS, looking, posting, rows_of, worked
from offing.engine import MemoryStore, Step
from offing.engine.errors import NotFound
from offing.engine.history import Diff, Difference, MessageEdit, ResultEdit, diff
from offing.engine.history.parts import Part, Place, Totals
from offing.engine.loop import drive
from offing.tracing import Usage
from test_fold import SCRIPTS, Following, Script, tools

pytestmark = pytest.mark.anyio


@given(SCRIPTS)
def test_a_run_does_not_differ_from_itself(script: Script) -> None:
    async def scenario() -> None:
        scope = MemoryStore().scoped("local")
        run = await begun_run(scope, Following(script), tools())
        await asyncio.wait_for(drive(run), 30)
        rows = [row async for row in scope.journal.read("s")]
        found = diff(rows, "s.1", rows, "s.1")
        assert (found.first, bool(found), found.left) == (None, False, found.right)
        assert found.text() == f"no difference in {found.same} parts"
        assert found.left.iterations == run.state.current.iterations
        assert (found.left.usage, found.left.cost) == (run.state.current.usage, run.state.current.cost)

    asyncio.run(scenario())


async def test_two_runs_that_did_the_same_at_other_times_and_in_other_places_do_not_differ() -> None:
    async with worked() as engine, worked() as other:
        await engine.fork("s.1", at=1, edit=ResultEdit("1.1", "a: 12.50 GBP"), session="f")
        left, right = await rows_of(engine), await rows_of(other)
        assert not diff(left, "s.1", right, "s.1")
        assert not diff(left, "s.2", right, "s.2")


async def compared(*steps: Step | str) -> Diff:
    """The usual run beside one of other steps."""
    async with worked(questions=["Go."]) as engine, worked(steps=steps, questions=["Go."]) as other:
        return diff(await rows_of(engine), "s.1", await rows_of(other), "s.1")


async def test_the_first_difference_is_named_with_its_place_and_its_kind() -> None:
    found = await compared(STEPS[0], Step(calls=[posting(6), looking("c")]), STEPS[2], STEPS[3])
    arguments = '{{"arguments": {{"amount": {}}}, "tool": "post"}}'.format
    assert found.differences == (
        Difference(Place(2, Part.ARGUMENTS), arguments(5), arguments(6)),
        Difference(Place(2, Part.RESULT), "posted 5", "posted 6"),
    )
    assert str(found.first) == f"iteration 2, arguments\n  - {arguments(5)}\n  + {arguments(6)}"


async def test_other_words_calls_reasons_and_lengths_are_each_named() -> None:
    found = await compared(
        Step("I see.", [looking("a"), looking("b")], reasoning="Two accounts."),
        Step(calls=[posting(5)]),
        Step("", stop="length"),
        "Posted.",
    )
    kinds = [(one.place.iteration, one.place.part.name, one.place.number) for one in found.differences]
    assert kinds == [
        (1, "REPLY", 1),
        (2, "CALL", 2),
        (2, "ARGUMENTS", 2),
        (2, "RESULT", 2),
        (2, "RECORDS", 2),
        (3, "STOP", 1),
        (3, "CALL", 1),
        (3, "ARGUMENTS", 1),
        (3, "RESULT", 1),
        (4, "NOTE", 1),
    ]
    assert (found.differences[1].left, found.differences[1].right) == ("bank__invoke_tool", None)


async def test_a_run_that_goes_further_differs_from_where_the_other_ends() -> None:
    found = await compared(STEPS[0], "That will do.")
    first = found.first
    assert first == Difference(Place(2, Part.REPLY), None, "That will do.")
    assert found.left == Totals(4, Usage(), None, "Posted.", "answered")
    assert found.right == Totals(2, Usage(), None, "That will do.", "answered")
    assert found.text().splitlines()[-2:] == [
        "  - 4 iterations, 0 tokens in, 0 out, cost unknown, answered",
        "  + 2 iterations, 0 tokens in, 0 out, cost unknown, answered",
    ]


async def test_tokens_and_the_message_are_compared() -> None:
    longer = [Step("Yes.", usage=Usage(7, output=2))]
    first, second = worked(steps=["Yes."], questions=["Go."]), worked(steps=longer, questions=["Go on."])
    async with first as engine, second as other:
        found = diff(await rows_of(engine), "s.1", await rows_of(other), "s.1")
    assert [one.place for one in found.differences] == [Place(0, Part.MESSAGE), Place(1, Part.TOKENS)]
    assert "7 tokens in, 2 out" in found.text()


async def test_another_prompt_is_told_where_nothing_else_differs() -> None:
    async with worked(questions=["Go."]) as engine:
        await engine.fork("s.1", at=0, edit=MessageEdit("Go. "), session="f")
        await (await engine.resume("f.1")).result()
        found = diff(await rows_of(engine), "s.1", await rows_of(engine, "f"), "f.1")
    assert [one.place.part.name for one in found.differences] == ["MESSAGE", "NOTE"]


async def test_as_json_it_is_whole() -> None:
    found = await compared(STEPS[0], "That will do.")
    told = json.loads(json.dumps(found.to_json()))
    assert told["differences"][0] == {
        "iteration": 2,
        "part": "reply",
        "number": 1,
        "left": None,
        "right": "That will do.",
    }
    assert len(told["differences"]) == len(found.differences)
    assert told["right"] == {
        "iterations": 2,
        "tokens_in": 0,
        "tokens_out": 0,
        "cost": None,
        "answer": "That will do.",
        "stopped": "answered",
    }


async def test_long_texts_are_shortened_for_a_person_alone() -> None:
    found = await compared(STEPS[0], "x" * 5_000)
    assert found.first is not None
    assert len(found.first.right or "") == 5_000
    assert f"{'x' * 300}... (5,000 characters)" in found.text()


async def test_a_run_that_is_not_there_is_told() -> None:
    async with worked() as engine:
        rows = await rows_of(engine)
        with pytest.raises(NotFound, match=r"there is no run 's\.7'"):
            diff(rows, "s.1", rows, "s.7")
