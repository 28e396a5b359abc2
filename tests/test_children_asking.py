"""A tool of a child asks a person, remembers something, or goes on with another model."""

import pytest

from families import NO_END, Family, delegate, does
from offing.engine import About, Budget, Call, Engine, MemoryStore, Playbook, Role, Roles, Scripted
from offing.engine.memory import MemoryPolicy
from offing.engine.store.facts import Compacted, Remembered, Resumed, Settled
from offing.engine.store.people import Questioned
from offing.namespaces import Tool, ToolContext, ToolOutput
from offing.namespaces.tool import Question
from people import resumed
from worlds import Given, async_tool, outside

A = "s.1.1.1.1"
BOOK = Call("sys__book", {"what": "a room"})


class Booking:
    """A system that asks for a day and then books it, once."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.keys: set[str] = set()

    @property
    def tool(self) -> Tool:
        return async_tool(self._book, "book")

    async def _book(self, arguments: Given, context: ToolContext) -> ToolOutput:
        self.keys.add(context.idempotency_key)
        if context.answer is None:
            return ToolOutput("it has to know the day", question=Question("Which day?", (), None, ["kept"]))
        self.done.append(f"{context.call} {context.answer.text} {context.answer.state}")
        return ToolOutput(f"booked for {context.answer.text}")


@pytest.mark.parametrize("run", ["s.1", A])
async def test_a_tool_of_a_child_asks_and_is_answered_in_another_process_by_either_name(run: str) -> None:
    booking = Booking()
    family = Family([delegate("A now", "B now")], dict.fromkeys("AB", does(BOOK)), [booking.tool])
    async with family.session() as session:
        result = await session.ask("Go.")
        assert [(one.call, one.question) for one in result.questions] == [
            ("1.1.1.1.1", "Which day?"),
            ("1.1.2.1.1", "Which day?"),
        ]
    async with family.session() as session:  # another process
        inbox = session._inbox  # pyright: ignore[reportPrivateUsage]
        await inbox.answer(run, "1.1.1.1.1", "Monday", by="ann")
        result = await resumed(session)
        assert [one.call for one in result.questions] == ["1.1.2.1.1"]
        await session.answer("1.1.2.1.1", "Friday")
        assert (await resumed(session)).answered
    assert booking.done == ["1.1.1.1.1 Monday ['kept']", "1.1.2.1.1 Friday ['kept']"]
    assert len(booking.keys) == 2


async def test_questions_of_the_tools_of_children_keep_to_what_each_was_granted() -> None:
    booking = Booking()
    family = Family([delegate("A now", "B now")], dict.fromkeys("AB", does(BOOK, BOOK)), [booking.tool])
    family.with_limits(budget=Budget(questions=3))
    async with family.session() as session:
        result = await session.ask("Go.")
        assert len(result.questions) == 2
        for one in result.questions:
            await session.answer(one.call, "Monday")
        assert (await resumed(session)).answered
    told = (await family.results())["1.1"]
    assert told.count("booked for Monday") == told.count("Nobody was asked") == 2
    assert len(await family.facts(Questioned)) == 2


@pytest.mark.parametrize("run", ["s.1", A])
async def test_a_question_of_a_child_that_is_cancelled_is_asked_no_longer(run: str) -> None:
    booking = Booking()
    family = Family([delegate("A now")], {"A": does(BOOK)}, [booking.tool])
    async with family.session() as session:
        assert (await session.ask("Go.")).questions
        inbox = session._inbox  # pyright: ignore[reportPrivateUsage]
        await inbox.cancel(run, reason="enough", by="ann")
        result = await resumed(session)
        assert (result.why, result.questions) == ("cancelled" if run == "s.1" else "answered", ())
    settled = [fact.result for _, fact in await family.facts(Settled) if isinstance(fact, Settled)]
    assert [(one.call, one.error) for one in settled] == [("1.1.1.1.1", True), ("1.1", True)]
    assert booking.done == []


async def test_what_children_remember_is_of_whoever_asked_for_the_run_and_each_call_keeps_its_own() -> None:
    store, remember = MemoryStore(), Call("remember", {"text": "Months in words."})

    async def work(book: Playbook, text: str) -> str:
        calls = [remember, remember] if text.startswith("A") else [delegate("A now")]
        return " ".join(each.text for each in await book.calls(*calls))

    async with Engine(
        Scripted(work), store=store, memory=MemoryPolicy(), limits=NO_END, outside=outside()
    ) as engine:
        async with engine.session("s", about=About(user="bob")) as session:
            assert (await session.ask("Go.", by="ada")).answered
        facts = [(row.run, row.fact) async for row in engine.store.journal.read("s")]
    items = await store.scoped("local").memory.items("ada")
    assert sorted((one.run, one.call) for one in items) == [(A, "1.1.1.1.1"), (A, "1.1.1.1.2")]
    kept = {(run, fact.id) for run, fact in facts if isinstance(fact, Remembered)}
    assert kept == {(A, one.id) for one in items}


@pytest.mark.parametrize("role", ["run", "child"])
async def test_a_resume_with_another_model_makes_a_pass_in_whoever_it_works_for(role: str) -> None:
    """The other one's reasoning would be of no use to it."""
    booking = Booking()
    family = Family([delegate("A now")], {}, [booking.tool])

    async def work(book: Playbook, text: str) -> str:
        return (await book.calls(*([BOOK] if text.startswith("A") else [delegate("A now")])))[0].text

    one, other = Scripted(work, name="one"), Scripted(work, name="other")
    family.model = Roles(run=Role(one), child=Role(one))
    async with family.session() as session:
        assert (await session.ask("Go.")).questions
    family.model = Roles(
        run=Role(other if role == "run" else one), child=Role(other if role == "child" else one)
    )
    async with family.session() as session:
        await session.answer("1.1.1.1.1", "Monday")
        assert (await resumed(session)).answered
    passes = [(run, fact.why) for run, fact in await family.facts(Compacted) if isinstance(fact, Compacted)]
    assert passes == [("s.1" if role == "run" else A, "model")]
    models = [(run, fact.model) for run, fact in await family.facts(Resumed) if isinstance(fact, Resumed)]
    assert (
        models
        == {
            "run": [("s.1", "one"), (A, "one"), ("s.1", "other")],
            "child": [("s.1", "one"), (A, "one"), ("s.1", "one"), (A, "other")],
        }[role]
    )
