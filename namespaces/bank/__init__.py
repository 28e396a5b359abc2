"""The bank namespace: statement files, read into one model whatever their format."""

from .namespace import Bank

__all__ = ["Bank"]
