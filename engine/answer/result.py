"""What a run delivers: its answer with the records it cites, or why it stopped without one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from ...tracing import Usage
from ..audit import CacheAudit, audit_of
from ..errors import AnswerInvalid
from ..state import State
from ..store.facts import Figure, StopWhy, Task
from ..store.people import Questioned, Requested
from . import render
from .citations import Citation, citations
from .delivered import delivered
from .typed import unfenced

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Result:
    """What a run came to."""

    run: str
    why: StopWhy
    """"answered", or why the run stopped before that; see `Stopped`."""
    detail: str
    """In words, what happened and what would help; empty when answered."""
    answer: str
    """As the model wrote it, citations included; what it said last when it stopped early. Where it was to be
    corrected and the reply was but a part of it, the answer before stands with that reply behind it."""
    citations: tuple[Citation, ...]
    figures: tuple[Figure, ...]
    """Every figure of the answer with its sources, or with why it is not linked to any; none when the
    answer was not checked: it is of a type, the check is off, or the run stopped early."""
    missing: tuple[str, ...]
    """Sections that the active skills ask for and the answer lacks."""
    links: Mapping[str, tuple[str, ...]]
    """Figures that the model tied to records apart from the text."""
    skills: Mapping[str, str]
    """The skills that the session had loaded by then, with their versions."""
    tasks: tuple[Task, ...]
    """What is done and what is not, as the model last listed it."""
    unknown: tuple[str, ...]
    """Calls of which nobody knows whether they took effect."""
    iterations: int
    retries: int
    """Model calls that failed and were tried again, or ended the run."""
    usage: Usage
    cost: Decimal | None
    """US dollars of its model calls; None where the cost of one is unknown."""
    approvals: tuple[Requested, ...] = ()
    """What waits for somebody to approve or deny it; with why "waiting"."""
    questions: tuple[Questioned, ...] = ()
    """What waits for somebody to answer it; with why "waiting"."""
    cache: CacheAudit = field(default_factory=CacheAudit)
    """What its prompts did in the provider's cache."""
    trace: str = ""
    """The trace that it is part of, in 32 hexadecimal digits; empty where it is not traced."""

    @property
    def answered(self) -> bool:
        """Whether the run came to an answer."""
        return self.why == "answered"

    @property
    def unlinked(self) -> tuple[Figure, ...]:
        """The figures that no record bears out: they are marked where the answer is rendered."""
        return tuple(figure for figure in self.figures if figure.problem)

    def text(self) -> str:
        """The answer for a plain screen: numbered citations, and their sources below."""
        return render.as_text(self.answer, self.citations, self.figures)

    def markdown(self) -> str:
        """The answer as Markdown, with a footnote for each record."""
        return render.as_markdown(self.answer, self.citations, self.figures)

    def to_json(self) -> dict[str, JsonValue]:
        """The whole result as JSON: amounts as texts, dates as YYYY-MM-DD, absent values as null."""
        return render.as_json(self)

    def parsed(self, output: type[T]) -> T:
        """The answer as the type that was asked for.

        Raises:
            AnswerInvalid: the run did not come to an answer, or it does not fit.
        """
        if not self.answered:
            raise AnswerInvalid(f"run {self.run} gave no answer ({self.why}): {self.detail}")
        try:
            return output.model_validate_json(unfenced(self.answer))
        except ValidationError as error:
            raise AnswerInvalid(f"the answer of run {self.run} does not fit: {error}") from error


def result_of(state: State) -> Result:
    """The result of the session's current run, which has stopped."""
    run = state.current
    if run.stopped is None:
        raise LookupError(f"run {run.id} has not stopped")
    waiting = [each.asked for each in run.waiting.values() if each.is_open]
    final = delivered(run)
    return Result(
        run=run.id,
        why=run.stopped.why,
        detail=run.stopped.detail,
        answer=final.answer,
        citations=citations(final.answer, state.records),
        figures=final.figures,
        missing=final.missing,
        links=dict(state.links),
        skills={name: skill.version for name, skill in state.skills.items()},
        tasks=state.tasks,
        unknown=tuple(run.unknown),
        approvals=tuple(one for one in waiting if isinstance(one, Requested)),
        questions=tuple(one for one in waiting if isinstance(one, Questioned)),
        iterations=run.iterations,
        retries=run.retries,
        usage=run.usage,
        cost=run.cost,
        cache=audit_of(state),
        trace=run.trace,
    )
