"""The `offing` command: reads the command line and turns errors into words and exit codes.

Exit codes: 0 answered, or waiting for a person; 1 failed; 2 wrong usage or configuration; 3 stopped by a
limit, a cancel or without an answer, or a reconciliation with something left unexplained, or runs that
differ; 130 interrupted.
"""

import argparse
import asyncio
import getpass
import os
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path

from ..budget import Budget
from ..errors import ConfigurationError, OffingError
from ..opening import GoingOn
from .arguments import MODEL, parser
from .commands import begin, resume
from .conventions import said_of
from .demo.command import investigate
from .eval import contestants, evaluate, scenarios_named
from .history import again, asked, compare, fork, rollback
from .keeping import export_to, forget_all, sweep_artifacts
from .models import models
from .people import Person
from .reconcile import reconcile_files
from .reconcile.request import request_of
from .screen import Screen
from .systems import Systems


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code."""
    given = parser().parse_args(arguments)
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


def _command(  # noqa: C901, PLR0911, PLR0912  one call a command
    given: argparse.Namespace, screen: Screen
) -> Coroutine[object, object, int]:
    match given.command:
        case "demo":
            return investigate(given.month, given.model, Path(given.out), given.store, screen)
        case "reconcile":
            return reconcile_files(request_of(given), screen)
        case "resume":
            return resume(given.run, given.store, screen, _going_on(given))
        case "eval":
            return evaluate(contestants(given.model, given.effort), scenarios_named(given.scenario), screen)
        case "fork":
            return fork(asked(given), given.store, screen)
        case "rollback":
            return rollback(given.run, given.at, given.store, screen)
        case "diff":
            return compare(given.runs, given.store, screen, as_json=given.json)
        case "replay":
            return again(given.run, given.store, Path(given.out) if given.out else None, screen)
        case "export":
            return export_to(Path(given.file), given.store, screen)
        case "forget":
            return forget_all(given.store, screen, is_sure=given.yes)
        case "sweep":
            return sweep_artifacts(given.store, given.older_than, screen)
        case "models":
            return models(given.names, os.environ.get("OFFING_MODEL", MODEL), screen)
        case "approve" | "deny" | "answer" | "say" | "cancel":
            return _said(given, Person(given.run, given.store, screen, given.by))
        case _:
            return begin(_systems(given), given.request, given.store, screen, _budget(given))


def _said(given: argparse.Namespace, person: Person) -> Coroutine[object, object, int]:
    match given.command:
        case "approve":
            return person.approve(given.call)
        case "deny":
            return person.deny(given.call, given.reason)
        case "answer":
            return person.answer(given.call, given.text)
        case "say":
            return person.say(given.text)
        case _:
            return person.cancel(given.reason, at_once=given.at_once)


def _budget(given: argparse.Namespace) -> Budget:
    return Budget(cost=given.budget_usd, model_calls=given.max_calls)


def _going_on(given: argparse.Namespace) -> GoingOn:
    more = _budget(given)
    return GoingOn(None if more == Budget() else more, given.guidance, given.by or getpass.getuser())


def _systems(given: argparse.Namespace) -> Systems:
    return Systems(
        model=given.model,
        bank=tuple(map(_absolute, given.bank)),
        ledger=tuple(map(_absolute, given.ledger)),
        **said_of(given),
        company=given.company,
        period=given.period,
        skills=tuple(given.skill),
        carried=_absolute(given.carried),
        out=_absolute(given.out),
    )


def _absolute(path: str | None) -> str:
    """For a resume from another folder; empty stays empty."""
    return str(Path(path).absolute()) if path else ""
