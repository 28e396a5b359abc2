"""Journal entries as a namespace over a ledger."""

import asyncio
import datetime
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from ..ledger.namespace import Ledger
from ..tool import Tool
from .tools import entries_tools


class Entries:
    """The entries namespace: it proposes journal entries and posts them to the files of a ledger.

    Args:
        ledger: The books.
        closed_until: Last day of the last closed period: entries up to it are refused. None when no
            period is closed.
    """

    name = "entries"
    guide: Path | None = Path(__file__).with_name("SKILL.md")

    def __init__(self, ledger: Ledger, *, closed_until: datetime.date | None = None) -> None:
        self._ledger, self._closed_until = ledger, closed_until

    @asynccontextmanager
    async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
        """Reads the books in a thread and yields the tools over them.

        Raises:
            NamespaceError: the books cannot be read; the message says why.
        """
        await asyncio.to_thread(self._ledger.contents)
        yield entries_tools(self._ledger, self._closed_until)
