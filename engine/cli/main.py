"""The `offing` command: reads the command line and turns errors into words and exit codes.

Exit codes: 0 answered, 1 failed, 2 wrong usage or configuration, 3 stopped by a limit or without an
answer, 130 interrupted.
"""

import argparse
import asyncio
import functools
import os
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path

from ..errors import ConfigurationError, OffingError
from ..models.model import EFFORTS
from .commands import begin, resume
from .eval import contestants, evaluate, scenarios_named
from .models import models
from .screen import Screen
from .systems import DEMO_MODEL, Systems, demo_systems

_STORE = Path(".offing") / "offing.db"
_MODEL = "anthropic:claude-opus-5-5"
_DEMO_REQUEST = "Reconcile the operating account for September 2026: what ties, what does not, and why?"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code."""
    given = _parser().parse_args(arguments)
    screen = Screen()
    try:
        return asyncio.run(_command(given, screen))
    except ConfigurationError as error:
        return _fail(screen, error, 2)
    except OffingError as error:
        return _fail(screen, error, 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output has gone, as `head` does; the run can be resumed. Python would
        # complain once more when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _fail(screen: Screen, error: OffingError, code: int) -> int:
    screen.done()
    sys.stderr.write(f"offing: {error}\n")
    return code


def _command(given: argparse.Namespace, screen: Screen) -> Coroutine[object, object, int]:
    if given.command == "eval":
        return evaluate(contestants(given.model, given.effort), scenarios_named(given.scenario), screen)
    if given.command == "models":
        return models(given.names, os.environ.get("OFFING_MODEL", _MODEL), screen)
    store = Path(given.store)
    if given.command == "resume":
        return resume(given.run, store, screen)
    if given.command == "demo":
        return begin(demo_systems(given.model), _DEMO_REQUEST, store, screen)
    systems = Systems(
        model=given.model,
        bank=_absolute(given.bank),
        ledger=_absolute(given.ledger),
        day_first=given.day_first,
        decimal=given.decimal,
        currency=given.currency,
        company=given.company,
        period=given.period,
    )
    return begin(systems, given.request, store, screen)


def _absolute(files: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(Path(file).absolute()) for file in files)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="offing", description="Long-horizon agent work: one model, one context, one loop."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="reconcile a bundled statement with bundled books, offline")
    demo.add_argument("--model", default=DEMO_MODEL, help="a real model instead of the playbook")
    run = commands.add_parser("run", help="work on a request over your own files")
    _add_run_arguments(run)
    again = commands.add_parser("resume", help="go on with a run after a kill or a stop")
    again.add_argument("run", help="the run's id, as it was shown when it began")
    _add_eval_arguments(commands.add_parser("eval", help="judge models side by side by shipped scenarios"))
    known = commands.add_parser("models", help="windows, prices and keys of models")
    known.add_argument("names", nargs="*", metavar="NAME", help="such as litellm:openai/gpt-5.6")
    for command in (demo, run, again):
        command.add_argument("--store", default=str(_STORE), help="journal file (default: %(default)s)")
    return parser


def _add_eval_arguments(judged: argparse.ArgumentParser) -> None:
    add = functools.partial(judged.add_argument, action="append", default=[])
    add("--model", help="one to judge; default: two playbooks, one of them hasty")
    add("--effort", choices=EFFORTS, help="each model at each of these")
    add("--scenario", metavar="NAME", help="only this one; default: all")


def _add_run_arguments(run: argparse.ArgumentParser) -> None:
    run.add_argument("request", help="what is to be found out, in words")
    run.add_argument("--bank", action="append", default=[], metavar="FILE", help="a bank statement")
    run.add_argument("--ledger", action="append", default=[], metavar="FILE", help="an export of the books")
    model = os.environ.get("OFFING_MODEL", _MODEL)
    run.add_argument("--model", default=model, help="default: OFFING_MODEL, or %(default)s")
    run.add_argument("--company", default="", help="whose accounts these are")
    run.add_argument("--period", default="", help="the period in question")
    run.add_argument("--currency", default=None, help="ISO code, for files that name none")
    run.add_argument(
        "--day-first",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="how to read 03/04 in files that leave it open",
    )
    run.add_argument(
        "--decimal", choices=(".", ","), default=None, help="decimal mark, for files that leave it open"
    )
