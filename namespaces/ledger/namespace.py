"""The books as a namespace."""

from collections.abc import Sequence
from pathlib import Path

from ..tables.namespace import FileNamespace
from ..tables.source import Conventions, Finding, Source
from ..tool import Tool
from .accounts import Books, gather
from .books import LedgerFile
from .general_ledger import read_general_ledger
from .tools import ledger_tools


class Ledger(FileNamespace[LedgerFile, Books]):
    """The ledger namespace over general ledger or journal exports as CSV."""

    name = "ledger"
    guide = Path(__file__).with_name("SKILL.md")

    def read(self, source: Source, conventions: Conventions) -> LedgerFile:
        """The lines of one file."""
        return read_general_ledger(source, conventions)

    def gather(self, files: Sequence[LedgerFile], failed: Sequence[Finding]) -> Books:
        """The accounts of all files."""
        return gather(files, failed)

    def tools(self, contents: Books) -> Sequence[Tool]:
        """The tools over the books."""
        return ledger_tools(contents)
