"""Connected systems: what a tool is, how one is made, and the two meta-tools a model sees of many."""

from .functions import FunctionNamespace, tool
from .tool import (
    Attachment,
    Effect,
    Inspection,
    Namespace,
    Record,
    Tool,
    ToolContext,
    ToolOutput,
)

__all__ = [
    "Attachment",
    "Effect",
    "FunctionNamespace",
    "Inspection",
    "Namespace",
    "Record",
    "Tool",
    "ToolContext",
    "ToolOutput",
    "tool",
]
