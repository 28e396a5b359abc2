"""The ledger namespace: the books, read from general ledger and journal exports."""

from .namespace import Ledger

__all__ = ["Ledger"]
