"""`kind: entries`: proposes journal entries, and posts them once a person has approved."""

import datetime

from ....namespaces.entries import Entries
from ....namespaces.ledger import Ledger
from ....namespaces.tool import Namespace
from ..systems import Kind, Site, SystemSettings
from .resting import the_one


class EntriesSettings(SystemSettings):
    """What may be posted."""

    closed_until: datetime.date | None = None
    """Last day of the last closed period: entries up to it are refused."""


def _make(_: str, settings: EntriesSettings, site: Site) -> Namespace:
    return Entries(the_one(Ledger, "ledger", site), closed_until=settings.closed_until)


KIND = Kind(
    EntriesSettings, _make, "proposes journal entries; a person approves what is posted", after=("ledger",)
)
