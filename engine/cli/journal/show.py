"""`offing show RUN`: one run, call by call, with what it spent and what its figures rest on."""

import argparse
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import NamedTuple

from pydantic import TypeAdapter

from ....compaction.conversation import ToolCall
from ...answer.result import result_of
from ...breakers import spent_of
from ...budget import shares
from ...errors import NotFound
from ...history.streams import place_of
from ...state import State, fold
from ...store.codec import encode
from ...store.facts import Replied, Settled, Unknown
from ...store.journal import Row, Scope
from ...store.place import shown
from .. import command
from ..command import Command
from ..exits import DONE, ExitCode
from ..ground import Ground
from .summary import RunSummary, duration, money, time_of
from .timeline import arguments_of, lines_of

_FACT: TypeAdapter[object] = TypeAdapter(object)


class Shown(NamedTuple):
    """A run as the journal has it."""

    run: str
    rows: Sequence[Row]
    state: State | None
    """After its last row; None where a later release wrote one."""


async def read_run(scope: Scope, run: str) -> Shown:
    """The run's rows, and the state they lead to.

    Raises:
        NotFound: there is no such run.
        StoreError: the store failed, or a row is damaged.
    """
    place = await place_of(scope.journal, run)
    rows = [row async for row in scope.journal.read(place.stream)]
    own = [row for row in rows if row.run == place.run]
    if not own:
        raise NotFound(f"there is no run {run!r}")
    if any(isinstance(row.fact, Unknown) for row in rows[: own[-1].seq]):
        return Shown(place.run, own, None)
    return Shown(place.run, own, await fold(_each(rows[: own[-1].seq])))


async def _each(rows: Sequence[Row]) -> AsyncIterator[Row]:
    for row in rows:
        yield row


async def show(run: str, ground: Ground, *, as_json: bool) -> ExitCode:
    """Shows a run.

    Raises:
        ConfigurationError: there is no store.
        NotFound: there is no such run.
        StoreError: the store failed, or a row is damaged.
    """
    found = await _found(run, ground)
    if as_json:
        ground.screen.line(json.dumps(_whole(found), ensure_ascii=False, indent=2))
        return DONE
    for line in _lines(found, ground):
        ground.screen.line(line)
    return DONE


async def show_call(run: str, call: str, ground: Ground) -> ExitCode:
    """Shows one call whole: its arguments, and its result as the tool gave it.

    Raises:
        NotFound: there is no such run or call.
        StoreError: the store failed, or a row is damaged.
    """
    kept = ground.existing()
    try:
        scope = kept.scoped(ground.tenant)
        found = await read_run(scope, run)
        asked = _asked(found, call)
        ground.screen.line(f"{asked.id} {asked.name}")
        ground.screen.line(arguments_of(asked))
        for row in found.rows:
            if isinstance(row.fact, Settled) and row.fact.result.call == call:
                ground.screen.line()
                ground.screen.line(await _result(row.fact, scope))
    finally:
        await kept.close()
    return DONE


async def _result(settled: Settled, scope: Scope) -> str:
    """The result as it was before it was shortened for the model."""
    for stored in settled.stored:
        if stored.handle == f"result/{settled.result.call}":
            return (await scope.artifacts.get(stored.ref)).decode("utf-8", "replace")
    return settled.result.content


def _asked(found: Shown, call: str) -> ToolCall:
    replies = [row.fact.reply for row in found.rows if isinstance(row.fact, Replied)]
    calls = {each.id: each for reply in replies for each in reply.message.calls}
    if call not in calls:
        there = f"there are {', '.join(calls)}" if calls else "it made none"
        raise NotFound(f"run {found.run!r} has no call {call!r}: {there}")
    return calls[call]


async def _found(run: str, ground: Ground) -> Shown:
    kept = ground.existing()
    try:
        return await read_run(kept.scoped(ground.tenant), run)
    except NotFound as error:
        where = f"in {shown(ground.store)!r}: `offing runs{ground.again}` lists what is there"
        raise NotFound(f"{error} {where}") from None
    finally:
        await kept.close()


def _lines(found: Shown, ground: Ground) -> Iterator[str]:
    summary = RunSummary(found.run)
    for row in found.rows:
        summary.take(row)
    took = duration(summary.last_at - summary.began_at)
    by = f" by {summary.by}" if summary.by else ""
    yield f"run {found.run}: {summary.state}"
    came_to = f"{took}, {summary.iterations} iterations, {money(summary.cost)}"
    yield f"begun {time_of(summary.began_at)}{by}; {came_to}"
    if found.state is not None:
        yield from _budget(found.state)
    yield ""
    iteration = 0
    for row in found.rows:
        if isinstance(row.fact, Replied):
            iteration += 1
            yield f"iteration {iteration}"
        yield from lines_of(row)
    yield from _ending(found, ground, summary)


def _budget(state: State) -> Iterator[str]:
    for share in shares(state.current.budget, spent_of(state)):
        yield f"budget: {share.told(share.spent)} of {share.told(share.granted)} {share.unit}"


def _ending(found: Shown, ground: Ground, summary: RunSummary) -> Iterator[str]:
    """The answer with its sources, or how to go on."""
    state = found.state
    if state is not None and state.current.stopped is not None:
        result = result_of(state)
        if result.answered:
            yield from ("", result.text())
            for figure in result.figures:
                yield f"  {figure.text}: {figure.problem or ', '.join(figure.records)}"
    for call in summary.waiting:
        yield f"decide with: offing approve {found.run} {call}{ground.again}, or deny, or answer"
    if summary.why != "answered":
        yield f"go on with: offing resume {found.run}{ground.again}"
    yield f"one call whole: offing show {found.run} --full CALL{ground.again}"


def _whole(found: Shown) -> dict[str, object]:
    """The run for a program: each fact as the journal has it, and the result once there is one."""
    facts = [
        {
            "seq": row.seq,
            "at_us": row.at,
            "kind": _kind(row),
            "fact": _FACT.dump_python(row.fact, mode="json"),
        }
        for row in found.rows
    ]
    stopped = found.state is not None and found.state.current.stopped is not None
    result = result_of(found.state).to_json() if found.state is not None and stopped else None
    return {"run": found.run, "facts": facts, "result": result}


def _kind(row: Row) -> str:
    return row.fact.kind if isinstance(row.fact, Unknown) else encode(row.fact).kind


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("run", help=command.RUN)
    made.add_argument("--json", action="store_true", help="every fact of it, as one JSON object")
    made.add_argument("--full", metavar="CALL", help="this call whole, such as 17.2")


async def _work(given: argparse.Namespace, ground: Ground) -> ExitCode:
    if given.full:
        return await show_call(given.run, given.full, ground)
    return await show(given.run, ground, as_json=given.json)


SHOW = Command("show", "one run, call by call, with what its figures rest on", _arguments, _work)
