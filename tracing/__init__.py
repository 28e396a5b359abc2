"""What a run costs and, later, how it is seen: the lowest folder, which imports none of the others."""

from .usage import Usage

__all__ = ["Usage"]
