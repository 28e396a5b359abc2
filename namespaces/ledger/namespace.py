"""The books as a namespace."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from pydantic import SecretStr

from ..tables.source import Conventions, Source, read_sources
from ..tool import Tool
from .accounts import Books, gather
from .books import LedgerFile
from .general_ledger import read_general_ledger
from .tools import ledger_tools


class Ledger:
    """The ledger namespace over exports of the books.

    It reads the files anew for each session. A file that cannot be read is told by `list_accounts`
    as long as another one can; when none can, the namespace does not connect, with that reason.

    Args:
        files: General ledger or journal exports as CSV.
        day_first: Whether 03/04 is the third of April, for files that leave it open.
        decimal: The decimal mark, for files that leave it open.
        currency: ISO 4217 code, for files that name none.
    """

    name = "ledger"
    guide: Path | None = Path(__file__).with_name("SKILL.md")

    def __init__(
        self,
        files: Sequence[Path],
        *,
        day_first: bool | None = None,
        decimal: Literal[".", ","] | None = None,
        currency: str | None = None,
    ) -> None:
        self._files = tuple(Path(file) for file in files)
        self._conventions = Conventions(day_first, decimal, currency)

    @asynccontextmanager
    async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
        """Reads the files in a thread and yields the tools over them; files need no credentials.

        Raises:
            NamespaceError: no file was given, or none can be read.
        """
        yield ledger_tools(await asyncio.to_thread(self.books))

    def books(self) -> Books:
        """Reads the files: the accounts in them and what was odd. It blocks.

        Raises:
            NamespaceError: no file was given, or none can be read.
        """
        read_all = read_sources(self._files, self._read, self.name)
        return gather(read_all.good, read_all.findings)

    def _read(self, source: Source) -> LedgerFile:
        return read_general_ledger(source, self._conventions)
