"""Where sessions are kept: the journal of facts and the artifacts, in memory or in a file."""

from .journal import Store
from .memory import MemoryStore
from .sqlite import SqliteStore

__all__ = ["MemoryStore", "SqliteStore", "Store"]
