"""What a host holds of a run: its events and its result. Letting go of it does not stop the run."""

import asyncio
from collections.abc import AsyncIterator

from .answer import Result
from .events import Event, RunStopped


class RunHandle:
    """A run at work, or one that has stopped.

    `async for event in run` gives its events from its start on and ends with `RunStopped`.
    """

    def __init__(self, run: str, work: "asyncio.Future[Result]", events: AsyncIterator[Event]) -> None:
        self.id = run
        """Name of the run, to resume it by."""
        self._work = work
        self._events = events

    async def result(self) -> Result:
        """Waits until the run stops, for whatever reason.

        Raises:
            StoreError: the store failed: nothing acknowledged is lost, resume the run.
        """
        return await asyncio.shield(self._work)

    async def __aiter__(self) -> AsyncIterator[Event]:
        """The run's events.

        Raises:
            StoreError: the store failed.
        """
        async for event in self._events:
            yield event
            if isinstance(event, RunStopped) and event.run == self.id:
                return
