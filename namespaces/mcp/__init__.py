"""Servers that speak the Model Context Protocol, connected as namespaces."""

from .namespace import McpNamespace

__all__ = ["McpNamespace"]
