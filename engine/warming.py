"""Keeping the prompt of a session that waits in its provider's cache.

While a run waits for a person nobody drives it, so the open session does this beside it: shortly before the
history would be cold it takes the lease, has the prompt of the last request read once more, records what
that cost, and gives the lease back. It ends when its times or its money are used up, when the run may spend
nothing more, when somebody else works on the session, and when reading fails. A process that ends keeps
nothing warm.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import NamedTuple

from .breakers import spent_of
from .budget import over
from .clock import RunClock
from .errors import LeaseHeld, ModelFault, OffingError
from .lifetimes import KeepWarm, with_lifetime
from .logs import of_run
from .models.model import KeepsWarm, Request
from .models.pricing import cost
from .run import Run
from .state import State
from .store.cached import Warmed
from .warmth import expires_at
from .wire import HEAD, marks

_AHEAD_US = 30_000_000
"""Microseconds before the cache is cold at which it is read again: a request takes seconds to arrive."""
_log = logging.getLogger("offing")


class Waiting(NamedTuple):
    """A session that waits, as far as it is kept warm."""

    state: Callable[[], State]
    """As this process knows it."""
    take: Callable[[], Awaitable[Run]]
    """Takes the lease; LeaseHeld when somebody works on the session."""
    give_back: Callable[[Run], Awaitable[None]]


class Warmth:
    """The work of keeping one session warm, if any is at hand."""

    def __init__(self) -> None:
        """Begins with none."""
        self._task: asyncio.Task[None] | None = None

    def keep(self, waiting: Waiting, wanted: KeepWarm | None, clock: RunClock) -> None:
        """From here on, as far as it is wanted; nobody waits for it."""
        if wanted is not None:
            self._task = asyncio.create_task(keep_warm(waiting, wanted, clock), name="offing keeps warm")

    async def ended(self) -> None:
        """Waits until it ends by itself."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def let_go(self) -> None:
        """Ends it: work goes on, or the session is closed."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def keep_warm(waiting: Waiting, wanted: KeepWarm, clock: RunClock) -> None:
    """Has the prompt read again and again, within bounds. Cancelled when work goes on."""
    spent = Decimal(0)
    for _ in range(wanted.times):
        due = expires_at(waiting.state())
        if due is None:
            return
        await clock.sleep_until(due - _AHEAD_US)
        fact = await _once(waiting)
        if fact is None or (wanted.cost is not None and fact.cost is None):
            return
        spent += fact.cost or 0
        if wanted.cost is not None and spent >= wanted.cost:
            return


async def _once(waiting: Waiting) -> Warmed | None:
    """One reading, recorded; None when there is nothing to keep warm any more."""
    try:
        run = await waiting.take()
    except LeaseHeld:
        return None
    try:
        if not _is_worth_it(run):
            return None
        fact = await _read(run)
        await run.record(fact)
    except (ModelFault, OffingError) as error:
        extra = of_run(run.id, run.state.current.trace)
        _log.warning("the prompt of run %s is no longer kept warm: %s", run.id, error, extra=extra)
        return None
    finally:
        await waiting.give_back(run)
    return fact


def _is_worth_it(run: Run) -> bool:
    """Whether the run still waits, its cache is warm, and it may spend something."""
    state, due = run.state, expires_at(run.state)
    if due is None or run.clock.now_us() >= due or state.current.stopped is None:
        return False
    if state.prefix is None or state.prefix.cached.passes != len(state.conversation.passes):
        return False  # another prompt will follow
    return over(state.current.budget, spent_of(state), "tokens", "cost", "model_calls") is None


async def _read(run: Run) -> Warmed:
    """The prompt of the last request, read in the cache.

    Raises:
        ModelFault: the call failed, or the model cannot do it.
    """
    model, state = run.means.model, run.state
    if not isinstance(model, KeepsWarm):
        raise ModelFault("invalid", f"{model.name} cannot have a prompt read without a reply")
    usage = await model.warm(_last_request(run, state))
    return Warmed(usage, cost(usage, run.means.info))


def _last_request(run: Run, state: State) -> Request:
    """The request that the newest reply answered: what came since may end in calls without results."""
    whole = run.means.wire.request(state.conversation, state.turn + 1)
    length = len(whole.segments) if state.prefix is None else state.prefix.cached.segments
    view = whole.view[: length - HEAD]
    request = Request(whole.segments[:length], marks(view), state.turn, view, run.means.effort.of(state))
    return with_lifetime(request, state, run.means.lifetime.of(state))
