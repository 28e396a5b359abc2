"""What is left to do when work on a run ends: to give the lease back, to look at errors nobody waits for."""

import asyncio
import contextlib
import logging
from collections.abc import Mapping

from .answer import Result
from .errors import Interrupted, OffingError
from .logs import of_run
from .run import Run

_log = logging.getLogger("offing")


async def give_back(run: Run) -> None:
    """Gives the lease back. A cancellation that comes meanwhile changes nothing: the run has ended."""
    releasing = asyncio.ensure_future(run.store.journal.release(run.lease))
    while not releasing.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([releasing])
    try:
        releasing.result()
    except OffingError as error:
        extra = of_run(run.id, run.state.current.trace)
        _log.warning("the lease of %s was not given back: %s", run.id, error, extra=extra)


def look_at(of: Mapping[str, str], work: "asyncio.Task[Result]") -> None:
    """A run that nobody waits for may fail; its events and its journal tell of it."""
    error = None if work.cancelled() else work.exception()
    if error is not None and not isinstance(error, Interrupted):
        _log.warning("%s failed: %s", work.get_name(), error, extra=of)
