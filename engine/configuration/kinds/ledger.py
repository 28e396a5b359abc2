"""`kind: ledger`: the books."""

from ....namespaces.ledger import Ledger
from ....namespaces.tool import Namespace
from ..systems import Kind, Site
from .files import FileSettings, files_of, reading_of


class LedgerSettings(FileSettings):
    """Exports of the books."""

    query: str | None = None
    """The statement that gives the lines of an SQLite file, its columns those of a general ledger."""


def _make(_: str, settings: LedgerSettings, site: Site) -> Namespace:
    return Ledger(files_of(settings, site), query=settings.query, **reading_of(settings, site))


KIND = Kind(LedgerSettings, _make, "the books: general ledger CSV and XLSX, Beancount, hledger, IIF, GnuCash")
