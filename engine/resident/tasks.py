"""The task list that the user sees."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ...namespaces.functions import tool
from ...namespaces.tool import Effect, ToolContext, ToolOutput
from ..store.facts import Task, TasksSet
from .desk import desk


class TaskItem(BaseModel):
    """One task as the model writes it."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    status: Literal["pending", "active", "done", "failed"] = "pending"


@tool(effect=Effect.READ)
async def tasks(
    items: Annotated[list[TaskItem], Field(max_length=100, description="The whole list, in order.")],
    context: ToolContext,
    confidence: Annotated[
        float | None,
        Field(ge=0, le=1, description="How sure you are to get to a right answer, 0 to 1."),
    ] = None,
) -> ToolOutput:
    """Replaces the task list that the user watches. Give the whole list each time."""
    listed = tuple(Task(item.title, item.status) for item in items)
    desk(context).also.append(TasksSet(listed, confidence))
    left = sum(item.status in {"pending", "active"} for item in items)
    return ToolOutput(f"{len(items)} tasks, {left} open.")
