"""Two runs side by side: where they part first, and in what else they differ.

What is compared is what was said and done, each at its place in the run: times, owners, ids and keys are not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from ..store.journal import Row
from .parts import Part, Place, Totals, parts_of, totals_of

_LONGEST = 300
"""Characters of a value that are shown."""
_SHOWN = 50
"""Differences that a text lists."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One part of the runs that is not the same."""

    place: Place
    left: str | None
    """None where only the right run has it."""
    right: str | None

    def __str__(self) -> str:
        return f"{self.place}\n  - {_short(self.left)}\n  + {_short(self.right)}"


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs, in the order of the runs."""

    same: int
    """Parts before the first difference; all of them where there is none."""
    differences: tuple[Difference, ...]
    """Prompts are among them only where nothing that went into them differs."""
    left: Totals
    right: Totals

    @property
    def first(self) -> Difference | None:
        """Where the runs part; None when they do not."""
        return self.differences[0] if self.differences else None

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.differences)

    def text(self) -> str:
        """For a person: the first difference, then the others, then what each run took."""
        if not self:
            return f"no difference in {self.same} parts"
        more = len(self.differences) - _SHOWN
        return "\n".join(
            [
                f"the same in {self.same} parts, then:",
                *map(str, self.differences[:_SHOWN]),
                *([f"and {more} more"] if more > 0 else []),
                f"  - {_told(self.left)}",
                f"  + {_told(self.right)}",
            ]
        )

    def to_json(self) -> Mapping[str, JsonValue]:
        """The same, whole. Amounts are texts; null stands for what a run does not have."""
        return {
            "same": self.same,
            "differences": [_as_json(each) for each in self.differences],
            "left": _totals_json(self.left),
            "right": _totals_json(self.right),
        }


def diff(left: Sequence[Row], left_run: str, right: Sequence[Row], right_run: str) -> Diff:
    """What differs between two runs; each is given with all the rows of its stream.

    Raises:
        NotFound: the rows have no such run.
        JournalUnreadable: this release does not know a row.
    """
    ours, theirs = parts_of(left, left_run), parts_of(right, right_run)
    differences: list[Difference] = []
    same = 0
    for place in sorted({*ours, *theirs}):
        if ours.get(place) == theirs.get(place):
            same += not differences
        elif place.part is not Part.PROMPT or not differences:  # else it differs because of what was before
            differences.append(Difference(place, ours.get(place), theirs.get(place)))
    return Diff(same, tuple(differences), totals_of(left, left_run), totals_of(right, right_run))


def _short(text: str | None) -> str:
    if text is None:
        return "(nothing)"
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}... ({len(text):,} characters)"


def _told(totals: Totals) -> str:
    cost = "unknown" if totals.cost is None else f"{totals.cost:f} USD"
    usage = totals.usage
    return (
        f"{totals.iterations} iterations, {usage.prompt:,} tokens in, {usage.output:,} out, cost {cost},"
        f" {totals.stopped or 'not stopped'}"
    )


def _as_json(each: Difference) -> JsonValue:
    place = each.place
    return {
        "iteration": place.iteration,
        "part": place.part.name.lower(),
        "number": place.number,
        "left": each.left,
        "right": each.right,
    }


def _totals_json(totals: Totals) -> JsonValue:
    usage = totals.usage
    return {
        "iterations": totals.iterations,
        "tokens_in": usage.prompt,
        "tokens_out": usage.output,
        "cost": None if totals.cost is None else f"{totals.cost:f}",
        "answer": totals.answer,
        "stopped": totals.stopped,
    }
