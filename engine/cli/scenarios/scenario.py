"""What a scenario is: a question over given files, and the answer that is right.

The right answer is worked out by hand and written down; no model judges another. A model answers in the
type of the right answer, so that the two can be compared field by field.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ...models.scripted import Call, Playbook, PlaybookFunction

Json = Any
"""JSON of a tool whose shape a playbook knows."""


class Answer(BaseModel):
    """An answer that can be compared: sets where order means nothing, amounts as decimals."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _bare(record: str) -> str:
    return record.strip().removeprefix("[[").removesuffix("]]").strip()


RecordId = Annotated[str, Field(description="A record id exactly as a tool gave it"), AfterValidator(_bare)]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One question that has one right answer."""

    name: str
    """As `--scenario` takes it."""
    question: str
    right: Answer
    careful: PlaybookFunction
    """Stands for a model that gets it right."""
    hasty: PlaybookFunction
    """Stands for one that takes the shortest way, be it right or not."""
    bank: tuple[Path, ...]
    ledger: tuple[Path, ...] = ()
    currency: str | None = None
    """Of files that name none."""

    def differences(self, answer: Answer) -> str:
        """What is wrong with an answer, field by field; empty when nothing is."""
        wrong = [
            f"{name} is {_told(given)}, right is {_told(right)}"
            for name, right in self.right
            if (given := getattr(answer, name)) != right
        ]
        return "; ".join(wrong)


def _told(value: object) -> str:
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(cast("frozenset[str]", value))) + "}"
    return str(value)


def invoke(namespace: str, tool: str, **arguments: Json) -> Call:
    """A call through the namespace's meta-tool."""
    return Call(f"{namespace}__invoke_tool", {"tool": tool, "arguments": arguments})


async def asked(book: Playbook, call: Call) -> Json:
    """What a call gives, as JSON."""
    (result,) = await book.calls(call)
    return result.json
