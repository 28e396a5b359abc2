"""Saying something to a run: from code, from another process, with or without anybody at work on it.

Nothing here drives a run. What is posted is durable when the call returns; whoever works on the run takes
it in within a second or at its next step, else whoever resumes it.
"""

from collections.abc import Sequence

from ..namespaces.tool import Attachment
from .clock import Clock
from .errors import ConfigurationError, NotFound, NotOpen
from .files import File, attachment_of
from .hearing import refusal
from .scrub import scrub, scrub_fields
from .state import RunState, State, fold
from .store.inbox import Answer, Cancel, Decide, Say, SentFile, Word, posting
from .store.journal import Scope
from .store.people import Posted, Questioned, Requested


class Inbox:
    """The inboxes of one tenant's sessions.

    `by` is who says it, as the host names people. `key` names what is said: posted again under the same
    key, as after a cut connection, it is there once.
    """

    def __init__(self, store: Scope, clock: Clock) -> None:
        """Takes the tenant's part of a store. Neither a model nor credentials are needed."""
        self._store = store
        self._clock = clock

    async def newest(self, session: str) -> str:
        """The session's last run: the one that works, waits or has stopped.

        Raises:
            NotFound: it has none.
            StoreError: the store failed.
        """
        state = await fold(self._store.journal.read(session))
        if state.run is None:
            raise NotFound(f"session {session!r} has no run")
        return state.run.id

    async def open(self, run: str) -> tuple[Requested | Questioned, ...]:
        """What the run waits for from people, in call order.

        Raises:
            NotFound: there is no such run.
            StoreError: the store failed.
        """
        current = self._current(await self._state(run), run)
        return tuple(waiting.asked for waiting in current.waiting.values() if waiting.is_open)

    async def approve(self, run: str, call: str, *, by: str = "", digest: str = "", key: str = "") -> None:
        """Approves a call, once, with the arguments it was asked for with.

        `digest` is that of what was shown (`Requested.digest`); it is refused when that is not what is
        asked for. Empty to approve whatever is asked for this call.

        Raises:
            NotFound: there is no such run.
            NotOpen: nothing of the kind is waited for, or not by this person.
            StoreError: the store failed.
        """
        await self._post(run, Decide(call, approved=True, digest=digest), by, key)

    async def deny(self, run: str, call: str, *, reason: str = "", by: str = "", key: str = "") -> None:
        """Denies a call. The model reads the reason as the call's result. Raises as `approve` does."""
        await self._post(run, Decide(call, approved=False, reason=reason), by, key)

    async def answer(self, run: str, call: str, text: str, *, by: str = "", key: str = "") -> None:
        """Answers what the model asked with `ask_user`. Raises as `approve` does."""
        await self._post(run, Answer(call, text), by, key)

    async def say(
        self, run: str, text: str, *, files: Sequence[File] = (), by: str = "", key: str = ""
    ) -> None:
        """Sends a message to a run: the model reads it at its next iteration.

        A run that waits for a person, or has stopped, reads it once it is resumed; one that answers in
        the very moment leaves it to the next run of its session.

        Raises:
            ConfigurationError: it says nothing, or a file cannot be read.
            NotOpen: the run has answered.
            NotFound: there is no such run.
            StoreError: the store failed.
        """
        if not text.strip() and not files:
            raise ConfigurationError(f"a message has to say something; got {text!r}")
        sent = [await self._sent(attachment_of(file)) for file in files]
        await self._post(run, Say(text, tuple(sent)), by, key)

    async def cancel(
        self, run: str, *, reason: str = "", at_once: bool = False, by: str = "", key: str = ""
    ) -> None:
        """Asks a run to stop. Short calls end first, unless it is `at_once`. It can be resumed.

        Raises:
            NotOpen: it has stopped already.
            NotFound: there is no such run.
            StoreError: the store failed.
        """
        await self._post(run, Cancel(reason, at_once), by, key)

    async def _sent(self, file: Attachment) -> SentFile:
        return SentFile(file.name, await self._store.artifacts.put(file.data), file.mime)

    async def _post(self, run: str, word: Word, by: str, key: str) -> None:
        word, by, key = scrub_fields(word), scrub(by), scrub(key)
        state = await self._state(run)
        now = self._clock.now_us()
        why = self._ended(self._current(state, run), word) or refusal(state, run, word, Posted(0, by, now))
        if why:
            raise NotOpen(f"run {run!r}: {why}")
        stream = run.rpartition(".")[0]
        await self._store.journal.post(stream, posting(run, word, by, now, key or None))

    async def _state(self, run: str) -> State:
        return await fold(self._store.journal.read(run.rpartition(".")[0]))

    def _current(self, state: State, run: str) -> RunState:
        current = state.run
        if current is None:
            raise NotFound(f"there is no run {run!r}")
        if current.id == run:
            return current
        stream, _, number = run.rpartition(".")
        if number.isdecimal() and 0 < int(number) < state.runs:
            raise NotOpen(f"run {run!r} has ended: session {stream!r} is at {current.id!r}")
        raise NotFound(f"there is no run {run!r}")

    def _ended(self, run: RunState, word: Word) -> str:
        """Why a run that has stopped cannot take the word in; empty when it can."""
        if run.stopped is None or run.stopped.why == "waiting":
            return ""
        if run.stopped.why == "answered":
            return "it has answered"
        return f"it has stopped already ({run.stopped.why})" if isinstance(word, Cancel) else ""
