"""`offing reconcile`: what can be decided without a model, over a user's own files."""

from .command import reconcile_files
from .request import Request

__all__ = ["Request", "reconcile_files"]
