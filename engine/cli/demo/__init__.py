"""The bundled reference investigation: two months of five bank accounts of three companies.

The companies, their banks and everybody they trade with are invented. The accounts come in five formats,
their books in three; what does not tie is planted.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_FILES = Path(__file__).with_name("files")


class DemoAccount(NamedTuple):
    """One bank account and its account in the books."""

    entity: str
    title: str
    """What it is called in the report."""
    bank: str
    """As its bank names it."""
    ledger: str
    """As the books name it."""


@dataclass(frozen=True, slots=True)
class DemoMonth:
    """One month of all accounts."""

    name: str
    """Such as `2026-09`."""
    title: str
    start: str
    """First day, YYYY-MM-DD."""
    end: str
    before: str | None
    """The month whose open items it begins with; None for the first."""

    @property
    def bank(self) -> tuple[Path, ...]:
        """The statement files."""
        return self._named("ltd_operating*.ofx", "ltd_receipts.csv", "gmbh_giro.xml", "bv_*.sta", "bv_*.bai")

    @property
    def ledger(self) -> tuple[Path, ...]:
        """The books."""
        return self._named("ltd_general_ledger.csv", "gmbh.beancount", "bv_general_ledger.xlsx")

    def _named(self, *patterns: str) -> tuple[Path, ...]:
        folder = _FILES / self.name
        return tuple(path for pattern in patterns for path in sorted(folder.glob(pattern)))


LTD, GMBH, BV = "Harbour & Vale Ltd", "Harbour & Vale GmbH", "Harbour & Vale BV"
ACCOUNTS = (
    DemoAccount(LTD, "operating account", "55120944", "1200 Operating account 55120944"),
    DemoAccount(LTD, "receipts account", "55120952", "1210 Receipts account 55120952"),
    DemoAccount(GMBH, "giro account", "DE03900500150048812077", "Assets:Bank:Weserkontor-48812077"),
    DemoAccount(BV, "current account", "NL68HVBK0417164300", "1100 Current account EUR"),
    DemoAccount(BV, "dollar account", "7702215580", "1110 Dollar account 7702215580"),
)
"""In the order in which they are worked."""
SEPTEMBER = DemoMonth("2026-09", "September 2026", "2026-09-01", "2026-09-30", None)
OCTOBER = DemoMonth("2026-10", "October 2026", "2026-10-01", "2026-10-31", "2026-09")
MONTHS = {month.name: month for month in (SEPTEMBER, OCTOBER)}
STATEMENT = _FILES / "2026-09" / "ltd_operating_late.ofx"
"""The last days of September on the operating account of the Ltd."""
TOLERANCE = "0.05"
"""By how much amounts may differ in it: cash is counted by hand."""
MATERIALITY = "1.00"
"""Items of less are counted and summed in one line of the report; the statement has them all."""
