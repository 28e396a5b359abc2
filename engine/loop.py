"""The loop, whole: ask what comes next, do it, record it."""

from collections.abc import Coroutine
from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal
from typing import Any, assert_never

from ..compaction.conversation import ToolCall
from ..tracing import Usage
from .audit import Sent, judged
from .compacting import compact
from .dispatch import execute
from .errors import ModelFault
from .hearing import take_in
from .lifetimes import with_lifetime
from .models.model import Delta, Reply
from .models.pricing import cost
from .models.retry import told_wait_us
from .points import sending
from .run import Run
from .scrub import scrub, scrub_fields
from .steps import Ask, Check, Execute, Wait, next_step
from .store.codec import unrecordable
from .store.facts import Checked, Fact, Faulted, Noted, Replied, Stopped, Waited
from .store.people import Expired
from .window import Compact


async def drive(run: Run) -> Stopped:  # noqa: C901, PLR0912
    """Works on a run until it stops.

    Raises:
        StoreError: the journal or the artifacts failed. Nothing else leaves the loop.
    """
    while True:
        await take_in(run)
        match next_step(run.state):
            case Ask():
                await _record(run, ask(run))
            case Compact() as wanted:
                await _record(run, compact(run, wanted))
            case Execute() as work:
                await execute(run, work)
            case Check() as wanted:
                await run.record(_checked(run, wanted))
            case Wait(until):
                await _record(run, _wait(run, until))
            case Noted() | Expired() as fact:
                await run.record(fact)
            case Stopped() as end:
                await run.record(end)
                return end
            case _ as never:
                assert_never(never)


async def _record(run: Run, work: Coroutine[Any, Any, Fact]) -> None:
    """Records what comes of the work; nothing when the run is cancelled meanwhile."""
    fact = await run.mail.unless_cancelled(run.id, work)
    if fact is not None:
        await run.record(fact)
    elif run.hub.drafting:
        run.hub.delta(Delta("restart"))


def _checked(run: Run, wanted: Check) -> Checked:
    """The verdict on an answer. What finds figures in a text is loaded with the first one."""
    from .answer.check import check

    return check(run.state, wanted)


async def _wait(run: Run, until: int) -> Waited:
    await run.clock.sleep_until(until)
    return Waited()


async def ask(run: Run) -> Replied | Faulted:
    """One model call, as a fact: the whole reply, or why there is none."""
    try:
        reply = await _stream(run)
    except ModelFault as fault:
        return _faulted(run, fault)
    except Exception as error:  # noqa: BLE001  an adapter's mistake is a stop, never a crash
        return _faulted(run, ModelFault("invalid", f"{type(error).__name__}: {error}"))
    priced = cost(reply.usage, run.means.info)
    cached = judged(run.state, _sent(run), reply)
    replied = Replied(_numbered(reply, run.state.turn + 1), priced, run.means.wire.digest, cached)
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
    request = means.wire.request(run.state.conversation, run.state.turn + 1)
    request = replace(request, effort=means.effort.of(run.state))
    means.trail.asks(run.id, request.effort)
    request = with_lifetime(request, run.state, means.lifetime.of(run.state))
    sending(request)
    async with aclosing(means.model.stream(request)) as stream:
        async for part in stream:
            if isinstance(part, Reply):
                return scrub_fields(part)
            means.trail.chunk(run.id)
            run.hub.delta(scrub_fields(part))
    raise ModelFault("cut", "the stream ended before the reply did")


def _sent(run: Run) -> Sent:
    """The request that was sent, as far as a cache is concerned; nothing was recorded since."""
    means, prefix = run.means, run.state.prefix
    return Sent(
        means.model.name,
        means.lifetime.of(run.state),
        len(means.wire.segments),
        means.wire.layers(0 if prefix is None else prefix.cached.segments),
        means.lifetime.takes_markers,
        means.info.cache_minimum,
    )


def _numbered(reply: Reply, turn: int) -> Reply:
    """The reply with its calls named by their position: the first call of turn 17 is `17.1`."""
    blocks: list[object] = []
    place = 0
    for block in reply.message.blocks:
        if isinstance(block, ToolCall):
            place += 1
            block = replace(block, id=f"{turn}.{place}")
        blocks.append(block)
    return replace(reply, message=replace(reply.message, blocks=tuple(blocks)))  # type: ignore[arg-type]
