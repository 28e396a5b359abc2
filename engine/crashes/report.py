"""What a sweep found, as data and as text."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from .journey import Point, Verdict

_MOST = 10
"""Faults that the text shows in full."""


@dataclass(frozen=True, slots=True)
class Killed:
    """One journey that was killed."""

    point: Point
    again: str
    """Where the process that went on was killed too; empty where it was not."""
    verdict: Verdict

    def __str__(self) -> str:
        return f"killed at {self.point}" + (f", and again {self.again}" if self.again else "")


@dataclass(frozen=True, slots=True)
class Report:
    """What a sweep found."""

    scenario: str
    store: str
    """"SQLite" or "PostgreSQL"."""
    points: int
    """All that the uninterrupted journey passes."""
    processes: int
    """Of the uninterrupted journey."""
    killed: tuple[Killed, ...]
    """In the order of the points."""
    seconds: float
    """Wall time."""

    @property
    def lost(self) -> int:
        """Deeds that were not done and that nobody was told of."""
        return sum(len(each.verdict.lost) for each in self.killed)

    @property
    def repeated(self) -> int:
        """Deeds that were done too often."""
        return sum(len(each.verdict.repeated) for each in self.killed)

    @property
    def doubtful(self) -> int:
        """Calls that were reported of unknown outcome."""
        return sum(len(each.verdict.doubtful) for each in self.killed)

    @property
    def withheld(self) -> int:
        """Calls that were reported not to be executed, as those of a run that was cancelled before."""
        return sum(len(each.verdict.withheld) for each in self.killed)

    @property
    def wrong(self) -> int:
        """Whatever else is wrong."""
        return sum(len(each.verdict.wrong) for each in self.killed)

    @property
    def inside(self) -> int:
        """Of the kills, those inside a tool."""
        return sum(" the effect of " in each.point.name for each in self.killed)

    @property
    def faults(self) -> tuple[Killed, ...]:
        """The journeys with which something is wrong."""
        return tuple(each for each in self.killed if not each.verdict.is_clean)

    @property
    def is_clean(self) -> bool:
        """Whether there was something to kill, and nothing is lost, repeated or wrong."""
        return bool(self.killed) and not self.faults

    def text(self) -> str:
        """The report for a person."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.scenario} on {self.store}: {self.seconds:.0f} s"
        yield f"{len(self.killed):6,} kills, {self.inside:,} of them inside tools, at {self.points:,} points"
        yield f"{self.lost:6,} lost"
        yield f"{self.repeated:6,} repeated"
        yield f"{self.doubtful:6,} calls reported of unknown outcome"
        yield f"{self.withheld:6,} calls reported not to be executed"
        yield f"{self.wrong:6,} otherwise wrong"
        for each in self.faults[:_MOST]:
            yield f"{each}:"
            yield from (f"  lost: {deed}" for deed in each.verdict.lost)
            yield from (f"  repeated: {deed}" for deed in each.verdict.repeated)
            yield from (f"  {problem}" for problem in each.verdict.wrong)
        if len(self.faults) > _MOST:
            yield f"and {len(self.faults) - _MOST:,} more"

    def to_json(self) -> dict[str, JsonValue]:
        """The report for a program: the counts, and each journey with which something is wrong."""
        counts = (
            "scenario",
            "store",
            "points",
            "processes",
            "lost",
            "repeated",
            "doubtful",
            "withheld",
            "wrong",
        )
        faults: list[JsonValue] = [
            {
                "killed": str(each),
                "lost": list(each.verdict.lost),
                "repeated": list(each.verdict.repeated),
                "wrong": list(each.verdict.wrong),
            }
            for each in self.faults
        ]
        given: dict[str, JsonValue] = {name: getattr(self, name) for name in counts}
        return {**given, "kills": len(self.killed), "seconds": round(self.seconds, 1), "faults": faults}
