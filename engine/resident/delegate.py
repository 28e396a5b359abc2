"""Hands parts of the work to runs of their own. What they do and come to is `children.py`'s."""

from typing import Annotated

from pydantic import BaseModel, Field

from ...namespaces.functions import tool
from ...namespaces.meta_tools import Call
from ...namespaces.tool import Arguments, Effect, ToolContext, ToolOutput


class Part(BaseModel):
    """One strand as the model writes it."""

    title: Annotated[str, Field(min_length=1, max_length=200, description="What the user sees of it.")]
    task: Annotated[
        str, Field(min_length=1, max_length=20_000, description="All it needs to know: it sees nothing else.")
    ]
    skill: Annotated[
        str | None, Field(max_length=200, description="Work by this skill; else the most relevant one.")
    ] = None
    namespaces: Annotated[
        list[str] | None, Field(max_length=200, description="The only systems it may call; else all.")
    ] = None


@tool(effect=Effect.READ)
async def delegate(
    strands: Annotated[list[Part], Field(min_length=1, max_length=1_000)], context: ToolContext
) -> ToolOutput:
    """Works on independent parts of a request at once, each in a clean context, such as one an account."""
    return ToolOutput(f"Call {context.call} was not handed on.", error=True)


DELEGATE = delegate.name
"""What models call it."""


def is_delegate(call: Call) -> bool:
    """Whether the call hands work on: `children.py` does it then, and the function here never runs."""
    return call.tool is delegate


def parts_of(arguments: Arguments) -> list[Part]:
    """The strands of a call whose arguments fit."""
    return [Part.model_validate(each) for each in arguments["strands"]]  # type: ignore[union-attr]
