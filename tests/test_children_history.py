"""Forks, rollbacks, comparisons and replays of runs with children."""

import pytest

from families import NO_END, Family, delegate, does
from offing.engine import Call, Engine, Playbook
from offing.engine.errors import ConfigurationError
from offing.engine.history import diff, replay
from offing.engine.state import fold
from offing.engine.store.branches import NotUndone
from offing.engine.store.journal import Row
from offing.namespaces import Effect, FunctionNamespace, ToolContext, ToolOutput, tool
from people import Till
from worlds import outside

LOOK, PAY = Call("sys__look"), Call("sys__put", {"item": "a"})


@tool(effect=Effect.READ)
async def look(context: ToolContext) -> ToolOutput:
    """Looks."""
    return ToolOutput("seen" * 5_000)


@tool(writes=frozenset({"shelf"}))
async def put(item: str) -> str:
    """Puts."""
    return f"{item} is there"


async def twice(book: Playbook) -> str:
    await book.calls(LOOK)
    await book.calls(PAY)
    return "Both."


def made() -> Family:
    return Family([delegate("A now", "B now"), LOOK], {"A": twice, "B": does(LOOK)}, [look, put])


async def rows_of(family: Family, stream: str) -> list[Row]:
    return [row async for row in family.store.scoped("local").journal.read(stream)]


async def test_each_request_of_a_run_and_of_its_children_is_made_again_byte_for_byte() -> None:
    family = made()
    await family.ask()
    scope = family.store.scoped("local")
    for run, count in (("s.1", 2), ("s.1.1.1.1", 3), ("s.1.1.1.2", 2)):
        again = [one async for one in replay(scope, run, family.scripted)]
        sent = [
            request.segments
            for request in family.scripted.requests
            if request.segments[2] == again[0].request.segments[2]
        ]
        assert [one.is_equal for one in again] == [True] * count
        assert [list(one.request.segments) for one in again] == [list(each) for each in sent]


async def test_a_fork_at_a_settled_iteration_has_the_children_of_its_calls_and_goes_on() -> None:
    family = made()
    async with family.session() as session:
        await session.ask("Go.")
    async with Engine(
        family.scripted,
        [FunctionNamespace("sys", list(family.tools))],
        store=family.store,
        limits=NO_END,
        outside=outside(),
    ) as engine:
        branch = await engine.fork("s.1", at=1, session="t")
        assert (branch.run, branch.not_undone) == ("t.1", ())
        result = await (await engine.resume("t.1")).result()
        other = await engine.fork("s.1", at=0, session="u")
        assert other.not_undone == (NotUndone("1.1.1.2.1", "sys__put", "done"),)
        with pytest.raises(ConfigurationError, match=r"'s\.1\.1\.1\.1' is a child run: fork 's\.1'"):
            await engine.fork("s.1.1.1.1", at=1)
        back = await engine.rollback("s.1", at=1)
        assert (back.session, back.run) == ("s", "s.1")
    assert (result.answer, [one.run for one in result.children]) == ("Done.", ["t.1.1.1.1", "t.1.1.1.2"])
    scope = family.store.scoped("local")
    copied = [one.is_equal async for one in replay(scope, "t.1.1.1.1", family.scripted)]
    assert copied == [True, True, True]
    assert (await fold(scope.journal.read("s~1"))).current.children[0].run == "s.1.1.1.1"
    left, right = await rows_of(family, "s"), await rows_of(family, "t")
    for run, ours in (("s.1.1.1.1", "t.1.1.1.1"), ("s.1.1.1.2", "t.1.1.1.2")):
        assert not diff(left, run, right, ours)


async def test_an_iteration_whose_children_are_not_done_cannot_be_forked() -> None:
    pay = Call("sys__pay", {"to": "A"})
    family = Family(
        [delegate("A now", "B now")], {"A": does(pay), "B": does(LOOK)}, [look, *Till().tools()[:1]]
    )
    async with family.session() as session:
        assert (await session.ask("Go.")).why == "waiting"
    async with Engine(family.scripted, store=family.store) as engine:
        with pytest.raises(ConfigurationError, match=r"is not settled: 1\.1 has no result yet\. Fork at 0"):
            await engine.fork("s.1", at=1)


async def test_what_runs_took_is_compared_with_their_children() -> None:
    family = made()
    await family.ask()
    rows = await rows_of(family, "s")
    assert diff(rows, "s.1", rows, "s.1.1.1.1").left.iterations == 7
