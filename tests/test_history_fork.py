"""A fork is the run up to a settled iteration, with one thing another way, and says what it leaves done."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bare_run import begun_run
from histories import BANK, STEPS, facts_of, looking, rows_of, without_place, worked
from offing.compaction.conversation import Message, Text, ToolResult
from offing.engine import Engine, Limits, MemoryStore, Scripted, Step
from offing.engine.errors import ConfigurationError, NotFound
from offing.engine.events import RunForked
from offing.engine.history import Branch, Edit, MessageEdit, ResultEdit, replay
from offing.engine.history.fork import Point, Target, forked
from offing.engine.loop import drive
from offing.engine.state import State, fold
from offing.engine.store.branches import Edited, Forked, NotUndone
from offing.engine.store.facts import Noted, Opened, Settled, Started
from offing.engine.store.journal import Row
from offing.namespaces import FunctionNamespace
from test_fold import SCRIPTS, Following, Script, tools
from worlds import outside, state_of

pytestmark = pytest.mark.anyio

POSTED = NotUndone("2.1", "bank__post", "done")
FAILED = NotUndone("3.1", "bank__post", "failed")


async def streamed(rows: Sequence[Row]) -> AsyncIterator[Row]:
    for row in rows:
        yield row


async def test_a_fork_begins_with_what_it_is_a_fork_of_and_says_what_is_not_undone() -> None:
    async with worked() as engine:
        branch = await engine.fork("s.1", at=1, session="f")
        rows, source = await rows_of(engine, "f"), await rows_of(engine)
        assert branch == Branch("f", "f.1", "f", (POSTED, FAILED))
        last = next(row for row in source if isinstance(row.fact, Settled) and row.fact.result.call == "1.2")
        assert rows[0].fact == Forked("s", "s.1", last.seq, 1, (), (POSTED, FAILED))
        assert [row.fact for row in rows[1:]] == [row.fact for row in source[: last.seq]]
        assert [row.seq for row in rows] == list(range(1, last.seq + 2))
        assert {row.run for row in rows} == {"f.1"}
        assert rows[1].at == source[0].at


async def test_a_fork_goes_on_another_way_and_its_model_is_told_what_was_done() -> None:
    async with worked() as engine:
        branch = await engine.fork("s.1", at=1, session="f")
        other = Scripted([STEPS[0], "I would rather not."])
        async with Engine(other, [BANK], store=engine_store(engine), outside=outside()) as second:
            result = await (await second.resume(branch.run)).result()
            assert result.answer == "I would rather not."
            notes = [fact for fact in await facts_of(second, "f") if isinstance(fact, Noted)]
            assert [note.key for note in notes] == ["fork:s:6"]
            assert "- bank__post (2.1): done\n- bank__post (3.1): failed" in notes[0].text
            assert await facts_of(second) == await facts_of(engine)


def engine_store(engine: Engine) -> MemoryStore:
    """The store of an engine that is still open: both are closed in the end."""
    store = engine._root  # pyright: ignore[reportPrivateUsage]
    assert isinstance(store, MemoryStore)
    return store


async def test_an_effect_that_is_done_again_has_another_idempotency_key() -> None:
    async with worked(steps=[*STEPS, *STEPS]) as engine:
        branch = await engine.fork("s.1", at=1, session="f")
        await (await engine.resume(branch.run)).result()
        before, again = [
            [fact.key for fact in await facts_of(engine, stream) if isinstance(fact, Started)]
            for stream in ("s", "f")
        ]
        assert (len(before), len(again), len({*before, *again})) == (2, 2, 4)


async def test_another_message_takes_the_place_of_the_first_and_the_rest_of_it_stays() -> None:
    async with worked() as engine:
        await engine.fork("s.1", at=0, edit=MessageEdit("Look only."), session="f")
        facts = await facts_of(engine, "f")
        assert [type(fact).__name__ for fact in facts] == ["Forked", "Opened", "Began"]
        assert facts[0] == Forked("s", "s.1", 2, 0, (Edited("message"),), (POSTED, FAILED))
        state = await state_of(engine, "f")
        assert state.conversation.messages == [Message("user", (Text("Look only."),))]


async def test_another_result_takes_the_place_of_what_a_call_came_to() -> None:
    async with worked() as engine:
        branch = await engine.fork("s.1", at=1, edit=ResultEdit("1.2", "b: 99.00 GBP"), session="f")
        state, source = await state_of(engine, "f"), await state_of(engine, "s")
        kept = source.conversation.messages[2].results[0]
        assert state.conversation.messages[2].results == (kept, ToolResult("1.2", "b: 99.00 GBP"))
        assert state.forked is not None
        assert state.forked.edits == (Edited("result", "1.2"),)
        assert branch.not_undone == (POSTED, FAILED)


async def test_another_model_goes_on_in_its_own_encoding() -> None:
    async with worked() as engine:
        other = Scripted(["", "", "", "Another answer."], name="other")
        branch = await engine.fork("s.1", at=3, model=other, session="f")
        result = await (await engine.resume(branch.run)).result()
        assert (result.answer, len(other.requests), branch.not_undone) == ("Another answer.", 1, ())
        opened = [fact for fact in await facts_of(engine, "f") if isinstance(fact, Opened)]
        assert [fact.model for fact in opened] == ["scripted"]
        assert (await state_of(engine, "f")).forked == Forked(
            "s", "s.1", 13, 3, (Edited("model", "other"),), ()
        )


async def test_a_fork_at_an_answer_can_be_asked_something_else() -> None:
    async with worked() as engine:
        branch = await engine.fork("s.1", at=4, session="f")
        assert (await (await engine.resume(branch.run)).result()).answer == "Posted."
        result = await engine.session("f").ask("Why?")
        assert (result.run, result.answer) == ("f.2", "You are welcome.")


async def test_a_later_run_is_forked_with_all_that_was_said_before() -> None:
    async with worked() as engine:
        branch = await engine.fork("s.2", at=0, edit=MessageEdit("Why?"), session="f")
        assert branch == Branch("f", "f.2", "f", ())
        said = (await state_of(engine, "f")).conversation.messages
        assert said[:-1] == (await state_of(engine, "s")).conversation.messages[: len(said) - 1]
        assert said[-1].text == "Why?"


async def test_a_fork_of_a_fork_is_told_what_the_first_one_left_as_it_was() -> None:
    async with worked() as engine:
        await engine.fork("s.1", at=1, session="f")
        branch = await engine.fork("f.1", at=1, session="g")
        assert branch.not_undone == (POSTED, FAILED)
        facts = await facts_of(engine, "g")
        assert [type(fact).__name__ for fact in facts].count("Forked") == 1
        assert facts[0] == Forked("f", "f.1", 7, 1, (), (POSTED, FAILED))


async def test_watchers_of_a_fork_are_told_where_it_comes_from() -> None:
    async with worked() as engine:
        await engine.fork("s.1", at=2, session="f")
        async for event in engine.session("f").events():
            assert event == RunForked(1, "f.1", "s", "s.1", 2, (), (FAILED,))
            break


@pytest.mark.parametrize(
    ("run", "at", "edit", "told"),
    [
        ("s.1", 5, None, "run 's.1' has 4 iterations: it can be forked at 0 to 4, not at 5"),
        ("s.1", -1, None, "there is no iteration -1: the first one is 1"),
        (
            "s.1",
            1,
            MessageEdit("x"),
            "cannot be changed at iteration 1: the model has replied to it. Fork at 0",
        ),
        ("s.1", 0, MessageEdit(" "), "a message has to say something; got ' '"),
        (
            "s.1",
            1,
            ResultEdit("2.1", "x"),
            "no call '2.1' in iteration 1 of run 's.1': its calls are 1.1, 1.2",
        ),
        ("s.1", 4, ResultEdit("4.1", "x"), "no call '4.1' in iteration 4 of run 's.1': it made no calls"),
        ("s.1", 1, ResultEdit("1.1", "x" * 16_001), "the result of 1.1 cannot have 16,001 characters"),
    ],
)
async def test_what_cannot_be_forked_is_said_with_what_would_be_right(
    run: str, at: int, edit: Edit | None, told: str
) -> None:
    async with worked() as engine:
        with pytest.raises(ConfigurationError) as caught:
            await engine.fork(run, at=at, edit=edit, session="f")
        assert told in str(caught.value)
        assert await rows_of(engine, "f") == []


@pytest.mark.parametrize("run", ["s.3", "t.1", "s", "", ".", "s~1.1", "~.1", "s~x.1"])
async def test_a_run_that_is_not_there_cannot_be_forked(run: str) -> None:
    async with worked() as engine:
        with pytest.raises(NotFound):
            await engine.fork(run, at=0)


async def test_a_name_that_is_taken_or_is_none_is_refused() -> None:
    async with worked() as engine:
        with pytest.raises(ConfigurationError, match="there is a session 's' already"):
            await engine.fork("s.1", at=1, session="s")
        with pytest.raises(ConfigurationError, match="a session cannot be called 'a b'"):
            await engine.fork("s.1", at=1, session="a b")
        assert [type(fact).__name__ for fact in (await facts_of(engine))[:2]] == ["Opened", "Began"]


async def test_an_iteration_with_open_calls_is_not_settled() -> None:
    async with worked() as engine:
        rows = await rows_of(engine)
        cut = next(n for n, row in enumerate(rows) if isinstance(row.fact, Settled))
        with pytest.raises(
            ConfigurationError, match=r"iteration 1 of run 's\.1' is not settled: 1\.1, 1\.2 ha"
        ):
            forked(rows[:cut], Point("s", "s.1", 1), Target("f", 0))


async def test_a_started_call_without_an_outcome_is_unknown() -> None:
    async with worked() as engine:
        rows = await rows_of(engine)
        cut = next(n for n, row in enumerate(rows) if isinstance(row.fact, Started)) + 1
        first = forked(rows[:cut], Point("s", "s.1", 1), Target("f", 0))[0]
        assert isinstance(first.fact, Forked)
        assert first.fact.effects == (NotUndone("2.1", "bank__post", "unknown"),)


async def test_notes_that_were_given_are_not_given_again_in_the_fork() -> None:
    steps = [Step(calls=[looking(str(n))]) for n in range(25)]
    limits = Limits(iterations=25)
    store = MemoryStore()
    async with Engine(Scripted([*steps]), [BANK], store=store, limits=limits, outside=outside()) as engine:
        await engine.session("s").ask("Go.")
        told = [fact.key for fact in await facts_of(engine) if isinstance(fact, Noted)]
        branch = await engine.fork("s.1", at=24, session="f")
        await (await engine.resume(branch.run)).result()
        again = [fact.key for fact in await facts_of(engine, "f") if isinstance(fact, Noted)]
    assert told == [f"iterations:s.1:25:{percent}" for percent in (50, 25, 10)]
    assert again == [f"iterations:f.1:25:{percent}" for percent in (50, 25, 10)]


@given(SCRIPTS, st.data())
def test_a_fork_without_an_edit_has_the_state_of_its_run_at_the_point(
    script: Script, data: st.DataObject
) -> None:
    async def scenario() -> None:
        scope = MemoryStore().scoped("local")
        run = await begun_run(scope, Following(script), tools())
        await asyncio.wait_for(drive(run), 30)
        rows = [row async for row in scope.journal.read("s")]
        at = data.draw(st.integers(0, run.state.current.iterations))
        if at == run.state.current.iterations and run.state.current.waiting:
            with pytest.raises(ConfigurationError, match=f"iteration {at} of run 's.1' is not settled"):
                forked(rows, Point("s", "s.1", at), Target("f", 0))
            return
        copied = forked(rows, Point("s", "s.1", at), Target("f", 0))
        origin = copied[0].fact
        assert isinstance(origin, Forked)
        state = await fold(streamed(copied))
        assert without_place(state) == without_place(await fold(streamed(rows[: origin.seq]), State()))
        assert state.current.calls == {}

    asyncio.run(scenario())


@pytest.mark.parametrize("at", [0, 1, 2, 3])
async def test_the_next_request_of_a_fork_is_that_of_its_run_byte_for_byte(at: int) -> None:
    calm: list[Step | str] = [
        Step("", [looking("a")]),
        Step(calls=[looking("b")]),
        Step("Hm", stop="length"),
        "So.",
    ]
    async with worked(steps=[*calm, *calm], questions=["Go."]) as engine:
        asked = [one async for one in replay(engine.store, "s.1", Scripted(()))]
        branch = await engine.fork("s.1", at=at, session="f")
        await (await engine.resume(branch.run)).result()
        again = [one async for one in replay(engine.store, "f.1", Scripted(()))]
    assert [one.body for one in again] == [one.body for one in asked]
    assert [one.sent for one in again] == [one.sent for one in asked]
    assert all(one.is_equal for one in again)


@settings(max_examples=30)
@given(SCRIPTS, st.data())
def test_wherever_a_run_that_only_reads_is_forked_it_is_asked_the_same_next(
    script: Script, data: st.DataObject
) -> None:
    async def scenario() -> None:
        model, world = Following([*script]), FunctionNamespace("world", tools()[:2])
        async with Engine(model, [world], outside=outside()) as engine:
            ran = await engine.session("s").ask("Go.")
            at = data.draw(st.integers(0, max(0, ran.iterations - 1)))
            branch = await engine.fork("s.1", at=at, session="f")
            await (await engine.resume(branch.run)).result()
            asked, again = [
                [one.digest async for one in replay(engine.store, run, model) if one.iteration == at + 1]
                for run in ("s.1", "f.1")
            ]
        assert (asked[:1], branch.not_undone) == (again[:1], ())

    asyncio.run(scenario())
