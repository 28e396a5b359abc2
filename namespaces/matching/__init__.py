"""The matching namespace: bank transactions against the lines of the books."""

from .namespace import Matching
from .rule import AccountRule, SubsetBounds

__all__ = ["AccountRule", "Matching", "SubsetBounds"]
