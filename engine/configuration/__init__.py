"""`offing.yaml`: an engine and its sessions from a file, and the same in Python."""

from .configuration import Configuration
from .load import FILE, load
from .schema import schema
from .settings import Settings
from .source import Problem, Unusable

__all__ = ["FILE", "Configuration", "Problem", "Settings", "Unusable", "load", "schema"]
