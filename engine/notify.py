"""Telling people outside that a run has stopped and needs one of them.

A notice is told once, at the edge, after the stop is recorded. Nothing waits for it and nothing depends on
it: one that cannot be delivered is logged, and the run can be found and resumed all the same.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Protocol

from .errors import ConfigurationError
from .logs import of_run
from .pool import Pool
from .state import State
from .store.facts import Stopped, StopWhy

_log = logging.getLogger("offing")

_LONGEST_S = 15.0
"""Seconds that any notifier has for one notice."""
_MOST_PENDING = 100
"""Notices on their way at the same time; further ones are only logged."""
_SETTLED: Sequence[StopWhy] = ("answered", "cancelled")
"""Stops that nobody has to be told of: who asked waits for the first, and somebody asked for the second."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A run has stopped and goes on only when somebody does something."""

    run: str
    """Its id: what `resume`, `approve`, `rollback` and the like take."""
    why: StopWhy
    detail: str
    """In words: what happened and what would help."""
    iteration: int
    """Replies so far; the run can be rolled back to this iteration, or an earlier one, once it is settled."""
    cost: str | None
    """US dollars so far; None where unknown."""
    waiting: tuple[str, ...] = ()
    """Calls that wait to be approved or answered."""
    trace: str = ""
    """The trace that it is part of; empty where it is not traced."""

    def to_json(self) -> str:
        """The notice as one JSON object."""
        return json.dumps(asdict(self), ensure_ascii=False)


class Notifier(Protocol):
    """A way to tell people. What it raises is logged; what takes longer than 15 s is given up."""

    async def notify(self, notice: Notice) -> None:
        """Tells somebody. It may be called for several runs at the same time."""
        ...


@dataclass(frozen=True, slots=True)
class LogNotifier:
    """Writes a warning to the log `offing`."""

    async def notify(self, notice: Notice) -> None:
        """Logs."""
        extra = of_run(notice.run, notice.trace)
        _log.warning("run %s stopped (%s): %s", notice.run, notice.why, notice.detail, extra=extra)


@dataclass(frozen=True, slots=True)
class CommandNotifier:
    """Runs a program, without a shell, with the notice as JSON on its standard input."""

    argv: Sequence[str]
    """Program and arguments."""
    timeout_s: float = 10.0
    """Seconds until it is killed."""

    def __post_init__(self) -> None:
        """Refuses no program.

        Raises:
            ConfigurationError: `argv` is empty or a text.
        """
        if isinstance(self.argv, str) or not self.argv:
            raise ConfigurationError(
                f"argv cannot be {self.argv!r}: a list, such as ['notify-send', 'offing']"
            )

    async def notify(self, notice: Notice) -> None:
        """Runs it.

        Raises:
            OSError: it cannot be run, or ended with another code than 0.
            TimeoutError: it was killed.
        """
        nothing = asyncio.subprocess.DEVNULL
        program = await asyncio.create_subprocess_exec(
            *self.argv, stdin=asyncio.subprocess.PIPE, stdout=nothing, stderr=nothing
        )
        try:
            async with asyncio.timeout(self.timeout_s):
                await program.communicate(notice.to_json().encode())
        finally:
            if program.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    program.kill()
                await program.wait()
        if program.returncode:
            raise OSError(f"{self.argv[0]!r} ended with code {program.returncode}")


@dataclass(frozen=True, slots=True)
class WebhookNotifier:
    """Posts the notice as JSON to an address."""

    url: str = field(repr=False)
    """`https://` or `http://`. It may well hold a secret, so it is not shown."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Sent with it, such as a token."""
    timeout_s: float = 10.0
    """Seconds until it is given up."""
    pool: Pool = field(default_factory=lambda: Pool(2), repr=False)
    """The threads that wait for the answer."""

    def __post_init__(self) -> None:
        """Refuses what is no address of the web.

        Raises:
            ConfigurationError: the address begins otherwise.
        """
        if not self.url.startswith(("https://", "http://")):
            raise ConfigurationError(f"a webhook cannot be {self.url!r}: it begins with https:// or http://")

    async def notify(self, notice: Notice) -> None:
        """Posts it.

        Raises:
            OSError: it did not arrive, or was answered with an error.
            TimeoutError: there was no answer in time.
        """
        async with asyncio.timeout(self.timeout_s):
            await self.pool.submit(lambda: self._post(notice.to_json().encode())).done

    def _post(self, body: bytes) -> None:
        import urllib.request

        class NoRedirects(urllib.request.HTTPRedirectHandler):
            """What is sent elsewhere would take its headers along, tokens too: it is an error instead."""

            def redirect_request(self, *_: object, **__: object) -> None:
                """No request."""

        headers = {**self.headers, "content-type": "application/json"}
        request = urllib.request.Request(self.url, body, headers, method="POST")
        with urllib.request.build_opener(NoRedirects).open(request, timeout=self.timeout_s):
            pass


class Notices:
    """The notices of one engine on their way."""

    def __init__(self, notifier: Notifier | None) -> None:
        """None tells nobody."""
        self._notifier = notifier
        self._pending: set[asyncio.Task[None]] = set()

    def tell(self, state: State, end: Stopped) -> None:
        """Tells of a run that has just stopped, if somebody has to do something. Comes back at once."""
        if self._notifier is None or end.why in _SETTLED:
            return
        if len(self._pending) >= _MOST_PENDING:
            run = state.current
            extra = of_run(run.id, run.trace)
            _log.warning("nobody is told that run %s stopped: too many notices wait", run.id, extra=extra)
            return
        task = asyncio.create_task(_told(self._notifier, notice_of(state, end)))
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    async def close(self) -> None:
        """Waits for what is on its way, 16 s at most."""
        if self._pending:
            await asyncio.wait(self._pending, timeout=_LONGEST_S + 1)


def notice_of(state: State, end: Stopped) -> Notice:
    """What is told of the current run's stop."""
    run = state.current
    waiting = tuple(call for call, each in run.waiting.items() if each.is_open)
    cost = None if run.cost is None else f"{run.cost:f}"
    return Notice(run.id, end.why, end.detail, run.iterations, cost, waiting, run.trace)


async def _told(notifier: Notifier, notice: Notice) -> None:
    try:
        async with asyncio.timeout(_LONGEST_S):
            await notifier.notify(notice)
    except Exception as error:  # noqa: BLE001  whatever a notifier does, no run is to hear of it
        why = f"{type(error).__name__}: {error}"
        extra = of_run(notice.run, notice.trace)
        _log.warning(
            "nobody could be told that run %s stopped (%s): %s", notice.run, notice.why, why, extra=extra
        )
