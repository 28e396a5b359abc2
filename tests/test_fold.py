"""The state is the fold of the journal: at every row, and wherever the work is cancelled."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bare_run import NOON, STREAM, bare_run, begun_run
from offing.compaction.conversation import Block, Message, Reasoning, Text, ToolCall, unpaired
from offing.engine.errors import LeaseLost, ModelFault
from offing.engine.hub import Hub
from offing.engine.loop import drive
from offing.engine.models.model import Delta, Part, Reply, Request
from offing.engine.run import Run
from offing.engine.state import State, apply, fold
from offing.engine.store.codec import decode, encode
from offing.engine.store.facts import Replied, Resumed, Settled, Started, Stopped
from offing.engine.store.inbox import Answer, Cancel, Decide, Say, Word, posting
from offing.engine.store.journal import Lease, Row, Scope
from offing.engine.store.memory import MemoryArtifacts, MemoryJournal, MemoryStore
from offing.engine.store.people import Decided, Questioned, Taken
from offing.namespaces import Effect, Record, Tool, ToolOutput
from offing.namespaces.functions import tool
from offing.tracing import Usage

pytestmark = pytest.mark.anyio

# A model that gives any replies, and tools of every sort.

OBJECT = st.fixed_dictionaries({}, optional={"n": st.integers(0, 1)})
NAMES = st.sampled_from(["look", "peek", "put", "pay", "post", "fail", "drop", "none"]).map(
    "world__{}".format
)
DROP = "world__drop"
TASKS = st.builds(
    ToolCall, st.just(""), st.just("tasks"), st.just({"items": [{"title": "a"}], "confidence": 0.5})
)
LINKS = st.builds(
    ToolCall,
    st.just(""),
    st.just("link_records"),
    st.sampled_from(["world:r", "world:s"]).map(lambda record: {"figure": "1", "records": [record]}),
)
QUESTIONS = st.builds(ToolCall, st.just(""), st.just("ask_user"), st.just({"question": "Which?"}))
CALLS = st.builds(ToolCall, st.just(""), NAMES, OBJECT) | TASKS | LINKS | QUESTIONS
BLOCKS = st.lists(CALLS, max_size=5) | st.sampled_from([[Text("Words.")], [Reasoning("Hm."), Text("So.")]])
STOPS = st.sampled_from(["end", "tools", "tools", "tools", "tools", "length", "pause", "refusal", "window"])
MESSAGES = st.builds(Message, st.just("assistant"), BLOCKS.map(tuple))
REPLIES = st.builds(Reply, MESSAGES, STOPS, st.just(Usage(input=1, output=1)))
FAULTS = st.just(ModelFault("overloaded", "later"))
SCRIPTS = st.lists(st.one_of(REPLIES, REPLIES, REPLIES, FAULTS), max_size=8)

Script = Sequence[Reply | ModelFault]

# People who say anything at any time.

PLACES = st.sampled_from(["1.1", "1.2", "2.1", "2.2", "3.1", "9.9"])
WORDS: st.SearchStrategy[Word] = st.one_of(
    st.builds(Decide, PLACES, st.booleans(), st.just("so")),
    st.builds(Answer, PLACES, st.just("This one.")),
    st.builds(Say, st.sampled_from(["Wait.", " "])),
    st.builds(Cancel, st.just("enough"), st.booleans()),
)
POSTS = st.lists(st.tuples(st.integers(0, 25), WORDS), max_size=6)

Posts = Sequence[tuple[int, Word]]


async def post(run: Run, word: Word) -> None:
    await run.store.journal.post(STREAM, posting(run.id, word, "ann", NOON))


async def post_all(run: Run, posts: Posts) -> None:
    """Posts each word some turns of the loop after the one before."""
    for turns, word in posts:
        for _ in range(turns):
            await asyncio.sleep(0)
        await post(run, word)


async def driven(run: Run, posts: Posts = ()) -> Stopped:
    """Drives the run while the posts come, and again after each wait, until it waits for nobody.

    Whoever is waited for approves every other call and answers.
    """
    people = asyncio.create_task(post_all(run, posts))
    while True:
        end = await asyncio.wait_for(drive(run), 30)
        await people
        if end.why not in {"waiting", "cancelled"}:
            return end
        for place, waiting in enumerate(run.state.current.waiting.values()):
            call = waiting.asked.call
            asked = isinstance(waiting.asked, Questioned)
            await post(run, Answer(call, "This one.") if asked else Decide(call, approved=place % 2 == 0))
        await run.record(Resumed("process 1 on here"))


class Following:
    """A model that goes through given replies and faults, and says "Done." from then on."""

    name = "scripted"

    def __init__(self, script: Script) -> None:
        self._left = list(script)

    def encode(self, part: Part, before: Message | None = None) -> bytes:
        return repr(part).encode()

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        await asyncio.sleep(0)
        blocks: tuple[Block, ...] = (Text("Done."),)
        turn = self._left.pop(0) if self._left else Reply(Message("assistant", blocks), "end", Usage())
        if isinstance(turn, ModelFault):
            raise turn
        yield Delta("text", "draft")
        yield turn


def tools() -> list[Tool]:
    async def look(n: int = 0) -> ToolOutput:
        """Looks."""
        return ToolOutput("seen", records=(Record("r", Decimal("1.00")),))

    async def peek(n: int = 0) -> str:
        """Gives more than a context holds."""
        await asyncio.sleep(0)
        return "x" * 20_000

    async def put(n: int = 0) -> str:
        """Puts."""
        await asyncio.sleep(0)
        return "put"

    async def pay(n: int = 0) -> str:
        """Pays, alone."""
        await asyncio.sleep(0)
        return "paid"

    async def post(n: int = 0) -> str:
        """Posts."""
        return "posted"

    async def fail(n: int = 0) -> str:
        """Fails."""
        raise ValueError("no such account")

    async def drop(n: int = 0) -> str:
        """Drops."""
        return "dropped"

    return [
        tool(effect=Effect.READ)(look),
        tool(effect=Effect.READ)(peek),
        tool(effect=Effect.REPEATABLE, writes=frozenset("a"))(put),
        tool()(pay),
        tool(writes=frozenset("b"))(post),
        tool(writes=frozenset("c"))(fail),
        tool(destructive=True)(drop),
    ]


def through_bytes(row: Row) -> Row:
    return replace(row, fact=decode(encode(row.known)))


@dataclass
class Witness(Hub):
    """A hub that folds what is published, through its bytes, beside the run that publishes it."""

    fold: State = field(default_factory=State)
    run: Run | None = None
    seen: list[bool] = field(default_factory=list[bool])

    def __post_init__(self) -> None:
        super().__init__()

    def publish(self, row: Row) -> None:
        super().publish(row)
        apply(self.fold, through_bytes(row))
        self.seen.append(self.run is None or self.run.state == self.fold)


async def assert_state_is_the_fold(run: Run) -> None:
    assert run.state == await fold(run.store.journal.read(STREAM))


@given(SCRIPTS, POSTS)
def test_at_every_row_the_state_is_the_fold_of_what_was_published(script: Script, posts: Posts) -> None:
    async def scenario() -> None:
        witness = Witness()
        run = await begun_run(MemoryStore().scoped("local"), Following(script), tools(), witness)
        witness.run = run
        await driven(run, posts)
        assert witness.seen == [True] * run.state.seq
        await assert_state_is_the_fold(run)

    asyncio.run(scenario())


@given(SCRIPTS, POSTS)
def test_each_call_has_one_result_whatever_people_say_and_when(script: Script, posts: Posts) -> None:
    async def scenario() -> None:
        run = await begun_run(MemoryStore().scoped("local"), Following(script), tools())
        await driven(run, posts)
        rows = [row async for row in run.store.journal.read(STREAM)]
        assert settled_once(rows)
        assert run.state.current.calls == {}
        assert list(unpaired(run.state.conversation.messages)) == []
        taken = [row.fact.posted.item for row in rows if isinstance(row.fact, Taken)]
        assert len(set(taken)) == len(taken)
        dropped = [row.fact.call for row in rows if isinstance(row.fact, Started) and row.fact.tool == DROP]
        approved = [row.fact.call for row in rows if isinstance(row.fact, Decided) and row.fact.approved]
        assert len(set(dropped)) == len(dropped)
        assert set(dropped) <= set(approved)

    asyncio.run(scenario())


@given(SCRIPTS, POSTS)
def test_from_any_row_on_the_fold_goes_on_to_the_same_state(script: Script, posts: Posts) -> None:
    async def scenario() -> None:
        run = await begun_run(MemoryStore().scoped("local"), Following(script), tools())
        await driven(run, posts)
        journal = run.store.journal
        for place in range(0, run.state.seq, 3):
            former = State()
            async for row in journal.read(STREAM):
                if row.seq <= place:
                    apply(former, row)
            assert await fold(journal.read(STREAM, place), former) == run.state

    asyncio.run(scenario())


# Cancellation.


class Later(MemoryJournal):
    """A journal whose appends become durable some turns of the loop later, several at once."""

    def __init__(self) -> None:
        super().__init__()
        self.appends = 0
        self.on_append: Callable[[int], None] = lambda _: None
        self._waiting: list[tuple[asyncio.Future[None], Lease, Sequence[Row]]] = []

    def append(self, lease: Lease, rows: Sequence[Row]) -> Awaitable[None]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        if not self._waiting:
            loop.call_soon(loop.call_soon, self._commit)
        self._waiting.append((future, lease, rows))
        self.appends += 1
        self.on_append(self.appends)
        return future

    def _commit(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future, lease, rows in waiting:
            done = super().append(lease, rows)
            assert isinstance(done, asyncio.Future)
            error = done.exception()
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)


def settled_once(rows: Sequence[Row]) -> bool:
    """Each call that was asked for has at most one result, and none that was not asked for."""
    asked = [
        call.id for row in rows if isinstance(row.fact, Replied) for call in row.fact.reply.message.calls
    ]
    settled = [row.fact.result.call for row in rows if isinstance(row.fact, Settled)]
    return len(set(settled)) == len(settled) and set(settled) <= set(asked)


async def interrupted_and_resumed(
    script: Script, interrupt: Callable[[Later, "asyncio.Task[Stopped]"], Awaitable[None]]
) -> None:
    """Cancels a run somewhere, compares, then lets another owner bring it to its end."""
    journal = Later()
    scope = Scope(journal, MemoryArtifacts())
    run = await begun_run(scope, Following(script), tools())
    driving = asyncio.create_task(drive(run))
    await interrupt(journal, driving)
    with contextlib.suppress(asyncio.CancelledError):
        await driving
    await assert_state_is_the_fold(run)
    await journal.release(run.lease)
    left = [row async for row in journal.read(STREAM)]
    next_one = await bare_run(scope, Following(script[run.state.turn :]), tools())
    await next_one.record(Resumed("process 2 on here"))
    await driven(next_one)
    await assert_state_is_the_fold(next_one)
    rows = [row async for row in journal.read(STREAM)]
    assert rows[: len(left)] == left
    assert settled_once(rows)
    assert next_one.state.current.calls == {}
    in_doubt = {
        row.fact.call for row in left if isinstance(row.fact, Started) and row.fact.tool != "world__put"
    }
    in_doubt -= {row.fact.result.call for row in left if isinstance(row.fact, Settled)}
    assert set(next_one.state.current.unknown) == in_doubt
    with pytest.raises(LeaseLost):
        await run.record(Resumed("process 1 on here"))


@given(SCRIPTS, st.integers(1, 120))
def test_a_run_that_is_cancelled_after_any_turn_of_the_loop_has_the_state_of_its_journal(
    script: Script, turns: int
) -> None:
    async def interrupt(journal: Later, driving: "asyncio.Task[Stopped]") -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        driving.cancel()

    asyncio.run(interrupted_and_resumed(script, interrupt))


@given(SCRIPTS, st.integers(1, 30), st.integers(0, 6), st.integers(1, 3))
def test_a_run_that_is_cancelled_about_any_append_has_the_state_of_its_journal(
    script: Script, appends: int, turns: int, times: int
) -> None:
    """So many turns of the loop after that append was given to the journal, and again later."""

    async def interrupt(journal: Later, driving: "asyncio.Task[Stopped]") -> None:
        given_ = asyncio.Event()
        begun = journal.appends
        journal.on_append = lambda number: given_.set() if number - begun >= appends else None
        waiting = asyncio.create_task(given_.wait())
        await asyncio.wait([waiting, driving], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        for _ in range(times):
            for _ in range(turns):
                await asyncio.sleep(0)
            driving.cancel()

    asyncio.run(interrupted_and_resumed(script, interrupt))


async def test_a_row_that_does_not_follow_is_not_folded() -> None:
    run = await begun_run(MemoryStore().scoped("local"))
    rows = [row async for row in run.store.journal.read(STREAM)]
    for wrong in (rows[0], rows[2]):
        state = State()
        apply(state, rows[0])
        with pytest.raises(ValueError, match=f"row {wrong.seq} cannot follow row 1"):
            apply(state, wrong)
