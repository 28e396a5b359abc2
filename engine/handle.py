"""What a host holds of a run: its events and its result. Letting go of it does not stop the run."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing

from .answer import Result
from .errors import NotOpen
from .events import Event, RunStopped
from .inbox import Inbox


class RunHandle:
    """A run at work, or one that has stopped.

    `async for event in run` gives its events from its start on and ends with `RunStopped`.
    """

    def __init__(
        self,
        run: str,
        work: "asyncio.Future[Result]",
        events: Callable[[], AsyncGenerator[Event]],
        inbox: Inbox,
        trace: str = "",
    ) -> None:
        """Takes the run's id, the work on it, its events from its start on, its inbox, and its trace."""
        self.id = run
        """Name of the run, to resume it by."""
        self.trace = trace
        """The trace that it is part of, in 32 hexadecimal digits; empty where it is not traced."""
        self._work = work
        self._events = events
        self._inbox = inbox

    async def cancel(self, *, reason: str = "", at_once: bool = False, by: str = "") -> Result:
        """Asks the run to stop, and waits until it has. Short calls end first, unless it is `at_once`.

        A run that has stopped stays as it is. One that waits for a person is cancelled when it is resumed.

        Raises:
            StoreError, Interrupted: as `result` says.
        """
        with contextlib.suppress(NotOpen):
            await self._inbox.cancel(self.id, reason=reason, at_once=at_once, by=by)
        return await self.result()

    async def result(self) -> Result:
        """Waits until the run stops, for whatever reason.

        Raises:
            StoreError: the store failed: nothing acknowledged is lost, resume the run.
            Interrupted: the session was closed meanwhile: resume the run.
        """
        return await asyncio.shield(self._work)

    async def __aiter__(self) -> AsyncIterator[Event]:
        """The run's events, from its start on each time.

        Raises:
            StoreError: the store failed.
            Interrupted: the session was closed meanwhile.
        """
        async with aclosing(self._events()) as events:
            async for event in events:
                yield event
                if isinstance(event, RunStopped) and event.run == self.id:
                    return
