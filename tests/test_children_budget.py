"""What a tree of runs may use: reserved before it is used, and never more than its top run was granted."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from families import NO_END, Family, delegate, does, says
from offing.compaction.conversation import Message, Text, ToolCall
from offing.engine import Budget, Call, Engine, Limits
from offing.engine.budget import Spent
from offing.engine.errors import ModelFault
from offing.engine.lineage import child_of, lineage, maker_of, parent_of, path_of, top_of
from offing.engine.models.model import Delta, Part, Reply, Request
from offing.engine.models.retry import RetryPolicy
from offing.engine.reservation import Beyond, reserved
from offing.engine.run_state import RunState, Took
from offing.engine.session_skills import session_skills
from offing.engine.state import State
from offing.engine.store.facts import Began, Faulted, Replied
from offing.skills import SkillFolders, SkillSettings
from offing.tracing import Usage
from worlds import outside

COUNTS = ("tokens", "model_calls", "tool_calls", "retries", "questions")


class Restless:
    """A model that never comes to an end: its strands search, and every third of their requests fails."""

    name = "restless"

    def __init__(self, strands: int) -> None:
        self.calls = 0
        self._strands = strands

    def encode(self, part: Part, before: Message | None = None) -> bytes:
        return repr(part).encode()

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        self.calls += 1
        await asyncio.sleep(0)
        if self.calls % 3 == 0:
            raise ModelFault("overloaded", "busy", usage=Usage(1, 0, 0, 0, 0, 0))
        strands = [{"title": f"{n}", "task": "Go round."} for n in range(self._strands)]
        is_top = request.view[0].text == "Go."
        if is_top and len(request.view) == 1:
            call = ToolCall("", "delegate", {"strands": strands})  # type: ignore[dict-item]
        else:
            call = ToolCall("", "search", {"query": f"{self.calls}"})
        yield Reply(Message("assistant", (call,)), "tools", Usage(1, 0, 0, 0, 1, 0))


@pytest.mark.parametrize("of", ["iterations", "model_calls"])
async def test_a_run_with_150_calls_left_and_four_children_never_makes_more_than_150(of: str) -> None:
    """case 17"""
    model, retry = Restless(4), RetryPolicy(attempts=10)
    granted = (
        {"iterations": 150} if of == "iterations" else {"iterations": 600, "budget": Budget(model_calls=150)}
    )
    limits = replace(NO_END, retry=retry, **granted)  # type: ignore[arg-type]
    async with Engine(model, limits=limits, outside=outside()) as engine:
        session = engine.session("s")
        result = await session.ask("Go.")
        rows = [row async for row in engine.store.journal.read("s")]
    replies = sum(isinstance(row.fact, Replied) for row in rows)
    faults = sum(isinstance(row.fact, Faulted) for row in rows)
    assert replies + faults == model.calls == result.iterations + result.retries
    assert (replies if of == "iterations" else model.calls) == 150
    assert len({row.run for row in rows}) == 5
    assert {one.why for one in result.children} == {"limit" if of == "iterations" else "budget"}
    assert result.why == ("limit" if of == "iterations" else "budget")


async def test_what_children_do_not_use_is_given_back_and_what_they_used_is_the_parents_too() -> None:
    family = Family([delegate("A now", "B now")], dict.fromkeys("AB", says("done")))
    family.limits = replace(NO_END, iterations=9, budget=Budget(model_calls=9, tool_calls=4))
    async with family.session() as session:
        first = await session.ask("Go.")
    assert [(one.took.iterations, one.took.retries) for one in first.children] == [(1, 0), (1, 0)]
    assert (first.iterations, first.why) == (4, "answered")
    begun = [
        fact.limits for run, fact in await family.facts(Began) if isinstance(fact, Began) and run != "s.1"
    ]
    assert [(each.iterations, each.budget) for each in begun] == [
        (2, Budget(model_calls=2, tool_calls=1))
    ] * 2


async def test_two_calls_of_one_reply_reserve_one_after_the_other() -> None:
    family = Family([delegate("A now"), delegate("B now")], dict.fromkeys("AB", says("done")))
    family.limits = replace(NO_END, iterations=17)
    await family.ask()
    limits = {
        run: fact.limits.iterations for run, fact in await family.facts(Began) if isinstance(fact, Began)
    }
    assert limits == {"s.1": 17, "s.1.1.1.1": 8, "s.1.1.2.1": 4}


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (Limits(iterations=6), "5 steps are left, and for 2 parts and yourself it takes 6."),
        (
            Limits(budget=Budget(model_calls=6)),
            "5 model calls are left, and for 2 parts and yourself it takes 6.",
        ),
        (Limits(budget=Budget(tokens=2)), "2 tokens are left, and for 2 parts and yourself it takes 3."),
    ],
)
async def test_too_little_for_so_many_strands_is_said_before_any_begins(limits: Limits, told: str) -> None:
    family = Family([delegate("A now", "B now")], dict.fromkeys("AB", says("done")), limits=limits)
    result = await family.ask()
    assert (await family.results())["1.1"] == (
        f"Nothing was handed on: {told} Hand on fewer parts, or do the work yourself."
    )
    assert (result.answered, result.children) == (True, ())


async def test_calls_and_questions_of_children_are_of_the_parents_budget() -> None:
    search, ask = Call("search", {"query": "qqq"}), Call("ask_user", {"question": "?"})
    family = Family([delegate("A now")], {"A": does(search, search, ask)})
    family.limits = replace(NO_END, budget=Budget(tool_calls=5, questions=1))
    await family.ask()
    assert (await family.results())["1.1"] == (
        "[1] Part A: answered\nnothing found for 'qqq' in all | nothing found for 'qqq' in all | "
        "Not executed: the budget of 2 tool calls is used. Work with what you have."
    )


def state_with(iterations: int, budget: Budget, spent: Spent) -> State:
    run = RunState("s.1", 1, Began(Message("user", (Text("Go."),)), Limits()), 0, iterations, budget)
    run.below = Took(
        iterations=spent.model_calls,
        retried=spent.retries,
        tool_calls=spent.tool_calls,
        questions=spent.questions,
        usage=Usage(spent.tokens, 0, 0, 0, 0, 0),
        known_cost=spent.cost,
    )
    return State(run=run)


amounts = st.one_of(st.none(), st.integers(0, 10**6))


@given(
    iterations=st.integers(0, 2_000),
    strands=st.integers(1, 1_000),
    granted=st.fixed_dictionaries(dict.fromkeys(COUNTS, amounts)),
    cost=st.one_of(st.none(), st.decimals(0, 10**6, places=4)),
    spent=st.builds(
        Spent,
        tokens=st.integers(0, 1000),
        cost=st.decimals(0, 100, places=6),
        model_calls=st.integers(0, 100),
        tool_calls=st.integers(0, 100),
        retries=st.integers(0, 10),
        questions=st.integers(0, 10),
    ),
)
def test_what_is_reserved_and_a_part_for_the_run_itself_are_never_more_than_is_left(
    iterations: int, strands: int, granted: dict[str, int | None], cost: Decimal | None, spent: Spent
) -> None:
    budget = Budget(cost=cost, **granted)
    limits = reserved(state_with(iterations, budget, spent), strands)
    if isinstance(limits, Beyond):
        return
    assert limits.iterations * (strands + 1) <= iterations - spent.model_calls
    for name in (*COUNTS, "cost"):
        whole, part = getattr(budget, name), getattr(limits.budget, name)
        assert (whole is None) == (part is None)
        if whole is not None:
            assert part * (strands + 1) <= max(0, whole - getattr(spent, name))


@given(st.lists(st.tuples(st.integers(1, 999), st.integers(1, 99), st.integers(1, 999)), max_size=4))
def test_the_name_of_a_child_tells_whose_it_is_and_that_of_a_call_who_made_it(
    steps: list[tuple[int, int, int]],
) -> None:
    runs, path = ["a-b_1.7"], ""
    for turn, place, number in steps:
        call = f"{path}{turn}.{place}"
        assert maker_of("a-b_1.7", call) == runs[-1]
        runs.append(child_of(runs[-1], call, number))
        path = f"{path_of(call, number)}."
    assert lineage(runs[-1]) == tuple(runs)
    assert (top_of(runs[-1]), parent_of(runs[-1])) == (runs[0], runs[-2] if steps else "")


@pytest.mark.parametrize(
    ("task", "systems", "skill"),
    [
        ("Reconcile the operating account with the books for September", None, "period-end-reconciliation"),
        ("Reconcile the operating account with the books for September", ("bank",), ""),
        ("Which card payouts at the bank stand for the receipts in the books?", None, "batched-deposits"),
        ("Say what the weather is", None, ""),
    ],
)
def test_the_most_relevant_skill_has_the_most_words_in_common(
    task: str, systems: tuple[str, ...] | None, skill: str
) -> None:
    skills = session_skills(SkillFolders(), SkillSettings(), ["bank", "ledger", "matching"])
    assert skills.relevant(task, systems) == skill
