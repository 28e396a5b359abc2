"""How a run becomes a trace: its spans as a fold of its rows, live and out of the journal."""

from .run_trace import About
from .tree import Tree

__all__ = ["About", "Tree"]
