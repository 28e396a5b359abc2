"""Children that outgrow their windows: what leaves their views, and where it is read back."""

import asyncio
import re
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest
from inline_snapshot import snapshot

from compacted import LIMITS, Script, investigated, looking
from families import NO_END, Family, delegate, strand
from loopback import Answer, Text, ToolUse
from offing.engine import Call, MemoryStore, Playbook, Result, Role, Roles, Scripted
from offing.engine.history import replay
from offing.engine.state import State, apply
from offing.engine.store.facts import Checked, Compacted, Replied
from offing.engine.store.journal import Row
from offing.engine.store.retention import LEAST_GRACE_S, export, restore, sweep
from offing.namespaces import Effect, Record, ToolContext, ToolOutput
from test_history_replay import OFFLINE
from worlds import Given, async_tool

HANDLE = re.compile(r"conversation/[\d./-]*\d")
SMALL = replace(NO_END, window=12_000, reply_tokens=1_000)
"""Room for 11,000 tokens: a pass at 8,800 that leaves 5,500."""


async def _look(arguments: Given, context: ToolContext) -> ToolOutput:
    rows = (f"row {k} of {arguments['n']}: {k * 3.17:.2f} GBP REF{k:05}" for k in range(90))
    name = str(arguments["n"])
    records = (Record(f"txn/{name}", Decimal("12.50"), "GBP"),) if name.endswith("-0") else ()
    return ToolOutput("\n".join(rows), records=records)


LOOK = async_tool(_look, "look", effect=Effect.READ)


async def look_long(book: Playbook, who: str) -> None:
    for turn in range(14):
        await book.calls(Call("sys__look", {"n": f"{who}-{turn}"}), Call("sys__look", {"n": f"{who}+{turn}"}))


async def recalled(book: Playbook, words: str) -> str:
    """The stretch that a search finds, and how it begins."""
    (found,) = await book.calls(Call("search", {"query": words, "where": "outputs"}))
    handle = HANDLE.findall(found.text)[0]
    (read,) = await book.calls(Call("read", {"source": handle, "length": 20}))
    return f"{handle}: {read.text.splitlines()[1]}"


def investigation() -> Family:
    """A run with two children, each of which looks at more than its window takes, then reads back."""

    async def play(book: Playbook, text: str) -> str:
        if text.startswith(("alpha", "beta")):
            await look_long(book, text.split()[0])
            name = f"{text.split()[0]}-0"
            return f"12.50 GBP [[sys:txn/{name}]]\n{await recalled(book, f'{name} REF00033')}"
        (result,) = await book.calls(delegate("alpha now", "beta now"))
        await look_long(book, "top")
        reads = [Call("read", {"source": each, "length": 20}) for each in HANDLE.findall(result.text)]
        read = [each.text.splitlines()[1] for each in await book.calls(*reads)]
        told = [line for line in result.text.splitlines() if HANDLE.match(line)]
        cited = "There are 12.50 GBP [[sys:txn/alpha-0]]."
        return "\n".join([*told, *read, cited, await recalled(book, "top-0 REF00033")])

    family = Family([], {}, [LOOK], limits=SMALL)
    digest = Scripted(["## Facts\n- All rows are there."] * 99)
    family.model = Roles(run=Role(Scripted(play)), digest=Role(digest))
    return family


@pytest.fixture(scope="module")
def whole() -> tuple[Family, Result]:
    """What became of it; nothing below changes that."""
    family = investigation()
    return family, asyncio.run(family.ask())


async def rows_of(family: Family) -> list[Row]:
    return [row async for row in family.store.scoped("local").journal.read("s")]


async def passes_of(family: Family) -> list[tuple[State, Compacted]]:
    """Each pass with the state of its run before it."""
    state, found = State(), list[tuple[State, Compacted]]()
    for row in await rows_of(family):
        if isinstance(row.fact, Compacted):
            found.append((deepcopy(state.of(row.run) or state), row.fact))
        apply(state, row)
    return found


async def test_what_left_the_views_of_a_run_and_its_children_has_a_place_of_its_own_and_is_read_by_all(
    whole: tuple[Family, Result],
) -> None:
    family, result = whole
    assert result.answer == snapshot("""\
conversation/1.1.1/1-5: ## 1 user
conversation/1.1.2/1-5: ## 1 user
## 1 user
## 1 user
There are 12.50 GBP [[sys:txn/alpha-0]].
conversation/1-7: ## 1 user\
""")
    passes = await passes_of(family)
    handles = [stored.handle for _, done in passes for stored in done.stored]
    assert len(handles) == len(set(handles))
    assert {state.path for state, _ in passes} == {"", "1.1.1", "1.1.2"}
    get = family.store.scoped("local").artifacts.get
    for state, done in passes:
        for stored in done.stored:
            text = (await get(stored.ref)).decode()
            assert _is_what_left(state, stored.handle, text)


def _is_what_left(state: State, handle: str, text: str) -> bool:
    kind, _, rest = handle.partition("/")
    said = state.conversation.messages
    results = {one.call: one.content for message in said for one in message.results}
    if kind == "result":
        return text == results[rest]
    path, _, stretch = rest.rpartition("/")
    first, last = map(int, stretch.split("-"))
    numbers = [int(number) for number in re.findall(r"^## (\d+) ", text, re.MULTILINE)]
    contents = [one.content for message in said[first - 1 : last] for one in message.results]
    is_whole = all(content in text for content in contents)
    return is_whole and (path, numbers) == (state.path, [*range(first, last + 1)])


async def test_a_record_that_only_a_child_has_read_is_cited_after_all_that_showed_it_has_left(
    whole: tuple[Family, Result],
) -> None:
    family, result = whole
    assert [(figure.text, figure.records, figure.problem) for figure in result.figures] == [
        ("12.50 GBP", ("sys:txn/alpha-0",), "")
    ]
    child = [
        row.fact for row in await rows_of(family) if row.run == "s.1.1.1.1" and isinstance(row.fact, Checked)
    ]
    assert [(figure.text, figure.problem) for one in child for figure in one.figures] == [("12.50 GBP", "")]


async def test_a_digest_names_the_stretches_of_its_own_run_alone(whole: tuple[Family, Result]) -> None:
    family, _ = whole
    digests = [(state.path, done.done.digest) for state, done in await passes_of(family)]
    named = {
        (path, handle.rpartition("/")[0])
        for path, one in digests
        if one
        for handle in HANDLE.findall(one.text)
    }
    assert named == {(path, f"conversation/{path}".rstrip("/")) for path in ("", "1.1.1", "1.1.2")}


@pytest.mark.parametrize("run", ["s.1", "s.1.1.1.1", "s.1.1.1.2"])
async def test_requests_of_each_run_are_made_again_byte_for_byte_and_extend_between_its_passes(
    whole: tuple[Family, Result], run: str
) -> None:
    family, _ = whole
    again = [one async for one in replay(family.store.scoped("local"), run, Scripted(["-"]))]
    assert all(one.is_equal for one in again)
    own = [row.fact for row in await rows_of(family) if row.run == run]
    passes = sum(isinstance(fact, Compacted) for fact in own)
    broken = [
        after.request.segments[: len(before.request.segments)] != before.request.segments
        for before, after in pairwise(again)
    ]
    assert sum(broken) == passes > 2


async def test_what_left_is_kept_by_a_sweep_and_comes_along_with_an_export(
    whole: tuple[Family, Result],
) -> None:
    family, _ = whole
    scope, other = family.store.scoped("local"), MemoryStore().scoped("local")
    assert await sweep(scope, LEAST_GRACE_S) == 0
    await restore(other, [line async for line in export(scope)])
    rows = [row async for row in other.journal.read("s")]
    assert rows == await rows_of(family)
    for stored in (one for row in rows if isinstance(row.fact, Compacted) for one in row.fact.stored):
        assert await other.artifacts.get(stored.ref) == await scope.artifacts.get(stored.ref)


async def test_over_a_real_wire_a_child_makes_room_and_nothing_that_it_sends_is_refused() -> None:
    """The server checks each signature of thinking against what stands before it."""
    handed_on = Answer([ToolUse("delegate", {"strands": [dict(strand("Look long."))]})])
    replies = [handed_on, *looking(20), Answer([Text("Found.")]), Answer([Text("Done.")])]
    async with investigated(Script(replies), limits=replace(LIMITS, strand_s=None)) as made:
        rows = [row async for row in made.engine.store.journal.read("s")]
        again = [one.body async for one in replay(made.engine.store, "s.1.1.1.1", OFFLINE)]
        assert (made.server.refusals, made.results[0].answer) == ([], "Done.")
        assert again == [seen.body for seen in made.bodies[1:-1]]
        assert made.results[0].children[0].took.digests == len(made.server.requests) - len(made.bodies) > 0
    passes = [row.run for row in rows if isinstance(row.fact, Compacted)]
    assert set(passes) == {"s.1.1.1.1"}
    cached = [row.fact.cached for row in rows if isinstance(row.fact, Replied)]
    outcomes = Counter(one.outcome for one in cached if one is not None)
    assert (outcomes["first"], outcomes["pass"], outcomes["changed"]) == (2, len(passes), 0)
    assert made.results[0].cost == sum(
        row.fact.cost or 0 for row in rows if isinstance(row.fact, Replied | Compacted)
    )
