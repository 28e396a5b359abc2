"""Saying something to a run: from code, from another process, with or without anybody at work on it.

Nothing here drives a run. What is posted is durable when the call returns; whoever works on the run takes
it in within a second or at its next step, else whoever resumes it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ..namespaces.tool import Attachment
from .clock import Clock
from .errors import ConfigurationError, NotFound, NotOpen
from .files import File, attachment_of
from .hearing import refusal
from .history.streams import Place, head_of, place_of
from .lineage import parent_of, top_of
from .run_state import RunState, ended_children
from .scrub import scrub, scrub_fields
from .state import State, fold
from .store.inbox import Answer, Cancel, Decide, Say, SentFile, Word, posting
from .store.journal import Scope
from .store.people import Posted, Questioned, Requested


class _At(NamedTuple):
    """A run in its stream, and what the stream has come to."""

    place: Place
    state: State


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
        journal = self._store.journal
        state = await fold(journal.read(await head_of(journal, session)))
        if state.run is None:
            raise NotFound(f"session {session!r} has no run")
        return state.run.id

    async def open(self, run: str) -> tuple[Requested | Questioned, ...]:
        """What the run and its children wait for from people, in call order.

        Raises:
            NotFound: there is no such run.
            StoreError: the store failed.
        """
        at = await self._at(run)
        self._current(at)
        state = at.state.of(at.place.run) or at.state
        return tuple(waiting.asked for waiting in state.waitings())

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
        at = await self._at(run)
        now = self._clock.now_us()
        posted = Posted(0, by, now)
        why = self._ended(self._current(at), word) or refusal(at.state, at.place.run, word, posted)
        if why:
            raise NotOpen(f"run {run!r}: {why}")
        await self._store.journal.post(at.place.stream, posting(at.place.run, word, by, now, key or None))

    async def _at(self, run: str) -> "_At":
        place = await place_of(self._store.journal, run)
        return _At(place, await fold(self._store.journal.read(place.stream)))

    def _current(self, at: "_At") -> RunState:
        current, run = at.state.run, at.place.run
        if current is None:
            raise NotFound(f"there is no run {run!r}")
        if at.state.moved:
            raise NotOpen(f"run {run!r} was left by a rollback: its session goes on in {at.state.moved!r}")
        child = at.state.of(run)
        if child is not None and child.run is not None and child.run.id == run:
            return child.run
        session, _, number = top_of(run).rpartition(".")
        if number.isdecimal() and 0 < int(number) < at.state.runs and top_of(run) == run:
            raise NotOpen(f"run {run!r} has ended: session {session!r} is at {current.id!r}")
        if run in ended_children(current.children):
            raise NotOpen(f"run {run!r} has ended: what it came to is in the results of {parent_of(run)!r}")
        raise NotFound(f"there is no run {run!r}")

    def _ended(self, run: RunState, word: Word) -> str:
        """Why a run that has stopped cannot take the word in; empty when it can."""
        if run.stopped is None or run.stopped.why == "waiting":
            return ""
        if run.stopped.why == "answered":
            return "it has answered"
        if parent_of(run.id):
            return f"it has stopped ({run.stopped.why}): only {top_of(run.id)!r} can go on"
        return f"it has stopped already ({run.stopped.why})" if isinstance(word, Cancel) else ""
