"""The loop, whole: ask what comes next, do it, record it."""

from contextlib import aclosing
from typing import assert_never

from .answer import check
from .dispatch import execute
from .errors import ModelFault
from .models.model import Reply
from .run import Run
from .scrub import scrub, scrub_fields
from .state import numbered
from .steps import Ask, Check, Execute, next_step
from .store.codec import unrecordable
from .store.facts import Faulted, Noted, Replied, Stopped


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
            case Check(answer, schema):
                await run.record(check(answer, schema))
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
        return Faulted(fault.kind, scrub(str(fault)))
    except Exception as error:  # noqa: BLE001  an adapter's mistake is a stop, never a crash
        return Faulted("invalid", scrub(f"{type(error).__name__}: {error}"))
    replied = Replied(numbered(reply, run.state.turn + 1))
    problem = unrecordable(replied)
    return Faulted("invalid", f"the reply cannot be kept: {problem}") if problem else replied


async def _stream(run: Run) -> Reply:
    means = run.means
    request = means.wire.request(run.state.conversation.view(), run.state.turn + 1)
    async with aclosing(means.model.stream(request)) as stream:
        async for part in stream:
            if isinstance(part, Reply):
                return scrub_fields(part)
            run.hub.delta(part)
    raise ModelFault("cut", "the stream ended before the reply did")
