"""The exit codes of `offing`, in one place."""

from typing import Literal

ExitCode = Literal[0, 1, 2, 3, 130]

DONE: Literal[0] = 0
FAILED: Literal[1] = 1
USAGE: Literal[2] = 2
SHORT: Literal[3] = 3
INTERRUPTED: Literal[130] = 130

MEANING = {
    DONE: "answered, or waiting for a person; of other commands: done",
    FAILED: "failed: a model, a system or the store",
    USAGE: "wrong usage or configuration; nothing was begun",
    SHORT: "stopped by a limit, a budget or a cancel; or something differs, or is left unexplained",
    INTERRUPTED: "interrupted from the keyboard",
}
"""What each says, for people and for scripts."""


def table() -> str:
    """All of them, as the help shows them."""
    lines = (f"  {code:<4}{meaning}" for code, meaning in MEANING.items())
    return "\n".join(["exit codes:", *lines])
