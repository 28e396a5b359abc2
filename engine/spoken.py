"""What can be said to a session: to the run that works, waits or has stopped there."""

from collections.abc import Sequence

from .files import File
from .inbox import Inbox
from .store.people import Questioned, Requested


class Spoken:
    """A conversation by its name, as far as things are said to it. `Inbox` says what each raises."""

    def __init__(self, identity: str, inbox: Inbox) -> None:
        """Takes the session's name and the inboxes of its tenant."""
        self.id = identity
        self._inbox = inbox

    async def waiting(self) -> tuple[Requested | Questioned, ...]:
        """What its run waits for from people."""
        return await self._inbox.open(await self._inbox.newest(self.id))

    async def approve(self, call: str, *, by: str = "", digest: str = "", key: str = "") -> None:
        """Approves a call of its run; resume the run when nobody works on it."""
        await self._inbox.approve(await self._inbox.newest(self.id), call, by=by, digest=digest, key=key)

    async def deny(self, call: str, *, reason: str = "", by: str = "", key: str = "") -> None:
        """Denies a call of its run."""
        await self._inbox.deny(await self._inbox.newest(self.id), call, reason=reason, by=by, key=key)

    async def answer(self, call: str, text: str, *, by: str = "", key: str = "") -> None:
        """Answers a question of its run."""
        await self._inbox.answer(await self._inbox.newest(self.id), call, text, by=by, key=key)

    async def say(self, text: str, *, files: Sequence[File] = (), by: str = "", key: str = "") -> None:
        """Sends a message to its run, to be read at the next iteration."""
        await self._inbox.say(await self._inbox.newest(self.id), text, files=files, by=by, key=key)

    async def cancel(self, *, reason: str = "", at_once: bool = False, by: str = "", key: str = "") -> None:
        """Asks its run to stop; `at_once` without letting short calls end."""
        run = await self._inbox.newest(self.id)
        await self._inbox.cancel(run, reason=reason, at_once=at_once, by=by, key=key)
