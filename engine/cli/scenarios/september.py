"""The files of most scenarios: September 2026 of one account of Harbour & Vale Ltd."""

from pathlib import Path

STATEMENT = Path(__file__).with_name("operating_account.ofx")
"""Statement of the operating account, 55120944."""
GENERAL_LEDGER = Path(__file__).with_name("general_ledger.csv")
"""The company's books of the same month."""
