"""`kind: bank`: bank statements."""

from ....namespaces.bank import Bank
from ....namespaces.tool import Namespace
from ..systems import Kind, Site
from .files import FileSettings, files_of, reading_of


def _make(_: str, settings: FileSettings, site: Site) -> Namespace:
    return Bank(files_of(settings, site), **reading_of(settings, site))


KIND = Kind(FileSettings, _make, "bank statements: OFX, QFX, CAMT, MT940, BAI2, QIF, CSV, XLSX")
