"""The entries namespace: journal entries, proposed and, with approval, posted to the files of the books."""

from .namespace import Entries

__all__ = ["Entries"]
