"""Ties a figure of the coming answer to the records it comes from."""

from collections import deque
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from ...namespaces.arguments import nearest
from ...namespaces.functions import tool
from ...namespaces.tool import Effect, ToolContext, ToolOutput
from ..store.facts import Linked
from .desk import desk

_COMPARED = 2_000
"""The newest records among which the one that was meant is looked for: of 100,000 it takes seconds."""


@tool(effect=Effect.READ)
async def link_records(
    figure: Annotated[str, Field(min_length=1, description="As the answer will write it: 1,250.00 GBP")],
    records: Annotated[list[str], Field(min_length=1, max_length=500, description="Record ids.")],
    context: ToolContext,
) -> ToolOutput:
    """Ties a figure of your answer to record ids, where citing them inline would be unreadable."""
    at = desk(context)
    for record in records:
        if record not in at.state.records:
            return ToolOutput(unknown_record(record, at.state.records), error=True)
    at.also.append(Linked(figure, tuple(records)))
    return ToolOutput(f"{figure} is linked to {len(records)} records.")


def unknown_record(record: str, known: Iterable[str]) -> str:
    """Says that a record id is not known, and which one was probably meant."""
    meant = nearest(record, deque(known, _COMPARED))
    hint = f" Did you mean {meant!r}?" if meant else " Tools give the ids of what they read."
    return f"there is no record {record!r} in this session.{hint}"
