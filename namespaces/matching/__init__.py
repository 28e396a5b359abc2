"""The matching namespace: bank transactions against the lines of the books."""

from .namespace import Matching

__all__ = ["Matching"]
