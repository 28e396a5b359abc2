"""Trees of runs as they come: children in small windows that look, pay, ask, and wait for people.

Whatever they do, over several processes, the journal says all of it.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from families import NO_END, Family
from offing.engine import (
    ApprovalPolicy,
    ApprovalRule,
    Budget,
    Call,
    Limits,
    Playbook,
    Result,
    Role,
    Roles,
    Scripted,
)
from offing.engine.errors import ConfigurationError
from offing.engine.history import replay
from offing.engine.history.fork import Point, Target, forked
from offing.engine.state import State, apply
from offing.engine.store.facts import Compacted, Faulted, Replied, Settled
from offing.engine.store.journal import Row
from offing.engine.wire import HEAD
from offing.namespaces import Effect, ToolContext, ToolOutput
from people import Till
from worlds import Given, async_tool

MOST = 40
LIMITS = Limits(
    iterations=60,
    window=6_000,
    reply_tokens=500,
    strand_s=None,
    cancel_grace_s=NO_END.cancel_grace_s,
    budget=Budget(model_calls=MOST, tool_calls=60, questions=4),
)


async def _page(arguments: Given, context: ToolContext) -> ToolOutput:
    return ToolOutput("\n".join(f"{context.call} row {k}: {k * 3.17:.2f} GBP" for k in range(70)))


OPS = {
    "page": Call("sys__page"),
    "look": Call("sys__look"),
    "pay": Call("sys__pay", {"to": "A"}),
    "ask": Call("ask_user", {"question": "Which?"}),
    "search": Call("search", {"query": "row 33", "where": "outputs"}),
}
TURNS = st.lists(st.lists(st.sampled_from([*OPS, "page", "page"]), min_size=1, max_size=3), max_size=5)


@dataclass(frozen=True)
class Story:
    """What the runs of a tree do, and what people say."""

    before: Sequence[Sequence[str]]
    strands: Sequence[Sequence[Sequence[str]]]
    after: Sequence[Sequence[str]]
    words: Sequence[bool]
    """Of each word, whether it approves; when they are used up all is approved."""
    minutes: int
    """How long people take."""

    async def play(self, book: Playbook, text: str) -> str:
        first, _, number = text.split()[0].partition("-")
        if first == "part":
            await _turns(book, self.strands[int(number)])
            return "A part."
        await _turns(book, self.before)
        if self.strands:
            parts = [{"title": f"{n}", "task": f"part-{n} now"} for n in range(len(self.strands))]
            await book.calls(Call("delegate", {"strands": parts}))  # type: ignore[dict-item]
        await _turns(book, self.after)
        return "Done."


STORIES = st.builds(
    Story,
    TURNS,
    st.lists(TURNS, max_size=3),
    TURNS,
    st.lists(st.booleans(), max_size=4),
    st.sampled_from([0, 4, 70]),
)


async def _turns(book: Playbook, turns: Sequence[Sequence[str]]) -> None:
    for turn in turns:
        await book.calls(*(OPS[each] for each in turn))


async def shorten(book: Playbook, text: str) -> str:
    return "## Facts\n- Rows were looked at."


async def lived(story: Story, family: Family) -> Result:
    """The run, worked to its end, each time by another engine."""
    words = list(story.words)
    async with family.session() as session:
        result = await session.ask("Go.")
    while result.why == "waiting":
        async with family.session() as session:
            for asked in result.approvals:
                approved = words.pop(0) if words else True
                await (session.approve if approved else session.deny)(asked.call, by="ann")
            for question in result.questions:
                await session.answer(question.call, "The first.")
            family.clock.at += story.minutes * 60_000_000
            result = await (await session.resume("s.1")).result()
            live = session._state  # pyright: ignore[reportPrivateUsage]
            assert live == await family.state()
    return result


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(STORIES)
def test_whatever_a_tree_of_runs_does_its_journal_says_all_of_it(story: Story) -> None:
    asyncio.run(_checked(story))


async def _checked(story: Story) -> None:
    page = async_tool(_page, "page", effect=Effect.READ)
    family = Family(
        [], {}, [page, *Till().tools()], limits=LIMITS, policy=ApprovalPolicy((ApprovalRule("*pay", "ask"),))
    )
    family.model = Roles(run=Role(Scripted(story.play)), digest=Role(Scripted(shorten)))
    result = await lived(story, family)
    rows = [row async for row in family.store.scoped("local").journal.read("s")]
    _calls_have_one_result_each(rows)
    _all_is_counted(rows, result)
    await _requests_are_made_again(family, rows)
    await _forks_fold(rows)


def _calls_have_one_result_each(rows: Sequence[Row]) -> None:
    asked = Counter(
        call.id for row in rows if isinstance(row.fact, Replied) for call in row.fact.reply.message.calls
    )
    settled = Counter(row.fact.result.call for row in rows if isinstance(row.fact, Settled))
    assert asked == settled
    assert set(asked.values()) <= {1}
    stored = [
        one.handle for row in rows if isinstance(row.fact, Compacted | Settled) for one in row.fact.stored
    ]
    assert len(stored) == len(set(stored))


def _all_is_counted(rows: Sequence[Row], result: Result) -> None:
    replies = sum(isinstance(row.fact, Replied) for row in rows)
    faults = sum(isinstance(row.fact, Faulted) for row in rows)
    digests = sum(row.fact.calls for row in rows if isinstance(row.fact, Compacted))
    assert (result.iterations, result.retries) == (replies, faults)
    assert replies + faults + digests <= MOST


async def _requests_are_made_again(family: Family, rows: Sequence[Row]) -> None:
    for run in {row.run for row in rows}:
        again = [one async for one in replay(family.store.scoped("local"), run, Scripted(["-"]))]
        assert all(one.is_equal for one in again)
        passes = [row.seq for row in rows if row.run == run and isinstance(row.fact, Compacted)]
        for before, after in pairwise(again):
            is_anew = any(before.seq < seq < after.seq for seq in passes)
            kept = before.request.segments[: HEAD if is_anew else None]
            assert after.request.segments[: len(kept)] == kept


async def _forks_fold(rows: Sequence[Row]) -> None:
    """A fork at each settled iteration is a stream that folds, with the passes that lie before it."""
    replies = sum(row.run == "s.1" and isinstance(row.fact, Replied) for row in rows)
    for at in range(replies + 1):
        try:
            copied = forked(rows, Point("s", "s.1", at), Target("f", 0))
        except ConfigurationError:
            assert at == replies  # its last calls have no results
            continue
        state = State()
        for row in copied:
            apply(state, row)
        assert state.current.iterations == at
        assert not state.children
