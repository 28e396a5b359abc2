"""Every command, in the order in which the help shows them. A new one is a file and a line here."""

from .command import Command
from .demo.command import DEMO
from .journal.history import HISTORY
from .journal.keeping import KEEPING
from .parts.eval import EVAL
from .parts.models import MODELS
from .reconcile.command import RECONCILE
from .work.people import PEOPLE
from .work.resume import RESUME
from .work.run import RUN

COMMANDS: tuple[Command, ...] = (
    DEMO,
    RUN,
    RECONCILE,
    RESUME,
    *PEOPLE,
    *HISTORY,
    *KEEPING,
    MODELS,
    EVAL,
)
