"""What a run delivers: its answer with the records it cites, or why it stopped without one."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from ..namespaces.tool import Record
from ..tracing import Usage
from .errors import AnswerInvalid
from .scrub import json_object
from .state import State
from .store.facts import Checked, StopWhy, Task

T = TypeVar("T", bound=BaseModel)

_CITATION = re.compile(r"\s*\[\[([^\[\]\n]{1,300})\]\]")
_DERIVATION = 100
"""Characters shown of a derivation that is no expression."""
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Citation:
    """One `[[record id]]` of an answer."""

    number: int
    """From 1, in order of first mention."""
    id: str
    record: Record | None
    """None when no such record was read in this session: the citation is invented."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a run came to."""

    run: str
    why: StopWhy
    """"answered", or why the run stopped before that; see `Stopped`."""
    detail: str
    """In words, what happened and what would help; empty when answered."""
    answer: str
    """As the model wrote it, citations included; what it said last when it stopped early."""
    citations: tuple[Citation, ...]
    links: Mapping[str, tuple[str, ...]]
    """Figures that the model tied to records apart from the text."""
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

    @property
    def answered(self) -> bool:
        """Whether the run came to an answer."""
        return self.why == "answered"

    def text(self) -> str:
        """The answer for a plain screen: numbered citations, and their sources below."""
        numbers = {citation.id: citation.number for citation in self.citations}
        body = _CITATION.sub(lambda found: f" [{numbers[found[1].strip()]}]", self.answer)
        if not self.citations:
            return body
        return "\n".join([body.rstrip(), "", "Sources", *(_source(one) for one in self.citations)])

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
    return Result(
        run=run.id,
        why=run.stopped.why,
        detail=run.stopped.detail,
        answer=run.answer,
        citations=citations(run.answer, state.records),
        links=dict(state.links),
        tasks=state.tasks,
        unknown=tuple(run.unknown),
        iterations=run.iterations,
        retries=run.retries,
        usage=run.usage,
        cost=run.cost,
    )


def citations(answer: str, records: Mapping[str, Record]) -> tuple[Citation, ...]:
    """The records that an answer cites, each once."""
    mentioned = dict.fromkeys(found[1].strip() for found in _CITATION.finditer(answer))
    return tuple(
        Citation(number, identity, records.get(identity))
        for number, identity in enumerate(mentioned, start=1)
    )


def check(answer: str, schema: Mapping[str, JsonValue]) -> Checked:
    """Whether an answer is a JSON value that fits the schema, and if not, what is wrong."""
    from jsonschema.validators import validator_for

    try:
        value: JsonValue = json.loads(unfenced(answer))
        kind = validator_for(schema)
        errors = kind(schema, format_checker=kind.FORMAT_CHECKER).iter_errors(value)
        problems = [f"{error.json_path}: {error.message[:300]}" for error in errors]
    except (ValueError, RecursionError) as error:
        return Checked(f"it is no JSON ({error})")
    return Checked("; ".join(sorted(problems)[:5]))


def unfenced(answer: str) -> str:
    """The answer without the code fence that models like to put around JSON."""
    found = _FENCE.match(answer)
    return found[1] if found else answer


def _source(citation: Citation) -> str:
    record = citation.record
    if record is None:
        return f"[{citation.number}] {citation.id}: NOT A RECORD OF THIS SESSION"
    parts = (
        record.text,
        None if record.amount is None else f"{record.amount:,} {record.currency or ''}".strip(),
        record.date.isoformat() if record.date else None,
        record.file and (f"{record.file}:{record.row}" if record.row else record.file),
        record.derivation and _derived(record.derivation),
    )
    return f"[{citation.number}] {citation.id}: {' | '.join(part for part in parts if part)}"


def _derived(derivation: str) -> str:
    """How a computed record came about, in one line; the whole is in the record."""
    told = json_object(derivation) or {}
    expression, inputs = told.get("expression"), told.get("inputs")
    if not isinstance(expression, str) or not isinstance(inputs, dict):
        return f"= {derivation[:_DERIVATION]}"
    records = sum(len(given) if isinstance(given, list) else 1 for given in inputs.values())
    return f"= {expression} over {records} records"
