"""What people say to a run from the command line: approve, deny, answer, say, cancel.

Each only posts to the run's inbox. Whoever works on the run takes it in; else `offing resume` does.
"""

import argparse
import getpass
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from ...clock import SystemClock
from ...errors import ConfigurationError
from ...inbox import Inbox
from ...store.people import Questioned, Requested
from .. import command
from ..command import Command
from ..exits import DONE, ExitCode
from ..ground import Ground

T = TypeVar("T", Requested, Questioned)


class Person:
    """Somebody who says something to one run."""

    def __init__(self, run: str, ground: Ground, by: str = "") -> None:
        """`by` is who says it; empty for the user of this machine."""
        self._run, self._ground = run, ground
        self._by = by or getpass.getuser()
        self._kept = ground.kept()
        self._inbox = Inbox(self._kept.scoped(ground.tenant), SystemClock())

    async def approve(self, call: str) -> ExitCode:
        """Approves one call; the only one that waits when none is named.

        Raises:
            ConfigurationError: several wait and none is named, or none waits.
            OffingError: the run or the call is not there, or the store failed.
        """
        request = _one(call, await self._open(Requested), "approve")
        await self._inbox.approve(self._run, request.call, by=self._by, digest=request.digest)
        return await self._said(f"{request.tool}, call {request.call}, is approved by {self._by}")

    async def deny(self, call: str, reason: str) -> ExitCode:
        """Denies one call. Raises as `approve` does."""
        request = _one(call, await self._open(Requested), "deny")
        await self._inbox.deny(self._run, request.call, reason=reason, by=self._by)
        return await self._said(f"{request.tool}, call {request.call}, is denied by {self._by}")

    async def answer(self, call: str, text: str) -> ExitCode:
        """Answers one question. Raises as `approve` does."""
        question = _one(call, await self._open(Questioned), "answer")
        await self._inbox.answer(self._run, question.call, text, by=self._by)
        return await self._said(f"answered: {question.question}")

    async def say(self, text: str) -> ExitCode:
        """Sends the run a message.

        Raises:
            OffingError: there is no such run, it has answered, or the store failed.
        """
        await self._inbox.say(self._run, text, by=self._by)
        return await self._said("the message is posted")

    async def cancel(self, reason: str, *, at_once: bool) -> ExitCode:
        """Asks the run to stop. Raises as `say` does."""
        await self._inbox.cancel(self._run, reason=reason, at_once=at_once, by=self._by)
        return await self._said("the run is asked to stop")

    async def _open(self, kind: type[T]) -> list[T]:
        return [each for each in await self._inbox.open(self._run) if isinstance(each, kind)]

    async def _said(self, what: str) -> ExitCode:
        await self._kept.close()
        self._ground.screen.line(what)
        go_on = f"offing resume {self._run}{self._ground.again}"
        self._ground.screen.line(f"if nobody works on the run: {go_on}")
        return DONE


def _one(call: str, waiting: Sequence[T], verb: str) -> T:
    fitting = [each for each in waiting if call in {"", each.call}]
    if len(fitting) == 1:
        return fitting[0]
    if not waiting:
        raise ConfigurationError(f"nothing waits for somebody to {verb} it")
    listed = "; ".join(f"{each.call} ({_what(each)})" for each in waiting)
    raise ConfigurationError(f"name the call to {verb}: {listed}")


def _what(waiting: Requested | Questioned) -> str:
    return waiting.tool if isinstance(waiting, Requested) else waiting.question


def _command(
    name: str,
    told: str,
    arguments: Callable[[argparse.ArgumentParser], object],
    say: Callable[[Person, argparse.Namespace], Awaitable[ExitCode]],
) -> Command:
    def add(made: argparse.ArgumentParser) -> None:
        made.add_argument("run", help=command.RUN)
        made.add_argument("--by", default="", help="who says it (default: the user of this machine)")
        arguments(made)

    def work(given: argparse.Namespace, ground: Ground) -> Awaitable[ExitCode]:
        return say(Person(given.run, ground, given.by), given)

    return Command(name, told, add, work)


_CALL = "such as 21.1; not needed when one waits"


def _call(made: argparse.ArgumentParser) -> None:
    made.add_argument("call", nargs="?", default="", help=_CALL)


def _call_with_reason(made: argparse.ArgumentParser) -> None:
    _call(made)
    made.add_argument("--reason", default="", help="in words; the model reads it")


def _text(made: argparse.ArgumentParser) -> None:
    made.add_argument("text", help="in words")


def _text_for_call(made: argparse.ArgumentParser) -> None:
    _text(made)
    made.add_argument("--call", default="", help=_CALL)


def _why_and_how(made: argparse.ArgumentParser) -> None:
    made.add_argument("--reason", default="", help="in words")
    made.add_argument("--at-once", action="store_true", help="without letting short calls end")


PEOPLE = (
    _command(
        "approve", "let a call run that waits for it", _call, lambda person, given: person.approve(given.call)
    ),
    _command(
        "deny",
        "keep a call from running",
        _call_with_reason,
        lambda person, given: person.deny(given.call, given.reason),
    ),
    _command(
        "answer",
        "answer what a run asks",
        _text_for_call,
        lambda person, given: person.answer(given.call, given.text),
    ),
    _command("say", "send a run a message", _text, lambda person, given: person.say(given.text)),
    _command(
        "cancel",
        "ask a run to stop; it can go on later",
        _why_and_how,
        lambda person, given: person.cancel(given.reason, at_once=given.at_once),
    ),
)
