"""`offing resume`: goes on with a run."""

import argparse
import getpass
from collections.abc import Awaitable

from ...budget import Budget
from ...opening import GoingOn
from .. import command
from ..exits import ExitCode
from ..ground import Ground
from .budget import add_budget, budget_of
from .watching import watcher_of
from .working import resume


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("run", help=command.RUN)
    made.add_argument("--guidance", default="", metavar="TEXT", help="what the model is to read next")
    made.add_argument("--by", default="", help="who says it (default: the user of this machine)")
    add_budget(made, "granted on top of what it may spend")
    made.add_argument("--json", action="store_true", help="each event as one JSON object a line")


def _work(given: argparse.Namespace, ground: Ground) -> Awaitable[ExitCode]:
    more = budget_of(given)
    going = GoingOn(None if more == Budget() else more, given.guidance, given.by or getpass.getuser())
    return resume(given.run, ground, watcher_of(ground, as_json=given.json), going)


RESUME = command.Command("resume", "go on with a run after a kill, a stop or an approval", _arguments, _work)
