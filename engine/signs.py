"""What a run shows of how hard it is, counted as it goes.

Nothing here ever goes down while a run lasts, resumes included. Other counts of `RunState` are forgotten
after a stop; these are what `effort.py` decides by, and it may not change its mind downwards.
"""

from dataclasses import dataclass, replace

from .models.model import Reply
from .store.facts import Checked, Fact, Replied, Settled, TasksSet


@dataclass(frozen=True, slots=True)
class Signs:
    """Totals of one run, from its beginning."""

    operations: tuple[str, ...] = ()
    """The different operations it called, whatever came of the calls, in order of their first."""
    failed: int = 0
    """Calls that came to an error."""
    unfit: int = 0
    """Replies that were cut by their length or empty, and answers not of the wanted type."""
    tasks: int = 0
    """Items of its longest task list."""
    doubt: float = 0.0
    """1 less the lowest confidence that the model stated; 0 when it stated none."""

    def after(self, fact: Fact) -> "Signs":
        """The totals with one more fact of the run."""
        match fact:
            case Settled(result, tool):
                known = dict.fromkeys((*self.operations, tool))
                return replace(self, operations=tuple(known), failed=self.failed + result.error)
            case TasksSet(tasks, confidence):
                doubt = 0.0 if confidence is None else 1 - confidence
                return replace(self, tasks=max(self.tasks, len(tasks)), doubt=max(self.doubt, doubt))
            case Replied(reply) if _is_unfit(reply):
                return replace(self, unfit=self.unfit + 1)
            case Checked(problem) if problem:
                return replace(self, unfit=self.unfit + 1)
            case _:
                return self

    @property
    def systems(self) -> int:
        """How many namespaces the operations are of."""
        return len({each.partition("__")[0] for each in self.operations if "__" in each})


def _is_unfit(reply: Reply) -> bool:
    said = reply.message.calls or reply.message.text.strip()
    return reply.stop == "length" or (reply.stop in {"end", "tools"} and not said)
