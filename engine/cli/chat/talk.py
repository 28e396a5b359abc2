"""One conversation: what is said becomes a run, and what the run needs of a person is asked at once."""

import asyncio
import getpass
from collections.abc import Awaitable, Callable

from ...answer import Result
from ...engine import Engine
from ...errors import NotFound, NotOpen, OffingError
from ...handle import RunHandle
from ...session import Session
from ...store.people import Questioned, Requested
from ..ground import Ground
from .keyboard import Keyboard


class Talk:
    """A session that a person talks with. The event loop runs while a run is at work, and rests meanwhile."""

    def __init__(
        self, session: Session, engine: Engine, ground: Ground, keyboard: Keyboard, runner: asyncio.Runner
    ) -> None:
        self.session = session
        self.last: Result | None = None
        """What the newest run came to; None before the first."""
        self._engine, self._ground, self._keyboard = engine, ground, keyboard
        self._runner, self._by = runner, getpass.getuser()
        self._run = ""
        """The run that is at work, or was last."""

    def say(self, text: str) -> None:
        """Begins a run with a message, and sees it through."""

        async def begin() -> RunHandle:
            async with self.session.run(text, by=self._by) as run:
                for missing in self.session.disconnected:
                    self._ground.screen.line(f"{missing.name} is not connected: {missing.reason}")
                return run

        self._see_through(begin)

    def go_on(self, run: str, guidance: str = "") -> None:
        """Goes on with a run, and sees it through."""

        async def resume() -> RunHandle:
            return await self.session.resume(run, guidance=guidance, by=self._by)

        self._see_through(resume)

    def newest(self) -> str | None:
        """The session's last run; None before the first."""
        try:
            return self._runner.run(self._engine.inbox.newest(self.session.id))
        except NotFound:
            return None

    def _see_through(self, start: Callable[[], Awaitable[RunHandle]]) -> None:
        try:
            result = self._runner.run(self._worked(start))
            while result.why == "waiting" and self._decided(result):
                result = self._runner.run(self._worked(self._resumed))
        except OffingError as error:
            self._ground.screen.done()
            self._ground.screen.line(f"! {error}")
            return
        self.last = result
        self._tell(result)

    async def _worked(self, start: Callable[[], Awaitable[RunHandle]]) -> Result:
        """The result of a run. An interrupt from the keyboard cancels it, and it can go on."""
        run = await start()
        self._run = run.id
        try:
            async for event in run:
                self._ground.screen.show(event)
            return await run.result()
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            self._ground.screen.line("stopping; once more ends the conversation")
            return await run.cancel(reason="from the keyboard", at_once=True, by=self._by)

    def _tell(self, result: Result) -> None:
        screen = self._ground.screen
        screen.done()
        if result.answered:
            screen.line()
            screen.line(result.text())
            screen.line()
            return
        if result.why != "waiting":
            screen.line(f"The run stopped ({result.why}): {result.detail}")
        again = f"offing resume {result.run}{self._ground.again}"
        screen.line(f"Go on with /resume, or later with: {again}")

    def _decided(self, result: Result) -> bool:
        """Asks for each thing that the run waits for; False when something is left for later."""
        asked = [*(self._approved(each) for each in result.approvals)]
        answered = [*(self._answered(each) for each in result.questions)]
        return all(asked) and all(answered)

    def _approved(self, request: Requested) -> bool:
        self._ground.screen.line()
        self._ground.screen.line(f"Call {request.call} waits for approval: {request.why}.")
        self._ground.screen.line(request.preview)
        said = self._keyboard.read("Approve? yes, no, or why not; nothing to leave it open: ")
        if not said:
            return False
        inbox, run = self._engine.inbox, self._run
        if said.casefold() in {"y", "yes"}:
            return self._posted(inbox.approve(run, request.call, by=self._by, digest=request.digest))
        reason = "" if said.casefold() in {"n", "no"} else said
        return self._posted(inbox.deny(run, request.call, reason=reason, by=self._by))

    def _answered(self, question: Questioned) -> bool:
        self._ground.screen.line()
        self._ground.screen.line(question.question)
        for number, option in enumerate(question.options, start=1):
            self._ground.screen.line(f"  {number}. {option}")
        said = self._keyboard.read("Answer; nothing to leave it open: ")
        if not said:
            return False
        chosen = said.isdecimal() and 0 < int(said) <= len(question.options)
        text = question.options[int(said) - 1] if chosen else said
        return self._posted(self._engine.inbox.answer(self._run, question.call, text, by=self._by))

    async def _resumed(self) -> RunHandle:
        return await self.session.resume(self._run)

    def _posted(self, posting: Awaitable[None]) -> bool:
        async def post() -> None:
            await posting

        try:
            self._runner.run(post())
        except NotOpen as error:
            self._ground.screen.line(f"! {error}")
            return False
        return True
