"""The loop, whole: ask what comes next, do it, record it."""

from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal
from typing import assert_never

from ..tracing import Usage
from .answer.check import check
from .dispatch import execute
from .errors import ModelFault
from .models.model import Delta, Reply
from .models.pricing import cost
from .models.retry import told_wait_us
from .run import Run
from .scrub import scrub, scrub_fields
from .state import numbered
from .steps import Ask, Check, Execute, Wait, next_step
from .store.codec import unrecordable
from .store.facts import Faulted, Noted, Replied, Stopped, Waited


async def drive(run: Run) -> Stopped:
    """Works on a run until it stops.

    Raises:
        StoreError: the journal or the artifacts failed. Nothing else leaves the loop.
    """
    while True:
        match next_step(run.state):
            case Ask():
                await run.record(await ask(run))
            case Execute() as work:
                await execute(run, work)
            case Check() as wanted:
                await run.record(check(run.state, wanted))
            case Wait(until):
                await run.clock.sleep_until(until)
                await run.record(Waited())
            case Noted() as note:
                await run.record(note)
            case Stopped() as end:
                await run.record(end)
                return end
            case _ as never:
                assert_never(never)


async def ask(run: Run) -> Replied | Faulted:
    """One model call, as a fact: the whole reply, or why there is none."""
    try:
        reply = await _stream(run)
    except ModelFault as fault:
        return _faulted(run, fault)
    except Exception as error:  # noqa: BLE001  an adapter's mistake is a stop, never a crash
        return _faulted(run, ModelFault("invalid", f"{type(error).__name__}: {error}"))
    priced = cost(reply.usage, run.means.info)
    replied = Replied(numbered(reply, run.state.turn + 1), priced, run.means.wire.digest)
    problem = unrecordable(replied)
    if not problem:
        return replied
    told = f"the reply cannot be kept: {problem}"
    return _faulted(run, ModelFault("invalid", told, usage=reply.usage))


def _faulted(run: Run, fault: ModelFault) -> Faulted:
    """The failure of a call with all that the decision about it needs."""
    if run.hub.drafting:
        run.hub.delta(Delta("restart"))
    told = told_wait_us(fault.headers, str(fault), run.clock.now_us())
    spent = cost(fault.usage, run.means.info) if fault.usage != Usage() else Decimal(0)
    return Faulted(fault.kind, scrub(str(fault)), told, run.clock.chance(), fault.usage, spent)


async def _stream(run: Run) -> Reply:
    means = run.means
    request = means.wire.request(run.state.conversation.view(), run.state.turn + 1)
    request = replace(request, effort=means.effort.of(run.state))
    async with aclosing(means.model.stream(request)) as stream:
        async for part in stream:
            if isinstance(part, Reply):
                return scrub_fields(part)
            run.hub.delta(scrub_fields(part))
    raise ModelFault("cut", "the stream ended before the reply did")
