"""A call that waits for a person, as the journal keeps it: it may go on in days, in another process."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from mcp import types
from pydantic import JsonValue, TypeAdapter

from ..tool import Question, ToolOutput
from .elicitation import Asked, Response, answer_to, asked_of, question_of, with_response

_OUTCOME = 2_000
"""Characters of what came of a call in whose middle a question was dismissed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call in whose middle a question was dismissed."""

    text: str
    error: bool


@dataclass(frozen=True, slots=True)
class Pending:
    """A call, and what a person has said for it."""

    arguments: dict[str, JsonValue]
    """Those that the call was begun with, and approved with."""
    known: tuple[Asked, ...] = ()
    """What was answered in earlier rounds."""
    asked: tuple[Asked, ...] = ()
    """What this round asks."""
    request_state: str | None = None
    """What the server wants back; None for nothing."""
    outcome: Outcome | None = None
    """That of an attempt in whose middle this was asked; None when the server waits for the answer."""

    @property
    def open(self) -> Asked | None:
        """The first question without an answer."""
        return next((one for one in self.asked if one.response is None), None)

    @property
    def answered(self) -> tuple[Asked, ...]:
        """All that was answered."""
        return (*self.known, *(one for one in self.asked if one.response is not None))

    def responses(self) -> types.InputResponses:
        """The answers of this round, by the server's names for its questions."""
        return {one.key: one.response.result() for one in self.asked if one.key and one.response is not None}

    def taking(self, response: Response) -> "Pending":
        """With its open question answered."""
        first = self.open
        answered = (with_response(one, response) if one is first else one for one in self.asked)
        return replace(self, asked=tuple(answered))

    def required(self, result: types.InputRequiredResult) -> "Pending | str":
        """What the server asks before it goes on; why that cannot be had, if so."""
        asked: list[Asked] = []
        for key, request in (result.input_requests or {}).items():
            if not isinstance(request, types.ElicitRequest):
                return f"The server asks for {request.method}, which is not offered to servers."
            one = asked_of(key, request.params)
            asked.append(replace(one, response=answer_to(one, self.answered)))
        return Pending(self.arguments, self.answered, tuple(asked), result.request_state)

    def dismissed(self, asked: Sequence[Asked], output: ToolOutput) -> "Pending":
        """What was asked in the middle of an attempt, which has come to its end without an answer."""
        outcome = Outcome(str(output.content)[:_OUTCOME], output.error)
        return Pending(self.arguments, self.answered, tuple(asked), outcome=outcome)

    def anew(self) -> "Pending":
        """From the beginning, with all that was answered: the server does not know its own state any more."""
        return Pending(self.arguments, self.answered)

    def question(self, tool: str, system: str, problem: str = "") -> Question:
        """Its open question, for a person. `problem` is what was wrong with their answer."""
        before = f"That could not be used: {problem}" if problem else ""
        if self.outcome is not None and not problem:
            before = (
                f"{tool} of {system} asked something in its middle, was told that nobody had answered, and "
                f"came to this:\n{self.outcome.text}\nWith an answer it is called once more; decline leaves "
                "it at that."
            )
        question = question_of(f"{system}, called for {tool},", cast("Asked", self.open), before)
        return replace(question, state=cast("JsonValue", _KEPT.dump_python(self, mode="json")))


_KEPT: TypeAdapter[Pending] = TypeAdapter(Pending)


def pending_of(state: JsonValue) -> Pending:
    """What a question has kept."""
    return _KEPT.validate_python(state)
