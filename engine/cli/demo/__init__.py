"""The bundled reference investigation: a month of one company's bank account and books.

The company and its bank are invented.
"""

from pathlib import Path

STATEMENT = Path(__file__).with_name("operating_account.ofx")
"""Statement of the operating account of Harbour & Vale Ltd, September 2026."""
GENERAL_LEDGER = Path(__file__).with_name("general_ledger.csv")
"""The company's books of the same month."""
