"""A trace as one page of HTML that needs nothing else: no script, no font, no server."""

from .page import Head, Section, page

__all__ = ["Head", "Section", "page"]
