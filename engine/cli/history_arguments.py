"""The arguments of the commands that work on what the journal has."""

import argparse
from collections.abc import Callable, Iterator

Adds = Callable[..., argparse.ArgumentParser]
"""Adds a command: its name, and what its help says."""

_AT = "iteration of the run whose results are the last that is kept; 0 for none"


def add_history(add: Adds) -> Iterator[argparse.ArgumentParser]:
    """Adds fork, rollback, diff and replay; gives them to be told where the store is."""
    fork = add(
        "fork",
        help="copy a run up to an iteration, to go on another way",
        description="Copies a run up to an iteration into a new session. Nothing that was done is undone:"
        " what came after the iteration is listed.",
    )
    _add_point(fork)
    edit = fork.add_mutually_exclusive_group()
    edit.add_argument("--edit-message", metavar="TEXT", help="another request, with --at 0")
    edit.add_argument(
        "--edit-result", nargs=2, metavar=("CALL", "FILE"), help="another result of a call of the iteration"
    )
    fork.add_argument("--model", default="", metavar="NAME", help="who is to go on; default: the same one")
    fork.add_argument("--session", default="", metavar="NAME", help="of the new session; default: a new name")
    yield fork
    back = add("rollback", help="take a session back to an iteration of a run of it")
    _add_point(back)
    yield back
    diff = add("diff", help="where two runs part", epilog="exit codes: 0 no difference; 3 there is one")
    diff.add_argument("runs", nargs=2, metavar="RUN")
    diff.add_argument("--json", action="store_true", help="as one JSON object")
    yield diff
    replay = add(
        "replay",
        help="make each request of a run again, offline, and compare it with what was sent",
        epilog="exit codes: 0 each is what was sent; 1 one is not",
    )
    replay.add_argument("run")
    replay.add_argument("--out", metavar="FOLDER", help="writes the requests there")
    yield replay


def add_keeping(add: Adds) -> Iterator[argparse.ArgumentParser]:
    """Adds export, forget and sweep; gives them to be told where the store is."""
    export = add("export", help="write all that the store has into a file, as lines of JSON")
    export.add_argument("file", help="must not be there yet")
    yield export
    forget = add("forget", help="delete all that the store has, for good")
    forget.add_argument("--yes", action="store_true", help="it is meant")
    yield forget
    swept = add("sweep", help="remove stored bytes that no session names")
    swept.add_argument(
        "--older-than", type=float, default=7.0, metavar="DAYS", help="not touched for so long (default: 7)"
    )
    yield swept


def _add_point(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", help="the run's id; of one that a rollback has left, such as september~0.3")
    command.add_argument("--at", type=int, required=True, metavar="N", help=_AT)
