"""Where sessions are kept: the journal of facts and the artifacts, in memory, in a file, on a server."""

from .journal import Store
from .memory import MemoryStore
from .place import store_at
from .postgres import PostgresStore
from .sqlite import SqliteStore

__all__ = ["MemoryStore", "PostgresStore", "SqliteStore", "Store", "store_at"]
