"""The first screen: what `offing` says to somebody who calls it without a command."""

import os
from pathlib import Path

from ...configuration import FILE
from ..exits import DONE, ExitCode
from ..screen import Screen

_KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY")

_TEXT = """\
offing: long-horizon agent work over your own systems.

  offing demo                       see it work: offline, without a key, over bundled books
  offing init                       write an offing.yaml to begin with
  offing chat                       talk, over what the file connects
  offing run "Why does it not tie?" one request, from a script or by hand
  offing reconcile                  match bank and books without any model
  offing runs, offing show RUN      what was done, call by call, and what waits for you
  offing --help                     every command
"""


def welcome(screen: Screen) -> ExitCode:
    """Says what there is, and what would be next here."""
    for line in _TEXT.splitlines():
        screen.line(line)
    screen.line()
    screen.line(f"Here: {_here()}")
    return DONE


def _here() -> str:
    """What is next in this folder."""
    if not Path(FILE).is_file():
        return f"there is no {FILE} yet, so `offing demo` or `offing init` is next."
    if not any(map(os.environ.get, _KEYS)):
        return f"{FILE} is there. `offing models` says which key its model needs, `offing chat` begins."
    return f"{FILE} is there, so `offing chat` is next."
