"""What can be done with a journal that is there: fork it, roll it back, compare it, replay it."""

from .branching import Branch
from .diff import Diff, Difference, diff
from .fork import Edit, MessageEdit, ResultEdit
from .replay import Replayed, replay

__all__ = [
    "Branch",
    "Diff",
    "Difference",
    "Edit",
    "MessageEdit",
    "Replayed",
    "ResultEdit",
    "diff",
    "replay",
]
