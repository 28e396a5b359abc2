"""Where a person's words come from: a terminal, line by line with editing, or what is piped in."""

import contextlib
import importlib
import sys
from typing import TextIO

from ..screen import Screen


class Keyboard:
    """Reads lines. On a terminal with a prompt; piped words are shown as they are read."""

    def __init__(self, screen: Screen, source: TextIO | None = None) -> None:
        """`source` is where words come from; None for standard input."""
        self._screen = screen
        self._source = source or sys.stdin
        self.live = self._source.isatty()
        """Whether somebody sits there."""

    def read(self, prompt: str) -> str | None:
        """The next line, without spaces around it; None when there is none any more."""
        self._screen.done()
        try:
            line = self._typed(prompt) if self.live else self._piped(prompt)
        except (EOFError, KeyboardInterrupt):
            self._screen.line()
            return None
        return None if line is None else line.strip()

    def _typed(self, prompt: str) -> str:
        with contextlib.suppress(ImportError):
            importlib.import_module("readline")  # gives `input` its editing and its history
        return input(prompt)

    def _piped(self, prompt: str) -> str | None:
        line = self._source.readline()
        if not line:
            return None
        self._screen.line(f"{prompt}{line.strip()}")
        return line
