"""The reconciliation statement: what a reconciliation found, as a file for people and for the next month."""

from .carried import OpenItems, carried_to, read_open_items
from .flat import write_csv
from .sheets import write_xlsx
from .statement import InputFile, Statement, Workpaper, statement_of

__all__ = [
    "InputFile",
    "OpenItems",
    "Statement",
    "Workpaper",
    "carried_to",
    "read_open_items",
    "statement_of",
    "write_csv",
    "write_xlsx",
]
