"""What became of one journey, and how it compares with the one that nothing happened to. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..wire import HEAD
from .life import ANSWERED, KILLED
from .scenario import Deed

Json = Mapping[str, Any]
_AROUND = 40
"""Characters that are shown of an answer before and after the place where it differs."""


class Point(NamedTuple):
    """Where a process can be killed."""

    process: int
    """Of the uninterrupted journey, from 1."""
    name: str

    def __str__(self) -> str:
        return f"process {self.process}, {self.name}"


@dataclass(frozen=True, slots=True)
class Journey:
    """The processes of one place, from the first to the one that had the answer."""

    ends: tuple[int, ...]
    """How each process ended."""
    log: Sequence[Json]
    output: str = ""
    """What they wrote; looked at when one failed."""

    def lines(self, what: str) -> list[Json]:
        """The lines of one kind."""
        return [line for line in self.log if line["what"] == what]

    @property
    def points(self) -> Iterator[Point]:
        """What was passed, in order."""
        process = 0
        for line in self.log:
            process += line["what"] == "begins"
            if line["what"] == "point":
                yield Point(process, str(line["name"]))

    @property
    def end(self) -> Json:
        """The line of the process that had the answer."""
        return self.lines("end")[-1]

    @property
    def deeds(self) -> Counter[Deed]:
        """What was done to the world, and how often."""
        return Counter(Deed(*each) for each in self.end["deeds"])

    @property
    def calls(self) -> Sequence[Mapping[str, str]]:
        """What each call was reported to have come to: "done", "failed" or "unknown"."""
        told: Sequence[Mapping[str, str]] = self.end["calls"]
        return told


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with a journey; all empty when nothing is."""

    lost: tuple[str, ...] = ()
    """Deeds that were not done and that nobody was told of."""
    repeated: tuple[str, ...] = ()
    """Deeds that were done more often than they are when nothing happens."""
    doubtful: tuple[str, ...] = ()
    """Calls that were reported of unknown outcome. No fault: whoever is told can look."""
    withheld: tuple[str, ...] = ()
    """Calls that were reported not to be executed, as those of a run that was cancelled before. No fault."""
    wrong: tuple[str, ...] = ()
    """Anything else, a sentence each."""

    @property
    def is_clean(self) -> bool:
        """Whether nothing is lost, repeated or wrong."""
        return not (self.lost or self.repeated or self.wrong)


def judged(whole: Journey, left: Journey, kills: int) -> Verdict:
    """A journey that was to be killed at least once, compared with the whole one."""
    broken = list(_broken(left))
    if broken:
        return Verdict(wrong=tuple(broken))
    done = {one["call"] for one in whole.calls if one["told"] == "done"}
    changed = [one for one in left.calls if one["call"] in done and one["told"] != "done"]
    told = {
        how: tuple(f"{one['tool']}, call {one['call']}" for one in changed if one["told"] == how)
        for how in ("unknown", "failed")
    }
    keys = {one["call"]: one["key"] for one in whole.calls}
    return Verdict(
        lost=tuple(_lost(whole.deeds - left.deeds, [keys[one["call"]] for one in changed])),
        repeated=tuple(deed.what for deed in (left.deeds - whole.deeds).elements()),
        doubtful=told["unknown"],
        withheld=told["failed"],
        wrong=(
            *left.end["problems"],
            *(() if changed else _otherwise(whole, left)),
            *_unextended(left),
            *_unkilled(left, kills),
        ),
    )


def _broken(left: Journey) -> Iterator[str]:
    """What keeps a journey from having come to its end."""
    for number, end in enumerate(left.ends, 1):
        if end not in {*range(0, 11, 10), KILLED}:
            yield f"process {number} ended with {end}: {left.output[-2000:].strip()}"
    if not left.ends or left.ends[-1] != ANSWERED:
        yield f"no answer after {len(left.ends)} processes"


def _lost(missing: Counter[Deed], told: Sequence[str]) -> Iterator[str]:
    """What is missing without a word: `told` are the keys of the calls that were reported otherwise.

    Deeds that name their call's key come first; one without a key may be that of any call that is left.
    """
    left = Counter(told)
    for deed in sorted(missing.elements(), key=lambda each: not each.key):
        key = deed.key or next(iter(+left), "")
        if left[key]:
            left[key] -= not deed.key
        else:
            yield deed.what


def _otherwise(whole: Journey, left: Journey) -> Iterator[str]:
    """A model that was told of a doubt may well answer otherwise; else nothing may differ."""
    told, wanted = str(left.end["answer"]), str(whole.end["answer"])
    if told != wanted:
        pairs = enumerate(zip(told, wanted, strict=False))
        at = next((place for place, (one, other) in pairs if one != other), min(len(told), len(wanted)))
        begin = max(0, at - _AROUND)
        yield f"the answer is ...{told[begin : at + _AROUND]!r}, not ...{wanted[begin : at + _AROUND]!r}"


def _unextended(left: Journey) -> Iterator[str]:
    """Each request of a conversation extends the one before, whichever process sent it."""
    newest: dict[tuple[str, ...], list[str]] = {}
    for number, line in enumerate(left.lines("request"), 1):
        parts: list[str] = line["parts"]
        former = newest.get(begun := tuple(parts[: HEAD + 1]), [])
        if parts[: len(former)] != former:
            yield f"request {number} does not extend the one before"
        newest[begun] = parts


def _unkilled(left: Journey, kills: int) -> Iterator[str]:
    if len(left.lines("kill")) < kills:
        yield "the process did not come to the point: the scenario is not the same each time"
