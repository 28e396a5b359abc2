"""Every command, in the order in which the help shows them. A new one is a file and a line here."""

import argparse

from .chat.command import CHAT
from .command import Command, parser_of
from .demo.command import DEMO
from .exits import table
from .journal.history import HISTORY
from .journal.keeping import KEEPING
from .journal.memory import MEMORY
from .journal.report import REPORT
from .journal.runs import RUNS
from .journal.show import SHOW
from .journal.trace import TRACE
from .parts.eval import EVAL
from .parts.models import MODELS
from .parts.namespaces import NAMESPACES
from .parts.skills import SKILLS
from .reconcile.command import RECONCILE
from .setup.completion import COMPLETION
from .setup.init import INIT
from .setup.selftest import SELFTEST
from .work.people import PEOPLE
from .work.resume import RESUME
from .work.run import RUN

COMMANDS: tuple[Command, ...] = (
    DEMO,
    INIT,
    CHAT,
    RUN,
    RECONCILE,
    RESUME,
    RUNS,
    SHOW,
    TRACE,
    REPORT,
    *PEOPLE,
    NAMESPACES,
    SKILLS,
    MODELS,
    MEMORY,
    *HISTORY,
    *KEEPING,
    EVAL,
    SELFTEST,
    COMPLETION,
)


def whole_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    return parser_of(COMMANDS, table())
