"""Matching as a namespace over a bank and a ledger."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from ..bank.namespace import Bank
from ..ledger.namespace import Ledger
from ..tool import Tool
from .tools import matching_tools


class Matching:
    """The matching namespace: it reads what the two others read.

    Args:
        bank: The statement files.
        ledger: The books.
    """

    name = "matching"
    guide: Path | None = Path(__file__).with_name("SKILL.md")

    def __init__(self, bank: Bank, ledger: Ledger) -> None:
        self._bank, self._ledger = bank, ledger

    @asynccontextmanager
    async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
        """Reads the files of both in a thread and yields the tools over them.

        Raises:
            NamespaceError: one of the two cannot connect; the message says why.
        """
        yield await asyncio.to_thread(self._tools)

    def _tools(self) -> tuple[Tool, ...]:
        return matching_tools(self._bank.contents(), self._ledger.contents())
