"""Reads the two parts of the corpus beside this file; README.md says what a case is."""

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict

from offing.namespaces.tool import Record

CORPUS = Path(__file__).parent / "corpus"
HELD_OUT = Path(__file__).parent / "heldout"
"""Written without sight of the check and of the first part."""

_CITATION = re.compile(r"\[\[.*?\]\]")

Kind = Literal[
    "digit",
    "sign",
    "currency",
    "period",
    "rounding",
    "stale",
    "wrong_record",
    "uncited",
    "invented_record",
]
"""What is wrong with a figure."""


class Span(NamedTuple):
    """Where a text stands in an answer, as a slice."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AnswerCase:
    """One answer, and what a careful reader finds wrong with it."""

    name: str
    asked: str
    """What the user wrote: the numbers in it were given by the user."""
    records: tuple[Record, ...]
    """All that the run registered, each id once and with its newest amount."""
    answer: str
    """Markdown with `[[record id]]` behind its figures."""
    wrong: tuple[str, ...]
    """The wrong figures, each from its first digit to its last as the answer writes it, or the number
    in words; each stands in the answer once. Empty for a right answer."""
    why: str
    """A `Kind` for a wrong answer, else the trap that the right one holds."""
    hard: bool = False
    """True where a rule without judgement cannot be expected to see it: reported apart."""

    def span(self, figure: str) -> Span:
        """Where a wrong figure stands, citations aside.

        Raises:
            ValueError: it does not stand there exactly once as a number, or word, of its own.
        """
        spans = list(spans_of(figure, self.answer))
        if len(spans) != 1:
            raise ValueError(f"{figure!r} stands {len(spans)} times in the answer of {self.name!r}, not once")
        return spans[0]

    @property
    def cited(self) -> tuple[str, ...]:
        """The ids that the answer cites, in its order."""
        return tuple(match.group()[2:-2].strip() for match in _CITATION.finditer(self.answer))


def spans_of(figure: str, answer: str) -> Iterator[Span]:
    """Where a figure stands in a text, not as a part of a longer number or word and not in a citation."""
    without = _CITATION.sub(lambda match: " " * len(match.group()), answer)
    alone = rf"(?<![\w.,]){re.escape(figure)}(?![.,]?\d|\w\w)"
    for match in re.finditer(alone, without):
        yield Span(*match.span())


def load(folder: Path = CORPUS) -> list[AnswerCase]:
    """Every case of a folder, in the order of the files and in theirs.

    Raises:
        pydantic.ValidationError: a file has an unknown key, lacks one or holds a value of another kind.
    """
    return [case for path in sorted(folder.glob("*.yaml")) for case in _read(path)]


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _GivenRecord(_Given):
    id: str
    amount: Decimal | None = None
    currency: str | None = None
    date: datetime.date | None = None
    text: str = ""
    file: str | None = None
    row: int | None = None
    derivation: str | None = None

    def record(self) -> Record:
        return Record(**dict(self))


class _GivenCase(_Given):
    name: str
    asked: str
    records: tuple[_GivenRecord, ...] = ()
    answer: str
    wrong: tuple[str, ...]
    why: str
    hard: bool = False


class _File(_Given):
    records: tuple[_GivenRecord, ...]
    cases: tuple[_GivenCase, ...]


def _read(path: Path) -> Iterator[AnswerCase]:
    held = _File.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    for case in held.cases:
        newest = {each.id: each.record() for each in (*held.records, *case.records)}
        yield AnswerCase(
            name=f"{path.stem}: {case.name}",
            asked=case.asked,
            records=tuple(newest.values()),
            answer=case.answer,
            wrong=case.wrong,
            why=case.why,
            hard=case.hard,
        )
