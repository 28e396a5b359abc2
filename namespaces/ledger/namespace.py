"""The books as a namespace."""

import datetime
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from ..tables.identity import Identity
from ..tables.namespace import FileNamespace
from ..tables.readings import Readings
from ..tables.source import Conventions, Finding, Source
from ..tool import Tool
from .accounts import Books, gather
from .books import LedgerFile
from .formats import identify, read
from .tools import ledger_tools


class Ledger(FileNamespace[LedgerFile, Books]):
    """The ledger namespace over files of the books, whatever they are written in."""

    name = "ledger"
    guide = Path(__file__).with_name("SKILL.md")

    def __init__(  # noqa: PLR0913  each says one thing about the files
        self,
        files: Sequence[Path],
        *,
        day_first: bool | None = None,
        decimal: Literal[".", ","] | None = None,
        currency: str | None = None,
        columns: Mapping[str, str] | None = None,
        query: str | None = None,
        readings: Readings | None = None,
        today: Callable[[], datetime.date] | None = None,
    ) -> None:
        """Opens nothing yet.

        Args:
            files: Files of the books.
            day_first: Whether 03/04 is the third of April, for files that leave it open.
            decimal: The decimal mark, for files that leave it open.
            currency: ISO 4217 code, for files that name none; also says which dollar `$` is.
            columns: The column of each role, by name or number, for tables that have such columns.
            query: The statement that gives the lines of an SQLite file, its columns named as those of a
                general ledger; None finds the table or view that has them.
            readings: Where decisions about single files are kept; None keeps them as long as this.
            today: Gives the day that a decision is dated with; None is the day in UTC.
        """
        super().__init__(
            files,
            day_first=day_first,
            decimal=decimal,
            currency=currency,
            columns=columns,
            readings=readings,
            today=today,
        )
        self._query = query

    def identify(self, source: Source) -> Identity | None:
        """The layout of a table, else what the file is written in."""
        return identify(source)

    def read(self, source: Source, conventions: Conventions) -> LedgerFile:
        """The lines of one file."""
        return read(source, conventions, self._query)

    def gather(self, files: Sequence[LedgerFile], failed: Sequence[Finding]) -> Books:
        """The accounts of all files."""
        return gather(files, failed)

    def tools(self) -> Sequence[Tool]:
        """The tools over the books."""
        return ledger_tools(self.contents)
