"""Matching as a namespace over a bank and a ledger."""

import asyncio
import datetime
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from ..bank.namespace import Bank
from ..ledger.namespace import Ledger
from ..tables.source import read_source
from ..tool import Tool
from .accounts import Sides
from .rule import AccountRule
from .tools import matching_tools
from .workpaper import OpenItems, read_open_items
from .workpaper.tool import StatementTool


class Matching:
    """The matching namespace: it reads what the two others read.

    Args:
        bank: The statement files.
        ledger: The books.
        rules: How strictly accounts are compared, by bank account, named as `bank__list_accounts` does.
        default: For accounts without a rule of their own.
        carried: The statement of the period before, as CSV: what it left open is carried forward to the
            period that begins on the day after. None where there is none.
        today: Gives the day that a statement is dated with; None is the day in UTC.
    """

    name = "matching"
    guide: Path | None = Path(__file__).with_name("SKILL.md")

    def __init__(
        self,
        bank: Bank,
        ledger: Ledger,
        rules: Mapping[str, AccountRule] | None = None,
        default: AccountRule = AccountRule(),  # noqa: B008  it is frozen
        *,
        carried: Path | None = None,
        today: Callable[[], datetime.date] | None = None,
    ) -> None:
        self._bank, self._ledger, self._carried = bank, ledger, carried
        self._rules, self._default = dict(rules or {}), default
        self._today = today or (lambda: datetime.datetime.now(datetime.UTC).date())

    @asynccontextmanager
    async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
        """Reads the files of both in a thread and yields the tools over them.

        Raises:
            NamespaceError: one of the two cannot connect, the statement of the period before cannot be
                read, or a rule is for an account that is not there; the message says why.
        """
        yield await asyncio.to_thread(self._tools)

    def _tools(self) -> tuple[Tool, ...]:
        sides = Sides(self._bank.contents, self._ledger.contents, self._rules, self._default, self._before)
        sides.check()
        return matching_tools(sides, StatementTool(sides, self._inputs, self._today))

    def _before(self) -> tuple[OpenItems, ...]:
        return read_open_items(read_source(self._carried)) if self._carried else ()

    def _inputs(self) -> tuple[Path, ...]:
        carried = (self._carried,) if self._carried else ()
        return (*self._bank.files, *self._ledger.files, *carried)
