"""Running what the model asked for: each call comes to exactly one recorded result.

A call is understood first, then waits for its turn, then its intent is recorded, then it runs, then
its outcome is recorded. Nothing a tool does ends the run: what it raises is the call's result.
"""

import asyncio
import contextlib
import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from pydantic import JsonValue

from ..compaction.conversation import ToolCall
from ..namespaces.meta_tools import Call, Wrong
from ..namespaces.tool import Effect, Inspection, Question, ToolContext, ToolOutput
from .context import context_of, credentials_of
from .errors import StoreError
from .gate import Gated, gate, questioned, within
from .locks import Ticket
from .mail import end
from .prompts import prompt
from .redact import Redactor
from .results import Origin, settled
from .run import Run
from .scrub import scrub
from .steps import Execute
from .store.facts import Fact, Settled, Started
from .store.people import Questioned, Requested
from .traced.host import attached
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
    gated = await _gated(run, work)
    requests = [one for one in gated.values() if isinstance(one, (Requested, Questioned))]
    if requests:
        await run.record(*requests)
    tasks = [asyncio.create_task(_settle(run, one)) for one in _plan(run, work, gated)]
    watching = asyncio.create_task(_interrupt(run))
    try:
        await asyncio.gather(*tasks)
    finally:
        await end((*tasks, watching))


async def _gated(run: Run, work: Execute) -> dict[str, Gated]:
    """Each call with what it means and what stands in its way, in the order they were asked for."""
    asked = {call.id: call for call in (*work.calls, *work.in_doubt)}
    in_order = [asked[identity] for identity in run.state.current.calls if identity in asked]
    meanings = [_meaning(run, call, executable=work.executable) for call in in_order]
    gated = await asyncio.gather(*map(functools.partial(_gate, run), in_order, meanings))
    return within(run.state, {call.id: one for call, one in zip(in_order, gated, strict=True)})


async def _gate(run: Run, call: ToolCall, meaning: Call | Wrong) -> Gated:
    if isinstance(meaning, Wrong):
        return meaning
    try:
        return await gate(run, call.id, meaning)
    except Exception as error:  # noqa: BLE001  a default of the wild, or a host's rule, that cannot be applied
        return _unchecked(call, error)


def _unchecked(call: ToolCall, error: Exception) -> Wrong:
    return Wrong(f"The call cannot be checked ({told(error)[:1000]}). Not executed.", call.name)


def _plan(run: Run, work: Execute, gated: Mapping[str, Gated]) -> list[Planned]:
    """The calls that come to their result now, each with its place among the write locks."""
    doubtful = {call.id for call in work.in_doubt}
    planned: list[Planned] = []
    for identity, meaning in gated.items():
        if isinstance(meaning, (Call, Wrong)):
            writes = meaning.tool.write_set if isinstance(meaning, Call) else frozenset[str]()
            ticket = run.means.locks.enter(meaning.operation, writes)
            call = run.state.current.calls[identity]
            planned.append(Planned(call, meaning, identity in doubtful, ticket))
    return planned


async def _interrupt(run: Run) -> None:
    """When somebody asks to stop: short calls may end, long ones are told to, and none is begun.

    A store that fails while the inbox is read fails the run at its next step.
    """
    grace_s = run.state.current.began.limits.cancel_grace_s
    with contextlib.suppress(StoreError, TimeoutError):
        at_once = await run.mail.cancelled(run.id)
        async with asyncio.timeout(0 if at_once else grace_s):
            await run.mail.cancelled(run.id, at_once=True)
    if run.mail.cancelling:
        run.mail.interrupting = True
        for task in run.mail.interruptible:
            task.cancel()


def _meaning(run: Run, call: ToolCall, *, executable: bool) -> Call | Wrong:
    if not executable:
        cancelled = run.state.current.cancel is not None
        why = "the run was cancelled" if cancelled else "the reply that asked for it ended early"
        return Wrong(f"Not executed: {why}.", call.name)
    if call.id in run.state.current.beyond:
        granted = f"{run.state.current.budget.tool_calls:,}"
        return Wrong(prompt("no_calls", granted=granted), call.name)
    if call.malformed is not None:
        return Wrong(f"The arguments are no JSON object: {call.malformed[:300]!r}. Not executed.", call.name)
    try:
        return run.means.toolbox.resolve(call.name, call.arguments)
    except Exception as error:  # noqa: BLE001  a schema of the wild that no checker can apply
        return _unchecked(call, error)


async def _settle(run: Run, planned: Planned) -> None:
    also: list[Fact] = []
    try:
        outcome = await _unless_interrupted(run, planned, also)
        if isinstance(planned.meaning, Call) and outcome.output.question is not None:
            told = await _asked(run, planned, planned.meaning, outcome.output.question)
            if not told:
                return
            outcome = Outcome(ToolOutput(f"{_text(outcome.output.content)}\n{told}".strip(), error=True))
        fact = await _fact(run, planned, outcome)
        await run.record(*(also if not outcome.output.error else ()), fact)
    finally:
        planned.ticket.answer()


async def _asked(run: Run, planned: Planned, call: Call, asks: Question) -> str:
    """Asks a person on the call's behalf, which goes on once there is an answer.

    Returns why nobody was asked; empty when somebody was.
    """
    async with run.asking:
        try:
            question = questioned(run, planned.call.id, call, asks)
        except Exception as error:  # noqa: BLE001  a tool may put anything into its question
            question = f"Nobody can be asked: {told(error)[:1000]}"
        if isinstance(question, Questioned):
            await run.record(question)
    return question if isinstance(question, str) else ""


def _text(content: JsonValue) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)


async def _unless_interrupted(run: Run, planned: Planned, also: list[Fact]) -> Outcome:
    """The outcome, or what is known of it when the call was told to end because the run is cancelled."""
    task = cast("asyncio.Task[None]", asyncio.current_task())
    run.mail.interruptible.add(task)
    try:
        return await _outcome(run, planned, also)
    except asyncio.CancelledError:
        if not run.mail.interrupting or task.cancelling() > 1:
            raise
        task.uncancel()
        return _interrupted(run, planned)
    finally:
        run.mail.interruptible.discard(task)


def _interrupted(run: Run, planned: Planned) -> Outcome:
    operation = planned.meaning.operation
    begun = planned.doubtful or planned.call.id in run.state.current.started
    once = isinstance(planned.meaning, Call) and planned.meaning.tool.effect is Effect.ONCE
    if once and begun:
        return _unknown(operation, "the run was cancelled before it ended")
    if once:
        return _not_begun(planned, "the run was cancelled")
    again = f"{operation} was interrupted: the run was cancelled. It may be called again."
    return Outcome(ToolOutput(again, error=True))


async def _fact(run: Run, planned: Planned, outcome: Outcome) -> Settled:
    meaning = planned.meaning
    operation = scrub(meaning.operation)
    origin = Origin(planned.call.id, operation, frozenset(), "", Redactor())
    if isinstance(meaning, Call):
        others, redact = meaning.tool.record_namespaces, Redactor.of(credentials_of(run, meaning))
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
    context = context_of(run, planned.call.id, call, also)
    work: Work | None = None
    try:
        in_the_way = await ticket.turn()
        if in_the_way is not None:
            return _not_begun(planned, f"{in_the_way} outlived its timeout and still runs")
        async with run.means.slots:
            if run.mail.cancelling:
                return _not_begun(planned, "the run was cancelled")
            known = await _inspected(call, context) if planned.doubtful else None
            if known is not None:
                return known
            run.means.trail.begins(run.id, planned.call.id)
            await _intend(run, planned, call, context)
            with attached(context.traceparent):
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
    output = end.output or ToolOutput(end.error, error=True)
    if output.unknown and call.tool.effect is Effect.ONCE:
        return _unknown(call.operation, f"did not come to an end ({_text(output.content)})")
    return Outcome(output)


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
