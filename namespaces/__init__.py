"""Connected systems: what a tool is, how one is made, and the two meta-tools a model sees of many."""

from .policy import ToolPolicy
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

# isort: split
from .functions import FunctionNamespace, tool  # after .tool, whose name it takes over

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
    "ToolPolicy",
    "tool",
]
