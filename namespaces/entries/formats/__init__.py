"""How an entry is written into a file of the books, one file a format."""

from collections.abc import Mapping

from ...ledger.books import Format
from .beancount import write_beancount
from .delimited import write_csv
from .iif import write_iif
from .journal import write_journal
from .workbook import write_workbook
from .writer import Writer

WRITERS: Mapping[Format, Writer] = {
    "csv": write_csv,
    "xlsx": write_workbook,
    "beancount": write_beancount,
    "hledger": write_journal,
    "ledger": write_journal,
    "iif": write_iif,
}
"""Those that can be posted to. A GnuCash file and a database are written by the program that has them."""
