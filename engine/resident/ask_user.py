"""Asks a person. The call is open until somebody answers, for days if need be."""

from typing import Annotated, cast

from pydantic import Field, JsonValue

from ...namespaces.functions import tool
from ...namespaces.meta_tools import Call
from ...namespaces.tool import Arguments, Effect, ToolContext, ToolOutput
from ..store.people import Answered, Questioned
from .desk import desk


@tool(effect=Effect.READ)
async def ask_user(
    question: Annotated[
        str, Field(min_length=1, max_length=4000, description="With all it takes to answer.")
    ],
    context: ToolContext,
    options: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=500)]] | None,
        Field(max_length=20, description="Answers to choose from, if there are any."),
    ] = None,
) -> ToolOutput:
    """Asks the user, and waits for the answer: only for what no system can tell you. It approves nothing."""
    waiting = desk(context).state.current.waiting.get(context.call)
    if waiting is None or not isinstance(waiting.said, Answered):
        return ToolOutput("Nobody was asked.", error=True)
    return ToolOutput(waiting.said.text)


ASK_USER = ask_user.name
"""What models call it."""


def is_ask_user(call: Call) -> bool:
    """Whether the call asks a person something."""
    return call.tool is ask_user


def asked_by(identity: str, arguments: Arguments) -> Questioned:
    """The question of a call whose arguments fit."""
    options = cast("list[JsonValue]", arguments.get("options") or [])
    return Questioned(identity, str(arguments["question"]), tuple(map(str, options)))
