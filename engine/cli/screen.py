"""What a person sees of a run: live progress on a terminal, plain lines where it is piped."""

import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO, assert_never, cast
from unicodedata import east_asian_width

from ..events import (
    AnswerChecked,
    ApprovalDecided,
    CallFinished,
    CallStarted,
    ContextCompacted,
    Delta,
    Event,
    MessageTaken,
    ModelFailed,
    NoteGiven,
    PostRefused,
    Progress,
    ReplyFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    SkillLoaded,
    TasksChanged,
)
from ..scrub import scrub
from ..store.facts import Task

_MARKS = {"pending": "[ ]", "active": "[>]", "done": "[x]", "failed": "[!]"}
_ERASE = "\r\x1b[K"
_UP = "\x1b[A\x1b[K"
_DRAFT_ROWS = 8
"""Rows that a reply in the making has: its end; the whole is shown once it is whole."""
_DRAFT_CHARS = 4_000
"""More than so many rows hold."""
_STEERING = re.compile("[\r\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What moves a terminal's cursor or turns its text around, beside what is scrubbed everywhere."""


class Screen:
    """Writes lines, and on a terminal a last line that changes with what is going on."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._live = self._out.isatty()
        self._rows = 0
        """Rows of the screen that change, and are written over."""
        self._draft = ""
        """Of the reply in the making, what is there."""
        self._iteration = 0
        self._tasks_shown: tuple[Task, ...] = ()
        self._arguments: dict[str, str] = {}

    def line(self, text: str = "") -> None:
        """Writes a line for good."""
        self._out.write(f"{self._erased()}{self._plain(text)}\n")
        self._out.flush()

    def status(self, text: str) -> None:
        """Says what is going on, where there is a terminal to say it on."""
        if not self._live:
            return
        width = shutil.get_terminal_size().columns - 1
        self._show_rows([" ".join(self._plain(text).split())[:width]])

    def draft(self, text: str) -> None:
        """Shows the end of a reply in the making, where there is a terminal to show it on."""
        self._draft = (self._draft + text)[-_DRAFT_CHARS:]
        if self._live:
            self._show_rows(_wrapped(self._plain(self._draft), shutil.get_terminal_size().columns - 1))

    def _show_rows(self, rows: Sequence[str]) -> None:
        shown = rows[-_DRAFT_ROWS:] or [""]
        self._out.write(self._erased() or _ERASE)
        self._out.write("\n".join(shown))
        self._rows = len(shown)
        self._out.flush()

    def _erased(self) -> str:
        """What takes the changing rows away."""
        rows, self._rows = self._rows, 0
        return _ERASE + _UP * (rows - 1) if rows else ""

    def _plain(self, text: str) -> str:
        """The text as the terminal can show it, and without what would steer it."""
        shown = _STEERING.sub("\ufffd", scrub(text.replace("\r\n", "\n")))
        encoding = self._out.encoding or "utf-8"
        return shown.encode(encoding, "replace").decode(encoding)

    def done(self) -> None:
        """Takes the changing line away."""
        if self._rows:
            self._out.write(self._erased())
            self._out.flush()

    def show(self, event: Event) -> None:  # noqa: C901, PLR0912
        """Shows an event of a run."""
        match event:
            case RunStarted() | RunResumed():
                self.status("the model is at work")
            case ReplyFinished():
                self._draft = ""
                self._reply(event)
            case CallStarted():
                self.status(f"{event.call} {event.tool}")
            case CallFinished():
                self._finished(event)
            case TasksChanged():
                self._tasks(event)
            case ContextCompacted():
                self.line(f"       made room: {event.before:,} tokens are {event.after:,}")
            case ModelFailed():
                self.line(f"    ! the model failed ({event.fault}): {_short(event.message)}")
            case Delta(kind="text"):
                self.draft(event.text)
            case Delta(kind="restart"):
                self._draft = ""
            case Progress():
                self.status(f"{event.call} {event.text}")
            case SkillLoaded():
                self.line(f"       works by {event.skill} ({event.version})")
            case AnswerChecked(doubts=(first, *others)):
                more = f", and {len(others)} more" if others else ""
                self.line(f"    ! the answer is in doubt: {_short(first)}{more}")
            case ApprovalDecided() | MessageTaken() | PostRefused():
                self._people(event)
            case NoteGiven() | RunStopped() | _:
                pass

    def _people(self, event: ApprovalDecided | MessageTaken | PostRefused) -> None:
        by = event.by or "somebody"
        match event:
            case ApprovalDecided():
                self.line(f"{event.call:>6} {'approved' if event.approved else 'denied'} by {by}")
            case MessageTaken():
                self.line(f"       {by} says: {_short(event.text)}")
            case PostRefused():
                self.line(f"    ! what {by} said changes nothing: {_short(event.why)}")
            case _ as never:
                assert_never(never)

    def _reply(self, event: ReplyFinished) -> None:
        self._iteration += 1
        if event.calls and event.text.strip():
            self.line(f"{self._iteration:3} {_short(event.text)}")
        for call in event.calls:
            self._arguments[call.call] = _told(call.arguments)
        if event.calls:
            self.status(f"{len(event.calls)} calls at work")

    def _finished(self, event: CallFinished) -> None:
        arguments = self._arguments.pop(event.call, "")
        if event.error:
            mark = "?" if event.unknown else "!"
            self.line(f"{event.call:>6} {mark} {event.tool}: {_short(event.content)}")
        elif event.tool != "tasks":
            self.line(f"{event.call:>6} - {_short(f'{event.tool} {arguments}')}")

    def _tasks(self, event: TasksChanged) -> None:
        for task in event.tasks:
            if task not in self._tasks_shown:
                self.line(f"       {_MARKS[task.status]} {_short(task.title)}")
        self._tasks_shown = event.tasks


def _wrapped(text: str, width: int) -> list[str]:
    """A text as rows of the screen."""
    rows: list[str] = []
    for line in text.splitlines():
        rows.append("")
        used = 0
        for character in line.expandtabs(4):
            wide = 1 + (east_asian_width(character) in "WF")
            if used + wide > width:
                rows.append("")
                used = 0
            rows[-1] += character
            used += wide
    return rows


def _told(arguments: Mapping[str, object]) -> str:
    """Arguments in one line; of a call through a meta-tool, those of the tool behind it."""
    inner = arguments.get("arguments")
    shown = cast("Mapping[str, object]", inner) if isinstance(inner, dict) else arguments
    return " ".join(f"{name}={value}" for name, value in shown.items())


def _short(text: str, width: int = 100) -> str:
    line = " ".join(scrub(text).split())
    return line if len(line) <= width else f"{line[: width - 3]}..."
