"""The errors of this folder.

NamespaceError               a namespace, tool or schema cannot be used as it is
├── ToolDefinitionError      a tool that was made wrongly: raised to the programmer, never to a model
└── OutcomeUnknown           a call may have taken effect: raised by a tool, to the engine
"""


class NamespaceError(Exception):
    """A namespace cannot be used; the message names the value and says what would be right."""


class ToolDefinitionError(NamespaceError):
    """A Python function, name or schema that no tool can be made of."""


class OutcomeUnknown(NamespaceError):
    """What a tool raises when a call went out and nobody knows what became of it.

    A connection that broke before the call went out is an ordinary error: the call may be made again.
    The message says what happened, as in "the connection broke after it was sent".
    """
