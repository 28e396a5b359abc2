"""Running what the model asked for: each call comes to exactly one recorded result.

A call is understood first, then waits for its turn, then its intent is recorded, then it runs, then
its outcome is recorded. Nothing a tool does ends the run: what it raises is the call's result.
"""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from pydantic import SecretStr

from ..compaction.conversation import ToolCall
from ..namespaces.meta_tools import Call, Wrong
from ..namespaces.tool import Effect, Inspection, ToolContext, ToolOutput
from .locks import Ticket
from .prompts import prompt
from .redact import Redactor
from .resident.desk import Desk
from .results import Origin, settled
from .run import Run
from .scrub import scrub
from .steps import Execute
from .store.facts import Fact, Settled, Started
from .work import Ended, Work, begin, told, was_cancelled


@dataclass(frozen=True, slots=True)
class Planned:
    """A call with what it means and its place in the order."""

    call: ToolCall
    meaning: Call | Wrong
    doubtful: bool
    ticket: Ticket


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call."""

    output: ToolOutput
    unknown: bool = False


async def execute(run: Run, work: Execute) -> None:
    """Brings each of the calls to a recorded result, in parallel where they are independent.

    Raises:
        StoreError: a result could not be recorded. Calls at work are told to end; what they did shows
            on resume.
    """
    run.hub.bind()
    planned = _plan(run, work)
    tasks = [asyncio.create_task(_settle(run, one)) for one in planned]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _plan(run: Run, work: Execute) -> list[Planned]:
    """The calls in the order they were asked for, each with its place among the write locks."""
    doubtful = {call.id for call in work.in_doubt}
    asked = {call.id: call for call in (*work.calls, *work.in_doubt)}
    planned: list[Planned] = []
    for identity in run.state.current.calls:
        if identity in asked:
            meaning = _meaning(run, asked[identity], executable=work.executable)
            writes = meaning.tool.write_set if isinstance(meaning, Call) else frozenset[str]()
            ticket = run.means.locks.enter(meaning.operation, writes)
            planned.append(Planned(asked[identity], meaning, identity in doubtful, ticket))
    return planned


def _meaning(run: Run, call: ToolCall, *, executable: bool) -> Call | Wrong:
    if not executable:
        return Wrong("Not executed: the reply that asked for it ended early.", call.name)
    if call.malformed is not None:
        return Wrong(f"The arguments are no JSON object: {call.malformed[:300]!r}. Not executed.", call.name)
    try:
        meaning = run.means.toolbox.resolve(call.name, call.arguments)
    except Exception as error:  # noqa: BLE001  a schema of the wild that no checker can apply
        return Wrong(f"The call cannot be checked ({told(error)[:1000]}). Not executed.", call.name)
    if isinstance(meaning, Call) and meaning.tool.destructive:
        return Wrong(
            f"{meaning.operation} needs a person's approval, and approvals cannot be given yet. "
            "Not executed.",
            meaning.operation,
        )
    return meaning


async def _settle(run: Run, planned: Planned) -> None:
    also: list[Fact] = []
    try:
        outcome = await _outcome(run, planned, also)
        fact = await _fact(run, planned, outcome)
        await run.record(*(also if not outcome.output.error else ()), fact)
    finally:
        planned.ticket.answer()


async def _fact(run: Run, planned: Planned, outcome: Outcome) -> Settled:
    meaning = planned.meaning
    operation = scrub(meaning.operation)
    origin = Origin(planned.call.id, operation, frozenset(), "", Redactor())
    if isinstance(meaning, Call):
        others, redact = meaning.tool.record_namespaces, Redactor.of(_credentials(run, meaning))
        origin = Origin(planned.call.id, operation, others, meaning.owner, redact)
    limits = run.state.current.began.limits
    fact = await settled(outcome.output, origin, run.store.artifacts, limits)
    return replace(fact, unknown=outcome.unknown)


async def _outcome(run: Run, planned: Planned, also: list[Fact]) -> Outcome:
    """What the call comes to; holds its lock meanwhile."""
    call, ticket = planned.meaning, planned.ticket
    if isinstance(call, Wrong):
        ticket.release()
        if planned.doubtful:
            return _unknown(call.operation, f"it cannot be looked at now: {call.message}")
        return Outcome(ToolOutput(call.message, error=True))
    context = _context(run, planned.call.id, call, also)
    work: Work | None = None
    try:
        in_the_way = await ticket.turn()
        if in_the_way is not None:
            return _not_begun(planned, f"{in_the_way} outlived its timeout and still runs")
        async with run.means.slots:
            known = await _inspected(call, context) if planned.doubtful else None
            if known is not None:
                return known
            await _intend(run, planned, call, context)
            work = begin(call.tool, call.arguments, context, run.means.pool)
            return _ended(planned, call, await work.ended(call.tool.timeout_s))
    finally:
        if work is None:
            ticket.release()
        else:
            work.when_ended(ticket.release)


async def _intend(run: Run, planned: Planned, call: Call, context: ToolContext) -> None:
    """Intent before effect: durable before the call begins."""
    if call.tool.effect is not Effect.READ and not planned.doubtful:
        key = context.idempotency_key
        await run.record(Started(planned.call.id, scrub(call.operation), key))


async def _inspected(call: Call, context: ToolContext) -> Outcome | None:
    """What became of a call that somebody else started; None when it may run again."""
    if call.tool.effect is not Effect.ONCE:
        return None
    try:
        found = await _look(call, context)
    except (Exception, asyncio.CancelledError) as error:  # a failed look leaves the outcome unknown
        if was_cancelled():
            raise
        return _unknown(call.operation, f"looking for its outcome failed ({told(error)})")
    if found.outcome == "not done":
        return None
    if found.outcome == "done":
        return Outcome(found.output or ToolOutput(f"{call.operation} took effect before a restart."))
    return _unknown(call.operation, "the process ended before its outcome was recorded")


async def _look(call: Call, context: ToolContext) -> Inspection:
    """What the tool finds out about a started call; raises whatever it raises."""
    if call.tool.inspect is None:
        return Inspection("unknown")
    async with asyncio.timeout(call.tool.timeout_s):
        found = cast("object", await call.tool.inspect(call.arguments, context))
    if not isinstance(found, Inspection):
        raise TypeError(f"it gave {type(found).__name__}, not Inspection")
    return found


def _ended(planned: Planned, call: Call, end: Ended) -> Outcome:
    if end.how == "timeout":
        return _timed_out(call)
    if end.how == "not begun":
        return _not_begun(planned, "all threads for tools were busy")
    return Outcome(end.output or ToolOutput(end.error, error=True))


def _timed_out(call: Call) -> Outcome:
    after = f"did not end within {call.tool.timeout_s:g} s"
    if call.tool.effect is Effect.ONCE:
        return _unknown(call.operation, after)
    return Outcome(ToolOutput(f"{call.operation} {after}. It may be called again.", error=True))


def _not_begun(planned: Planned, why: str) -> Outcome:
    """It was not begun now; whether it was before, nobody knows of a call in doubt."""
    call = planned.meaning
    if planned.doubtful:
        return _unknown(call.operation, f"it cannot be looked at now: {why}")
    return Outcome(ToolOutput(f"{call.operation} was not executed: {why}.", error=True))


def _unknown(operation: str, why: str) -> Outcome:
    return Outcome(ToolOutput(prompt("unknown", tool=operation, why=why), error=True), unknown=True)


def _context(run: Run, identity: str, call: Call, also: list[Fact]) -> ToolContext:
    async def read(handle: str) -> bytes:
        stored = run.state.artifacts.get(handle)
        if stored is None:
            raise KeyError(f"there is no handle {handle!r} in this session")
        return await run.store.artifacts.get(stored.ref)

    credentials = _credentials(run, call)
    redact = Redactor.of(credentials)

    def progress(text: str) -> None:
        run.hub.progress(identity, scrub(redact(text)))

    key = hashlib.sha256(f"{run.lease.stream}\n{run.id}\n{identity}".encode()).hexdigest()
    common = (run.id, identity, key, credentials, progress, read)
    if call.owner:
        return ToolContext(*common)
    means = run.means
    return Desk(*common, run.state, means.toolbox, means.workspace, also, means.skills)


def _credentials(run: Run, call: Call) -> Mapping[str, SecretStr]:
    """Those of the call's own namespace, and of no other."""
    return run.means.credentials.get(call.owner, {})
