"""Statement files as a namespace."""

from collections.abc import Sequence
from pathlib import Path

from ..tables.identity import Identity
from ..tables.namespace import FileNamespace
from ..tables.source import Conventions, Finding, Source
from ..tool import Tool
from .accounts import Accounts, gather
from .formats import identify, read
from .statement import StatementFile
from .tools import bank_tools


class Bank(FileNamespace[StatementFile, Accounts]):
    """The bank namespace over statement files."""

    name = "bank"
    guide = Path(__file__).with_name("SKILL.md")

    def identify(self, source: Source) -> Identity | None:
        """The account that a statement file names near its beginning, else its layout."""
        return identify(source)

    def read(self, source: Source, conventions: Conventions) -> StatementFile:
        """The statements of one file of any known format."""
        return read(source, conventions)

    def gather(self, files: Sequence[StatementFile], failed: Sequence[Finding]) -> Accounts:
        """The accounts of all files."""
        return gather(files, failed)

    def tools(self) -> Sequence[Tool]:
        """The tools over the accounts."""
        return bank_tools(self.contents)
