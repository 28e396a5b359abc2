"""A run within its limits is stopped for a person when the signs together are bad enough."""

from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from offing.engine import Budget, Call, Engine, Limits, Scripted, SqliteStore, Step
from offing.engine.breakers import concern_of
from offing.engine.intervention import Concern
from offing.engine.notify import Notice, Restore
from offing.engine.since import Since
from offing.namespaces import FunctionNamespace, tool
from offing.tracing import Usage
from people import resumed
from worlds import outside, state_of

PRICED = "anthropic:claude-opus-5-5"  # 4 dollars a million tokens of prompt
SHARES = st.none() | st.floats(0, 0.999)


@pytest.mark.parametrize(
    ("concern", "score"),
    [
        (Concern(), 0.0),
        (Concern(loops=0.5), 0.2),
        (Concern(cost=0.5), 0.2),
        (Concern(doubt=0.5), 0.1),
        (Concern(0.5, 0.5, 0.5), 0.5),
        (Concern(0.75, 0.875, 0.5), 0.75),  # 0.3 + 0.35 + 0.1
        (Concern(doubt=1.0), 0.2),
        (Concern(loops=1.0), 1.0),
        (Concern(cost=1.25, doubt=0.0), 1.0),
    ],
)
def test_each_sign_has_its_weight_and_a_hard_limit_is_the_whole(concern: Concern, score: float) -> None:
    assert concern.score == score


@given(SHARES, SHARES, SHARES)
def test_a_score_is_from_0_to_1_and_what_is_not_known_counts_as_nothing(
    loops: float | None, cost: float | None, doubt: float | None
) -> None:
    score = Concern(loops, cost, doubt).score
    assert 0 <= score <= 1
    assert score == Concern(loops or 0.0, cost or 0.0, doubt or 0.0).score


@given(SHARES, SHARES)
def test_without_a_limit_for_money_no_run_comes_to_the_threshold(
    loops: float | None, doubt: float | None
) -> None:
    freeze_at = Limits().freeze_at
    assert freeze_at is not None
    assert Concern(loops, None, doubt).score < freeze_at


@tool()
async def look() -> str:
    """Looks."""
    raise LookupError("no such account")


UNSURE = Call("tasks", {"items": [{"title": "Look", "status": "active"}], "confidence": 0.25})
FAILING = Step("I try.", [Call("sys__look"), UNSURE], usage=Usage(input=40_000))
"""0.16 dollars."""


def engine(model: Scripted, limits: Limits) -> Engine:
    return Engine(model, [FunctionNamespace("sys", [look])], limits=limits, outside=outside())


async def test_a_run_that_goes_in_circles_spends_and_doubts_stops_with_the_signs_in_words() -> None:
    model = Scripted([FAILING] * 6, name=PRICED)
    async with engine(model, Limits(budget=Budget(cost=Decimal(1)))) as working:
        result = await working.session("s").ask("Go.")
        # After the fourth: 0.4 x 4/6 + 0.4 x 0.64 + 0.2 x 0.75 = 0.672667; after the fifth 0.803333.
        assert (result.why, result.iterations) == ("intervention", 5)
        assert result.detail == (
            "somebody should look at this run: 0.80 of at most 0.75 (the same call failing again 83% x 0.4, "
            "cost 80% x 0.4, doubt 75% x 0.2); resume it with guidance, or roll it back first"
        )
        assert concern_of(await state_of(working, "s")) == Concern(5 / 6, 0.8, 0.75)


@tool(writes=frozenset({"till"}))
async def pay(to: str) -> str:
    """Pays."""
    return f"paid {to}"


@dataclass
class Kept:
    """A notifier that keeps what it is told."""

    told: list[Notice] = field(default_factory=list[Notice])

    async def notify(self, notice: Notice) -> None:
        self.told.append(notice)


def listed(*tasks: tuple[str, str]) -> Call:
    return Call("tasks", {"items": [{"title": title, "status": status} for title, status in tasks]})


async def test_whoever_is_told_sees_the_signs_and_what_was_done_since_somebody_looked(tmp_path: Path) -> None:
    begins = Step("I begin.", [listed(("Look", "active"), ("Pay", "pending"))], usage=FAILING.usage)
    pays = Step("I pay.", [Call("sys__pay", {"to": "A"}), Call("sys__look"), UNSURE], usage=FAILING.usage)
    kept = Kept()
    limits = Limits(budget=Budget(cost=Decimal(10), model_calls=2), freeze_at=0.2)
    system = FunctionNamespace("sys", [look, pay])
    model = Scripted([begins, begins, pays], name=PRICED)
    async with Engine(
        model, [system], store=SqliteStore(tmp_path / "s.db"), limits=limits, notifier=kept
    ) as working:
        session = working.session("s")
        await session.ask("Go.")
        await (await session.resume("s.1", more=Budget(model_calls=5))).result()
    assert [one.why for one in kept.told] == ["budget", "intervention"]
    assert kept.told[-1].detail.startswith("somebody should look at this run: 0.24 of at most 0.20 (")
    assert replace(kept.told[-1], detail="") == snapshot(
        Notice(
            run="s.1",
            why="intervention",
            detail="",
            iteration=3,
            cost="0.480000",
            concern=Concern(loops=0.16666666666666666, cost=0.048, doubt=0.75),
            score=0.235867,
            since=Since(
                iteration=2,
                replies=1,
                calls=3,
                failed=1,
                effects=("sys__pay, call 3.1: done", "sys__look, call 3.2: failed"),
                tasks=("Pay: left out",),
                figures=(),
            ),
            restore=Restore(run="s.1", at=2),
        )
    )
    token = kept.told[-1].restore
    assert token is not None
    async with Engine(model, [system], store=SqliteStore(tmp_path / "s.db")) as working:
        back = await working.rollback(token.run, at=token.at)
    assert (back.run, [one.tool for one in back.not_undone]) == ("s.1", ["sys__pay", "sys__look"])


async def test_guidance_is_read_and_the_run_goes_on() -> None:
    model = Scripted([*[FAILING] * 5, "It is account 7."], name=PRICED)
    async with engine(model, Limits(budget=Budget(cost=Decimal(1)))) as working:
        await working.session("s").ask("Go.")
        going = await working.resume("s.1", guidance="It is account 7.", by="ann")
        result = await going.result()
    assert (result.answer, result.why) == ("It is account 7.", "answered")
    assert [one.text for one in model.requests[-1].view if one.role == "user"][-1] == "It is account 7."


async def test_a_lower_threshold_lets_each_resume_have_a_reply() -> None:
    model = Scripted([FAILING] * 3, name=PRICED)
    limits = Limits(budget=Budget(cost=Decimal(1)), freeze_at=0.01)
    async with engine(model, limits) as working:
        session = working.session("s")
        seen = [await session.ask("Go."), await resumed(session), await resumed(session)]
    assert [(one.why, one.iterations) for one in seen] == [
        ("intervention", 1),
        ("intervention", 2),
        ("intervention", 3),
    ]


async def test_no_threshold_stops_nothing_but_the_hard_limits_do() -> None:
    model = Scripted([FAILING] * 6, name=PRICED)
    limits = Limits(budget=Budget(cost=Decimal(1)), freeze_at=None)
    async with engine(model, limits) as working:
        result = await working.session("s").ask("Go.")
    assert (result.why, result.iterations) == ("repeating", 6)
