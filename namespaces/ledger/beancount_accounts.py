"""The accounts that a Beancount file opens and closes, and the lines that do not keep to it."""

import datetime
from collections.abc import Iterable
from typing import NamedTuple

from ..bank.statement import Often
from ..tables.source import Findings
from .books import Line


class _Opened(NamedTuple):
    date: datetime.date
    currencies: frozenset[str]
    """Those it may hold; empty when it may hold any."""


class Accounts:
    """Keeps what is opened and closed."""

    def __init__(self, findings: Findings, often: Often) -> None:
        self.opened: dict[str, _Opened] = {}
        self.closed: dict[str, datetime.date] = {}
        self._findings, self._often = findings, often

    def open(self, name: str, date: datetime.date, currencies: frozenset[str], row: int) -> None:
        """Opens one."""
        if name in self.opened:
            self._findings.add("warning", f"opens {name} a second time: the first counts", row)
        self.opened.setdefault(name, _Opened(date, currencies))

    def close(self, name: str, date: datetime.date, row: int) -> None:
        """Closes one."""
        if name in self.closed:
            self._findings.add("warning", f"closes {name} a second time: the first counts", row)
        self.closed.setdefault(name, date)

    def check(self, lines: Iterable[Line]) -> None:
        """Tells of lines before an account is opened or after it is closed, or in no currency of its own."""
        for line in lines:
            if (what := self._wrong(line)) is not None:
                self._often.add("warning", what, line.row)

    def _wrong(self, line: Line) -> str | None:
        opened = self.opened.get(line.account, _Opened(datetime.date.min, frozenset()))
        if line.date < opened.date:
            return f"posts to {line.account} before {opened.date}, when it is opened"
        if line.date > self.closed.get(line.account, datetime.date.max):
            return f"posts to {line.account} after it is closed"
        if opened.currencies and line.currency not in opened.currencies:
            return f"posts {line.currency} to {line.account}, which is opened for others only"
        return None
