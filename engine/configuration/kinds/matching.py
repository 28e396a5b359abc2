"""`kind: matching`: what compares bank and books."""

from pydantic import Field

from ....namespaces.bank import Bank
from ....namespaces.ledger import Ledger
from ....namespaces.matching import Matching
from ....namespaces.matching.rule import AccountRule
from ....namespaces.tool import Namespace
from ..systems import BadSetting, Kind, Site, SystemSettings
from ..values import Text
from .resting import the_one


class MatchingSettings(SystemSettings):
    """How strictly accounts are compared, and what was open before."""

    default: AccountRule = AccountRule()
    """For accounts without a rule of their own."""
    rules: dict[str, AccountRule] = Field(default_factory=dict[str, AccountRule])
    """By bank account, named as `bank__list_accounts` does."""
    carried: Text = ""
    """The statement of the period before, as CSV: what it left open is carried forward."""


def _make(_: str, settings: MatchingSettings, site: Site) -> Namespace:
    bank, ledger = the_one(Bank, "bank", site), the_one(Ledger, "ledger", site)
    carried = site.folder / settings.carried if settings.carried else None
    if carried is not None and not carried.is_file():
        raise BadSetting(f"there is no file {str(carried)!r}", "carried")
    return Matching(bank, ledger, settings.rules, settings.default, carried=carried)


KIND = Kind(
    MatchingSettings, _make, "compares bank and books, and makes the statement", after=("bank", "ledger")
)
