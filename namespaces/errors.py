"""The errors of this folder.

NamespaceError               a namespace, tool or schema cannot be used as it is
└── ToolDefinitionError      a tool that was made wrongly: raised to the programmer, never to a model
"""


class NamespaceError(Exception):
    """A namespace cannot be used; the message names the value and says what would be right."""


class ToolDefinitionError(NamespaceError):
    """A Python function, name or schema that no tool can be made of."""
