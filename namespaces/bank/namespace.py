"""Statement files as a namespace."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from pydantic import SecretStr

from ..tables.source import Conventions, Source, read_sources
from ..tool import Tool
from .accounts import Accounts, gather
from .formats import read
from .statement import StatementFile
from .tools import bank_tools


class Bank:
    """The bank namespace over statement files.

    It reads the files anew for each session. A file that cannot be read is told by `list_accounts`
    as long as another one can; when none can, the namespace does not connect, with that reason.

    Args:
        files: Statement files of any known format.
        day_first: Whether 03/04 is the third of April, for files that leave it open.
        decimal: The decimal mark, for files that leave it open.
        currency: ISO 4217 code, for files that name none.
    """

    name = "bank"
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
        yield bank_tools(await asyncio.to_thread(self.accounts))

    def accounts(self) -> Accounts:
        """Reads the files: the accounts in them and what was odd. It blocks.

        Raises:
            NamespaceError: no file was given, or none can be read.
        """
        read_all = read_sources(self._files, self._read, self.name)
        return gather(read_all.good, read_all.findings)

    def _read(self, source: Source) -> StatementFile:
        return read(source, self._conventions)
